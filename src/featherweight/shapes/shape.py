"""What a shape is: a solid, convex body in a frame of its own, known by its support function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from featherweight.spatial import Vector

Lift = Callable[[float], Any]


class Shape:
    """A convex solid. Frozen: its numbers are its fields; whole sizes [m], its centre at the origin of its frame."""

    kind: str  # the word that files use

    def lifted(self, lift: Lift) -> Shape:
        """The same shape with its numbers over another scalar."""
        raise NotImplementedError

    def support(self, direction: Vector) -> Vector:
        """The farthest point of the shape in a direction, both in the shape's axes."""
        raise NotImplementedError

    def core(self, direction: Vector) -> Vector:
        """The support function of the shape's core: the shape is all that is within `rounding` of it."""
        return self.support(direction)

    @property
    def rounding(self) -> float:
        """How far [m] the shape reaches beyond its core."""
        return 0.0

    @property
    def reach(self) -> float:
        """The radius [m] of the ball around its origin that holds it."""
        raise NotImplementedError


def length(name: str, value: Any) -> float:
    """A finite length > 0 [m]; ValueError otherwise."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name}: expected a length > 0 [m], got {value!r}")
    return float(value)


def lengths(name: str, values: Sequence[Any]) -> tuple[float, float, float]:
    """Three finite lengths > 0 [m]."""
    try:
        x, y, z = values
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected three lengths > 0 [m], got {values!r}") from None
    return length(name, x), length(name, y), length(name, z)
