"""How robots look: their own shapes, or ones that are made up; and frames of trajectories."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.visuals import bounds, motion_of, shapes_of
from featherweight.visuals.motion import frames_of


def triangle_file(path: Path) -> None:
    """A binary STL of one triangle."""
    corners = (0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0)
    path.write_bytes(bytes(80) + struct.pack("<I", 1) + struct.pack("<12f", *corners) + b"\0\0")


ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>{visual}</link>
  <joint name="j" type="revolute"><parent link="base"/><child link="upper"/><limit effort="1" velocity="1"/></joint>
</robot>"""


def arm(folder: Path, visual: str) -> fw.Model:
    (folder / "arm.urdf").write_text(ARM.format(visual=visual))
    return fw.load(folder / "arm.urdf")


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "cartpole", "mini_cheetah", "humanoid"])
def test_built_in_robots_have_shapes_on_all_bodies_with_a_length(name: str) -> None:
    model = getattr(fw.robots, name)()
    drawn = {shape.body for shape in shapes_of(model)}
    slices = {i for i in range(1, model.nb + 1) if model.names[i].endswith("_link") and name == "humanoid"}
    assert drawn == set(range(1, model.nb + 1)) - slices


def test_a_made_up_robot_is_as_large_as_the_real_one() -> None:
    model = fw.robots.humanoid(height=1.75)
    low, high = bounds(frames_of(model, np.zeros(1), model.neutral()[None]), shapes_of(model))
    assert high[2] - low[2] == pytest.approx(1.75, rel=0.05)


def test_a_link_is_drawn_from_joint_to_joint() -> None:
    model = fw.robots.chain(3)
    shapes = [shape for shape in shapes_of(model) if shape.body == 1]
    z = np.concatenate([shape.mesh.vertices for shape in shapes])[:, 2]
    assert z.min() < 0 < 1.5 < z.max()
    assert z.max() - z.min() < 1.5 * 1.2


def test_visual_shapes_are_taken_from_the_file(tmp_path: Path) -> None:
    visual = (
        '<visual><origin xyz="0 0 2"/><geometry><box size="1 2 3"/></geometry>'
        '<material name="m"><color rgba="1 0 0 1"/></material></visual>'
        '<collision><geometry><sphere radius="9"/></geometry></collision>'
    )
    (shape,) = shapes_of(arm(tmp_path, visual))
    assert shape.color == (1.0, 0.0, 0.0)
    np.testing.assert_allclose(shape.mesh.vertices.max(axis=0), [0.5, 1.0, 3.5])


def test_collision_shapes_do_if_there_are_no_visual_ones(tmp_path: Path) -> None:
    visual = '<collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>'
    (shape,) = shapes_of(arm(tmp_path, visual))
    assert shape.mesh.vertices[:, 2].max() == 1.0


def test_a_mesh_is_read_and_scaled(tmp_path: Path) -> None:
    triangle_file(tmp_path / "upper.stl")
    visual = '<visual><origin xyz="0 0 2"/><geometry><mesh filename="upper.stl" scale="2 3 1"/></geometry></visual>'
    (shape,) = shapes_of(arm(tmp_path, visual))
    np.testing.assert_allclose(shape.mesh.vertices.max(axis=0), [2.0, 3.0, 2.0])


COLORED = """v 0 0 0
v 1 0 0
v 0 1 0
f 1 2 3
mtllib c.mtl
usemtl green
f 1 3 2
"""


def test_colours_of_a_mesh_go_before_those_of_the_robot_s_file(tmp_path: Path) -> None:
    """As RViz has it: what the mesh gives no colour has the material's, or grey."""
    (tmp_path / "upper.obj").write_text(COLORED)
    (tmp_path / "c.mtl").write_text("newmtl green\nKd 0 1 0\n")
    material = '<material name="m"><color rgba="1 0 0 1"/></material>'
    for given, other in (("", (0.68, 0.70, 0.73)), (material, (1.0, 0.0, 0.0))):
        visual = f'<visual><geometry><mesh filename="upper.obj"/></geometry>{given}</visual>'
        colors = {shape.color for shape in shapes_of(arm(tmp_path, visual))}
        assert {tuple(np.round(color, 2)) for color in colors} == {(0.0, 1.0, 0.0), other}


def test_a_mesh_that_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "upper.obj").write_text(COLORED)
    model = arm(tmp_path, '<visual><geometry><mesh filename="upper.obj"/></geometry></visual>')
    assert max(shape.mesh.vertices.max() for shape in shapes_of(model)) == 1.0
    (tmp_path / "upper.obj").write_text(COLORED.replace("v 1 0 0", "v 1.5 0 0"))
    assert max(shape.mesh.vertices.max() for shape in shapes_of(model)) == 1.5


