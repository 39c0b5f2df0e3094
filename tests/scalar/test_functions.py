"""Functions of any scalar: compiled inverse functions are within 2 ulp of mpmath; signs fit every scalar."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from mpmath import libmp

from featherweight import scalar
from featherweight.compiler import Argument, Kernel, interpret
from featherweight.scalar import atan2, logical_not, sign, where

LARGEST = float(np.finfo(float).max)
TINY = 5e-324


def compiled(function: Any) -> Kernel:
    """(y, x) -> one number."""
    return Kernel("test", [Argument("yx", (2,), "2")], [(1,)], lambda s, *_: ([[function(*s[0])]], 0), lambda _: "")


ATAN2 = compiled(atan2)


def ulps(computed: float, exact: Any) -> float:
    """|computed - exact| in units of the last place of exact, a raw mpmath number."""
    _, mantissa, exponent, bits = exact
    if not mantissa:
        return abs(computed) / TINY
    last_place = max(exponent + bits - 53, -1074)
    difference = libmp.mpf_sub(libmp.from_float(computed), exact)
    return abs(libmp.to_float(libmp.mpf_shift(difference, -last_place)))


def worst_ulps(y: np.ndarray, x: np.ndarray) -> tuple[float, float, float]:
    """The largest error of the compiled atan2, with its arguments."""
    results = ATAN2(np.stack([y, x], axis=-1))[0][:, 0]
    return max(
        (ulps(r, libmp.mpf_atan2(libmp.from_float(a), libmp.from_float(b), 100)), a, b)
        for a, b, r in zip(y.tolist(), x.tolist(), results.tolist(), strict=True)
    )


RNG = np.random.default_rng(0)


def spread(count: int, low: int, high: int) -> np.ndarray:
    """Random floats of both signs from 2^low to 2^high, as many of each magnitude."""
    return RNG.choice([-1.0, 1.0], count) * np.ldexp(RNG.uniform(0.5, 1, count), RNG.integers(low + 1, high + 1, count))


def of_one_size(count: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in all directions, at distances of all magnitudes."""
    distance, angle = np.abs(spread(count, low, high)), RNG.uniform(-math.pi, math.pi, count)
    return distance * np.sin(angle), distance * np.cos(angle)


