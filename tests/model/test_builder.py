"""Building models: inertias, placements, frames, names, and what is refused."""

import copy
import dataclasses
import itertools
import pickle

import numpy as np
import pytest

import featherweight as fw
from featherweight import Builder, Inertia, ModelError, Placement, Rotor
from featherweight.joints import Fixed, Free, Joint, Prismatic, Revolute

BALL = Inertia.sphere(1.0, 0.1)
RIGHT_ANGLES = [k * np.pi / 2 for k in range(-2, 3)]


def rotation(axis, angle):
    """The matrix of a turn about a coordinate axis, from its definition."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def matrix(x):
    return np.array([[float(e) for e in row] for row in x])


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def close(a, b, tolerance=1e-12):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- inertia


def quadrature(*intervals, n=12):
    """Gauss points and weights on a box."""
    x, w = np.polynomial.legendre.leggauss(n)
    axes = [((b - a) / 2 * x + (a + b) / 2, (b - a) / 2 * w) for a, b in intervals]
    points = np.stack(np.meshgrid(*(p for p, _ in axes)), axis=-1).reshape(-1, len(axes))
    weights = np.prod(np.meshgrid(*(w for _, w in axes)), axis=0).ravel()
    return points, weights


def points_of(kind, *sizes):
    """Points filling a solid around the origin, with the volume each stands for."""
    if kind == "box":
        return quadrature(*((-s / 2, s / 2) for s in sizes))
    if kind == "rod":
        z, w = quadrature((-sizes[0] / 2, sizes[0] / 2))
        return np.column_stack([0 * z, 0 * z, z]), w
    if kind == "cylinder":
        p, w = quadrature((0, sizes[0]), (-np.pi, np.pi), (-sizes[1] / 2, sizes[1] / 2), n=24)
        r, angle, z = p.T
        return np.column_stack([r * np.cos(angle), r * np.sin(angle), z]), w * r
    p, w = quadrature((0, sizes[0]), (-np.pi, np.pi), (-1, 1), n=24)
    r, angle, u = p.T
    across = r * np.sqrt(1 - u * u)
    return np.column_stack([across * np.cos(angle), across * np.sin(angle), r * u]), w * r * r


def moment_of(points, weights, mass):
    """Σ m (r·r 1 - r rᵀ) for a mass spread evenly."""
    m = weights * mass / weights.sum()
    second = np.einsum("k,ki,kj->ij", m, points, points)
    return np.trace(second) * np.eye(3) - second


SOLIDS = {
    "box": (Inertia.box(2.5, (0.3, 0.5, 0.7)), (0.3, 0.5, 0.7)),
    "sphere": (Inertia.sphere(2.5, 0.4), (0.4,)),
    "cylinder": (Inertia.cylinder(2.5, 0.2, 0.9), (0.2, 0.9)),
    "rod": (Inertia.rod(2.5, 0.9), (0.9,)),
}


@pytest.mark.parametrize("kind", SOLIDS)
def test_solids_have_the_moments_of_their_points(kind):
    inertia, sizes = SOLIDS[kind]
    assert inertia.mass == 2.5
    assert inertia.com == (0.0, 0.0, 0.0)
    assert close(matrix(inertia.moment_about_com), moment_of(*points_of(kind, *sizes), 2.5))


def test_solids_have_the_textbook_moments():
    assert np.diag(matrix(Inertia.box(12, (1, 2, 3)).moment_about_com)).tolist() == pytest.approx([13, 10, 5])
    assert np.diag(matrix(Inertia.sphere(5, 2).moment_about_com)).tolist() == pytest.approx([8, 8, 8])
    assert np.diag(matrix(Inertia.cylinder(12, 2, 3).moment_about_com)).tolist() == pytest.approx([21, 21, 24])
    assert np.diag(matrix(Inertia.rod(12, 3).moment_about_com)).tolist() == pytest.approx([9, 9, 0])
    assert not matrix(Inertia.point(3, (1, 2, 3)).moment_about_com).any()


@pytest.mark.parametrize("kind", SOLIDS)
def test_at_moves_a_solid_and_keeps_its_moment(kind):
    at = (0.1, -0.2, 0.3)
    sizes = SOLIDS[kind][1]
    moved = Inertia.box(2.5, sizes, at) if kind == "box" else getattr(Inertia, kind)(2.5, *sizes, at=at)
    assert moved.com == at
    assert moved.moment_about_com == SOLIDS[kind][0].moment_about_com


@pytest.mark.parametrize("kind", SOLIDS)
def test_the_mass_matrix_of_a_free_solid_is_its_spatial_inertia(kind):
    """M = [[m 1, -m ĉ], [m ĉ, I about the origin]], summed over points."""
    at = np.array([0.1, -0.2, 0.3])
    points, weights = points_of(kind, *SOLIDS[kind][1])
    inertia = Inertia(2.5, at, SOLIDS[kind][0].moment_about_com)
    robot = Builder().add_body("solid", joint=Free(), inertia=inertia).build()
    M = fw.mass_matrix(robot, robot.neutral())
    assert close(M[:3, :3], 2.5 * np.eye(3))
    assert close(M[3:, :3], 2.5 * cross(at))
    assert close(M[3:, 3:], moment_of(points + at, weights, 2.5))


def test_moments_may_be_a_number_three_numbers_or_a_matrix():
    full = [[2.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.0]]
    assert matrix(Inertia(1, (0, 0, 0), 2.0).moment_about_com).tolist() == np.diag([2.0] * 3).tolist()
    assert matrix(Inertia(1, (0, 0, 0), (1, 2, 3)).moment_about_com).tolist() == np.diag([1.0, 2.0, 3.0]).tolist()
    assert matrix(Inertia(1, (0, 0, 0), full).moment_about_com).tolist() == full


def test_rounding_in_a_symmetric_matrix_is_forgiven():
    moment = np.diag([1.0, 1.0, 1.0])
    moment[0, 1], moment[1, 0] = 0.1, 0.1 + 1e-12
    symmetric = matrix(Inertia(1, (0, 0, 0), moment).moment_about_com)
    assert (symmetric == symmetric.T).all()


def test_inertias_are_values():
    assert Inertia(1, (0, 0, 1), 2) == Inertia(1.0, [0, 0, 1], (2, 2, 2))
    assert len({Inertia.sphere(1, 1), Inertia.sphere(1.0, 1.0)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        BALL.mass = 2.0


BAD_INERTIAS = {
    "negative mass": (lambda: Inertia(-1.0), "mass"),
    "nan mass": (lambda: Inertia(np.nan), "mass"),
    "no mass": (lambda: Inertia(None), "mass"),
    "two masses": (lambda: Inertia([1, 2]), "mass"),
    "word for mass": (lambda: Inertia("heavy"), "mass"),
    "short com": (lambda: Inertia(1, (0, 0)), "com"),
    "infinite com": (lambda: Inertia(1, (0, 0, np.inf)), "com"),
    "nan moment": (lambda: Inertia(1, (0, 0, 0), np.nan), "moment_about_com"),
    "asymmetric moment": (lambda: Inertia(1, (0, 0, 0), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "moment_about_com"),
    "4 by 4 moment": (lambda: Inertia(1, (0, 0, 0), np.eye(4)), "moment_about_com"),
    "two moments": (lambda: Inertia(1, (0, 0, 0), (1, 2)), "moment_about_com"),
    "word for moment": (lambda: Inertia(1, (0, 0, 0), "round"), "moment_about_com"),
    "ragged moment": (lambda: Inertia(1, (0, 0, 0), [[1, 2], [3]]), "moment_about_com"),
    "short size": (lambda: Inertia.box(1, (1, 1)), "size"),
    "negative size": (lambda: Inertia.box(1, (1, -1, 1)), "size"),
    "huge size": (lambda: Inertia.box(1, (1e200, 1, 1)), "size"),
    "box without mass": (lambda: Inertia.box(None, (1, 1, 1)), "mass"),
    "negative radius": (lambda: Inertia.sphere(1, -1), "radius"),
    "nan radius": (lambda: Inertia.sphere(1, np.nan), "radius"),
    "no radius": (lambda: Inertia.sphere(1, None), "radius"),
    "word for radius": (lambda: Inertia.sphere(1, "wide"), "radius"),
    "huge radius": (lambda: Inertia.sphere(1, 1e200), "radius"),
    "negative length": (lambda: Inertia.rod(1, -1), "length"),
    "no length": (lambda: Inertia.cylinder(1, 1, None), "length"),
    "negative cylinder radius": (lambda: Inertia.cylinder(1, -1, 1), "radius"),
}


@pytest.mark.parametrize("kind", BAD_INERTIAS)
def test_a_bad_inertia_is_refused_by_name(kind):
    make, name = BAD_INERTIAS[kind]
    with pytest.raises(ModelError, match=rf"^{name}: expected"):
        make()


@pytest.mark.parametrize("value", ["1", np.array(1 + 1j), 1 + 1j, b"1"], ids=repr)
def test_strings_and_complex_numbers_are_not_masses(value):
    with pytest.raises(ModelError, match="mass"):
        Inertia(value)


# ---- placement


def test_rpy_is_roll_then_pitch_then_yaw_about_fixed_axes():
    rng = np.random.default_rng(0)
    for roll, pitch, yaw in rng.uniform(-np.pi, np.pi, (20, 3)):
        R = rotation(2, yaw) @ rotation(1, pitch) @ rotation(0, roll)
        assert close(matrix(Placement(rpy=(roll, pitch, yaw)).rotation), R, 1e-15)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_quaternions_are_x_y_z_w(axis):
    for angle in (0.3, -2.0, 3.0):
        quaternion = np.zeros(4)
        quaternion[axis], quaternion[3] = np.sin(angle / 2), np.cos(angle / 2)
        assert close(matrix(Placement(quat=quaternion).rotation), rotation(axis, angle), 1e-15)
        assert close(matrix(Placement(quat=-quaternion).rotation), rotation(axis, angle), 1e-15)


def test_a_rotation_matrix_is_taken_as_it_is():
    R = rotation(2, 0.4) @ rotation(0, -1.1)
    assert (matrix(Placement(rotation=R).rotation) == R).all()


def test_the_rotation_turns_the_frame_into_its_parent():
    """A frame's x axis, seen from the parent, is the first column."""
    robot = Builder().add_frame("f", parent="world", placement=Placement((1, 2, 3), rpy=(0, 0, np.pi / 2))).build()
    X = robot.frame("f").X
    assert tuple(X.r) == (1.0, 2.0, 3.0)
    assert matrix(X.E.T)[:, 0].tolist() == [0.0, 1.0, 0.0]