LINK = '<link name="{0}">{1}</link><joint name="j{0}" type="revolute"><parent link="{2}"/><child link="{0}"/>\
<origin xyz="{3}"/><limit effort="1" velocity="1"/></joint>'
MASS = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>'


@pytest.mark.parametrize(
    ("links", "drawn"),
    [
        ([("a", "", "base", "0 0 0")], set()),  # nothing has mass
        ([("a", "", "base", "0 0 0"), ("b", MASS, "base", "0 0 1")], {2}),
        ([("a", "", "base", "0 0 0"), ("b", MASS, "a", "0 0 1")], {1, 2}),  # to what it carries
        (
            [
                ("a", "", "base", "0 0 0"),
                *((f"at{k}", MASS, "a", xyz) for k, xyz in enumerate(("1 0 0", "0 1 0", "0 0 1"))),
            ],
            {1, 2, 3, 4},
        ),
    ],
)
def test_links_without_mass_and_shape_can_be_looked_at(links, drawn: set[int]) -> None:
    """A third of all URDF files have some."""
    text = "".join(LINK.format(name, inertial, parent, xyz) for name, inertial, parent, xyz in links)
    with pytest.warns(UserWarning, match="mass"):
        model = fw.loads(f'<robot name="r"><link name="base"/>{text}</robot>', policy="warn")
    assert {shape.body for shape in shapes_of(model)} == drawn
    motion = frames_of(model, np.zeros(1), model.neutral()[None])
    assert np.isfinite(motion.com).all()


def test_a_head_with_its_mass_in_the_middle_has_no_neck() -> None:
    builder = fw.Builder("head").add_body("head", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    for name, place in (("a", (0.1, 0, 0)), ("b", (0, 0.1, 0)), ("c", (0, 0, 0.1))):
        builder.add_contact_point(name, parent="head", position=place, radius=0.05)
    assert len(shapes_of(builder.build())) == 3


@pytest.mark.parametrize(("scale", "side"), [("1 1 1", 1), ("1 -1 1", 1), ("-1 -1 1", 1), ("-1 -1 -1", -1)])
def test_a_mirrored_mesh_still_looks_outward(tmp_path: Path, scale: str, side: int) -> None:
    """The triangle's outside is up; only a mirror in z turns that over."""
    triangle_file(tmp_path / "upper.stl")
    visual = f'<visual><geometry><mesh filename="upper.stl" scale="{scale}"/></geometry></visual>'
    (shape,) = shapes_of(arm(tmp_path, visual))
    a, b, c = shape.mesh.vertices[shape.mesh.faces[0]]
    assert np.sign(np.cross(b - a, c - a)[2]) == side


@pytest.mark.parametrize("content", [None, b"", b"no mesh at all", b"solid x\nfacet normal 0 0", bytes(200)])
def test_a_mesh_that_is_not_there_or_broken_is_made_up_with_a_warning(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "upper.stl").write_bytes(content)
    model = arm(tmp_path, '<visual><geometry><mesh filename="upper.stl"/></geometry></visual>')
    with pytest.warns(UserWarning, match=r"arm: the mesh 'upper.stl' cannot be shown; simple shapes are"):
        shapes = shapes_of(model)
    assert {shape.body for shape in shapes} == {1}


def test_a_body_without_its_mesh_shows_what_it_touches_with(tmp_path: Path) -> None:
    visual = (
        '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
        '<collision><geometry><sphere radius="0.7"/></geometry></collision>'
    )
    with pytest.warns(UserWarning, match="cannot be shown"):
        (shape,) = shapes_of(arm(tmp_path, visual))
    assert shape.mesh.vertices.max() == pytest.approx(0.7)


def swing(duration: float = 1.0, every: int = 1) -> fw.Trajectory:
    model = fw.robots.double_pendulum()
    return fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=duration, dt=1e-3, record_every=every)


def test_frames_are_states_nearest_to_their_times() -> None:
    run = swing()
    motion = motion_of(run, rate=30.0)
    assert len(motion) == 31
    np.testing.assert_array_equal(motion.t, run.t[motion.index])
    assert np.abs(motion.t - np.arange(31) / 30).max() <= 0.5e-3 + 1e-12
    poses = fw.forward_kinematics(run.model, run.q[motion.index])
    np.testing.assert_array_equal(motion.position, poses.position)
    assert motion.index[-1] == len(run.t) - 1