def around(ratio: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """y/x close to a ratio where the method changes."""
    x = RNG.uniform(0.5, 1, count)
    return x * (ratio + RNG.normal(size=count) * 1e-2), x


ARGUMENTS = {
    "all sizes": lambda: (spread(30_000, -1074, 1024), spread(30_000, -1074, 1024)),
    "similar sizes": lambda: (spread(20_000, -3, 3), spread(20_000, -3, 3)),
    "directions": lambda: of_one_size(20_000, -1000, 1000),
    "one half": lambda: around(0.5, 15_000),
    "one": lambda: around(1.0, 5_000),
    "two": lambda: around(2.0, 5_000),
    "the steepest errors": lambda: around(0.53, 10_000),
    "largest": lambda: (RNG.uniform(-1, 1, 5_000) * LARGEST, RNG.uniform(-1, 1, 5_000) * LARGEST),
    "subnormal": lambda: (RNG.integers(0, 2**52, 5_000).view(float), RNG.integers(0, 2**52, 5_000).view(float)),
    "smallest": lambda: (RNG.integers(0, 20, 2_000) * TINY, RNG.integers(-20, 20, 2_000) * TINY),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_compiled_atan2_is_within_two_ulp(kind: str) -> None:
    error, y, x = worst_ulps(*ARGUMENTS[kind]())
    assert error <= 2, f"{error:.3f} ulp at atan2({y!r}, {x!r})"


SPECIAL = {
    (0.0, 0.0): 0.0,
    (0.0, 1.0): 0.0,
    (0.0, -1.0): math.pi,
    (0.0, -TINY): math.pi,
    (0.0, -LARGEST): math.pi,
    (1.0, 0.0): math.pi / 2,
    (-1.0, 0.0): -math.pi / 2,
    (TINY, 0.0): math.pi / 2,
    (-LARGEST, 0.0): -math.pi / 2,
    (1e-300, 1e300): 0.0,
    (1e300, 1e-300): math.pi / 2,
    (1e-300, -1e300): math.pi,
    (-1e-300, -1e300): -math.pi,
    (1e300, 1e300): math.pi / 4,
    (1e-300, 1e-300): math.pi / 4,
    (LARGEST, -LARGEST): 3 * math.pi / 4,
    (-TINY, -TINY): -3 * math.pi / 4,
    (1e-300, 1.0): 1e-300,
    (TINY, 1.0): TINY,
    (-3e-310, 1.0): -3e-310,
}


@pytest.mark.parametrize(("y", "x"), SPECIAL)
def test_atan2_at_special_points(y: float, x: float) -> None:
    """Exact also where the ratio over- or underflows."""
    one = ATAN2([y, x])[0].item()
    assert one == SPECIAL[y, x] == math.atan2(y, x)
    assert ATAN2([[y, x]] * 9)[0].tolist() == [[one]] * 9


def test_atan2_takes_every_scalar() -> None:
    y, x = 0.3, -0.4
    assert atan2(y, x) == math.atan2(y, x)
    assert atan2(np.array([y]), x).tolist() == np.arctan2([y], [x]).tolist()
    assert atan2(0, np.array([x])).tolist() == [math.pi]
    with mpmath.workdps(40):
        assert atan2(mpmath.mpf(y), x) == mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))
        assert atan2(1, mpmath.mpf(0)) == mpmath.pi / 2
    a, b = sympy.symbols("a b", real=True)
    assert atan2(a, b) == sympy.atan2(a, b)
    assert atan2(1, b).subs(b, -1) == 3 * sympy.pi / 4
    with pytest.raises(TypeError, match="not a scalar"):
        atan2("1", 2.0)


@pytest.mark.parametrize("fixed", [0.0, -0.7, 1.0, 3])
def test_atan2_of_a_number_known_while_tracing(fixed: float) -> None:
    values = np.random.default_rng(1).normal(size=(50, 2))
    np.testing.assert_allclose(
        compiled(lambda y, x: atan2(fixed, x))(values)[0][:, 0], np.arctan2(fixed, values[:, 1]), rtol=4e-16
    )
    np.testing.assert_allclose(
        compiled(lambda y, x: atan2(y, fixed))(values)[0][:, 0], np.arctan2(values[:, 0], fixed), rtol=4e-16
    )


# ---- asin, acos, atan

INVERSE = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def of_inverse(name: str, x: np.ndarray) -> np.ndarray:
    function = getattr(scalar, name)
    return compiled(lambda y, x: function(y))(np.stack([x, x], axis=-1))[0][:, 0]


def inverse_arguments(name: str) -> np.ndarray:
    """Everywhere, and where methods change: at 1/2, near 1, at 1."""
    if name == "atan":
        return np.concatenate([spread(3000, -1074, 1024), RNG.uniform(-3, 3, 2000), 1 + RNG.normal(size=1000) * 0.5])
    near_one = RNG.choice([-1.0, 1.0], 2000) * (1 - 2.0 ** RNG.uniform(-53, -1, 2000))
    half = RNG.choice([-1.0, 1.0], 2000) * (0.5 + RNG.normal(size=2000) * 1e-3)
    steepest = RNG.choice([-1.0, 1.0], 2000) * RNG.uniform(0.8, 0.9, 2000)
    edges = [1.0, -1.0, 0.5, -0.5]
    return np.concatenate([RNG.uniform(-1, 1, 2000), near_one, half, steepest, spread(1000, -1074, 0), edges])


@pytest.mark.parametrize("name", INVERSE)
def test_inverse_functions_are_within_two_ulp(name: str) -> None:
    x = inverse_arguments(name)
    exact = getattr(libmp, f"mpf_{name}")
    errors = [
        (ulps(computed, exact(libmp.from_float(a), 100)), a)
        for a, computed in zip(x.tolist(), of_inverse(name, x).tolist(), strict=True)
    ]
    assert max(errors)[0] <= 2, max(errors)