def test_right_angles_have_exact_entries():
    for rpy in itertools.product(RIGHT_ANGLES, repeat=3):
        R = matrix(Placement(rpy=rpy).rotation)
        assert np.isin(R, (-1.0, 0.0, 1.0)).all()
        assert np.linalg.det(R) == pytest.approx(1)
    half = np.sqrt(0.5)
    for quaternion in ((half, 0, 0, half), (0, -half, 0, half), (0.5, 0.5, 0.5, 0.5), (0, 0, 1, 0)):
        assert np.isin(matrix(Placement(quat=quaternion).rotation), (-1.0, 0.0, 1.0)).all()


def test_small_angles_are_not_cleaned_away():
    assert matrix(Placement(rpy=(1e-15, 0, 0)).rotation)[2, 1] == 1e-15


def test_a_quaternion_off_by_rounding_is_normalised():
    quaternion = np.array([0.1, 0.2, 0.3, 0.9])
    quaternion /= np.linalg.norm(quaternion)
    R = matrix(Placement(quat=quaternion * (1 + 5e-7)).rotation)
    assert close(R @ R.T, np.eye(3), 1e-15)


BAD_PLACEMENTS = {
    "short xyz": (lambda: Placement((1, 2)), "xyz"),
    "nan xyz": (lambda: Placement((1, 2, np.nan)), "xyz"),
    "no xyz": (lambda: Placement(None), "xyz"),
    "a number for xyz": (lambda: Placement(1.0), "xyz"),
    "short rpy": (lambda: Placement(rpy=(1, 2)), "rpy"),
    "infinite rpy": (lambda: Placement(rpy=(0, 0, np.inf)), "rpy"),
    "word for rpy": (lambda: Placement(rpy="up"), "rpy"),
    "short quat": (lambda: Placement(quat=(0, 0, 1)), "quat"),
    "zero quat": (lambda: Placement(quat=(0, 0, 0, 0)), "quat"),
    "quat not unit": (lambda: Placement(quat=(0, 0, 0, 1.001)), "quat"),
    "huge quat": (lambda: Placement(quat=(1e200, 0, 0, 1)), "quat"),
    "rotation with a stretch": (lambda: Placement(rotation=2 * np.eye(3)), "rotation"),
    "mirror": (lambda: Placement(rotation=np.diag([1, 1, -1])), "rotation"),
    "huge rotation": (lambda: Placement(rotation=1e200 * np.eye(3)), "rotation"),
    "2 by 2 rotation": (lambda: Placement(rotation=np.eye(2)), "rotation"),
}


