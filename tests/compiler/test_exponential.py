"""Compiled exponential, logarithm and hyperbolic tangent against mpmath; the same bits in every lane."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy

import featherweight as fw
from compiler.test_sincos import neighbours, ulps
from featherweight import scalar
from featherweight.compiler import Argument, Kernel

ULPS = {"exp": 1, "log": 2, "tanh": 3}
NAMES = tuple(ULPS)
names = pytest.mark.parametrize("name", NAMES)


def kernel(name: str, columns: int = 1) -> Kernel:
    function = getattr(scalar, name)
    argument = Argument("x", (columns,), "n")
    return Kernel(name, [argument], [(columns,)], lambda s, *_: ([[function(x) for x in s[0]]], 0), lambda _: "")


KERNELS = {name: kernel(name) for name in NAMES}


def of(name: str, x: object) -> np.ndarray:
    return KERNELS[name](np.asarray(x, dtype=float)[:, None])[0][:, 0]


def arguments(name: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    powers = 2.0 ** rng.uniform(-1074, 1023, 1000)
    if name == "log":
        near_one = np.concatenate([1 + rng.normal(size=1000) * 10.0 ** -rng.integers(0, 16, 1000)])
        edges = neighbours(np.array([2.0**-1022, 2.0**-1074, 0.5, math.sqrt(0.5), 1.0, math.sqrt(2), 2.0, 1e308]))
        return np.concatenate([powers, near_one[near_one > 0], edges[edges > 0], rng.uniform(0, 10, 1000)])
    small = np.concatenate([powers[powers < 1], rng.uniform(-2, 2, 1000)])
    halves = neighbours(np.arange(-40, 40) * math.log(2) / 2)  # where k changes
    if name == "tanh":
        return np.concatenate([small, -small, halves, rng.uniform(-25, 25, 1000)])
    return np.concatenate([small, -small, halves, rng.uniform(-746, 710, 2000), neighbours(np.array([709.78, -745.1]))])


@names
def test_within_a_few_ulp(name: str) -> None:
    x = arguments(name)
    with mpmath.workprec(120):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(a))) for a in x]
    computed = of(name, x)
    largest = np.finfo(float).max
    errors = [
        (ulps(c, e._mpf_), a)
        for a, c, e in zip(x.tolist(), computed.tolist(), exact, strict=True)
        if abs(e) <= largest or math.isfinite(c)
    ]
    assert len(errors) > 2500
    assert max(errors)[0] <= ULPS[name], max(errors)


INF, NAN = 1e300, 12345.0  # in place of what a kernel would refuse to return


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("exp", ["inf", 709.8, 1e308, "-inf", -746, -1e308, 0, "nan"], [INF, INF, INF, 0, 0, 0, 1, NAN]),
        ("log", ["inf", 0, -0.0, -1, "-inf", 1, "nan"], [INF, -INF, -INF, NAN, NAN, 0, NAN]),
        ("tanh", ["inf", 1e308, 30, "-inf", -30, 0, "nan"], [1, 1, 1, -1, -1, 0, NAN]),
    ],
)
def test_beyond_the_numbers(name: str, x: list[float | str], expected: list[float]) -> None:
    def function(s, *_):
        (above,), (below,) = s  # infinite, or not a number, only inside: a kernel takes finite numbers
        y = getattr(scalar, name)(above / below)
        bounded = scalar.minimum(INF, scalar.maximum(-INF, y))
        return [[scalar.where(y == y, bounded, NAN)]], 0

    fractions = {"inf": (1.0, 0.0), "-inf": (-1.0, 0.0), "nan": (0.0, 0.0)}
    above, below = np.array([fractions.get(a, (a, 1.0)) for a in x], dtype=float).T[..., None]
    arguments = [Argument("above", (1,), "1"), Argument("below", (1,), "1")]
    assert Kernel(name, arguments, [(1,)], function, lambda _: "")(above, below)[0][:, 0].tolist() == expected


@names
def test_the_same_bits_in_every_lane(name: str) -> None:
    x = np.abs(np.random.default_rng(3).normal(size=37)) * 3
    together = of(name, x)
    assert all(of(name, [a])[0] == b for a, b in zip(x, together, strict=True))


@names
def test_other_scalars(name: str) -> None:
    function = getattr(scalar, name)
    exact = getattr(math, name)(0.7)
    assert function(0.7) == exact
    assert function(np.array([0.7]))[0] == pytest.approx(exact, rel=1e-15)
    assert float(function(mpmath.mpf(0.7))) == pytest.approx(exact, rel=1e-15)
    assert function(sympy.Symbol("x")) == getattr(sympy, name)(sympy.Symbol("x"))
    assert scalar.exp(1000.0) == math.inf


def test_a_neural_policy_is_a_controller() -> None:
    """Two layers, with NumPy's own functions on traced values; weights as parameters, other ones in every lane."""
    model, hidden = fw.robots.double_pendulum(), 5
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(8, hidden * 4 + 2 * hidden))

    def policy(t, q, v, x, p):
        first, second = p[: 4 * hidden].reshape(hidden, 4), p[4 * hidden :].reshape(2, hidden)
        return second @ np.tanh(first @ np.concatenate([q, v])), x

    q, v = rng.uniform(-1, 1, (2, 8, 2))
    control = fw.compiled(policy, parameters=weights)
    run = fw.rollout(model, q, v, steps=200, dt=1e-3, control=control)
    for lane in range(8):
        by_python = fw.simulate(
            model, q[lane], v[lane], duration=0.2, dt=1e-3,
            control=lambda t, q, v, p=weights[lane]: policy(t, q, v, None, p)[0],
        )  # fmt: skip
        assert np.abs(by_python.q - run.q[lane]).max() <= 1e-12
