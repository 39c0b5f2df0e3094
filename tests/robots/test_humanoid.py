"""The humanoid: mass and size as asked for, standing on its soles, the same on both sides, fit for dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.visuals import shapes_of

HINGED, BALLS = fw.robots.humanoid(), fw.robots.humanoid(ball_joints=True)
BOTH = pytest.mark.parametrize("robot", [HINGED, BALLS], ids=["hinges", "balls"])
SIZES = [{}, {"height": 1.1, "mass": 19.0}, {"height": 2.05, "mass": 131.7}, {"armature": 0.01}]
HEIGHT, MASS = 1.75, 75.0
PELVIS = 0.53  # of the height, as documented
CORNERS = ("heel_inner", "heel_outer", "toe_inner", "toe_outer")
SOLE = {f"{side}_{corner}" for side in ("left", "right") for corner in CORNERS}
MIRROR = np.diag([1.0, -1.0, 1.0])


def mass(robot: fw.Model) -> float:
    return sum(inertia.m for inertia in robot.inertias)


def standing(robot: fw.Model) -> np.ndarray:
    q = robot.neutral()
    q[2] = PELVIS * HEIGHT
    return q


def anywhere(robot: fw.Model, rng: np.random.Generator, n: int) -> np.ndarray:
    """Half of the configurations within the limits of the joints, half anywhere."""
    q = np.array([robot.random(rng) for _ in range(n)])
    for joint in robot.joints:
        if joint.kind.nq == 1:
            q[n // 2 :, joint.q] = rng.uniform(-np.pi, np.pi, (n - n // 2, 1))
    return q


def other_side(name: str) -> str:
    """The name's twin; its own for parts in the middle."""
    side, _, rest = name.partition("_")
    return {"left": f"right_{rest}", "right": f"left_{rest}"}.get(side, name)