@pytest.mark.parametrize("kind", BAD_PLACEMENTS)
def test_a_bad_placement_is_refused_by_name(kind):
    make, name = BAD_PLACEMENTS[kind]
    with pytest.raises(ModelError, match=rf"^{name}: expected"):
        make()


def test_two_orientations_are_refused():
    for pair in itertools.combinations({"rpy": (0, 0, 0), "quat": (0, 0, 0, 1), "rotation": np.eye(3)}.items(), 2):
        with pytest.raises(ModelError, match="one of rpy, quat and rotation"):
            Placement(**dict(pair))


def test_placements_are_values():
    assert Placement((1, 2, 3), rpy=(0, 0, 0)) == Placement((1.0, 2.0, 3.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Placement().position = None


# ---- joints


@pytest.mark.parametrize("kind", [Revolute, Prismatic])
def test_axes_are_names_or_directions_of_any_length(kind):
    assert tuple(kind("y").axis) == (0.0, 1.0, 0.0)
    assert tuple(kind((0, 0, -7)).axis) == (0.0, 0.0, -1.0)
    assert close(tuple(kind((3, 0, 4)).axis), (0.6, 0, 0.8), 1e-15)
    for tiny_or_huge in (5e-324, 1e-200, 1e200, 1.7e308):
        assert close(tuple(kind((tiny_or_huge, tiny_or_huge, 0)).axis), (0.5**0.5, 0.5**0.5, 0), 1e-15)


@pytest.mark.parametrize("kind", [Revolute, Prismatic])
@pytest.mark.parametrize(
    "axis", [(0, 0, 0), (1, 0), "w", "", None, 1.0, (0, 0, np.nan), (np.inf, 0, 0), {"x": 1}], ids=repr
)
def test_a_bad_axis_is_refused_by_name(kind, axis):
    with pytest.raises(ModelError, match=r"^axis: expected"):
        kind(axis)


@pytest.mark.parametrize("joint", [Revolute("x"), Prismatic("x")], ids=repr)
def test_joints_do_not_change(joint):
    with pytest.raises(AttributeError):
        joint.axis = Revolute("y").axis
    assert tuple(joint.axis) == (1.0, 0.0, 0.0)


# ---- the tree


def theory_tree():
    """λ = (0, 1, 2, 1, 4, 4), the example of THEORY.md."""
    builder = Builder("theory")
    for i, parent in enumerate((0, 1, 2, 1, 4, 4), start=1):
        builder.add_body(f"b{i}", parent=f"b{parent}" if parent else "world", joint=Revolute("x"), inertia=BALL)
    return builder.build()


def test_parents_children_and_subtrees_of_the_example():
    tree = theory_tree()
    assert tree.parent == (-1, 0, 1, 2, 1, 4, 4)
    assert [tree.children(i) for i in range(7)] == [(1,), (2, 4), (3,), (), (5, 6), (), ()]
    assert [tree.subtree(i) for i in range(7)] == [
        (0, 1, 2, 3, 4, 5, 6),
        (1, 2, 3, 4, 5, 6),
        (2, 3),
        (3,),
        (4, 5, 6),
        (5,),
        (6,),
    ]
    assert all(type(j) is int for j in (*tree.parent, *tree.children(1), *tree.subtree(4)))


@pytest.mark.parametrize("i", [-1, 7, 100])
def test_a_body_number_out_of_range_is_refused(i):
    for function in (theory_tree().children, theory_tree().subtree):
        with pytest.raises(IndexError, match=rf"from 0 \(the world\) to 6, got {i}"):
            function(i)


@pytest.mark.parametrize("i", [0.5, "b1", None], ids=repr)
def test_what_is_not_a_body_number_is_refused(i):
    for function in (theory_tree().children, theory_tree().subtree):
        with pytest.raises(TypeError, match=r"^body: expected"):
            function(i)


def mixed_robot():
    return (
        Builder("mixed")
        .add_body("slider", joint=Prismatic("x"), inertia=BALL)
        .add_body("floater", joint=Free(), inertia=Inertia.box(2, (0.1, 0.2, 0.3)))
        .add_body("arm", parent="floater", joint=Revolute("z"), inertia=BALL, joint_name="elbow")
        .build()
    )


def test_sizes_names_and_slices():
    robot = mixed_robot()
    assert (robot.nq, robot.nv, robot.nb) == (9, 8, 3)
    assert robot.names == ("world", "slider", "floater", "arm")
    assert robot.joint_names == ("slider_joint", "floater_joint", "elbow")
    assert [(j.q, j.v, j.body) for j in map(robot.joint, robot.joint_names)] == [
        (slice(0, 1), slice(0, 1), 1),
        (slice(1, 8), slice(1, 7), 2),
        (slice(8, 9), slice(7, 8), 3),
    ]
    assert isinstance(robot.joint("elbow").kind, Revolute)
    assert robot.body("arm").index == 3
    assert robot.body("arm").parent == 2
    assert robot.body("world").parent == -1
    assert repr(robot) == "<Model 'mixed': 3 bodies, nq 9, nv 8>"


def test_neutral_and_random_configurations():
    robot = mixed_robot()
    assert robot.neutral().tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert robot.random(3).tolist() == robot.random(np.random.default_rng(3)).tolist()
    assert robot.random(3).tolist() != robot.random(4).tolist()
    rng = np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(200)])
    assert q.shape == (200, 9)
    assert close(np.linalg.norm(q[:, 4:8], axis=1), 1.0, 1e-15)
    assert np.abs(q[:, 8]).max() > 2.5  # the whole turn
    assert np.abs(q[:, 8]).max() <= np.pi
    assert np.isfinite(fw.mass_matrix(robot, q)).all()


