"""Convex hulls of collision meshes: few vertices that enclose nearly all, read when they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight import shapes
from featherweight.io import from_plain, to_plain
from featherweight.io.hulls import MOST, hull_vertices
from featherweight.visuals.solids import Mesh, ball, box, cylinder

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def write_stl(path: Path, mesh: Mesh) -> None:
    """Binary: 80 bytes, a count, and for each triangle a normal, three corners and two bytes."""
    rows = np.zeros(len(mesh.faces), dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    rows["v"] = mesh.vertices[mesh.faces]
    path.write_bytes(bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes())


def robot(folder: Path, mesh: Mesh, scale: str = "1 1 1", origin: str = "0 0 0") -> fw.Model:
    write_stl(folder / "m.stl", mesh)
    shape = f'<geometry><mesh filename="m.stl" scale="{scale}"/></geometry>'
    collision = f'<collision name="foot"><origin xyz="{origin}" rpy="0 0 1.5707963267948966"/>{shape}</collision>'
    text = f'<robot name="r"><link name="a">{INERTIAL}<visual>{shape}</visual>{collision}</link></robot>'
    (folder / "r.urdf").write_text(text)
    return fw.load(folder / "r.urdf", base="free")


def test_the_corners_of_a_box_are_its_hull(tmp_path: Path) -> None:
    """A box [1, 2] x [0, 2] x [0, 3] in its file: around its own middle, which is placed in the body."""
    model = robot(tmp_path, box((1, 2, 3)).moved(np.eye(3), np.array([1.5, 1.0, 1.5])), "1 1 2", "5 0 0")
    (shape,) = model.shapes
    assert isinstance(shape.shape, shapes.Convex)
    corners = [[x, y, z] for x in (-0.5, 0.5) for y in (-1, 1) for z in (-3, 3)]
    assert sorted(map(list, shape.shape.points)) == corners
    assert np.allclose(shape.X.r, (5 - 1, 1.5, 3), atol=1e-12)  # turned by a quarter about z
    assert (shape.name, shape.ground) == ("foot", False)


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    model = robot(tmp_path, box((1, 2, 3)))
    (tmp_path / "m.stl").unlink()
    assert model.ground_shapes == ()
    assert model.fingerprint
    assert model.shapes == ()
    (note,) = model.with_hulls().notes
    assert note == "the mesh 'm.stl' of 'a' touches nothing: its file cannot be read"


def test_the_hull_is_part_of_the_model(tmp_path: Path) -> None:
    model = robot(tmp_path, ball(0.5))
    whole = model.with_hulls()
    assert whole is model.with_hulls() is whole.with_hulls()
    assert whole.shapes == model.shapes
    other = robot(tmp_path, ball(0.6)).with_hulls()
    assert other.fingerprint != whole.fingerprint
    (tmp_path / "m.stl").unlink()
    again = from_plain(json.loads(json.dumps(to_plain(whole))))
    assert again.shapes == whole.shapes
    assert whole.locked({}).shapes[0].shape == whole.shapes[0].shape
    assert [g.kind for g in whole.geometry] == ["mesh", "convex"]  # what is seen stays
    pendulum = fw.robots.pendulum()
    assert pendulum.with_hulls() is pendulum


def test_a_flat_mesh_touches_nothing(tmp_path: Path) -> None:
    model = robot(tmp_path, box((1, 2, 3)), "1 1 0")
    assert model.shapes == ()
    assert model.with_hulls().notes[-1].endswith("it is flat")


@pytest.mark.parametrize(
    ("mesh", "missed"),
    [(ball(1.0, 40), 0.16), (ball(np.array([1.0, 0.3, 0.1]), 40), 0.1), (cylinder(1.0, 1.0, 60), 0.1)],
    ids=["ball", "ellipsoid", "cylinder"],
)
def test_few_vertices_enclose_nearly_all(mesh: Mesh, missed: float) -> None:
    """The largest gap between the support functions, in random directions."""
    few = hull_vertices(mesh.vertices)
    assert len(few) <= MOST
    assert {*map(tuple, few.tolist())} <= {*map(tuple, mesh.vertices.tolist())}
    d = np.random.default_rng(0).normal(size=(2000, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    gap = (mesh.vertices @ d.T).max(axis=0) - (few @ d.T).max(axis=0)
    assert 0 <= gap.max() < missed


def test_more_vertices_enclose_more_and_large_meshes_are_read_in_blocks() -> None:
    points = np.random.default_rng(1).normal(size=(20_000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    d = points[:500]
    gaps = [float((1 - (hull_vertices(points, most) @ d.T).max(axis=0)).max()) for most in (8, 16, 32, 64)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.12


def test_a_name_without_a_shape_is_answered_by_the_mesh_that_was_not_found(tmp_path: Path) -> None:
    shape = "<collision><geometry><mesh filename='lost.stl'/></geometry></collision>"
    model = fw.loads(f"<robot name='r'><link name='hand'>{shape}</link></robot>")
    why = "there are none; the mesh 'lost.stl' of 'hand' touches nothing: its file was not found; load the robot with"
    with pytest.raises(KeyError, match=f"no shape named 'hand'; {why}"):
        fw.distance(model, [], "hand", "hand")
    with pytest.raises(KeyError, match=f"no shape or link with shapes named 'hand'; {why}"):
        fw.rollout(model, [], [], steps=1, dt=1e-3, contact=fw.contact.Impulse(pairs=[("hand", "box")]))
