"""Exponential, logarithm and hyperbolic tangent as programs of arithmetic, within 1, 2 and 3 ulp.

exp x = 2^k e^r with k = round(x / ln 2), |r| ≤ ln 2 / 2 and e^r - 1 = r + r² q(r).

tanh |x| = u / (1 + e) with e = e^(-2|x|) and u = 1 - e, which keeps the digits of small x; or 1 - 2 e / (1 + e).

log x = k ln 2 + log(1 + f), x = 2^k (1 + f), by the odd series in s = f / (2 + f):
log(1 + f) = f - f²/2 + s (f²/2 + R), R = s² P(s²).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featherweight.compiler.trace.node import Node

# interpolated at Chebyshev points with 60 digits: q for |r| ≤ ln 2 / 2, P for x from √½ to √2
Q = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326136, 0.0013888888888883748, 0.00019841269874820627,
    2.4801587325547743e-05, 2.7557255400206422e-06, 2.75572736431103e-07, 2.5105217004720745e-08,
    2.0914686968086876e-09,
)  # fmt: skip
P = (
    0.666666666666667, 0.39999999999899444, 0.2857142862600327, 0.22222211130259878, 0.18182889455674947,
    0.15331710618210773, 0.14616585424888623,
)  # fmt: skip
LN2 = (0.6931471805599453, 2.3190468138462996e-17)  # in two parts
LN2_SHORT = (0.6931471803691238, 1.9082149292705877e-10)  # the first with 32 bits, so that k times it is exact
LARGEST, LEAST = 710.0, -746.0  # e^x is infinite, or zero, beyond
TANH_1 = -80.0  # e^x is nothing beside 1 below
TINY, LIFT = 2.0**-1022, 54.0  # below, numbers have fewer digits; 2^54 times as large they have all


def exp(x: Node) -> Node:
    """e^x; infinity and zero where it is beyond the numbers."""
    g = x.graph
    k, less = _parts(g.apply("max", LEAST, g.apply("min", LARGEST, x)))
    half = g.apply("round", k * 0.5)
    scale = g.apply("power_of_two", half)
    return (scale + scale * less) * g.apply("power_of_two", k - half)


def tanh(x: Node) -> Node:
    """(e^x - e^-x) / (e^x + e^-x)."""
    k, less = _parts(x.graph.apply("max", TANH_1, abs(x) * -2.0))
    scale = x.graph.apply("power_of_two", k)
    e, u = scale + scale * less, (1.0 - scale) - scale * less  # e^(-2|x|), and what it lacks to 1
    large = e < 0.25
    size = large.select(1.0, 0.0) + large.select(e * -2.0, u) / (e + 1.0)
    return (x < 0).select(-size, size)


def log(x: Node) -> Node:
    """The natural logarithm: -infinity at zero, not a number below."""
    small = x < TINY
    x_full = small.select(x * 2.0**LIFT, x)
    k, m = x.graph.apply("exponent", x_full), x.graph.apply("significand", x_full)
    above = m > math.sqrt(2)
    k, m = above.select(k + 1.0, k), above.select(m * 0.5, m)
    k = small.select(k - LIFT, k)
    f = m - 1.0
    s = f / (m + 1.0)
    z, half_square = s * s, (f * 0.5) * f
    R = z * polynomial(P, z)
    high, low = LN2_SHORT
    result = f - half_square + s * (half_square + R) + k * low + k * high
    result = (x < math.inf).select(result, x)  # infinity and what is no number stay
    negative = (x < 0).select(math.nan, result)
    return (x == 0).select(-math.inf, negative)


def _parts(x: Node) -> tuple[Node, Any]:
    """k and e^r - 1 with x = k ln 2 + r."""
    k = x.graph.apply("round", x * (1 / math.log(2)))
    high, low = LN2
    r = x - k * high - k * low
    return k, r + (r * r) * polynomial(Q, r)


def polynomial(coefficients: Sequence[float], x: Node) -> Any:
    """Σ c_j x^j, by Horner's rule."""
    total: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total