def test_an_empty_robot_is_a_robot():
    robot = Builder("nothing").build()
    assert (robot.nq, robot.nv, robot.nb, robot.names) == (0, 0, 0, ("world",))
    assert robot.neutral().shape == robot.random(0).shape == (0,)


def test_gravity_acts_as_given():
    def torque(gravity):
        bob = Inertia.point(2, (0, 0, -3))
        robot = Builder(gravity=gravity).add_body("bob", joint=Revolute("y"), inertia=bob).build()
        assert robot.gravity.tolist() == list(gravity)
        return fw.inverse_dynamics(robot, [0.0], [0.0], [0.0])[0]

    assert fw.robots.pendulum().gravity.tolist() == [0, 0, -9.81]
    assert torque((0, 0, -9.81)) == 0
    assert torque((0, 0, 0)) == 0
    assert torque((1.5, 0, 0)) == pytest.approx(2 * 3 * 1.5)  # pushes the bob to +x: held by a torque about +y
    assert torque((0, 7.0, 0)) == 0


def test_changing_what_a_model_returns_does_not_change_the_model():
    robot = fw.robots.pendulum()
    robot.gravity[:] = 0
    robot.neutral()[:] = 5
    assert robot.gravity.tolist() == [0, 0, -9.81]
    assert robot.neutral().tolist() == [0]


# ---- frames, contact points and fixed joints


