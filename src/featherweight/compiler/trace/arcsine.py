"""Inverse sine and cosine as programs of arithmetic, within 2 ulp.

asin u = u + u z P(z) with z = u², for 0 ≤ u ≤ 1/2. Beyond, asin a = π/2 - 2 asin u with u = √((1 - a)/2), the sine of
half the angle that a lacks to a right one. Large and small terms are summed by themselves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from featherweight.compiler.trace.exponential import polynomial

if TYPE_CHECKING:
    from featherweight.compiler.trace.node import Condition, Node

# to 6e-18 for z ≤ 1/4: interpolated at Chebyshev points with 60 digits
P = (
    0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247, 0.02237217294214989,
    0.017352392720869973, 0.013971212973552933, 0.011479177415184906, 0.01032281435018578, 0.005457506718640358,
    0.01740087944269402, -0.014851887071247204, 0.028757851367421566,
)  # fmt: skip
HALF_PI = (math.pi / 2, 6.123233995736766e-17)  # π/2 in two parts


def asin(x: Node) -> Node:
    """The angle from -π/2 to π/2 whose sine is x; not a number beyond ±1."""
    far, u, rest = _half_angle(x)
    high, low = HALF_PI
    size = x.graph.apply("plus", high - 2.0 * u, low - 2.0 * rest)
    return far.select((x < 0).select(-size, size), x + x * _series(x * x))


def acos(x: Node) -> Node:
    """The angle from 0 to π whose cosine is x; not a number beyond ±1."""
    far, u, rest = _half_angle(x)
    high, low = HALF_PI
    twice = 2.0 * u + 2.0 * rest
    obtuse = x.graph.apply("plus", 2.0 * high - 2.0 * u, 2.0 * low - 2.0 * rest)
    near = x.graph.apply("plus", high - x, low - x * _series(x * x))
    return far.select((x < 0).select(obtuse, twice), near)


def _half_angle(x: Node) -> tuple[Condition, Node, Any]:
    """Is |x| > 1/2? Then asin √((1 - |x|)/2) = u + rest; the rest has what was rounded away in u, the root."""
    size = abs(x)
    z = 0.5 - 0.5 * size
    u = x.graph.apply("sqrt", z)
    lost = (z - u * u) / (u > 0).select(2.0 * u, 1.0)
    return size > 0.5, u, u * _series(z) + lost


def _series(z: Any) -> Any:
    return z * polynomial(P, z)
