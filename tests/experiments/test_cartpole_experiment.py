"""The cart-pole of the lecture: signs, and all places of rest, against the equation sin θ = -κ θ itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

pytest.importorskip("sympy")

from featherweight.experiments.cartpole import Cartpole, cartpole, swinging


@pytest.fixture(scope="module")
def result() -> Cartpole:
    return cartpole((0.1, 0.3))


def test_what_the_source_says_and_where_it_is_wrong(result: Cartpole) -> None:
    holds = {claim.section + ": " + claim.text[:24]: claim.holds for claim in result.claims}
    assert list(holds.values()) == [True, False, True, True, True, False, True, False, False]


def rests(kappa: float) -> list[float]:
    """Where sin θ + κ θ changes its sign, halved to 1e-9."""

    def f(theta: float) -> float:
        return math.sin(theta) + kappa * theta

    found, grid = [], np.linspace(-6, 6, 1202).tolist()
    for low, high in itertools.pairwise(grid):
        if f(low) * f(high) > 0:
            continue
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (low, middle) if f(low) * f(middle) <= 0 else (middle, high)
        found.append(low)
    return found


@pytest.mark.parametrize("kappa", [0.1, 0.3])
def test_equilibria_are_all_there_and_hanging_is_stable(result: Cartpole, kappa: float) -> None:
    found = result.equilibria[kappa]
    assert [angle for angle, _ in found] == pytest.approx(rests(kappa), abs=1e-3)
    assert [stability == "stable" for _, stability in found] == [math.cos(a) + kappa > 0 for a, _ in found]


def test_let_go_near_zero_it_stays_near(result: Cartpole) -> None:
    assert result.swing == pytest.approx(0.1, abs=1e-3)


def test_let_go_beyond_upright_it_comes_to_rest_where_the_quiz_does_not_look() -> None:
    ends = [swinging(kappa, 3.6, 20.0, damping=0.02).q[-1, 1] for kappa in (0.1, 0.3)]
    assert ends == pytest.approx([5.679, 0.0], abs=0.02)