def arm(between, rotor=None, parameters=()):
    """Two moving links; the second hangs on a bracket and carries a tool, both on joints `between`."""
    return (
        Builder("arm", parameters=parameters)
        .add_body("upper", joint=Revolute((1, 2, 3)), inertia=Inertia.rod(2, 0.8, (0, 0, -0.4)))
        .add_body(
            "bracket",
            parent="upper",
            joint=between("z"),
            placement=Placement((0.1, 0.2, -0.8), rpy=(0.3, -0.4, 0.5)),
            inertia=Inertia(0.5, (0.05, 0, 0.02), (0.01, 0.02, 0.015)),
        )
        .add_body(
            "lower", parent="bracket", joint=Revolute("y"), placement=Placement((0, 0, -0.1)), inertia=BALL, rotor=rotor
        )
        .add_body(
            "tool",
            parent="lower",
            joint=between("x"),
            placement=Placement((0.2, 0, -0.3), rpy=(1, 2, 3)),
            inertia=Inertia.box(0.7, (0.1, 0.2, 0.3), (0.1, 0, 0)),
        )
        .add_body("tip", parent="tool", joint=between("y"), placement=Placement((0.1, 0, 0)), inertia=BALL)
        .build()
    )


MERGED = arm(lambda axis: Fixed())
LOCKED = arm(Revolute)  # the same with joints that stay at zero
MOVING = [0, 2]  # the two joints of MERGED among the five of LOCKED


def test_bodies_on_fixed_joints_are_merged():
    assert MERGED.names == ("world", "upper", "lower")
    assert MERGED.joint_names == ("upper_joint", "lower_joint")
    assert (MERGED.nq, MERGED.nv, MERGED.nb) == (2, 2, 2)
    assert MERGED.parent == (-1, 0, 1)
    assert float(MERGED.body("upper").inertia.m) == pytest.approx(2.5)
    assert float(MERGED.body("lower").inertia.m) == pytest.approx(2.7)


WHEEL = Rotor(7.0, Inertia(0.3, (0, 0.1, 0), (0.01, 0.02, 0.01)), Placement((0.1, 0.3, -0.2), rpy=(0, 0, 0.4)))


@pytest.mark.parametrize("rotor", [None, WHEEL], ids=["", "with a rotor on what is merged"])
def test_merged_bodies_move_as_locked_ones(rotor):
    merged, locked = arm(lambda axis: Fixed(), rotor), arm(Revolute, rotor)
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 20, 2))
    wide_q, wide_v, wide_a = np.zeros((3, 20, 5))
    wide_q[:, MOVING], wide_v[:, MOVING], wide_a[:, MOVING] = q, v, a
    M = fw.mass_matrix(locked, wide_q)[:, MOVING][:, :, MOVING]
    tau = fw.inverse_dynamics(locked, wide_q, wide_v, wide_a)[:, MOVING]
    assert close(fw.mass_matrix(merged, q), M)
    assert close(fw.inverse_dynamics(merged, q, v, a), tau)
    assert close(fw.forward_dynamics(merged, q, v, tau), a, 1e-11)


def test_masses_of_merged_links_are_parameters():
    """With the link's own number given it is the same robot, wherever the link is on its body."""
    model, q = arm(lambda axis: Fixed(), parameters=("tool.mass", "bracket.mass")), [0.3, -0.4]
    assert close(fw.mass_matrix(model, q, parameters={"tool.mass": 0.7}), fw.mass_matrix(MERGED, q))
    light = fw.mass_matrix(model, q, parameters={"tool.mass": 0.7, "bracket.mass": 0.25})
    assert np.abs(light - fw.mass_matrix(MERGED, q)).max() > 0.01


def frame_pose(model, q, name):
    """World pose of a named frame, from the pose of its body."""
    frame, poses = model.frame(name), fw.forward_kinematics(model, q)
    R, p = poses.rotation[frame.body], poses.position[frame.body]
    return R @ matrix(frame.X.E.T), p + R @ np.array([float(x) for x in frame.X.r])


@pytest.mark.parametrize("name", ["upper", "bracket", "bracket_joint", "lower", "tool", "tip", "tip_joint", "world"])
def test_merged_links_stay_as_frames_in_their_place(name):
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = rng.normal(size=2)
        wide = np.zeros(5)
        wide[MOVING] = q
        for merged, locked in zip(frame_pose(MERGED, q, name), frame_pose(LOCKED, wide, name), strict=True):
            assert close(merged, locked, 1e-14)


def test_a_body_split_in_two_is_the_same_body():
    whole = Builder().add_body("bar", joint=Free(), inertia=Inertia.rod(2, 1)).build()
    halves = (
        Builder()
        .add_body("bar", joint=Free(), inertia=Inertia.rod(1, 0.5, (0, 0, 0.25)))
        .add_body("half", parent="bar", placement=Placement((0, 0, -0.25), rpy=(0.3, 0, 0)), inertia=tilted_rod())
        .build()
    )
    q = whole.random(0)
    assert close(fw.mass_matrix(whole, q), fw.mass_matrix(halves, q))


