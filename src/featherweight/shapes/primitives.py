"""Sphere, capsule, box and cylinder; the axis of capsules and cylinders is z."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.inputs import with_fields
from featherweight.scalar import maximum, sqrt, where
from featherweight.shapes.shape import Lift, Shape, length, lengths
from featherweight.spatial import Vector

TINY = 1e-300


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball of `radius` [m]."""

    radius: float
    kind = "sphere"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", length("Sphere: radius", self.radius))

    def lifted(self, lift: Lift) -> Sphere:
        return with_fields(self, radius=lift(self.radius))

    def support(self, direction: Vector) -> Vector:
        return direction * (self.radius / sqrt(maximum(direction.dot(direction), TINY)))

    def core(self, direction: Vector) -> Vector:
        return Vector(0.0, 0.0, 0.0)

    @property
    def rounding(self) -> float:
        return self.radius

    @property
    def reach(self) -> float:
        return self.radius


@dataclass(frozen=True)
class Capsule(Shape):
    """All within `radius` [m] of a segment of `length` [m] along z; from end to end it is length + 2 radius."""

    radius: float
    length: float
    kind = "capsule"

    def __post_init__(self) -> None:
        for name in ("radius", "length"):
            object.__setattr__(self, name, length(f"Capsule: {name}", getattr(self, name)))

    def lifted(self, lift: Lift) -> Capsule:
        return with_fields(self, radius=lift(self.radius), length=lift(self.length))

    def support(self, direction: Vector) -> Vector:
        round_part = direction * (self.radius / sqrt(maximum(direction.dot(direction), TINY)))
        return round_part + self.core(direction)

    def core(self, direction: Vector) -> Vector:
        return Vector(0.0, 0.0, _towards(direction.z, 0.5 * self.length))

    @property
    def rounding(self) -> float:
        return self.radius

    @property
    def reach(self) -> float:
        return self.radius + 0.5 * self.length


@dataclass(frozen=True)
class Box(Shape):
    """A block with edges of `sizes` [m] along x, y and z."""

    sizes: Sequence[float]
    kind = "box"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", lengths("Box: sizes", self.sizes))

    def lifted(self, lift: Lift) -> Box:
        return with_fields(self, sizes=tuple(map(lift, self.sizes)))

    @property
    def half(self) -> Vector:
        """Half of its edges."""
        x, y, z = self.sizes
        return Vector(0.5 * x, 0.5 * y, 0.5 * z)

    def support(self, direction: Vector) -> Vector:
        return Vector(*(_towards(d, h) for d, h in zip(direction, self.half, strict=True)))

    @property
    def reach(self) -> float:
        return 0.5 * math.hypot(*self.sizes)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A disc of `radius` [m], `length` [m] along z."""

    radius: float
    length: float
    kind = "cylinder"

    def __post_init__(self) -> None:
        for name in ("radius", "length"):
            object.__setattr__(self, name, length(f"Cylinder: {name}", getattr(self, name)))

    def lifted(self, lift: Lift) -> Cylinder:
        return with_fields(self, radius=lift(self.radius), length=lift(self.length))

    def support(self, direction: Vector) -> Vector:
        x, y, z = direction
        scale = self.radius / sqrt(maximum(x * x + y * y, TINY))
        return Vector(x * scale, y * scale, _towards(z, 0.5 * self.length))

    @property
    def reach(self) -> float:
        return math.hypot(self.radius, 0.5 * self.length)


def _towards(direction: Any, half: Any) -> Any:
    return where(direction < 0, -half, half)
