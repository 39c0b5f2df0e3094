"""Sphere against sphere."""

from __future__ import annotations

from typing import Any

from featherweight.collision.touch import Placed, Touch
from featherweight.scalar import sqrt, where
from featherweight.spatial import Vector

UP = Vector(0.0, 0.0, 1.0)  # the normal where two centres coincide


def sphere_sphere(a: Placed, b: Placed) -> list[Touch]:
    """gap = |r_a - r_b| - (R_a + R_b)."""
    return [balls(a.X.r, a.shape.radius, b.X.r, b.shape.radius)]  # type: ignore[attr-defined]


def balls(a: Vector, radius_a: Any, b: Vector, radius_b: Any) -> Touch:
    """Two balls by centre and radius: also the ends of what closed forms come down to."""
    r = a - b
    square = r.dot(r)
    apart = square > 0
    distance = sqrt(where(apart, square, 1.0))
    n = Vector(*(where(apart, x / distance, up) for x, up in zip(r, UP, strict=True)))
    distance = where(apart, distance, 0.0)
    gap = distance - radius_a - radius_b
    return Touch(gap, n, b + n * (radius_b + 0.5 * gap))
