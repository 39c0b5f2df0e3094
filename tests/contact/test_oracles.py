"""Contact against slow methods and published numbers."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from contact.test_laws import MODEL, MU, POINTS, scenes
from featherweight.contact import Impulse, SpringDamper
from simulation.semi_implicit_reference import middle_velocity

H = 1e-3


def velocities(q: np.ndarray, v: np.ndarray, impulses: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Velocities of the points after a step with impulses at them, by the articulated-body algorithm."""
    f_ext = np.zeros((MODEL.nb + 1, 6))
    for k, impulse in impulses.items():
        point = MODEL.contact_points[k]
        pose = fw.frame_pose(MODEL, q, POINTS[k])
        force = pose.rotation.T @ (impulse / H)  # a contact point's frame has its body's axes
        f_ext[point.body] += np.concatenate([force, np.cross(point.position, force)])
    middle = middle_velocity(MODEL, q, v, H, newton=2)
    after = v + H * fw.forward_dynamics(MODEL, q, middle, np.zeros(MODEL.nv), f_ext)
    after[:3] += H * np.cross(middle[3:6], v[:3])
    return {k: fw.jacobian(MODEL, q, POINTS[k], "world_aligned")[:3] @ after for k in impulses}


def naive(q: np.ndarray, v: np.ndarray) -> dict[int, np.ndarray]:
    """Repeat the dynamics, a little impulse at a time, until the velocities fit: the source's method, made correct."""
    heights = [fw.frame_pose(MODEL, q, name).position[2] for name in POINTS]
    impulses = {k: np.zeros(3) for k, z in enumerate(heights) if z <= 0.1 * H}
    free = velocities(q, v, impulses)
    mobility = {}
    for k in impulses:
        columns = [velocities(q, v, {**impulses, k: e})[k] - free[k] for e in np.eye(3)]
        mobility[k] = np.array(columns).T
    for _ in range(3000):
        worst = 0.0
        for k, G in mobility.items():
            u = velocities(q, v, impulses)[k]
            old = impulses[k]
            n = max(0.0, old[2] - (u[2] + max(heights[k], 0.0) / H) / G[2, 2])
            u = u + G[:, 2] * (n - old[2])
            t = old[:2] - u[:2] / np.linalg.eigvalsh(G[:2, :2])[-1]
            size = np.linalg.norm(t)
            t = t * min(1.0, MU * n / size) if size > 0 else t
            impulses[k] = np.array([*t, n])
            worst = max(worst, float(np.abs(G @ (impulses[k] - old)).max()))
        if worst < 1e-9:
            return impulses
    raise AssertionError("the slow method did not converge")


def test_the_slow_method_gives_the_same_velocities() -> None:
    q, v = scenes(60, seed=5)
    heights = np.stack([fw.frame_pose(MODEL, q, name).position[:, 2] for name in POINTS], axis=1)
    touching = (heights <= 0.1 * H).sum(axis=1)
    contact = Impulse(friction=MU, tolerance=1e-9, recovery=0.0)
    run = fw.rollout(MODEL, q, v, steps=1, dt=H, contact=contact)
    pressed = run.contact_force.any(axis=(1, 2, 3)) & (run.status == fw.Status.OK)  # others are leaving the ground
    chosen = np.flatnonzero(pressed & (touching <= 3))[:8]
    assert len(chosen) == 8
    for k in chosen:
        slow = naive(q[k], v[k])
        ours = {p: H * run.contact_force[k, 0, p] for p in slow}
        right, got = velocities(q[k], v[k], slow), velocities(q[k], v[k], ours)
        for p in slow:
            np.testing.assert_allclose(got[p], right[p], atol=1e-6)


@pytest.mark.parametrize(("speed", "e"), [(1e-3, 0.61), (0.1, 0.34), (1.0, 0.22), (10.0, 0.13)])
def test_restitution_of_hertz_springs_drops_with_speed(speed: float, e: float) -> None:
    """1 kg, K = 5e5, D = 5e3 (THEORY §4)."""
    ball = fw.Builder("ball", gravity=(0, 0, 0)).add_body(
        "ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1)
    )
    model = ball.add_contact_point("skin", parent="ball", radius=0.1).build()
    q = model.neutral()
    q[2] = 0.1
    dt = 2e-6 if speed >= 1 else 1e-5
    contact = SpringDamper(stiffness=5e5, damping=5e3, friction=0.0)
    run = fw.simulate(model, q, [0, 0, -speed, 0, 0, 0], duration=5e4 * dt, dt=dt, contact=contact, record_every=50_000)
    assert run.v[-1, 2] / speed == pytest.approx(e, abs=0.01)
