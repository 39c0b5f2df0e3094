"""Where the search for a step begins, against polynomials fitted to the steps before it."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.integrators import Variational
from featherweight.integrators.variational.guesses import LEVELS, extrapolated, memory_size, remembered

SEQUENCES = {
    "wave": np.sin(0.9 * np.arange(30)),
    "slow wave": np.cos(0.2 * np.arange(30)),
    "line": 0.3 + 0.1 * np.arange(30.0),
    "noise": np.random.default_rng(0).normal(size=30),
    "wave with noise": np.sin(0.1 * np.arange(30)) + 1e-4 * np.random.default_rng(1).normal(size=30),
}


def fitted(values: np.ndarray) -> float:
    """The next value: by a polynomial of the degree whose difference is smallest, as far as was known a step before,
    that fits one value more than it has coefficients."""
    known = values[:-1]
    degree = int(np.argmin([abs(np.diff(known, j)[-1]) for j in range(LEVELS)]))
    count = min(degree + 2, LEVELS)
    fit = np.polynomial.Polynomial.fit(np.arange(-count, 0), values[-count:], degree)
    return float(fit(0.0))


@pytest.mark.parametrize("values", SEQUENCES.values(), ids=SEQUENCES)
def test_the_next_step_is_that_of_a_fitted_polynomial(values: np.ndarray) -> None:
    """Of x = δ - h v, which is what steps have beyond their velocity."""
    tree, h, v = fw.robots.chain(1).over_floats, 0.01, [3.0]
    memory = [0.0] * memory_size(1)
    for k, x in enumerate(values):
        (guess,), kept = extrapolated(tree, v, h, memory)
        if k > LEVELS + 1:
            assert guess - h * v[0] == pytest.approx(fitted(values[:k]), abs=1e-9 * 2**LEVELS)
        memory = remembered(tree, v, h, kept, [x + h * v[0]])


def test_what_turns_freely_needs_no_search() -> None:
    """h v is the step; from rest it has to be found."""
    builder = fw.Builder("wheel", gravity=(0, 0, 0))
    wheel = builder.add_body("wheel", joint=fw.joints.Revolute("z"), inertia=fw.Inertia(1.0, (0, 0, 0), 0.01)).build()
    for guess, searches in (("velocity", False), ("dynamics", False), ("extrapolated", False), ("rest", True)):
        run = fw.rollout(wheel, [0.1], [2.0], steps=10, dt=1e-2, integrator=Variational(guess=guess))
        assert ((run.convergence[:, 0] > 0) == searches).all()
        assert run.q[-1, 0] == pytest.approx(0.1 + 10 * 1e-2 * 2.0, rel=1e-12)
