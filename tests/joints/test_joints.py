"""Each kind of joint by itself: its pose, its motion subspace, and its coordinates."""

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
from joints.kinds import JOINTS, MIMICS, cross, pose, random_state, subspace
from laws.measure import close, rate

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


def spread(kind: Joint) -> list[float]:
    """Largest value of each coordinate: half a turn for angles, a metre for lengths, one for quaternions."""
    angle, length = math.pi, 1.0
    some = {Cylindrical: [angle, length], Universal: [angle] * 2, Planar: [length, length, angle], Prismatic: [length]}
    return some.get(type(kind), [angle] if kind.nq == 1 else [1.0] * kind.nq)


@pytest.mark.parametrize("kind", JOINTS.values(), ids=JOINTS)
def test_random_configurations_are_everywhere(kind: Joint) -> None:
    """Of each coordinate, from near its least to near its largest value, and the mean is in the middle."""
    rng = np.random.default_rng(0)
    q = np.array([kind.random(rng) for _ in range(400)]).reshape(400, kind.nq) / spread(kind)
    assert ((q.max(axis=0) > 0.9) & (q.max(axis=0) <= 1)).all()
    assert ((q.min(axis=0) < -0.9) & (q.min(axis=0) >= -1)).all()
    assert (np.abs(q.mean(axis=0)) < 0.1).all()


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
def test_random_configurations_are_within_a_limit_on_one_side(lower: float, upper: float) -> None:
    model = one_joint(Prismatic("x"), limits=fw.Limits(lower, upper))
    q = np.array([model.random(seed)[0] for seed in range(20)])
    assert ((lower <= q) & (q <= upper)).all()


@pytest.mark.parametrize("kind", [Spherical(), Free()], ids=["spherical", "free"])
def test_random_orientations_have_unit_length_whatever_the_limits(kind: Joint) -> None:
    try:
        model = one_joint(kind, limits=fw.Limits(-1.0, 1.0))
    except fw.ModelError:
        return  # refusing them is as good
    fw.forward_kinematics(model, model.random(0))