def tilted_rod():
    """Half a metre of rod along z of a frame turned by 0.3 rad about x from here."""
    R = rotation(0, -0.3)
    return Inertia(1, (0, 0, 0), R @ matrix(Inertia.rod(1, 0.5).moment_about_com) @ R.T)


def test_what_is_fixed_to_the_world_weighs_on_nothing():
    plain = fw.robots.pendulum()
    standing = (
        Builder()
        .add_body("floor", inertia=Inertia.box(1000, (10, 10, 1)))
        .add_body("bob", parent="floor", joint=Revolute("y"), inertia=Inertia.point(1, (0, 0, -1)))
        .build()
    )
    assert standing.nb == 1
    assert standing.frame("floor").body == 0
    state = [0.4], [0.5], [0.6]
    assert fw.inverse_dynamics(standing, *state).tobytes() == fw.inverse_dynamics(plain, *state).tobytes()


def test_frames_hang_on_frames():
    robot = (
        Builder()
        .add_body("link", joint=Revolute("z"), placement=Placement((1, 0, 0)), inertia=BALL)
        .add_frame("a", parent="link", placement=Placement((0, 2, 0), rpy=(0, 0, np.pi / 2)))
        .add_frame("b", parent="a", placement=Placement((3, 0, 0)))
        .add_frame("c", parent="link_joint")
        .build()
    )
    assert tuple(robot.frame("b").X.r) == (0.0, 5.0, 0.0)  # a's x axis is the link's y axis
    assert robot.frame("b").body == robot.body("link").index
    assert tuple(robot.frame("c").X.r) == (0.0, 0.0, 0.0)
    assert set(robot.frames) == {"world", "link", "link_joint", "a", "b", "c"}


def test_contact_points_are_in_the_axes_of_the_moving_body():
    robot = (
        Builder()
        .add_body("leg", joint=Revolute("y"), inertia=BALL)
        .add_body("foot", parent="leg", placement=Placement((0, 0, -1), rpy=(0, 0, np.pi / 2)))
        .add_contact_point("toe", parent="foot", position=(0.2, 0, 0), radius=0.02)
        .add_contact_point("heel", parent="leg")
        .build()
    )
    toe, heel = robot.contact_points
    assert (toe.name, toe.body, toe.position, toe.radius) == ("toe", 1, (0.0, 0.2, -1.0), 0.02)
    assert (heel.name, heel.body, heel.position, heel.radius) == ("heel", 1, (0.0, 0.0, 0.0), 0.0)
    assert robot.frame("toe").body == 1
    assert tuple(robot.frame("toe").X.r) == toe.position


# ---- lookups


@pytest.mark.parametrize(
    ("lookup", "name", "hint"),
    [
        ("joint", "elbwo", "did you mean 'elbow'"),
        ("body", "amr", "did you mean 'arm'"),
        ("frame", "slider_jont", "did you mean 'slider_joint'"),
        ("joint", "slid", "did you mean 'slider_joint'"),
        ("joint", "zzz", "there are slider_joint, floater_joint, elbow"),
        ("body", "zzz", "there are world, slider, floater, arm"),
        ("joint", "", "there are slider_joint, floater_joint, elbow"),
        ("frame", None, "no frame named None"),
        ("frame", [], r"no frame named \[\]"),
        ("body", 3, "no body named 3"),
        ("joint", "arm", "no joint named 'arm'"),  # a body is not a joint
    ],
)
def test_an_unknown_name_is_a_key_error_with_near_matches(lookup, name, hint):
    with pytest.raises(KeyError, match=hint):
        getattr(mixed_robot(), lookup)(name)


# ---- what a builder refuses


def with_body(**options):
    return Builder().add_body("leg", **{"joint": Revolute("x"), "inertia": BALL, **options})


def movable(inertia):
    return with_body(inertia=inertia).build()