def test_few_states_are_all_shown() -> None:
    assert len(motion_of(swing(every=100), rate=60.0)) == 11


def test_contact_points_and_forces_are_where_kinematics_has_them() -> None:
    model = fw.robots.mini_cheetah()
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(3)])
    motion = frames_of(model, np.arange(3.0), q)
    for k, point in enumerate(model.contact_points):
        np.testing.assert_allclose(motion.points[:, k], fw.frame_pose(model, q, point.name).position, atol=1e-12)
    np.testing.assert_allclose(motion.com, fw.center_of_mass(model, q))


def test_a_lane_that_failed_is_shown_up_to_there() -> None:
    model = fw.robots.pendulum()
    tau = np.zeros((2, 100, 1))
    tau[1, 40] = np.nan
    run = fw.rollout(model, np.zeros((2, 1)), np.ones((2, 1)), steps=100, dt=0.01, tau=tau)
    assert motion_of(run, lane=0, rate=100).t[-1] == 1.0
    assert motion_of(run, lane=1, rate=100).t[-1] == pytest.approx(0.39)
    with pytest.raises(ValueError, match="lane: expected a number from 0 to 1, got 2"):
        motion_of(run, lane=2)


def test_what_cannot_be_shown_says_why() -> None:
    run = swing()
    with pytest.raises(ValueError, match="rate: expected frames a second > 0, got 0"):
        motion_of(run, rate=0)
    bare = fw.Trajectory(None, run.t, run.q, run.v, run.tau, run.contact_force, run.status, run.failed_step)
    with pytest.raises(ValueError, match="its file has no model"):
        motion_of(bare)


def test_bounds_are_those_of_what_is_seen_in_all_frames() -> None:
    builder = fw.Builder("bar").add_body("bar", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1.0, 0.1))
    builder.add_geometry("bar", "visual", "box", (2.0, 0.2, 0.4), fw.Placement((1.0, 0.0, 0.0)))
    model = builder.build()
    q = np.array([[0.4], [0.7]])
    corners = np.array([[x, y, z] for x in (0.0, 2.0) for y in (-0.1, 0.1) for z in (-0.2, 0.2)])
    R = np.array([[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in q[:, 0]])
    places = np.einsum("fij,cj->fci", R, corners).reshape(-1, 3)
    low, high = bounds(frames_of(model, np.arange(2.0), q), shapes_of(model))
    np.testing.assert_allclose(low, places.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(high, places.max(axis=0), atol=1e-12)


def test_a_shape_is_where_it_is_placed_and_turned() -> None:
    place = fw.Placement((0.1, 0.2, 0.3), rpy=(0.4, -0.5, 0.6))
    builder = fw.Builder("bar").add_body("bar", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1.0, 0.1))
    builder.add_geometry("bar", "visual", "box", (1.0, 2.0, 3.0), place)
    (shape,) = shapes_of(builder.build())
    local = (shape.mesh.vertices - place.position) @ np.array(place.rotation, dtype=float)  # Rᵀ (x - p)
    np.testing.assert_allclose(np.abs(local), np.tile([0.5, 1.0, 1.5], (8, 1)), atol=1e-12)


def test_a_body_that_carries_others_is_a_box_with_its_moments() -> None:
    """Of a real box it is that box, wherever its centre of mass is."""
    size, com = (0.4, 0.2, 0.1), (0.05, 0.02, -0.03)
    builder = fw.Builder("hub").add_body("hub", joint=fw.joints.Free(), inertia=fw.Inertia.box(5.0, size, com))
    for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        at = fw.Placement((x, y, 0.0))
        inertia = fw.Inertia.rod(0.1, 0.2, (0, 0, -0.1))
        builder.add_body(f"leg{k}", parent="hub", joint=fw.joints.Revolute("y"), placement=at, inertia=inertia)
    (hub,) = (shape for shape in shapes_of(builder.build()) if shape.body == 1)
    np.testing.assert_allclose(np.abs(hub.mesh.vertices - com), np.tile(np.array(size) / 2, (8, 1)), atol=1e-9)


def test_a_robot_without_shapes_is_seen_beside_a_thing_that_has_some() -> None:
    ball = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    ball.add_geometry("ball", fw.shapes.Sphere(0.1), role="both")
    robot = fw.robots.mini_cheetah()
    world = fw.Builder("world").add_model(robot).add_model(ball.build(), "a_").build()
    drawn = {shape.body for shape in shapes_of(world)}
    assert drawn == {shape.body for shape in shapes_of(robot)} | {world.nb}
