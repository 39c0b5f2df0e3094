"""Steps of single joints: ⊕ and ⊖, their rates, and a simulator's step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from featherweight.joints import Continuous, Free, Joint, Planar, Revolute, Spherical
from joints.kinds import JOINTS, pose, random_state
from laws.measure import close, rate

kinds = pytest.mark.parametrize("kind", JOINTS.values(), ids=JOINTS)
seeds = pytest.mark.parametrize("seed", range(5))


@kinds
@seeds
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


@kinds
@seeds
def test_coordinates_change_by_their_rate(kind: Joint, seed: int) -> None:
    """q̇ = d/dt of q ⊕ v t at t = 0."""
    q, v = random_state(kind, seed)
    path = rate(lambda t: np.array([kind.integrate(q, v * x) for x in t]))
    close(kind.coordinate_rate(q, v), path, 1e-9)


@kinds
@seeds
def test_rate_is_how_the_step_changes(kind: Joint, seed: int) -> None:
    """d/dt of u with q ⊕ u(t) = (q ⊕ u) ⊕ v t."""
    q, v = random_state(kind, seed)
    u = 0.5 * random_state(kind, seed + 100)[1]
    there = kind.integrate(q, u)
    path = rate(lambda t: np.array([kind.difference(q, kind.integrate(there, v * x)) for x in t]))
    close(kind.rate(u, v), path, 1e-9)


@kinds
@seeds
def test_a_simulators_step_is_of_first_order(kind: Joint, seed: int) -> None:
    """d/dh of the step at h = 0 is v, of the velocity a."""
    q, v = random_state(kind, seed)
    a = random_state(kind, seed + 100)[1]
    steps = rate(lambda t: np.array([kind.difference(q, kind.advance(q, kind.predicted(v, a, x), x)[0]) for x in t]))
    close(steps, v, 1e-9)
    close(rate(lambda t: np.array([kind.advance(q, kind.predicted(v, a, x), x)[1] for x in t])), a, 1e-9)


@seeds
@pytest.mark.parametrize("h", [1e-3, 0.1, 1.0])
def test_a_simulators_step_keeps_the_velocity_of_a_spinning_body(h: float, seed: int) -> None:
    """With no force the point at the origin does not accelerate: v̇ = -ω × v in the body's axes."""
    q, v = random_state(Free(), seed)
    coasting = np.concatenate([-np.cross(v[3:], v[:3]), np.zeros(3)])
    q_next, v_next = Free().advance(q, Free().predicted(v, coasting, h), h)
    (R, p), (R_next, p_next) = pose(Free(), q), pose(Free(), q_next)
    close(R_next @ v_next[:3], R @ v[:3])
    close(v_next[3:], v[3:])
    close(p_next, p + h * R @ v[:3])
    # the same in the plane
    q, v = random_state(Planar(), seed)
    q_next, v_next = Planar().advance(q, Planar().predicted(v, [v[2] * v[1], -v[2] * v[0], 0.0], h), h)
    (R, p), (R_next, p_next) = pose(Planar(), q), pose(Planar(), q_next)
    close(R_next @ [*v_next[:2], 0.0], R @ [*v[:2], 0.0])
    close(p_next, p + h * R @ [*v[:2], 0.0])