REFUSED = {  # what is done, and what the message must contain
    "body twice": (lambda: with_body().add_body("leg"), ("body 'leg'", "used already", "unique")),
    "body named world": (lambda: Builder().add_body("world"), ("body 'world'", "used already")),
    "body named like a frame": (lambda: with_body().add_frame("f", parent="leg").add_body("f"), ("body 'f'", "unique")),
    "joint twice": (lambda: with_body().add_body("b", joint_name="leg_joint"), ("'b'", "'leg_joint'", "joint_name=")),
    "joint without a name": (lambda: with_body(joint_name=""), ("body 'leg'", "joint_name")),
    "number for a joint's name": (lambda: with_body(joint_name=3), ("body 'leg'", "joint_name", "3")),
    "list for a joint's name": (lambda: with_body(joint_name=[]), ("body 'leg'", "joint_name")),
    "body without a name": (lambda: Builder().add_body(""), ("body", "expected a name")),
    "number for a name": (lambda: Builder().add_body(3), ("body", "expected a name", "3")),
    "unknown parent": (lambda: with_body(parent="hip"), ("body 'leg'", "parent", "'hip'", "add the parent first")),
    "parent with a typo": (lambda: with_body().add_body("b", parent="lge"), ("'lge'", "did you mean 'leg'")),
    "list for a parent": (lambda: with_body(parent=[]), ("body 'leg'", "parent")),
    "not a joint": (lambda: with_body(joint="revolute"), ("body 'leg'", "joint", "featherweight.joints", "revolute")),
    "class for a joint": (lambda: with_body(joint=Revolute), ("body 'leg'", "joint", "Revolute")),
    "joint of no kind": (lambda: with_body(joint=Joint()), ("body 'leg'", "joint")),
    "not a placement": (lambda: with_body(placement=(0, 0, 1)), ("body 'leg'", "placement", "tuple")),
    "not an inertia": (lambda: with_body(inertia=1.0), ("body 'leg'", "inertia", "float")),
    "no inertia": (lambda: with_body(inertia=None).build(), ("body 'leg'", "mass is 0", 'policy="warn"')),
    "no mass": (lambda: movable(Inertia(0.0, (0, 0, 0), 1)), ("body 'leg'", "mass is 0", "mass > 0", "correct it")),
    "triangle": (
        lambda: movable(Inertia(1, (0, 0, 0), (1, 1, 3))),
        ("body 'leg'", "triangle", "1, 1, 3", "correct it"),
    ),
    "negative moment": (lambda: movable(Inertia(1, (0, 0, 0), (-1, 3, 3))), ("body 'leg'", "negative", "-1, 3, 3")),
    "inertia that overflows": (lambda: Inertia(1, (1e200, 0, 0), 1), ("com", "1e100")),
    "moments that overflow": (lambda: Inertia(1, (0, 0, 0), 1e308), ("moment", "1e100")),
    "short gravity": (lambda: Builder(gravity=(0, -9.81)), ("gravity", "(3,)", "(2,)")),
    "number for gravity": (lambda: Builder(gravity=-9.81), ("gravity", "(3,)", "()")),
    "nan in gravity": (lambda: Builder(gravity=(0, 0, np.nan)), ("gravity", "finite")),
    "unknown policy": (lambda: Builder(policy="lenient"), ("policy", "strict", "warn", "'lenient'")),
    "number for a robot's name": (lambda: Builder(3), ("name", "3")),
    "frame twice": (lambda: with_body().add_frame("leg", parent="world"), ("frame 'leg'", "unique")),
    "frame on nothing": (
        lambda: Builder().add_frame("f", parent="leg"),
        ("frame 'f'", "'leg'", "add the parent first"),
    ),
    "frame without a placement": (
        lambda: Builder().add_frame("f", parent="world", placement=1),
        ("frame 'f'", "placement", "int"),
    ),
    "point twice": (
        lambda: with_body().add_contact_point("p", parent="leg").add_contact_point("p", parent="leg"),
        ("contact point 'p'", "unique"),
    ),
    "point on nothing": (lambda: Builder().add_contact_point("p", parent="leg"), ("contact point 'p'", "'leg'")),
    "negative radius": (lambda: with_body().add_contact_point("p", parent="leg", radius=-1), ("'p'", "radius", "-1")),
    "nan radius": (lambda: with_body().add_contact_point("p", parent="leg", radius=np.nan), ("'p'", "radius", "nan")),
    "short position": (
        lambda: with_body().add_contact_point("p", parent="leg", position=(1, 2)),
        ("contact point 'p'", "position", "(3,)", "(2,)"),
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_wrong_description_is_refused_with_the_body_and_the_remedy(kind):
    make, phrases = REFUSED[kind]
    with pytest.raises(ModelError) as caught:
        make()
    for phrase in phrases:
        assert phrase in str(caught.value)


def test_a_refused_addition_leaves_the_builder_as_it_was():
    builder = with_body()
    wrongs = [
        lambda: builder.add_body("leg"),
        lambda: builder.add_body("b", parent="nowhere"),
        lambda: builder.add_body("b", parent="leg", inertia=1.0),
        lambda: builder.add_body("b", parent="leg", inertia=BALL, joint_name="leg_joint"),
        lambda: builder.add_frame("f", parent="nowhere"),
        lambda: builder.add_contact_point("p", parent="leg", radius=-1),
    ]
    for wrong in wrongs:
        with pytest.raises(ModelError):
            wrong()
    model, fresh = builder.build(), with_body().build()
    assert set(model.frames) == set(fresh.frames)
    assert model.inertias == fresh.inertias
    assert model.contact_points == ()
    builder.add_body("b").add_frame("f", parent="leg").add_contact_point("p", parent="f")


def test_a_massless_link_may_get_its_mass_from_what_is_fixed_to_it():
    robot = with_body(inertia=None).add_body("load", parent="leg", inertia=Inertia.point(2, (0, 0, 1))).build()
    assert fw.mass_matrix(robot, [0.0])[0, 0] == pytest.approx(2.0)


def test_a_thin_rod_and_a_point_are_possible_bodies():
    movable(Inertia.rod(1, 1))
    movable(Inertia.point(1, (100, 0, 0)))
    movable(Inertia(1, (0, 0, 0), (1, 2, 3)))  # the largest is just the sum of the others


def test_policy_warn_warns_and_takes_the_body_as_it_is():
    builder = Builder(policy="warn")
    with pytest.warns(UserWarning, match=r"body 'leg'.*triangle inequality"):
        builder.add_body("leg", joint=Revolute("x"), inertia=Inertia(1, (0, 0, 0), (1, 1, 3)))
    robot = builder.build()
    assert fw.mass_matrix(robot, [0.0])[0, 0] == 1.0


def test_building_twice_or_further_does_not_touch_an_earlier_model():
    builder = with_body()
    first, second = builder.build(), builder.build()
    builder.add_body("foot", parent="leg", inertia=Inertia.point(5)).add_frame("f", parent="leg")
    third = builder.build()
    assert first.inertias == second.inertias != third.inertias
    assert "f" not in first.frames
    assert "f" in third.frames


# ---- models do not change, and travel


def test_models_are_frozen():
    robot = mixed_robot()
    for name in ("name", "names", "parent", "gravity", "nq", "something_new"):
        with pytest.raises(AttributeError):
            setattr(robot, name, None)
    with pytest.raises(AttributeError):
        del robot.parent
    with pytest.raises(TypeError):
        robot.frames["new"] = None
    with pytest.raises(AttributeError):
        robot.joint("elbow").name = "knee"


TRAVEL = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {p}": lambda m, p=p: pickle.loads(pickle.dumps(m, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)},
}


def all_results(model):
    rng = np.random.default_rng(5)
    results = []
    for batch in [(), (9,)]:
        q = np.array([model.random(rng) for _ in range(9)]) if batch else model.random(rng)
        x, y = rng.normal(size=(2, *batch, model.nv))
        results += [
            fw.forward_dynamics(model, q, x, y),
            fw.inverse_dynamics(model, q, x, y),
            fw.joint_wrenches(model, q, x, y),
            fw.mass_matrix(model, q),
            *fw.forward_kinematics(model, q),
        ]
    return [r.tobytes() for r in results]


@pytest.mark.parametrize("way", TRAVEL)
def test_a_copy_computes_the_same_bits_and_carries_no_kernels(way):
    robot = (
        Builder("traveller", gravity=(0.1, 0.2, -9))
        .add_body("base", joint=Free(), inertia=Inertia.box(3, (0.3, 0.2, 0.1)))
        .add_body("arm", parent="base", joint=Revolute((1, 1, 0)), placement=Placement((0.1, 0, 0)), inertia=BALL)
        .add_contact_point("hand", parent="arm", position=(0, 0, 1), radius=0.1)
        .build()
    )
    expected = all_results(robot)  # kernels are there now
    assert robot.cache.kernels
    other = TRAVEL[way](robot)
    assert not other.cache.kernels
    assert not other.cache.entries
    assert robot.cache.kernels
    assert all_results(other) == expected
    assert other.names == robot.names
    assert other.contact_points == robot.contact_points
    assert dict(other.frames) == dict(robot.frames)
    with pytest.raises(AttributeError):
        other.name = "changed"
    with pytest.raises(TypeError):
        other.frames["new"] = None


def test_the_pickle_of_a_used_model_is_as_small_as_that_of_a_new_one():
    robot = fw.robots.chain(3)
    before = pickle.dumps(robot)
    all_results(robot)
    assert len(pickle.dumps(robot)) < len(before) + 2000  # a fingerprint at most, no code


# ---- built-in robots


def test_built_in_robots_have_their_names_and_sizes():
    assert fw.robots.pendulum().joint_names == ("hinge",)
    assert fw.robots.double_pendulum().joint_names == ("shoulder", "elbow")
    assert fw.robots.cartpole().joint_names == ("rail", "hinge")
    chain = fw.robots.chain(4)
    assert chain.joint_names == ("joint1", "joint2", "joint3", "joint4")
    assert chain.parent == (-1, 0, 1, 2, 3)
    assert np.array_equal(fw.forward_kinematics(chain, np.zeros(4)).position[:, 2], [0, 0, 1.5, 3.0, 4.5])


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", None, True], ids=repr)
def test_a_chain_needs_a_whole_number_of_links(n):
    with pytest.raises(ModelError, match=r"^n: expected a whole number"):
        fw.robots.chain(n)


def test_a_numpy_integer_is_a_whole_number():
    assert fw.robots.chain(np.int64(3)).nb == 3


@pytest.mark.parametrize(
    "make", [fw.robots.pendulum, fw.robots.double_pendulum, fw.robots.cartpole, lambda: fw.robots.chain(2)]
)
def test_built_in_robots_compute(make):
    robot = make()
    q, x = np.full(robot.nq, 0.3), np.full(robot.nv, 0.2)
    assert close(fw.inverse_dynamics(robot, q, x, fw.forward_dynamics(robot, q, x, x)), x)


def test_a_body_that_cannot_exist_is_refused_also_where_it_would_be_merged():
    wrong = Inertia(1, (0, 0, 0), (-1, -1, -5))
    for parent in ("world", "leg"):
        with pytest.raises(ModelError, match=r"body 'load'.*negative"):
            with_body().add_body("load", parent=parent, inertia=wrong)


def test_a_rotation_that_is_nearly_one_is_made_one():
    R = np.array(Placement(rotation=np.eye(3) * (1 + 4e-7)).rotation, dtype=float)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