def test_inverse_functions_at_special_points() -> None:
    ends, half = np.array([-1.0, 1.0, 0.0]), math.pi / 2
    assert of_inverse("asin", ends).tolist() == [-half, half, 0.0]
    assert of_inverse("acos", ends).tolist() == [math.pi, 0.0, half]
    assert of_inverse("atan", np.array([1.0, -LARGEST, LARGEST, 0.0])).tolist() == [math.pi / 4, -half, half, 0.0]
    tiny = np.array([TINY, -1e-310, 1e-200, -0.0])
    for name in ("asin", "atan"):
        assert of_inverse(name, tiny).tolist() == tiny.tolist()
    beyond = compiled(lambda y, x: where(scalar.asin(y) < 9, 1.0, 0.0) + where(scalar.acos(y) < 9, 1.0, 0.0))
    assert beyond([[1.0000000000000002, 0.0], [-1e300, 0.0], [1.0, 0.0]])[0][:, 0].tolist() == [0.0, 0.0, 2.0]
    infinite = compiled(lambda y, x: scalar.atan(y / x))  # infinite only inside: a kernel takes finite numbers
    assert infinite([[1.0, 0.0], [-1.0, 0.0]])[0][:, 0].tolist() == [half, -half]
    no_number = compiled(lambda y, x: where(scalar.atan(y / x) < 9, 1.0, 0.0))
    assert no_number([0.0, 0.0])[0].item() == 0.0


@pytest.mark.parametrize("name", INVERSE)
def test_inverse_functions_of_every_scalar(name: str) -> None:
    function, by_numpy = getattr(scalar, name), getattr(np, INVERSE[name])
    assert function(0.3) == pytest.approx(getattr(math, name)(0.3), rel=1e-15)
    assert function(np.array([0.3, -0.9])).tolist() == by_numpy([0.3, -0.9]).tolist()
    with mpmath.workdps(40):
        assert function(mpmath.mpf("0.3")) == getattr(mpmath, name)(mpmath.mpf("0.3"))
    a = sympy.Symbol("a", real=True)
    assert function(a) == getattr(sympy, name)(a)
    x = RNG.uniform(-1, 1, (9, 2))
    kernel = compiled(lambda y, x: function(y))
    with interpret():
        np.testing.assert_allclose(kernel(x)[0][:, 0], by_numpy(x[:, 0]), rtol=1e-15)
    assert [kernel(row)[0].item() for row in x] == kernel(x)[0][:, 0].tolist()
    if name != "atan":
        assert math.isnan(function(1.5))
        assert math.isnan(function(-math.inf))
        assert function(mpmath.mpf(2)).imag != 0


def test_sign_of_every_scalar() -> None:
    values = [-2.0, -1e-300, 0.0, -0.0, 3.0]
    signs = [-1, -1, 0, 0, 1]
    assert [sign(v) for v in values] == signs
    assert sign(np.array(values)).tolist() == signs
    assert [sign(mpmath.mpf(v)) for v in values] == signs
    assert [sign(sympy.Float(v)) for v in values] == signs
    (result,) = compiled(lambda y, x: sign(y))([[v, 0.0] for v in values])
    assert result[:, 0].tolist() == signs


def test_not_of_every_condition() -> None:
    assert logical_not(True) is False
    assert logical_not(mpmath.mpf(1) < 0) is True
    assert logical_not(np.array([True, False])).tolist() == [False, True]
    assert not logical_not(np.float64(1) < 2)
    a = sympy.Symbol("a", real=True)
    assert logical_not(a < 0) == (a >= 0)
    (result,) = compiled(lambda y, x: where(logical_not(y < x), 1.0, 0.0))([[1.0, 2.0], [2.0, 1.0]])
    assert result[:, 0].tolist() == [0, 1]