def mirrored(robot: fw.Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left for right: positions and velocities change the sign of y, rotations and angular velocities of x and z."""
    q2, v2 = np.empty_like(q), np.empty_like(v)
    turn = np.array([-1.0, 1.0, -1.0])
    for joint in robot.joints:
        twin = robot.joint(other_side(joint.name))
        if isinstance(joint.kind, fw.joints.Free):
            signs_q, signs_v = [*MIRROR.diagonal(), *turn, 1.0], [*MIRROR.diagonal(), *turn]
        elif isinstance(joint.kind, fw.joints.Spherical):
            signs_q, signs_v = [*turn, 1.0], [*turn]
        else:
            signs_q = signs_v = [turn @ np.array(joint.kind.axis)]
        q2[..., twin.q] = q[..., joint.q] * signs_q
        v2[..., twin.v] = v[..., joint.v] * signs_v
    return q2, v2


# ---- mass and size


@pytest.mark.parametrize("ball_joints", [False, True])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_mass_is_the_mass_asked_for(size: dict[str, float], ball_joints: bool) -> None:
    wanted = size.get("mass", MASS)
    assert abs(mass(fw.robots.humanoid(ball_joints=ball_joints, **size)) - wanted) <= 1e-12 * wanted


@pytest.mark.parametrize(
    ("root", "share"),
    [("left_thigh", 0.161), ("right_shank", 0.061), ("left_upper_arm", 0.050), ("right_hand", 0.006), ("head", 0.081),
     ("lumbar_pitch_link", 0.678 - 0.142)],
)  # fmt: skip
def test_parts_have_the_shares_of_winters_table(root: str, share: float) -> None:
    """Table 4.1: total leg, foot and leg, total arm, hand, head and neck; head, arms and trunk without pelvis."""
    masses = [BALLS.inertias[i].m for i in BALLS.subtree(BALLS.names.index(root))]
    assert sum(masses) == pytest.approx(share * MASS, rel=1e-12)


@BOTH
def test_it_stands_on_its_soles_and_is_as_tall_as_asked_for(robot: fw.Model) -> None:
    q = standing(robot)
    R, p = fw.forward_kinematics(robot, q)
    at = {point.name: R[point.body] @ point.position + p[point.body] for point in robot.contact_points}
    top = {point.name: at[point.name][2] + point.radius for point in robot.contact_points}
    low = {point.name: at[point.name][2] - point.radius for point in robot.contact_points}
    assert all(abs(low[name]) < 1e-12 for name in SOLE)
    assert all(low[name] > 0.1 for name in low if name not in SOLE)
    assert abs(top["head_top"] - HEIGHT) < 1e-12
    assert max(top.values()) == top["head_top"]


@pytest.mark.parametrize("height", [0.5, 1.1, 2.05])
def test_lengths_grow_with_the_height(height: float) -> None:
    robot = fw.robots.humanoid(height=height)
    ratio = height / HEIGHT
    for point, usual in zip(robot.contact_points, HINGED.contact_points, strict=True):
        assert np.allclose(point.position, np.multiply(usual.position, ratio), rtol=1e-12, atol=1e-15)
        assert point.radius == pytest.approx(usual.radius * ratio, rel=1e-12)
    for X, usual in zip(robot.X_tree, HINGED.X_tree, strict=True):
        assert np.allclose(X.r, np.multiply(usual.r, ratio), rtol=1e-12, atol=1e-15)


@BOTH
def test_a_solid_body_can_have_every_inertia(robot: fw.Model) -> None:
    for part in robot.parts:
        low, middle, high = np.linalg.eigvalsh(part.inertia.moment_about_com)
        assert low > 0
        assert high < low + middle


@BOTH
def test_the_centre_of_mass_of_a_standing_person(robot: fw.Model) -> None:
    """Between 55 and 60 % of the height, in the middle, over the feet."""
    x, y, z = fw.center_of_mass(robot, standing(robot))
    assert 0.55 < z / HEIGHT < 0.60
    assert abs(y) < 1e-15
    assert -0.04 * HEIGHT < x < 0.112 * HEIGHT


@pytest.mark.parametrize("name", ["height", "mass"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "tall", None, [1.0, 2.0], True])
def test_sizes_that_no_person_has_are_refused(name: str, value: object) -> None:
    with pytest.raises(fw.ModelError, match=name):
        fw.robots.humanoid(**{name: value})


def test_other_keywords_are_checked() -> None:
    with pytest.raises(fw.ModelError, match="ball_joints"):
        fw.robots.humanoid(ball_joints="no")
    with pytest.raises(fw.ModelError, match="armature"):
        fw.robots.humanoid(armature=-1.0)


# ---- joints and contact points


def test_it_has_the_joints_of_a_person() -> None:
    assert (HINGED.nq, HINGED.nv, HINGED.nb) == (38, 37, 32)
    limbs = "hip_yaw hip_roll hip_pitch knee ankle_pitch ankle_roll shoulder_pitch shoulder_roll shoulder_yaw elbow"
    names = {f"{side}_{joint}" for side in ("left", "right") for joint in limbs.split()}
    assert names | {"base", "lumbar_pitch", "lumbar_roll", "neck_yaw"} <= set(HINGED.joint_names)


def test_ball_joints_have_quaternions() -> None:
    assert (BALLS.nq, BALLS.nv, BALLS.nb) == (43, 37, 22)
    for name in ("neck", "left_hip", "right_hip", "left_shoulder", "right_shoulder"):
        joint = BALLS.joint(name)
        assert isinstance(joint.kind, fw.joints.Spherical)
        assert BALLS.neutral()[joint.q].tolist() == [0, 0, 0, 1]


def test_ball_joints_change_no_mass_and_no_place() -> None:
    """At q = 0 the slices between hinges lie in the segments they are cut from: one rigid body, the same."""
    assert mass(BALLS) == pytest.approx(mass(HINGED), rel=1e-14)
    com = [fw.center_of_mass(robot, standing(robot)) for robot in (HINGED, BALLS)]
    assert np.allclose(*com, rtol=0, atol=1e-14)
    whole = [fw.mass_matrix(robot, standing(robot))[:6, :6] for robot in (HINGED, BALLS)]
    assert np.allclose(*whole, rtol=0, atol=1e-12)


@BOTH
def test_the_neutral_configuration_is_within_the_limits(robot: fw.Model) -> None:
    q = robot.neutral()
    for joint in robot.joints:
        lower, upper = np.array(joint.limits.lower), np.array(joint.limits.upper)
        assert (lower < upper).all()
        assert (lower <= q[joint.q]).all()
        assert (q[joint.q] <= upper).all()
        if joint.name != "base":
            assert np.isfinite([*joint.limits.velocity, *joint.limits.effort]).all()
            assert min(*joint.limits.velocity, *joint.limits.effort, *joint.damping) > 0


def bend(robot: fw.Model, point: str, **angles: float) -> np.ndarray:
    """How far a point goes when joints turn by these angles."""
    q = robot.neutral()
    before = fw.frame_pose(robot, q, point).position
    for name, angle in angles.items():
        q[robot.joint(name).q] = angle
    return fw.frame_pose(robot, q, point).position - before


def test_joints_bend_as_those_of_a_person() -> None:
    upper, lower = ({j.name: getattr(j.limits, side)[0] for j in HINGED.joints} for side in ("upper", "lower"))
    assert bend(HINGED, "left_heel_inner", left_knee=upper["left_knee"])[0] < -0.1  # the heel goes back
    assert bend(HINGED, "left_palm", left_elbow=lower["left_elbow"])[0] > 0.1  # the hand goes forward
    assert bend(HINGED, "left_kneecap", left_hip_pitch=lower["left_hip_pitch"])[0] > 0.2  # so does the knee
    assert bend(HINGED, "left_toe_inner", left_ankle_pitch=upper["left_ankle_pitch"])[2] < -0.1  # on tiptoe
    for side, sign in (("left", 1), ("right", -1)):  # arms and legs open outward
        limit = {"left": upper, "right": lower}[side]
        assert sign * bend(HINGED, f"{side}_kneecap", **{f"{side}_hip_roll": limit[f"{side}_hip_roll"]})[1] > 0.1
        raised = bend(HINGED, f"{side}_palm", **{f"{side}_shoulder_roll": limit[f"{side}_shoulder_roll"] / 2})
        assert sign * raised[1] > 0.5


def test_contact_points_are_on_their_sides() -> None:
    names = [point.name for point in HINGED.contact_points]
    assert len(set(names)) == len(names) == 24
    assert set(names) > SOLE
    R, p = fw.forward_kinematics(HINGED, standing(HINGED))
    y = {point.name: (R[point.body] @ point.position + p[point.body])[1] for point in HINGED.contact_points}
    for name, offset in y.items():
        if name.startswith("left_"):
            assert offset > 0.01
            assert y[other_side(name)] == -offset
        elif not name.startswith("right_"):
            assert offset == 0
    assert y["left_heel_outer"] > y["left_heel_inner"]


# ---- mechanics


@BOTH
def test_the_mirror_image_moves_as_the_mirror_image(robot: fw.Model) -> None:
    rng = np.random.default_rng(3)
    q, v = anywhere(robot, rng, 8), rng.normal(size=(8, robot.nv))
    q2, v2 = mirrored(robot, q, v)
    assert np.allclose(fw.center_of_mass(robot, q2), fw.center_of_mass(robot, q) @ MIRROR, rtol=0, atol=1e-13)
    for change in (fw.kinetic_energy(robot, q, v) - fw.kinetic_energy(robot, q2, v2),
                   fw.potential_energy(robot, q) - fw.potential_energy(robot, q2)):  # fmt: skip
        assert np.abs(change).max() < 1e-10
    tau = rng.normal(size=(8, robot.nv))
    a, a2 = (fw.forward_dynamics(robot, *state) for state in ((q, v, tau), (q2, v2, mirrored(robot, q, tau)[1])))
    assert np.allclose(mirrored(robot, q, a)[1], a2, rtol=1e-8, atol=1e-8 * np.abs(a).max())


@BOTH
def test_limits_and_passive_forces_are_the_same_on_both_sides(robot: fw.Model) -> None:
    for joint in robot.joints:
        twin = robot.joint(other_side(joint.name))
        assert joint.damping == twin.damping
        assert (joint.limits.velocity, joint.limits.effort) == (twin.limits.velocity, twin.limits.effort)
        if isinstance(joint.kind, fw.joints.Revolute):
            lower, upper = joint.limits.lower[0], joint.limits.upper[0]
            expected = (lower, upper) if joint.kind.axis.y else (-upper, -lower)
            assert (twin.limits.lower[0], twin.limits.upper[0]) == expected


@BOTH
def test_the_mass_matrix_is_well_conditioned_everywhere(robot: fw.Model) -> None:
    """Also where the outer axes of three hinges are parallel."""
    q = anywhere(robot, np.random.default_rng(5), 400)
    for joint in robot.joints:
        if joint.name.endswith(("hip_roll", "shoulder_roll", "neck_roll")):
            q[::2, joint.q] = np.pi / 2
    values = np.linalg.eigvalsh(fw.mass_matrix(robot, q))
    assert values.min() > 0
    assert (values[:, -1] / values[:, 0]).max() < 1e5


def test_armature_is_on_every_joint_but_the_base() -> None:
    q = standing(HINGED)
    added = fw.mass_matrix(fw.robots.humanoid(armature=0.02), q) - fw.mass_matrix(HINGED, q)
    assert np.allclose(added, np.diag([0.0] * 6 + [0.02] * 31), rtol=0, atol=1e-13)


@BOTH
@pytest.mark.parametrize("shape", [(), (9,)], ids=["one state", "a batch"])
def test_without_forces_it_falls_with_gravity(robot: fw.Model, shape: tuple[int, ...]) -> None:
    """Whatever the joints do, momentum changes by the weight alone: A a + Ȧ v = [m g; 0]."""
    rng = np.random.default_rng(7)
    q, v = anywhere(robot, rng, 9), rng.normal(size=(9, robot.nv))
    q, v = (q, v) if shape else (q[0], v[0])
    a = fw.forward_dynamics(robot, q, v, np.zeros(robot.nv))
    assert a.shape == (*shape, robot.nv)
    rate = np.einsum("...ij,...j->...i", fw.centroidal_momentum_matrix(robot, q), a) + fw.centroidal_bias(robot, q, v)
    expected = np.array([*(MASS * robot.gravity), 0.0, 0.0, 0.0])
    assert np.abs(rate - expected).max() < 1e-12 * MASS * 9.81


@BOTH
def test_at_rest_in_free_fall_nothing_bends(robot: fw.Model) -> None:
    a = fw.forward_dynamics(robot, standing(robot), np.zeros(robot.nv), np.zeros(robot.nv))
    assert np.allclose(a, [0, 0, -9.81] + [0] * (robot.nv - 3), rtol=0, atol=1e-9)


@BOTH
def test_a_limp_body_slows_down(robot: fw.Model) -> None:
    v = np.random.default_rng(9).normal(size=robot.nv)
    assert fw.passive_force(robot, standing(robot), v) @ v < 0


def test_all_sizes_move_alike() -> None:
    """Froude's law: lengths times λ, times √λ the time; then limp bodies of all sizes and masses fall the same way."""
    ratio = 0.6
    small = fw.robots.humanoid(height=ratio * HEIGHT, mass=20.0)
    rng = np.random.default_rng(11)
    q, v = HINGED.random(rng), rng.normal(size=HINGED.nv)
    length = np.where(np.arange(HINGED.nv) < 3, ratio, 1.0)  # of the base's velocity; angles have none
    v_small = v * length / ratio**0.5
    a = fw.forward_dynamics(HINGED, q, v, fw.passive_force(HINGED, q, v))
    a_small = fw.forward_dynamics(small, q, v_small, fw.passive_force(small, q, v_small))
    assert np.allclose(a_small, a * length / ratio, rtol=0, atol=1e-11 * np.abs(a).max())


def drawn(robot: fw.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Vertices of what is drawn of each segment, in the world."""
    poses = fw.forward_kinematics(robot, q)
    places: dict[str, list[np.ndarray]] = {}
    for shape in shapes_of(robot):
        vertices = shape.mesh.vertices @ poses.rotation[shape.body].T + poses.position[shape.body]
        places.setdefault(robot.names[shape.body], []).append(vertices)
    return {name: np.concatenate(vertices) for name, vertices in places.items()}


@BOTH
def test_it_looks_like_a_person(robot: fw.Model) -> None:
    """Every segment is drawn, from the soles to the top; alike on both sides; the head is one, and looks ahead."""
    parts = drawn(robot, standing(robot))
    limbs = ("thigh", "shank", "foot", "upper_arm", "forearm", "hand")
    assert set(parts) == {"pelvis", "abdomen", "chest", "head", *(f"{s}_{x}" for s in ("left", "right") for x in limbs)}
    everything = np.concatenate(list(parts.values()))
    assert abs(everything[:, 2].min()) < 0.005 * HEIGHT
    assert everything[:, 2].max() == pytest.approx(HEIGHT, rel=0.02)
    for name in limbs:
        for k in range(3):
            mirrored = parts[f"right_{name}"][:, k] * MIRROR[k, k]
            assert np.sort(mirrored) == pytest.approx(np.sort(parts[f"left_{name}"][:, k]), abs=1e-9)
    head = parts["head"]
    assert np.ptp(head[:, 1]) < 0.12 * HEIGHT, "one"
    assert head[:, 0].max() > -1.1 * head[:, 0].min(), "its face is in front"
    for upper, lower in (("head", "chest"), ("chest", "abdomen"), ("abdomen", "pelvis"), ("pelvis", "left_thigh")):
        assert parts[upper][:, 2].min() < parts[lower][:, 2].max(), f"{upper} and {lower} leave no gap"
