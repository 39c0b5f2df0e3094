"""Recovery from depth and the cap on restitution against literal references, written down from their equations.

The contact points are the library's; rows, mass matrix and all that follows is dense algebra (`pair_laws.Step`).
"""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from contact.pair_laws import Step
from featherweight.contact import Impulse

H = 1e-3


def stacked() -> tuple[fw.Model, np.ndarray]:
    """A box in the ground and a ball in the box, too deep by some millimetres, each time otherwise."""
    builder = fw.Builder("deep")
    builder.add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.box(2.0, (0.3, 0.2, 0.1)))
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(0.5, 0.06))
    builder.add_geometry("box", fw.shapes.Box((0.3, 0.2, 0.1))).add_geometry("ball", fw.shapes.Sphere(0.06))
    model = builder.build()
    rng = np.random.default_rng(0)
    q = np.tile(model.neutral(), (20, 1))
    tilt = np.concatenate([0.01 * rng.normal(size=(20, 3)), np.ones((20, 1))], axis=1)
    q[:, 3:7] = tilt / np.linalg.norm(tilt, axis=1)[:, None]
    q[:, 2] = 0.05 - rng.uniform(0.0, 0.004, 20)
    q[:, 7:9], q[:, 9] = rng.uniform(-0.05, 0.05, (20, 2)), q[:, 2] + 0.11 - rng.uniform(0.0, 0.004, 20)
    return model, q


def swept(G: np.ndarray, s: np.ndarray) -> np.ndarray:
    """0 ≤ λ ⟂ G λ - s ≥ 0 from λ = 0, by at most ten sweeps over the rows, until none changes a velocity by more than
    1e-6 m/s."""
    impulse = np.zeros(len(s))
    for _ in range(10):
        before = impulse.copy()
        for k in range(len(s)):
            impulse[k] = max(impulse[k] - (G[k] @ impulse - s[k]) / G[k, k], 0.0)
        if np.abs((impulse - before) * np.diag(G)).max() <= 1e-6:
            break
    return impulse


def test_recovery_is_a_second_problem_from_rest_without_friction() -> None:
    """s = min(β (depth - slop), v_max); what it finds moves bodies in this step, and no velocity has it after that."""
    model, q = stacked()
    v, pairs, beta, most, slop = np.zeros((20, 12)), [("ball", "box")], 50.0, 0.1, 1e-4
    means = {"pairs": pairs, "friction": 0.6, "recovery_speed": most, "slop": slop}
    step = Step(model, q, v, H, Impulse(recovery=0.0, **means), pairs)
    run = fw.rollout(model, q, v, steps=1, dt=H, contact=Impulse(recovery=beta, **means))
    assert step.used.all()
    assert (run.status == fw.Status.OK).all()
    stays = step.turned_back(step.run.v[:, 1])  # in the axes of the beginning
    turned = [fw.frame_pose(model, run.q, name).rotation for name in ("box", "ball")]
    for k, R in enumerate(turned):
        for part in (slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6)):
            back = np.einsum("nji,njk,nk->ni", R[:, 0], R[:, 1], run.v[:, 1, part])
            np.testing.assert_allclose(back, stays[:, part], rtol=0, atol=1e-13)

    rows = np.einsum("bpkn,bpk->bpn", step.J, step.normal)
    wanted = np.clip(beta * (-step.gap - slop), 0.0, most)
    moved = np.zeros_like(v)
    for k in range(len(q)):
        near = step.gap[k] <= H * 0.1  # those that act, at rest
        J = rows[k, near]
        answer = np.linalg.solve(step.M[k], J.T)
        moved[k] = answer @ swept(J @ answer, wanted[k, near])
    assert (wanted == most).any()
    assert ((wanted > 0) & (wanted < most)).any()
    expected = fw.integrate(model, q, stays + moved, H)
    for k, R in enumerate(turned):  # floating bodies move straight
        way = H * np.einsum("nij,nj->ni", R[:, 0], (stays + moved)[:, 6 * k : 6 * k + 3])
        expected[:, 7 * k : 7 * k + 3] = q[:, 7 * k : 7 * k + 3] + way
    np.testing.assert_allclose(run.q[:, 1], expected, rtol=0, atol=1e-12)
    assert np.abs(run.q[:, 1] - step.run.q[:, 1]).max() > 1e-5


