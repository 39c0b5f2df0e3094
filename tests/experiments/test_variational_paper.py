"""The paper's comparison: its algorithms solve the same equations, and what is measured is what is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

import featherweight as fw
from featherweight.experiments import figures
from featherweight.experiments.accuracy import Accuracy, accuracy
from featherweight.experiments.convergence import Convergence, convergence
from featherweight.experiments.discrete_steps import METHODS, Method, search, states, step_end
from featherweight.experiments.energy import Energy, by_mujoco, energy
from featherweight.experiments.evaluations import NEWTON, RESIDUAL, SCALABLE_RESIDUAL, START, scalable_jacobian
from featherweight.experiments.scaling import BEFORE, BEST, Scaling, scaling

H, N = 1e-3, 6


@pytest.fixture(scope="module")
def scaled() -> Scaling:
    return scaling((2, 8))


@pytest.fixture(scope="module")
def searched() -> Convergence:
    return convergence()


@pytest.fixture(scope="module")
def energies() -> Energy:
    return energy()


@pytest.fixture(scope="module")
def errors() -> Accuracy:
    return accuracy()


def discrete_lagrangian(model: fw.Model, q: np.ndarray, q_after: np.ndarray, h: float) -> float:
    """½ Xᵀ I X / h - h/2 (U + U⁺) of planar links about x, written out: a body that turns by φ goes along an arc."""
    total = -0.5 * h * (float(fw.potential_energy(model, q)) + float(fw.potential_energy(model, q_after)))
    for k in range(len(q)):
        (y0, z0, a0), (y1, z1, a1) = ((*_centre(x, k), x[: k + 1].sum()) for x in (q, q_after))
        phi = a1 - a0
        arc = 1.0 if phi == 0 else (phi / 2) / math.sin(phi / 2)  # a chord, and the arc over it
        total += (0.5 * ((y1 - y0) ** 2 + (z1 - z0) ** 2) * arc**2 + 0.5 * phi**2) / h
    return total


def _centre(q: np.ndarray, k: int) -> tuple[float, float]:
    """Of link k: turning by a about x takes z to (-sin a, cos a)."""
    angles = np.cumsum(q)[: k + 1]
    lengths = np.array([1.5] * k + [0.75])
    return float(-(lengths * np.sin(angles)).sum()), float((lengths * np.cos(angles)).sum())


def test_both_evaluations_are_the_derivative_of_the_action() -> None:
    """e / h = -D₁L_d(q, q ⊕ δ) less the momentum to begin with, by central differences of L_d."""
    model, (q, v) = fw.robots.chain(N), states(N, 1)
    h, q0, delta = 0.05, q[0], 0.05 * v[0]
    nothing = np.zeros(N)
    for quantity in (RESIDUAL, SCALABLE_RESIDUAL):
        e = quantity.kernel(model)(q0, delta, nothing)[0]
        slope = [
            (discrete_lagrangian(model, q0 - d, q0 + delta, h) - discrete_lagrangian(model, q0 + d, q0 + delta, h))
            / 2e-5
            for d in 1e-5 * np.eye(N)
        ]
        gravity = 0.5 * h * fw.gravity_force(model, q0)  # L_d has it, e has it in the momentum to begin with
        assert np.allclose(e / h, slope - gravity, rtol=1e-7, atol=1e-7)


def test_the_jacobian_is_the_derivative_of_the_residual() -> None:
    model, (q, v) = fw.robots.chain(N), states(N, 3)
    start = START.kernel(model)(q, v, np.array(H))[0]
    residual, delta = RESIDUAL.kernel(model), H * v
    columns = [(residual(q, delta + d, start)[0] - residual(q, delta - d, start)[0]) / 2e-5 for d in 1e-5 * np.eye(N)]
    J = scalable_jacobian(model, q, delta)
    assert np.allclose(J, np.stack(columns, axis=-1), atol=1e-8)
    e = residual(q, delta, start)[0]
    assert np.allclose(NEWTON.kernel(model)(q, delta, start)[0], np.linalg.solve(J, e[..., None])[..., 0], rtol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_each_method_finds_the_step_of_the_library(method: Method) -> None:
    model, (q, v) = fw.robots.chain(N), states(N, 4)
    found = search(model, q, v, H, method, tolerance=1e-11)
    assert found.converged.all()
    after, velocity = step_end(model, q, found.delta, H)
    run = fw.rollout(model, q, v, steps=1, dt=H, integrator=fw.integrators.Variational(solver="newton"))
    assert np.abs(after - run.q[:, 1]).max() < 1e-13
    assert np.abs(velocity - run.v[:, 1]).max() < 1e-10


def test_a_search_that_does_not_end_is_not_called_converged() -> None:
    """Steps of 0.2 s are too long for RIQN; lanes that are done before keep what they have."""
    model, (q, v) = fw.robots.chain(N, gravity=0.0), states(N, 8)
    v[0] = q[0] = 0.0
    found = search(model, q, v, 0.2, Method("drnea", "riqn", "rest"), tolerance=1e-9, most=8)
    assert found.converged[0]
    assert found.iterations[0] == 0
    assert not found.converged[1:].all()
    assert np.isnan(found.residuals[1:, 0]).all()


def test_newton_is_quadratic_riqn_is_not_and_guesses_help(searched: Convergence) -> None:
    result = searched
    assert [claim.holds for claim in result.claims] == [True, False, True]  # Broyden's method comes next
    newton, broyden, riqn = result.iterations.mean(axis=2)
    assert (newton <= broyden).all()
    assert (newton < riqn).all()
    assert result.residual.shape == (3, 3, 11, 32)


def test_time_is_linear_with_drnea_and_not_without(scaled: Scaling) -> None:
    """Counts are exact; times only have to tell 2 links from 8."""
    assert scaled.seconds.shape == (18, 2)
    assert not scaled.failed.any()
    for solver in ("broyden", "riqn"):  # the evaluation changes no iteration
        one, other = (scaled.methods.index(Method(e, solver, "velocity")) for e in ("scalable", "drnea"))
        assert np.allclose(scaled.iterations[one], scaled.iterations[other], atol=0.1)
    assert scaled.of(BEFORE)[-1] > 2 * scaled.of(BEST)[-1]
    assert (scaled.native > 0).all()


def test_energy_of_our_methods_and_mujocos(energies: Energy) -> None:
    result = energies
    holds = [claim.holds for claim in result.claims]
    assert holds == [True, True, False]  # Runge-Kutta 4 keeps it better here
    largest = result.largest
    assert largest["Runge-Kutta 4"] < 1e-3 * largest["variational"] < 1e-3 * largest["semi-implicit Euler"]
    assert result.error.shape == (len(result.methods), 1001)
    assert result.t[-1] == pytest.approx(20.0)
    if "MuJoCo, Euler" in largest:
        assert largest["MuJoCo, Euler"] == pytest.approx(largest["semi-implicit Euler"], rel=0.5)


def test_mujoco_has_the_same_chain() -> None:
    pytest.importorskip("mujoco")
    q, v = (x[0] for x in states(4, 1))
    run = fw.rollout(fw.robots.chain(4), q, v, steps=100, dt=H, integrator="rk4", record_every=100)
    theirs = by_mujoco(4, q, v, 100, 100, "RK4")
    assert np.abs(theirs[0][-1] - run.q[-1]).max() < 1e-10


def test_what_is_said_of_accuracy(errors: Accuracy) -> None:
    result = errors
    assert [claim.holds for claim in result.claims] == [False, True, False]
    euler, ours, rk4 = result.error
    assert (rk4[1:] < ours[1:]).all()  # nearer to the truth at every time
    assert (ours[1:] < euler[1:]).all()
    for row, order in zip(result.end_error, (1, 2, 4), strict=True):  # 250 and 1000 steps
        assert math.log(row[0] / row[1], 4) == pytest.approx(order, abs=0.3)


def test_figures_show_every_method(scaled: Scaling, searched: Convergence, energies: Energy, errors: Accuracy) -> None:
    pytest.importorskip("matplotlib")
    shown = {
        "convergence": (figures.convergence_figure(searched), 9),
        "scaling": (figures.scaling_figure(scaled), 6 + 9),
        "energy": (figures.energy_figure(energies), len(energies.methods)),
        "accuracy": (figures.accuracy_figure(errors), 3),
    }
    for name, (figure, entries) in shown.items():
        assert len(figure.legends[0].get_texts()) == entries, name
        assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


@pytest.mark.parametrize("links", [(3,), (5, 2), (2, 2)])
def test_lengths_must_increase(links: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="links: expected two numbers"):
        scaling(links)
