"""Whole numbers, remainders, bounds and norms: exact, on every scalar."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from featherweight import scalar
from featherweight.compiler import Argument, Kernel, interpret

LARGEST, TINY, MOST = float(np.finfo(float).max), 5e-324, 2.0**53
RNG = np.random.default_rng(0)


def compiled(function: Any, n: int = 2) -> Kernel:
    """n numbers -> one number."""
    return Kernel("test", [Argument("x", (n,), "n")], [(1,)], lambda s, *_: ([[function(*s[0])]], 0), lambda _: "")


# ---- whole numbers

ROUNDINGS = {
    "floor": (math.floor, -2, 2),
    "ceil": (math.ceil, -1, 3),
    "round": (round, -2, 2),  # half to even
}
EDGES = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370495.5, 2.0**52, 2.0**60, 0.0, 1e-300, -1e-300]


@pytest.mark.parametrize("name", ROUNDINGS)
def test_whole_numbers_of_every_scalar(name: str) -> None:
    function, (exact, below, above) = getattr(scalar, name), ROUNDINGS[name]
    x = np.concatenate([EDGES, RNG.normal(size=30) * 10])
    expected = [float(exact(a)) for a in x.tolist()]
    (code,) = compiled(lambda a, b: function(a))(np.stack([x, x], axis=-1))
    assert code[:, 0].tolist() == expected
    assert [function(a) for a in x.tolist()] == expected
    assert function(x).tolist() == expected
    assert function(mpmath.mpf(-1.5)) == below
    assert function(sympy.Rational(5, 2)) == above
    assert math.isnan(function(math.nan))
    assert function(math.inf) == math.inf


def test_rounding_of_symbols() -> None:
    a = sympy.Symbol("a", real=True)
    assert scalar.floor(a) == sympy.floor(a)
    assert scalar.ceil(a) == sympy.ceiling(a)
    with pytest.raises(TypeError, match="round"):
        scalar.round(a)


# ---- remainders


def remainder(x: float, y: float) -> float:
    """x - y ⌊x / y⌋ with all digits, rounded once; a zero has the sign of y."""
    quotient = Fraction(x) / Fraction(y)
    rest = Fraction(x) - Fraction(y) * math.floor(quotient)
    lost = abs(x / y) >= MOST
    return math.copysign(0.0, y) if lost or rest == 0 else float(rest)


def pairs() -> np.ndarray:
    size = RNG.choice([-1.0, 1.0], (2000, 2)) * 2.0 ** RNG.uniform(-30, 30, (2000, 2))
    whole = RNG.integers(-50, 50, (500, 2)) / 8.0
    multiples = RNG.integers(-(10**6), 10**6, 500) * (y := RNG.normal(size=500))
    near = np.stack([np.nextafter(multiples, RNG.choice([-1e9, 1e9], 500)), y], axis=-1)
    edges = [[-1e-20, 1.0], [1e-20, -1.0], [LARGEST, TINY], [1.0, TINY], [MOST, 1.0], [MOST - 1, 1.0], [-0.0, 3.0]]
    edges += [[2 * math.pi, math.pi], [TINY, 1.0], [-TINY, LARGEST], [1.0, 0.1], [-1.0, 3.0], [1.0, -3.0], [6.0, -3.0]]
    x = np.concatenate([size, whole, near, edges])
    return x[x[:, 1] != 0]


def test_mod_has_all_digits_and_the_sign_of_the_divisor() -> None:
    x = pairs()
    expected = np.array([remainder(*line) for line in x.tolist()])
    kernel = compiled(scalar.mod)
    (code,) = kernel(x)
    assert code[:, 0].tobytes() == expected.tobytes()
    with interpret():
        assert kernel(x)[0].tobytes() == expected.tobytes()
    alone = [kernel(line)[0].item() for line in x[-15:]]
    assert np.array(alone).tobytes() == expected[-15:].tobytes()
    numbers = np.array([scalar.mod(a, b) for a, b in x.tolist()])
    assert numbers.tobytes() == expected.tobytes()
    by_python = [a % b for a, b in x.tolist() if abs(a / b) < MOST]
    assert [r for r, (a, b) in zip(expected.tolist(), x.tolist(), strict=True) if abs(a / b) < MOST] == by_python


def test_mod_of_other_scalars_and_of_known_numbers() -> None:
    assert scalar.mod(-1, 3) == 2
    assert scalar.mod(mpmath.mpf(-1), 3) == 2
    a = sympy.Symbol("a", real=True)
    assert scalar.mod(a, 3) == sympy.Mod(a, 3)
    x = RNG.normal(size=(20, 2)) * 5
    for known in (2 * math.pi, -1.0, 1.0):
        (code,) = compiled(lambda a, b, y=known: scalar.mod(a, y))(x)
        assert code[:, 0].tolist() == [a % known for a in x[:, 0].tolist()]
        (code,) = compiled(lambda a, b, y=known: scalar.mod(y, a))(x)
        assert code[:, 0].tolist() == [known % a for a in x[:, 0].tolist()]
    assert compiled(lambda a, b: scalar.mod(0.0, a) + scalar.mod(a, a))(x)[0].tolist() == [[0.0]] * 20


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(1.0, 0.0, "nan"), (0.0, 0.0, "nan"), (math.inf, 2.0, "nan"), (5.0, math.inf, 5.0), (-5.0, math.inf, math.inf)],
)
def test_mod_beyond_the_numbers(x: float, y: float, expected: float | str) -> None:
    def function(a: Any, b: Any, c: Any, d: Any) -> Any:
        rest = scalar.mod(a / b, c / d)  # infinite only inside: a kernel takes finite numbers
        return scalar.where(rest == rest, scalar.minimum(rest, 1e300), -77.0)

    given = [[v, 1.0] if math.isfinite(v) else [1.0, 0.0] for v in (x, y)]
    (code,) = compiled(function, 4)(np.ravel(given))
    value = scalar.mod(x, y)
    assert math.isnan(value) if expected == "nan" else value == expected
    assert code.item() == (-77.0 if expected == "nan" else min(value, 1e300))


# ---- bounds and norms


def test_clip_of_every_scalar() -> None:
    x = np.array([-3.0, -1.0, 0.5, 2.0, 2.5])
    expected = [-1.0, -1.0, 0.5, 2.0, 2.0]
    assert [scalar.clip(a, -1.0, 2.0) for a in x.tolist()] == expected
    assert scalar.clip(x, -1.0, 2.0).tolist() == expected
    assert scalar.clip(mpmath.mpf(3), -1, 2) == 2
    assert scalar.clip(sympy.Integer(3), -1, 2) == 2
    a = sympy.Symbol("a", real=True)
    assert scalar.clip(a, -1, 2).subs(a, -7) == -1
    (code,) = compiled(lambda a, b: scalar.clip(a, -1.0, b))(np.stack([x, np.full(5, 2.0)], axis=-1))
    assert code[:, 0].tolist() == expected
    assert scalar.clip(0.0, 3.0, 1.0) == np.clip(0.0, 3.0, 1.0) == 1.0
    assert math.isnan(scalar.clip(math.nan, 0.0, 1.0))
    (code,) = compiled(lambda a, b: scalar.where(scalar.clip(a / b, 0.0, 1.0) == 0.5, 1.0, 0.0))([0.0, 0.0])
    assert code.item() == 0.0


def test_norm_of_every_scalar() -> None:
    assert scalar.norm([3.0, 4.0]) == scalar.norm(np.array([3.0, 4.0])) == 5.0
    assert scalar.norm([]) == 0.0
    assert scalar.norm([mpmath.mpf(3), 4]) == 5
    a, b = sympy.symbols("a b", positive=True)
    assert scalar.norm([a, b]) == sympy.sqrt(a**2 + b**2)
    x = RNG.normal(size=(20, 3))
    (code,) = compiled(lambda *x: scalar.norm(x), 3)(x)
    np.testing.assert_allclose(code[:, 0], np.linalg.norm(x, axis=-1), rtol=1e-15)