@pytest.mark.parametrize("way", [0.0, 1e-5, 6e-5, 0.02])
@pytest.mark.parametrize("speed", [0.0, -0.005])
def test_a_joint_recovers_as_far_as_its_end(way: float, speed: float) -> None:
    """0 ≤ λ ⟂ J v + w ≥ 0 for the joint, w = v⁺ + way / h: a light finger makes way for a ball that is too deep, until
    it is at its end."""
    depth, masses, beta = 2e-3, np.array([0.1, 10.0]), 50.0
    builder = fw.Builder("hand", gravity=(0, 0, 0))
    slide, limits = fw.joints.Prismatic("x"), fw.Limits(-way, 1.0)
    builder.add_body("finger", joint=slide, inertia=fw.Inertia.sphere(masses[0], 0.1), limits=limits)
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(masses[1], 0.1))
    builder.add_geometry("finger", fw.shapes.Sphere(0.1)).add_geometry("ball", fw.shapes.Sphere(0.1))
    model = builder.build()
    q, v = model.neutral(), np.zeros(7)
    q[1], v[0] = 0.2 - depth, speed
    contact = Impulse(fw.contact.Plane(point=(0, 0, -9)), pairs=[("finger", "ball")], recovery=beta, slop=0.0)
    with fw.interpret():
        run = fw.rollout(model, q, v, steps=1, dt=H, contact=contact)
    after = max(speed, -way / H)
    J, s = np.array([[-1.0, 1.0], [1.0, 0.0]]), np.array([beta * depth, -(after + way / H)])
    moved = swept(J / masses @ J.T, s) @ J / masses
    np.testing.assert_allclose(run.v[1, 0], after, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.q[1, :2] - q[:2], H * (np.array([after, 0.0]) + moved), rtol=0, atol=1e-10)
    assert run.q[1, 0] >= -way - 1e-10


def solved(G: np.ndarray, e: np.ndarray, mu: float) -> np.ndarray:
    """Signorini's and Coulomb's laws of one contact, (n, 3) with the normal first, by projections until they rest."""
    impulse, rho = np.zeros_like(e), 1.0 / np.trace(G, axis1=1, axis2=2)[:, None]
    for _ in range(5000):
        y = impulse - rho * (e + np.einsum("nij,nj->ni", G, impulse))
        normal, size = np.maximum(y[:, 0], 0.0), np.linalg.norm(y[:, 1:], axis=1)
        share = np.minimum(mu * normal / np.maximum(size, 1e-300), 1.0)
        impulse = np.concatenate([normal[:, None], share[:, None] * y[:, 1:]], axis=1)
    return impulse


def test_impulses_that_bounce_are_capped_where_they_would_add_energy() -> None:
    """λ_b with v* = -e v, λ_c with v* = 0. If W_b = ½ λ_b·(u⁻ + u_b) > 0: λ = λ_c + s (λ_b - λ_c) with the largest
    s ≤ 1 for which W_c + β s + γ s² ≤ 0, γ = ½ Δλ·Δu, β = W_b - W_c - γ."""
    e, mu = 1.0, 0.3
    builder = fw.Builder("club").add_body("club", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.3, 0.2, 0.1)))
    model = builder.add_geometry("club", fw.shapes.Sphere(0.05), fw.Placement((0.15, 0.1, 0.05))).build()
    rng = np.random.default_rng(1)
    q, v = np.array([model.random(rng) for _ in range(400)]), 2.0 * rng.normal(size=(400, 6))
    tip = fw.frame_pose(model, q, "club")
    q[:, 2] += 0.05 - (tip.position + tip.rotation @ [0.15, 0.1, 0.05])[:, 2]  # it touches
    contact = Impulse(friction=mu, restitution=e, recovery=0.0)
    comes = Step(model, q, v, H, contact, []).u(v)[:, 0, 2] < -0.1
    step, v = Step(model, q[comes], v[comes], H, contact, []), v[comes]
    J = np.roll(step.J[:, 0], 1, axis=1)  # rows: normal z, then x and y
    G = J @ np.linalg.solve(step.M, np.swapaxes(J, 1, 2))
    free, before = (np.einsum("nij,nj->ni", J, x) for x in (step.free, v))
    bounce = free.copy()
    bounce[:, 0] += e * before[:, 0]
    b, c = solved(G, bounce, mu), solved(G, free, mu)
    work = lambda x: np.einsum("ni,ni->n", x, free + 0.5 * np.einsum("nij,nj->ni", G, x))  # noqa: E731
    W_b, W_c = work(b), work(c)
    gamma = 0.5 * np.einsum("ni,nij,nj->n", b - c, G, b - c)
    beta = W_b - W_c - gamma
    share = np.where(W_b > 0, (-beta + np.sqrt(np.maximum(beta**2 - 4 * W_c * gamma, 0.0))) / (2 * gamma), 1.0)
    expected = c + np.clip(share, 0.0, 1.0)[:, None] * (b - c)
    assert (W_b > 1e-3).sum() > 5
    assert (W_b < -1e-3).sum() > 20
    assert (step.run.status == fw.Status.OK).all()
    found = np.roll(step.impulse[:, 0], 1, axis=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert work(found).max() <= 1e-12
