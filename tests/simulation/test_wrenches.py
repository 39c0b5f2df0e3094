"""Wrenches given to a run: on each body, in its frame at its origin, fixed to it during a step."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from simulation.semi_implicit_reference import middle_velocity, step

J = fw.joints
RNG = np.random.default_rng(0)


def tree() -> fw.Model:
    builder = fw.Builder("tree")
    builder.add_body("base", joint=J.Free(), inertia=fw.Inertia.box(2.0, (0.3, 0.2, 0.1), (0.02, 0.01, 0.0)))
    for name, parent, joint, place in (
        ("arm", "base", J.Revolute("y"), (0.1, 0.0, 0.1)), ("hand", "arm", J.Spherical(), (0.0, 0.0, 0.4)),
    ):  # fmt: skip
        inertia = fw.Inertia.box(1.0, (0.1, 0.1, 0.4), (0.0, 0.0, 0.2))
        builder.add_body(name, parent=parent, joint=joint, placement=fw.Placement(place), inertia=inertia)
    return builder.build()


def at_joints(model: fw.Model, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Σ Jᵀ f; those of the world do nothing."""
    return sum(fw.jacobian(model, q, model.names[i], "body").T @ wrenches[i] for i in range(1, model.nb + 1))


def test_semi_implicit_steps_take_them_at_the_beginning() -> None:
    """Each step its own; beside forces on joints that are given."""
    model, h = tree(), 0.01
    q, v = model.random(RNG), RNG.normal(size=model.nv)
    wrenches, tau = 5.0 * RNG.normal(size=(3, model.nb + 1, 6)), RNG.normal(size=(3, model.nv))
    with fw.interpret():
        run = fw.rollout(model, q, v, steps=3, dt=h, f_ext=wrenches, tau=tau)
    for k in range(3):
        middle = middle_velocity(model, run.q[k], run.v[k], h, newton=2)
        expected = step(model, run.q[k], run.v[k], h, middle, tau[k] + at_joints(model, run.q[k], wrenches[k]))
        for found, right in zip((run.q[k + 1], run.v[k + 1]), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)


@pytest.mark.parametrize("given", ["one for all steps", "of each robot"])
def test_runge_kutta_steps_turn_them_with_their_bodies(given: str) -> None:
    """In each stage at the place of that stage, written out for two hinges."""
    model, h = fw.robots.chain(2), 0.02
    q, v = RNG.normal(size=(2, 4, 2))
    f = 3.0 * RNG.normal(size=(3, 6) if given == "one for all steps" else (4, 1, 3, 6))
    with fw.interpret():
        run = fw.rollout(model, q, v, steps=1, dt=h, f_ext=f, integrator="rk4")

    def rate(q: np.ndarray, v: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.array([v, fw.forward_dynamics(model, q, v, at_joints(model, q, f))])

    for lane in range(4):
        own, x = f if f.ndim == 2 else f[lane, 0], np.array([q[lane], v[lane]])
        k1 = rate(*x, own)
        k2 = rate(*(x + h / 2 * k1), own)
        k3 = rate(*(x + h / 2 * k2), own)
        k4 = rate(*(x + h * k3), own)
        expected = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        np.testing.assert_allclose([run.q[lane, 1], run.v[lane, 1]], expected, rtol=0, atol=1e-13)


def test_variational_steps_with_them_are_of_second_order() -> None:
    """Of bodies that turn with what pushes them: a wrench that stood still during a step would be of first."""
    model = fw.robots.chain(2)
    q, v, f = np.array([0.3, -0.8]), np.array([3.0, -2.0]), 5.0 * np.random.default_rng(3).normal(size=(3, 6))
    with fw.interpret():
        exact = fw.rollout(model, q, v, steps=100, dt=1e-3, f_ext=f, integrator="rk4").q[-1]
        errors = [
            np.abs(fw.rollout(model, q, v, steps=n, dt=0.1 / n, f_ext=f, integrator="variational").q[-1] - exact).max()
            for n in (10, 20)
        ]
    assert errors[0] > 1e-7
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.1
