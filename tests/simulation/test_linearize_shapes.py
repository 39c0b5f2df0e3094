"""`linearize` where shapes touch each other and the ground, against differences of rollouts; interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, SpringDamper
from simulation.test_linearize import differences, worst

RADIUS, PAIRS, H = 0.1, [("low", "high")], 1e-3


def balls() -> fw.Model:
    builder = fw.Builder("balls")
    for name, mass in (("low", 1.0), ("high", 0.5)):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.box(mass, (0.2, 0.3, 0.25)))
        builder.add_geometry(name, fw.shapes.Sphere(RADIUS), friction=0.5)
    return builder.build()


def state(gap: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One ball on the ground and another one askew on it, each across this gap; they roll and slide."""
    rng, q = np.random.default_rng(0), balls().neutral()
    q[2], q[7] = RADIUS + gap, 0.02
    q[9] = q[2] + np.sqrt((2 * RADIUS + gap) ** 2 - q[7] ** 2)
    return q, 0.05 * rng.normal(size=12), rng.normal(size=12)


@pytest.mark.parametrize(
    ("contact", "gap", "h"),
    [
        (Impulse(pairs=PAIRS, tolerance=1e-13, slots=0), 1e-5, H),
        (Impulse(pairs=PAIRS, tolerance=1e-13, slots=2), 1e-5, H),
        (SpringDamper(pairs=PAIRS, stiffness=5e3, damping=50.0), -1e-3, H / 4),
    ],
    ids=["rows", "slots", "springs"],
)
def test_shapes_that_touch(contact: Any, gap: float, h: float) -> None:
    model, (q, v, tau) = balls(), state(gap)
    options = {"dt": h, "contact": contact}
    with fw.interpret():
        found = fw.linearize(model, q, v, tau, **options)
        run = fw.rollout(model, q, v, steps=1, tau=tau[None], **options)
        assert worst(12, found[2:], differences(model, q, v, tau, **options)) <= 1e-6
    assert np.linalg.norm(run.force_between("high", "low")) > 0.1
    np.testing.assert_array_equal(run.v[1], found.v)


def test_how_shapes_recover_from_depth_is_left_out() -> None:
    """A is that of the step without it, as docs/explanation/what-is-not-there.md says."""
    model, (q, v, tau) = balls(), state(-1e-4)
    contact = {beta: Impulse(pairs=PAIRS, tolerance=1e-13, slots=0, recovery=beta) for beta in (0.0, 50.0)}
    with fw.interpret():
        found = fw.linearize(model, q, v, tau, dt=H, contact=contact[50.0])
        without, moved = (differences(model, q, v, tau, dt=H, contact=contact[beta]) for beta in (0.0, 50.0))
    assert worst(12, found[2:], without) <= 1e-6
    assert worst(12, found[2:], moved) > 1e-3


def test_gradients_go_back_through_shapes_but_not_through_slots() -> None:
    model, (q, v, tau), steps = balls(), state(1e-5), 3
    taus = np.tile(tau, (steps, 1))

    def final(q: Any, v: Any, x: Any) -> Any:
        return v[0] * v[1] + v[3] * v[2] + v[6] * v[6] + v[8] * v[7] + q[0]

    def options(slots: int) -> dict[str, Any]:
        contact = Impulse(pairs=PAIRS, tolerance=1e-13, slots=slots)
        return {"steps": steps, "dt": H, "tau": taus, "contact": contact}

    with fw.interpret():
        value, gradient = fw.rollout_gradient(None, model, q, v, final=final, wrt=("v",), **options(0))
        run = fw.rollout(model, q, v + 1e-7 * np.concatenate([np.eye(12), -np.eye(12)]), **options(0))
        ends = np.array([final(run.q[k, -1], run.v[k, -1], None) for k in range(24)])
        with pytest.raises(ValueError, match="which have no gradient back; give slots=0"):
            fw.rollout_gradient(None, model, q, v, final=final, **options(2))
    np.testing.assert_allclose(gradient["v"], (ends[:12] - ends[12:]) / 2e-7, rtol=0, atol=1e-6)
    assert value == pytest.approx(ends.mean(), abs=1e-9)
