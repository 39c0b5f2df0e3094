"""Softened laws beside their documented form, in mpmath: each says that impulses are what is left of Λ - w when it is
projected onto what is allowed, Λ = g λ, with max(x, 0) softened to (x + √(x² + ε²)) / 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest

import featherweight as fw
from differentiation.exactly import DIGITS, STEP, jacobians, program_of
from featherweight.constraints import Cone, Equality, Interval
from featherweight.constraints.interval import Stop
from featherweight.constraints.softened import softened, softened_stop

MU, YIELDS, BEFORE, MOBILITY = 0.6, 0.3, 0.2, 1.7
GAINS = [1.3, 0.7, 2.5]
Equations = Callable[[Sequence[Any]], list[Any]]


def most(x: Any, y: Any, width: Any) -> Any:
    """max(x, y), softened: y + max(x - y, 0)."""
    return y + (x - y + mpmath.sqrt((x - y) ** 2 + mpmath.mpf(width) ** 2)) / 2


def least(x: Any, y: Any, width: Any) -> Any:
    """min(x, y), softened: x - max(x - y, 0)."""
    return x - most(x - y, 0, width)


def cone(width: float) -> tuple[Equations, Equations, int]:
    """Λ_n = max(Λ_n - w_n, 0); Λ_t = y_t min(|y_t|, μ Λ_n) / |y_t|, y_t = Λ_t - w_t; g is the mean of the rows'."""

    def documented(x: Sequence[Any]) -> list[Any]:
        gain = mpmath.fsum(GAINS) / 3
        (n, one, two), w = (gain * l for l in x[:3]), x[3:]
        y = [one - w[1], two - w[2]]
        size = mpmath.sqrt(y[0] ** 2 + y[1] ** 2)
        share = least(size, mpmath.mpf(MU) * n, width) / size
        return [n - most(n - w[0], 0, width), one - share * y[0], two - share * y[1]]

    return documented, lambda x: softened(Cone(MU), x[:3], x[3:], [0.0] * 3, _no_mobility, GAINS, width), 6


def interval(low: float, high: float, yields: float, width: float) -> tuple[Equations, Equations, int]:
    """Λ = a + max(Λ - u - a, 0) - max(Λ - u - b, 0) with u = w + R (λ - λ₀); without a bound, nothing stops Λ there."""
    law = Interval(low, high, yields)

    def documented(x: Sequence[Any]) -> list[Any]:
        gain = mpmath.mpf(GAINS[0])
        scaled, u = gain * x[0], x[1] + mpmath.mpf(yields) * mpmath.mpf(MOBILITY) * (x[0] - mpmath.mpf(BEFORE))
        allowed = scaled - u if math.isinf(low) else low * gain + most(scaled - u - low * gain, 0, width)
        above = 0 if math.isinf(high) else most(scaled - u - high * gain, 0, width)
        return [scaled - (allowed - above)]

    return documented, lambda x: softened(law, x[:1], x[1:], [BEFORE], lambda k: MOBILITY, GAINS, width), 2


def stop(low: float, high: float, width: float) -> tuple[Equations, Equations, int]:
    """Λ = max(Λ - (v - low), 0) - max(-Λ - (high - v), 0): an impulse at each end there is."""

    def documented(x: Sequence[Any]) -> list[Any]:
        scaled, v = mpmath.mpf(GAINS[0]) * x[0], x[1]
        at_low = 0 if math.isinf(low) else most(scaled - (v - low), 0, width)
        at_high = 0 if math.isinf(high) else most(-scaled - (high - v), 0, width)
        return [scaled - (at_low - at_high)]

    return documented, lambda x: [softened_stop(Stop(low=low, high=high), x[0], x[1], GAINS[0], width)], 2


def _no_mobility(k: int) -> Any:
    raise AssertionError("a cone does not yield")


LAWS: dict[str, Callable[[float], tuple[Equations, Equations, int]]] = {
    "cone": cone,
    "two bounds": lambda width: interval(-0.4, 0.5, 0.0, width),
    "two bounds, yields": lambda width: interval(-0.4, 0.5, YIELDS, width),
    "pushes": lambda width: interval(0.0, math.inf, 0.0, width),
    "pulls": lambda width: interval(-math.inf, 0.0, 0.0, width),
    "two ends": lambda width: stop(-0.5, 0.7, width),
    "lower end": lambda width: stop(-0.5, math.inf, width),
    "upper end": lambda width: stop(-math.inf, 0.7, width),
}


@pytest.mark.parametrize("width", [1e-3, 0.3])
@pytest.mark.parametrize("name", LAWS)
def test_softened_equations_are_the_documented_ones_and_so_are_their_derivatives(name: str, width: float) -> None:
    documented, ours, size = LAWS[name](width)
    rng, program = np.random.default_rng(0), program_of(ours, size)
    for _ in range(20):
        x = rng.normal(size=size)
        with mpmath.workdps(DIGITS):
            at = [mpmath.mpf(float(number)) for number in x]
            expected = [float(y) for y in documented(at)]
            columns = []
            for k in range(size):
                sides = [documented([y + s * STEP * (j == k) for j, y in enumerate(at)]) for s in (1, -1)]
                columns.append([float((a - b) / (2 * STEP)) for a, b in zip(*sides, strict=True)])
        np.testing.assert_allclose([float(y) for y in ours([float(y) for y in x])], expected, rtol=0, atol=1e-14)
        for found in jacobians(program, x.tolist()):
            np.testing.assert_allclose(found, np.transpose(columns), rtol=0, atol=1e-11 / width**0.5)


def test_an_equality_is_not_softened() -> None:
    assert softened(Equality(), [0.3], [0.25], [0.0], _no_mobility, [2.0], 0.1) == pytest.approx([0.25], abs=1e-15)


@pytest.mark.parametrize("ends", [(-np.inf, 0.5), (-0.3, np.inf)], ids=["upper end", "lower end"])
@pytest.mark.parametrize("beyond", [-0.2, -3e-4, 1e-5], ids=["far", "near", "held"])
def test_a_joint_with_one_end_has_softened_derivatives(ends: tuple[float, float], beyond: float) -> None:
    """Those of the same joint with its other end far away."""

    def linearized(lower: float, upper: float) -> fw.Linearized:
        joint, rod = fw.joints.Revolute("y"), fw.Inertia.box(1.0, (0.1, 0.2, 0.3))
        arm = fw.Builder("arm").add_body("rod", joint=joint, inertia=rod, limits=fw.Limits(lower, upper)).build()
        q, v = (upper + beyond, 0.2) if np.isinf(ends[0]) else (lower - beyond, -0.2)
        return fw.linearize(arm, [q], [v], dt=1e-3, smoothing=0.01)

    one = linearized(*ends)
    two = linearized(*(np.sign(end) * 50.0 if np.isinf(end) else end for end in ends))
    np.testing.assert_allclose(one.A, two.A, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.B, two.B, rtol=0, atol=1e-8)
    assert (abs(one.A[1, 1]) < 0.5) == (beyond > 0)
