"""Each kind of joint by itself: its pose, its motion subspace, its coordinates, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from laws.measure import close, rate

AXIS = (0.3, -0.5, 0.8)
JOINTS = {
    "revolute": Revolute("y"),
    "revolute about any axis": Revolute(AXIS),
    "continuous": Continuous(AXIS),
    "prismatic": Prismatic("x"),
    "prismatic along any axis": Prismatic(AXIS),
    "helical": Helical("z", 0.2),
    "helical about any axis": Helical(AXIS, -0.4),
    "cylindrical": Cylindrical(AXIS),
    "universal": Universal("x", "y"),
    "universal with skew axes": Universal(AXIS, (0.1, 0.9, 0.2)),
    "planar": Planar(),
    "planar across x": Planar("x"),
    "planar across -y": Planar((0, -1, 0)),
    "spherical": Spherical(),
    "free": Free(),
    "fixed": Fixed(),
}
MIMICS = {
    "mimic of a screw": Mimic(Helical(AXIS, 0.3), "leader", -2.0, 0.4),
    "mimic of a slide": Mimic(Prismatic(AXIS), "leader", 0.5, -0.1),
}
SIZES = {
    Revolute: (1, 1),
    Continuous: (1, 1),
    Prismatic: (1, 1),
    Helical: (1, 1),
    Cylindrical: (2, 2),
    Universal: (2, 2),
    Planar: (3, 3),
    Spherical: (4, 3),
    Free: (7, 6),
    Fixed: (0, 0),
    Mimic: (1, 1),
}
kinds = pytest.mark.parametrize("kind", JOINTS.values(), ids=JOINTS)
all_kinds = pytest.mark.parametrize("kind", {**JOINTS, **MIMICS}.values(), ids={**JOINTS, **MIMICS})


def pose(kind: Joint, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """R and p of the moving frame in the one it is mounted on."""
    X = kind.transform([float(x) for x in q])
    return np.array(X.E, dtype=float).T, np.array(X.r, dtype=float)


def subspace(columns: Any) -> np.ndarray:
    """S, linear rows first."""
    return np.array([[*s.linear, *s.angular] for s in columns], dtype=float).reshape(-1, 6).T


def random_state(kind: Joint, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = kind.random(rng) if kind.leader is None else rng.uniform(-1.0, 1.0, 1)
    return q, rng.normal(size=kind.nv)


def cross(x: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), x)


@all_kinds
def test_sizes(kind: Joint) -> None:
    assert (kind.nq, kind.nv) == SIZES[type(kind)]
    q, v = random_state(kind, 0)
    assert q.shape == (kind.nq,)
    assert len(kind.subspace(list(q))) == len(kind.subspace_rate(list(q), list(v))) == kind.nv


@kinds
def test_neutral_is_the_identity(kind: Joint) -> None:
    R, p = pose(kind, kind.neutral())
    assert np.array_equal(R, np.eye(3))
    assert not p.any()


@all_kinds
@pytest.mark.parametrize("seed", range(5))
def test_the_pose_is_a_rigid_motion(kind: Joint, seed: int) -> None:
    R, _ = pose(kind, random_state(kind, seed)[0])
    close(R @ R.T, np.eye(3), 1e-14)
    assert np.linalg.det(R) > 0


@all_kinds
@pytest.mark.parametrize("seed", range(5))
def test_velocity_across_the_joint_is_the_rate_of_the_pose(kind: Joint, seed: int) -> None:
    """Ṙ = R ω̂ and ṗ = R v with (v, ω) = S q̇, along q ⊕ v t."""
    q, v = random_state(kind, seed)
    R, _ = pose(kind, q)
    path = [lambda t, part=part: np.array([pose(kind, kind.integrate(q, v * x))[part] for x in t]) for part in (0, 1)]
    V = subspace(kind.subspace(q)) @ v
    close(rate(path[0]), R @ cross(V[3:]), 1e-9)
    close(rate(path[1]), R @ V[:3], 1e-9)


@all_kinds
@pytest.mark.parametrize("seed", range(5))
def test_subspace_rate_is_the_rate_of_the_subspace(kind: Joint, seed: int) -> None:
    q, v = random_state(kind, seed)
    S_dot = rate(lambda t: np.array([subspace(kind.subspace(kind.integrate(q, v * x))) for x in t]))
    close(subspace(kind.subspace_rate(q, v)), S_dot, 1e-9)


@kinds
def test_the_subspace_has_full_rank(kind: Joint) -> None:
    q, _ = random_state(kind, 1)
    S = subspace(kind.subspace(q))
    assert kind.nv == 0 or np.linalg.matrix_rank(S) == kind.nv


@kinds
@pytest.mark.parametrize("seed", range(5))
def test_difference_and_integrate_undo_each_other(kind: Joint, seed: int) -> None:
    q, v = random_state(kind, seed)
    close(kind.difference(q, kind.integrate(q, 0.5 * v)), 0.5 * v)
    other, _ = random_state(kind, seed + 100)
    for found, right in zip(pose(kind, kind.integrate(q, kind.difference(q, other))), pose(kind, other), strict=True):
        close(found, right, 1e-11)


@pytest.mark.parametrize("kind", [Spherical(), Free()], ids=["spherical", "free"])
def test_both_quaternions_of_an_orientation_are_one_place(kind: Joint) -> None:
    q, _ = random_state(kind, 1)
    other, _ = random_state(kind, 2)
    minus = other * np.array([1.0] * (kind.nq - 4) + [-1.0] * 4)
    close(kind.difference(q, minus), kind.difference(q, other))
    assert np.linalg.norm(kind.difference(q, other)[-3:]) <= math.pi


def test_continuous_and_planar_joints_take_the_short_way() -> None:
    close(Continuous("x").difference([3.0], [-3.0]), [2 * math.pi - 6.0])
    close(Planar().difference([0.0, 0.0, 3.0], [0.0, 0.0, -3.0]), [0.0, 0.0, 2 * math.pi - 6.0])
    close(Planar().difference([0.0, 0.0, 0.0], [1.0, 2.0, 2 * math.pi]), [1.0, 2.0, 0.0])
    close(Revolute("x").difference([3.0], [-3.0]), [-6.0])


def test_coordinates_of_each_kind() -> None:
    """What the numbers mean, on a case that can be seen."""
    quarter, half = math.pi / 2, math.sqrt(0.5)
    x, y, z = np.eye(3)
    R, p = pose(Revolute("z"), [quarter])
    close(R @ x, y)
    R, p = pose(Helical("z", 0.5), [quarter])
    close(R @ x, y)
    close(p, 0.5 * quarter * z)
    R, p = pose(Cylindrical("z"), [quarter, 3.0])
    close(R @ x, y)
    close(p, 3.0 * z)
    R, p = pose(Universal("x", "y"), [quarter, quarter])  # about x, then about the y that has turned with it
    close(R @ z, np.array([1.0, 0.0, 0.0]))
    close(R @ y, z)
    R, p = pose(Planar(), [1.0, 2.0, quarter])
    close(R @ x, y)
    close(p, np.array([1.0, 2.0, 0.0]))
    R, p = pose(Spherical(), [0.0, 0.0, half, half])
    close(R @ x, y)
    R, p = pose(Free(), [1.0, 2.0, 3.0, 0.0, 0.0, half, half])
    close(R @ x, y)
    close(p, np.array([1.0, 2.0, 3.0]))
    R, p = pose(Mimic(Prismatic("y"), "leader", 2.0, 0.5), [3.0])
    close(p, 6.5 * y)


@kinds
def test_velocities_of_free_and_planar_joints_are_in_the_moving_frame(kind: Joint) -> None:
    """S does not depend on q but for the universal joint, whose first axis turns."""
    q, _ = random_state(kind, 3)
    same = np.allclose(subspace(kind.subspace(q)), subspace(kind.subspace(kind.neutral())), atol=1e-15)
    assert same == (not isinstance(kind, Universal))


@kinds
def test_the_text_of_a_joint_makes_it_again(kind: Joint) -> None:
    """Compiled code is found by this text: it must have all that the joint is."""
    again = eval(repr(kind), {**vars(fw.joints)})
    assert repr(again) == repr(kind)
    q, _ = random_state(kind, 4)
    for a, b in zip(pose(again, q), pose(kind, q), strict=True):
        assert (a == b).all()


# ---- random configurations


def one_joint(kind: Joint, **options: Any) -> fw.Model:
    body = fw.Inertia.box(1.0, (0.1, 0.2, 0.3))
    return fw.Builder("one").add_body("arm", joint=kind, inertia=body, **options).build()


@kinds
def test_random_configurations_are_within_the_limits(kind: Joint) -> None:
    if kind.nv == 0:
        return
    free = 4 if isinstance(kind, (Spherical, Free)) else 0  # a quaternion has no limits of this kind
    lower = np.array([0.1] * (kind.nq - free) + [-math.inf] * free)
    upper = np.array([0.2] * (kind.nq - free) + [math.inf] * free)
    model = one_joint(kind, limits=fw.Limits(lower, upper))
    q = np.array([model.random(seed) for seed in range(50)])
    assert ((lower <= q) & (q <= upper)).all()
    assert len({tuple(x) for x in q}) == 50
    fw.forward_kinematics(model, q)  # takes them


@pytest.mark.parametrize(("lower", "upper"), [(2.0, math.inf), (-math.inf, -2.0), (0.5, math.inf)])
@pytest.mark.xfail(strict=True, reason="reported: a limit on one side only is not looked at")
def test_random_configurations_are_within_a_limit_on_one_side(lower: float, upper: float) -> None:
    model = one_joint(Prismatic("x"), limits=fw.Limits(lower, upper))
    q = np.array([model.random(seed)[0] for seed in range(20)])
    assert ((lower <= q) & (q <= upper)).all()


@pytest.mark.parametrize("kind", [Spherical(), Free()], ids=["spherical", "free"])
@pytest.mark.xfail(strict=True, reason="reported: limits on a quaternion make random ones that are not of unit length")
def test_random_orientations_have_unit_length_whatever_the_limits(kind: Joint) -> None:
    try:
        model = one_joint(kind, limits=fw.Limits(-1.0, 1.0))
    except fw.ModelError:
        return  # refusing them is as good
    fw.forward_kinematics(model, model.random(0))


# ---- what is refused

BODY = fw.Inertia.box(1.0, (0.1, 0.2, 0.3))
WHEEL = fw.Inertia.cylinder(1.0, 0.1, 0.2)  # round about z


@pytest.mark.parametrize("kind", [Revolute, Continuous, Prismatic, Helical, Cylindrical, Planar, Universal])
@pytest.mark.parametrize("axis", ["w", (0, 0, 0), (1, 0), (1, 0, math.nan), (1, 0, math.inf), "xyz", None, (1, 0, 1j)])
def test_a_bad_axis_is_refused(kind: Any, axis: Any) -> None:
    with pytest.raises(fw.ModelError, match="axis: expected"):
        kind(axis)


REFUSED_JOINTS = {
    "parallel axes": (lambda: Universal("x", (-2, 0, 0)), "Universal: expected two axes of different directions"),
    "nearly parallel axes": (lambda: Universal((1, 0, 0), (1, 1e-9, 0)), "different directions"),
    "pitch that is text": (lambda: Helical("x", "far"), "pitch: expected a real number, got 'far'"),
    "pitch that is not finite": (lambda: Helical("x", math.nan), "pitch: expected a finite number"),
    "oblique normal": (lambda: Planar((1, 1, 0)), "Planar: expected the axis x, y or z"),
    "following with a ball": (lambda: Mimic(Spherical(), "leader"), "expected a joint with one coordinate"),
    "following with two coordinates": (lambda: Mimic(Universal(), "leader"), "expected a joint with one coordinate"),
    "following with nothing": (lambda: Mimic(Fixed(), "leader"), "expected a joint with one coordinate"),
    "following with no joint": (lambda: Mimic("x", "leader"), "expected a joint with one coordinate"),
    "following a joint, not a name": (lambda: Mimic(Revolute(), Revolute()), "of: expected the name of the joint"),
    "ratio that is not finite": (lambda: Mimic(Revolute(), "leader", math.inf), "ratio: expected a finite number"),
    "offset that is text": (lambda: Mimic(Revolute(), "leader", 1.0, "x"), "offset: expected a real number"),
}


@pytest.mark.parametrize("name", REFUSED_JOINTS)
def test_a_bad_joint_is_refused(name: str) -> None:
    make, message = REFUSED_JOINTS[name]
    with pytest.raises(fw.ModelError, match=message):
        make()


def mimic_of(leader: str, kind: Joint | None = None) -> Any:
    def build() -> fw.Model:
        builder = fw.Builder("pair").add_body("leg", joint=kind or Revolute(), inertia=BODY)
        return builder.add_body("arm", joint=Mimic(Revolute(), leader), inertia=BODY).build()

    return build


def arm(kind: Joint | None = None, **options: Any) -> Any:
    return lambda: fw.Builder("one").add_body("arm", joint=kind or Revolute("z"), inertia=BODY, **options).build()


REFUSED = {
    "mimic of nothing": (mimic_of("foot"), "there is no moving joint 'foot' to mimic"),
    "mimic of a misspelt joint": (mimic_of("leg_join"), "did you mean 'leg_joint'"),
    "mimic of a body": (mimic_of("leg"), "there is no moving joint 'leg'"),
    "mimic of a fixed joint": (mimic_of("leg_joint", Fixed()), "there is no moving joint 'leg_joint'"),
    "mimic of a ball": (mimic_of("leg_joint", Spherical()), "'leg_joint' has more than one coordinate"),
    "mimic of two coordinates": (mimic_of("leg_joint", Cylindrical()), "'leg_joint' has more than one coordinate"),
    "mimic of itself": (mimic_of("arm_joint"), "circle"),
    "rotor that is no rotor": (arm(rotor=WHEEL), "rotor: expected featherweight.Rotor, got Inertia"),
    "rotor that is not round": (arm(rotor=fw.Rotor(6.0, BODY)), "rotor: expected an inertia that is round about"),
    "rotor round about another axis": (arm(Revolute("x"), rotor=fw.Rotor(6.0, WHEEL)), "round about the axis"),
    "rotor off its axis": (arm(rotor=fw.Rotor(6.0, fw.Inertia.cylinder(1, 0.1, 0.2, (0.1, 0, 0)))), "centre of mass"),
    "rotor on a ball": (arm(Spherical(), rotor=fw.Rotor(6.0, WHEEL)), "expected a joint with one degree of freedom"),
    "rotor without an axis": (arm(Mimic(Revolute(), "x"), rotor=fw.Rotor(6.0, WHEEL)), "rotor: give axis="),
    "rotor without inertia": (arm(rotor=fw.Rotor(6.0, 0.1)), "rotor: expected inertia=featherweight.Inertia"),
    "gear that is not finite": (arm(rotor=fw.Rotor(math.nan, WHEEL)), "rotor.gear: expected"),
    "gear that is text": (arm(rotor=fw.Rotor("high", WHEEL)), "rotor.gear: expected a real number"),
    "negative damping": (arm(damping=-1.0), "damping: expected 0 or more, got -1.0"),
    "negative friction": (arm(friction=[-1.0]), "friction: expected 0 or more"),
    "negative armature": (arm(Planar(), armature=(1.0, 1.0, -1.0)), "armature: expected 0 or more"),
    "negative stiffness": (arm(stiffness=-1e-9), "stiffness: expected 0 or more"),
    "damping that is not finite": (arm(damping=math.inf), "damping: expected finite numbers"),
    "too many dampings": (arm(Planar(), damping=(1.0,) * 4), r"damping: expected shape \(3,\), got \(4,\)"),
    "too few armatures": (arm(Free(), armature=(1.0,) * 5), r"armature: expected shape \(6,\), got \(5,\)"),
    "stiffness that is text": (arm(stiffness="hard"), "stiffness: expected"),
    "rest of the wrong length": (arm(Spherical(), rest=(0.0, 0.0, 0.0)), r"rest: expected shape \(4,\), got \(3,\)"),
    "rest that is no orientation": (
        arm(Spherical(), rest=(0.0, 0.0, 0.0, 2.0)),
        "rest: the quaternion .* length 2",
    ),
    "limits that are none": (arm(limits=(0.0, 1.0)), "limits: expected featherweight.Limits, got tuple"),
    "limits reversed": (arm(limits=fw.Limits(1.0, -1.0)), r"expected lower <= upper, got \(1.0,\) and \(-1.0,\)"),
    "one limit reversed": (arm(Planar(), limits=fw.Limits((0, 0, 1), (1, 1, 0))), "expected lower <= upper"),
    "limits of the wrong length": (
        arm(Planar(), limits=fw.Limits((0, 0), (1, 1))),
        "limits.lower: expected one",
    ),
    "limits that are text": (arm(limits=fw.Limits("low", "high")), "limits.lower: expected 1 numbers, got 'low'"),
    "limits that are not numbers": (arm(limits=fw.Limits(math.nan, 1.0)), "limits.lower: expected one"),
    "negative velocity": (arm(limits=fw.Limits(velocity=-1.0)), "expected velocity and effort of 0 or more"),
    "negative effort": (arm(Free(), limits=fw.Limits(effort=-1.0)), "expected velocity and effort of 0 or more"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_property_is_refused_with_the_body_and_what_was_expected(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(fw.ModelError, match=message) as error:
        make()
    assert "body 'arm'" in str(error.value)


@pytest.mark.xfail(strict=True, reason="reported: the message does not say whose axis it is")
def test_a_bad_axis_of_a_rotor_is_refused_with_the_body() -> None:
    with pytest.raises(fw.ModelError, match=r"body 'arm'.*axis: expected"):
        arm(rotor=fw.Rotor(6.0, WHEEL, axis="w"))()


def test_mimic_joints_in_a_circle_are_refused() -> None:
    builder = fw.Builder("circle")
    for name, leader in (("one", "two"), ("two", "three"), ("three", "one")):
        builder.add_body(name, joint=Mimic(Revolute(), f"{leader}_joint"), inertia=BODY)
    with pytest.raises(fw.ModelError, match="circle"):
        builder.build()


def test_a_refused_rotor_leaves_the_builder_as_it_was() -> None:
    """Its mass is not left on the parent when something else about the joint is wrong."""
    builder = fw.Builder("tree").add_body("base", joint=Free(), inertia=BODY)
    wheel = fw.Rotor(6.0, WHEEL)
    for wrong in ({"limits": fw.Limits(1.0, -1.0)}, {"damping": -1.0}, {"rest": (1.0, 2.0)}, {"joint": Spherical()}):
        with pytest.raises(fw.ModelError):
            builder.add_body("arm", parent="base", **{"joint": Revolute("z"), "inertia": BODY, "rotor": wheel, **wrong})
    model = builder.build()
    assert model.inertias[1].m == 1.0
    assert [part.link for part in model.parts] == ["base"]


def test_one_number_serves_all_coordinates() -> None:
    one = arm(Planar(), armature=0.5, damping=2.0, limits=fw.Limits(-1.0, 1.0))()
    three = arm(Planar(), armature=(0.5,) * 3, damping=(2.0,) * 3, limits=fw.Limits((-1.0,) * 3, (1.0,) * 3))()
    for a, b in zip(one.joints, three.joints, strict=True):
        assert (a.armature, a.damping, a.limits) == (b.armature, b.damping, b.limits)
