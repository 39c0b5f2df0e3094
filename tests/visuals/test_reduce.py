"""Fewer triangles: about as many as were asked for, near the surface they stand for, in its colours."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.io.mesh_files import Triangles
from featherweight.visuals import Mesh, ball, creased, cylinder
from featherweight.visuals.palette import MOST, painted
from featherweight.visuals.reduce import clustered, reduced
from featherweight.visuals.solids import box


def solid(mesh: Mesh) -> Triangles:
    return Triangles.of(mesh.vertices, mesh.faces).merged()


def fine_box(n: int) -> Triangles:
    """A cube with n × n squares on each face."""
    x, y = np.meshgrid(*[np.linspace(-0.5, 0.5, n + 1)] * 2, indexing="ij")
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    a, b, c, d = corner, corner + n + 1, corner + n + 2, corner + 1
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    top = np.stack([x, y, np.full(x.shape, 0.5)], axis=-1).reshape(-1, 3)
    turns = [np.eye(3), np.diag([1, -1, -1]), *(np.roll(np.eye(3), k, axis=0) @ s for k in (1, 2)
             for s in (np.eye(3), np.diag([1, -1, -1])))]  # fmt: skip
    vertices = np.concatenate([top @ turn.T for turn in turns])
    return Triangles.of(vertices, np.concatenate([faces + k * len(top) for k in range(6)])).merged()


def volume(parts: list[Triangles]) -> float:
    corners = np.concatenate([part.vertices[part.faces] for part in parts])
    return float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


def test_few_triangles_stay_as_they_are() -> None:
    one = solid(ball(1.0, 16))
    ((same,),) = reduced([[one]], 10_000)
    assert same is one


@pytest.mark.parametrize("most", [500, 3000])
def test_a_ball_keeps_its_shape(most: int) -> None:
    one = solid(ball(1.0, 200))
    ((fewer,),) = reduced([[one]], most)
    assert 0.8 * most < len(fewer.faces) <= most
    np.testing.assert_allclose(np.linalg.norm(fewer.vertices, axis=1), 1.0, atol=0.05 if most < 1000 else 0.01)
    assert volume([fewer]) == pytest.approx(4 / 3 * np.pi, rel=0.1 if most < 1000 else 0.02)


def test_edges_and_corners_of_a_box_stay_sharp() -> None:
    """Where planes meet is where the vertex goes: means alone would round them."""
    fewer = clustered(fine_box(50), 0.11)
    assert len(fewer.faces) < 2000
    np.testing.assert_allclose(np.abs(fewer.vertices).max(axis=1), 0.5, atol=1e-9)
    assert volume([fewer]) == pytest.approx(1.0, rel=1e-6)


def test_the_rim_of_an_open_sheet_stays_where_it_is() -> None:
    n = 60
    x, y = np.meshgrid(*[np.linspace(0.0, 1.0, n + 1)] * 2, indexing="ij")
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    a, b, c, d = corner, corner + n + 1, corner + n + 2, corner + 1
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    sheet = Triangles.of(np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3), faces)
    fewer = clustered(sheet, 0.13)
    np.testing.assert_allclose(
        [fewer.vertices.min(axis=0), fewer.vertices.max(axis=0)], [[0, 0, 0], [1, 1, 0]], atol=1e-9
    )


def test_small_solids_are_cut_less_than_large_ones() -> None:
    large, small = solid(ball(1.0, 150)), solid(ball(0.05, 150))
    (big,), (little,) = reduced([[large], [small]], 4000)
    assert len(little.faces) > 100
    assert np.linalg.norm(little.vertices, axis=1).min() > 0.85 * 0.05
    assert len(big.faces) > len(little.faces)


def test_parts_do_not_melt_into_each_other() -> None:
    """A ring laid closely around a drum keeps its colour and stays outside."""
    drum, ring = solid(cylinder(0.5, 1.0, 200)), solid(cylinder(0.505, 0.5, 200))
    drum, ring = drum._replace(colors=drum.colors * 0 + 0.9), ring._replace(colors=np.full(ring.faces.shape, 0.1))
    ((_, second),) = reduced([[drum, ring]], 500)
    assert (second.colors == 0.1).all()
    side = second.vertices[np.hypot(second.vertices[:, 0], second.vertices[:, 1]) > 0.3]
    assert np.hypot(side[:, 0], side[:, 1]).min() > 0.5


# ---- colours


def test_few_colours_are_kept_and_many_become_few() -> None:
    colors = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0]], dtype=float)
    palette, number = painted(colors, np.ones(3))
    np.testing.assert_allclose(palette[number], colors)
    rng = np.random.default_rng(0)
    noisy = np.concatenate([np.clip([0.8, 0.1, 0.1] + 0.03 * rng.normal(size=(500, 3)), 0, 1), rng.random((40, 3))])
    palette, number = painted(noisy, np.ones(len(noisy)))
    assert len(palette) <= MOST
    assert np.linalg.norm(palette[number[:500]] - [0.8, 0.1, 0.1], axis=1).max() < 0.1


# ---- creases


def test_a_box_has_edges_and_a_ball_has_none() -> None:
    assert len(creased(box((1.0, 2.0, 3.0))).vertices) == 24  # three at each corner
    smooth = solid(ball(1.0, 32))
    assert len(creased(Mesh(smooth.vertices, smooth.faces)).vertices) == len(smooth.vertices)


def test_a_cylinder_is_round_about_its_axis_and_sharp_at_its_ends() -> None:
    drum = solid(cylinder(1.0, 2.0, 24))
    mesh = creased(Mesh(drum.vertices, drum.faces))
    normals = mesh.normals()
    ends = np.abs(normals[:, 2]) > 0.5
    np.testing.assert_allclose(np.abs(normals[ends]), [[0, 0, 1]] * ends.sum(), atol=1e-9)
    outward = mesh.vertices[~ends] * [1, 1, 0]
    np.testing.assert_allclose(normals[~ends], outward, atol=0.1)
    assert mesh.faces.shape == drum.faces.shape
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], drum.vertices[drum.faces])
