"""Contacts that act before they touch: bodies come as far as they meet within a step, however small or fast they are.

    v⁺ = v⁻ + M⁻¹ Jᵀ λ,    0 ≤ λ ⟂ J v⁺ + gap / h ≥ 0

for all contacts, near or far, by trying which of them act.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse

G = 9.81


def column(radius: float, masses: np.ndarray) -> fw.Model:
    """Balls that fall on each other, above the ground."""
    builder = fw.Builder("column")
    for k, mass in enumerate(masses):
        builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(mass, 1.0))
        builder.add_geometry(f"b{k}", fw.shapes.Sphere(radius))
    return builder.build()


def stopped(free: np.ndarray, gaps: np.ndarray, masses: np.ndarray, h: float) -> np.ndarray:
    """Velocities of balls in a line above the ground, with v⁻ and the gaps below them: the only v⁺ there is."""
    n = len(free)
    J = np.eye(n) - np.eye(n, k=-1)  # each ball less the one below
    answer = J.T / masses[:, None]
    for count in range(n + 1):
        for acting in map(list, combinations(range(n), count)):
            impulse = np.zeros(n)
            impulse[acting] = np.linalg.solve((J @ answer)[np.ix_(acting, acting)], -(J @ free + gaps / h)[acting])
            after = free + answer @ impulse
            if (impulse >= 0).all() and (J @ after + gaps / h >= -1e-9).all():
                return after
    raise AssertionError("no contacts that act obey the law")


@pytest.mark.parametrize("h", [1e-3, 0.02])
@pytest.mark.parametrize("radius", [1e-3, 0.02, 0.5])
def test_balls_above_each_other_come_as_far_as_they_meet(radius: float, h: float) -> None:
    """At rest, slow and fast; gaps from none to more than the step can close. What one impulse sends on is met, too:
    the lowest ball stops on the ground, and those that fall with it come down on it within the same step."""
    rng, masses, count = np.random.default_rng(4), np.array([1.0, 1e-3, 0.3]), 300
    model = column(radius, masses)
    speed = rng.choice([0.0, 0.1, 3.0], (count, 1))
    v = -speed * rng.choice([0.0, 0.7, 1.0], (count, 3))
    most = h * (speed + h * G) + 1e-6
    gaps = most * rng.choice([0.0, 0.3, 0.6, 0.9, 1.5], (count, 3))
    q, twist = np.tile(model.neutral(), (count, 1)), np.zeros((count, 18))
    q[:, 2::7] = np.cumsum(gaps + 2 * radius, axis=1) - radius
    twist[:, 2::6] = v
    pairs = [("b0", "b1"), ("b1", "b2")]
    run = fw.rollout(model, q, twist, steps=1, dt=h, contact=Impulse(pairs=pairs, slots=0, tolerance=1e-12))
    expected = np.array([stopped(x - h * G, gap, masses, h) for x, gap in zip(v, gaps, strict=True)])
    assert (run.status == fw.Status.OK).all()
    assert (np.abs(expected - v + h * G).max(axis=1) > 1e-3).mean() > 0.5  # impulses act
    np.testing.assert_allclose(run.v[:, 1, 2::6], expected, rtol=0, atol=1e-8)
    after = np.diff(run.q[:, 1, 2::7], axis=1, prepend=-radius) - 2 * radius
    assert after.min() >= -1e-9 * radius - 1e-8 * h


def test_a_small_ball_does_not_fall_into_another_in_one_step() -> None:
    """From rest, by gravity alone: it falls farther within the step than it is large."""
    radius, h = 1e-3, 0.02
    model = column(radius, np.array([1.0, 1.0]))
    q = model.neutral()
    q[2], q[9] = radius, 3 * radius + 3e-3
    run = fw.rollout(model, q, np.zeros(12), steps=3, dt=h, contact=Impulse(pairs=[("b0", "b1")], slots=0))
    assert np.diff(run.q[:, 2::7], axis=1).min() > 2 * radius - 1e-9


def test_what_falls_on_a_body_that_meets_the_ground_stops_on_it() -> None:
    """Two balls fall side by side with 10 m/s, one above the other: no speed between them tells of it."""
    radius, h = 0.01, 1e-3
    model = column(radius, np.array([1.0, 1.0]))
    q, v = model.neutral(), np.zeros(12)
    q[2], q[9], v[2], v[8] = radius + 1e-6, 3 * radius + 8e-3, -10.0, -10.0
    run = fw.rollout(model, q, v, steps=3, dt=h, contact=Impulse(pairs=[("b0", "b1")], slots=0))
    assert np.diff(run.q[:, 2::7], axis=1).min() > 2 * radius - 1e-9


@pytest.mark.parametrize("share", [0.2, 0.99])
def test_what_is_pushed_from_rest_stops_at_what_is_near(share: float) -> None:
    """Where nothing approaches, gaps up to 0.1 m/s h are looked across: here without gravity."""
    h, radius = 1e-3, 0.05
    builder = fw.Builder("ball", gravity=(0, 0, 0))
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, radius))
    model = builder.add_geometry("ball", fw.shapes.Sphere(radius)).build()
    gap = share * 0.1 * h
    q, tau = model.neutral(), np.zeros(6)
    q[2], tau[2] = radius + gap, -0.3 / h
    run = fw.rollout(model, q, np.zeros(6), steps=1, dt=h, tau=tau[None], contact=Impulse())
    assert run.v[1, 2] == pytest.approx(-gap / h, abs=1e-8)


@pytest.mark.parametrize("slots", [0, 4])
@pytest.mark.parametrize("gap", [1e-3, 0.02, 0.06])
def test_boxes_that_come_edge_to_edge_meet_at_both_ends_of_their_edges(gap: float, slots: int) -> None:
    """One point would let a box turn about it into the other. By 7 cm in a step, each side 10 cm."""
    h, speed, size = 0.02, 5.0, 0.1
    builder = fw.Builder("boxes", gravity=(0, 0, 0))
    for name in ("a", "b"):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (size, size, size)))
        builder.add_geometry(name, fw.shapes.Box((size, size, size)))
    model = builder.build()
    q, v = model.neutral(), np.zeros(12)
    q[2], q[7:10], v[:2] = 5.0, (size + gap, size + gap, 5.0), speed / 2**0.5
    run = fw.rollout(model, q, v, steps=1, dt=h, contact=Impulse(pairs=[("a", "b")], slots=slots))
    assert fw.distance(model, run.q[1], "a", "b").distance == pytest.approx(0.0, abs=1e-9)
    assert np.abs(run.v[1, [3, 4, 5, 9, 10, 11]]).max() < 1e-9
