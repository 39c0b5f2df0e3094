"""Interval arithmetic: a result contains every result for numbers inside the operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy


@dataclass(frozen=True)
class Enclosure:
    """All numbers from `low` to `high`; results are rounded outward."""

    low: float
    high: float

    @staticmethod
    def of(x: Any) -> Enclosure:
        return x if isinstance(x, Enclosure) else Enclosure(float(x), float(x))

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)

    @property
    def width(self) -> float:
        return self.high - self.low

    def __contains__(self, x: float) -> bool:
        return self.low <= x <= self.high

    def inside(self, other: Enclosure) -> bool:
        """Strictly within another."""
        return other.low < self.low and self.high < other.high

    def meet(self, other: Enclosure) -> Enclosure | None:
        """Intersection of two intervals."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Enclosure(low, high) if low <= high else None

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __add__(self, other: Any) -> Enclosure:
        o = Enclosure.of(other)
        return _outward(self.low + o.low, self.high + o.high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Enclosure:
        return self + -Enclosure.of(other)

    def __rsub__(self, other: Any) -> Enclosure:
        return Enclosure.of(other) + -self

    def __mul__(self, other: Any) -> Enclosure:
        o = Enclosure.of(other)
        products = (self.low * o.low, self.low * o.high, self.high * o.low, self.high * o.high)
        return _outward(min(products), max(products))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Enclosure:
        o = Enclosure.of(other)
        if 0.0 in o:
            return Enclosure(-math.inf, math.inf)
        return self * _outward(1.0 / o.high, 1.0 / o.low)

    def __rtruediv__(self, other: Any) -> Enclosure:
        return Enclosure.of(other) / self


def _outward(low: float, high: float) -> Enclosure:
    if math.isnan(low) or math.isnan(high):
        return Enclosure(-math.inf, math.inf)
    return Enclosure(math.nextafter(low, -math.inf), math.nextafter(high, math.inf))


def cos(x: Any) -> Enclosure:
    """Cosine; its extrema lie at whole multiples of π."""
    x = Enclosure.of(x)
    if not x.width < 6.0:
        return Enclosure(-1.0, 1.0)
    slack = 1e-15
    values = math.cos(x.low), math.cos(x.high)
    low, high = min(values) - slack, max(values) + slack
    first = math.ceil(x.low / math.pi - 1e-12)
    for k in range(first, math.floor(x.high / math.pi + 1e-12) + 1):
        low, high = (low, 1.0) if k % 2 == 0 else (-1.0, high)
    return Enclosure(max(low, -1.0), min(high, 1.0))


def sin(x: Any) -> Enclosure:
    """Sine."""
    return cos(Enclosure.of(x) - Enclosure(math.pi / 2 - 1e-15, math.pi / 2 + 1e-15))


def sqrt(x: Any) -> Enclosure:
    """Square root of the part that is not negative."""
    x = Enclosure.of(x)
    return _outward(math.sqrt(max(x.low, 0.0)), math.sqrt(max(x.high, 0.0)))


def absolute(x: Any) -> Enclosure:
    """|x|."""
    x = Enclosure.of(x)
    if 0.0 in x:
        return Enclosure(0.0, max(-x.low, x.high))
    return x if x.low > 0 else -x


def sign(x: Any) -> Enclosure:
    """-1, 0 or 1."""
    x = Enclosure.of(x)
    return Enclosure(-1.0 if x.low < 0 else float(x.low > 0), 1.0 if x.high > 0 else -float(x.high < 0))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.sin: sin,
    sympy.cos: cos,
    sympy.sqrt: sqrt,
    sympy.Abs: absolute,
    sympy.sign: sign,
}
