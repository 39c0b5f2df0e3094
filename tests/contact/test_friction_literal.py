"""Dry friction of joints in a step, written out: rows that yield, and damping that is viscous below what is stopped."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from contact.test_dry_friction import FAR, F, M, hopper, slider
from featherweight.contact import Impulse

G = 9.81


@pytest.mark.parametrize("presliding", [0.01, 0.5])
def test_a_row_yields_by_what_its_impulse_changes(presliding: float) -> None:
    """|λ| ≤ f h and v⁺ = -R (λ - λ₀) with R = ε / M, else λ = -f h sgn v⁺; λ₀ is the impulse of the step before."""
    h, rng = 1e-3, np.random.default_rng(0)
    force = np.repeat(F * rng.uniform(-1.4, 1.4, 12), 5)
    contact = Impulse(ground=FAR, dry_friction="rows", presliding=presliding)
    with fw.interpret():
        run = fw.rollout(slider(), [0.0], [0.0], steps=len(force), dt=h, tau=force[:, None], contact=contact)
    q, v, before, held = 0.0, 0.0, 0.0, []
    for k, push in enumerate(force):
        free = v + h * push / M
        impulse = (presliding * before - M * free) / (1.0 + presliding)  # which gives v⁺ = -R (λ - λ₀)
        held.append(abs(impulse) <= F * h)
        before = float(np.clip(impulse, -F * h, F * h))
        v = free + before / M
        q += h * v
        assert run.v[k + 1, 0] == pytest.approx(v, abs=2e-8)
        assert run.q[k + 1, 0] == pytest.approx(q, abs=1e-9)
    assert 10 < sum(held) < 50


@pytest.mark.parametrize("friction", [0.1, 10.0])
@pytest.mark.parametrize(("speed", "slide", "height"), [(-1.0, 0.0, 5e-5), (-1.0, 1.5, -5e-5), (-2.0, 0.0, 0.5)])
def test_friction_as_damping_is_viscous_below_the_speed_of_what_is_stopped(
    friction: float, speed: float, slide: float, height: float
) -> None:
    """D = f / max(|v|, speed), where the point that meets the ground comes with this speed, else 1e-4; (M + h D) q̈ =
    -D v - g, and what the ground does is answered by M + h D, too."""
    h, model = 1e-3, hopper(friction)
    with fw.interpret():
        run = fw.rollout(model, [0.5 + height, 0.0], [speed, slide], steps=1, dt=h, contact=Impulse(recovery=0.0))
    v, mass = np.array([speed, slide]), np.array([[10.1, 0.1], [0.1, 0.1]])
    foot, touches = speed + slide, height <= 0.1 * h
    D = friction / max(abs(slide), abs(foot) if touches and foot < 0 else 1e-4)
    K = mass + h * np.diag([0.0, D])
    free = v + h * np.linalg.solve(K, [-10.1 * G, -0.1 * G - D * slide])
    J = np.ones(2)
    wanted = -max(height, 0.0) / h
    impulse = max(0.0, wanted - J @ free) / (J @ np.linalg.solve(K, J)) if touches else 0.0
    np.testing.assert_allclose(run.v[1], free + np.linalg.solve(K, J * impulse), rtol=0, atol=2e-8)
    assert run.contact_force[0, 0, 2] == pytest.approx(impulse / h, rel=1e-6, abs=1e-6)
