"""Vertices of a hull in memory, and loops over them: a large hull is not written out in code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from featherweight.collision.geometry import chosen
from featherweight.scalar import array, count, where
from featherweight.shapes import Convex, Shape
from featherweight.spatial import Vector

FEW = 8  # vertices that are written out


class Cloud:
    """Points that are read by index."""

    def __init__(self, points: Any) -> None:
        self.size = len(points)
        self._memory = array([x for point in points for x in point])

    def __getitem__(self, k: Any) -> Vector:
        return Vector(*(self._memory[3 * k + j] for j in range(3)))

    def best(self, score: Callable[[Vector], Any]) -> Vector:
        """The point with the highest score, the first of equal ones."""

        def turn(k: Any, carry: tuple[Any, Vector]) -> tuple[Any, Vector]:
            most, best = carry
            point = self[k]
            own = score(point)
            is_best = own > most
            return where(is_best, own, most), chosen(is_best, point, best)

        first = self[0]
        return Vector(*count(self.size, turn, (score(first), first))[1])


def supporting(shape: Shape) -> Callable[[Vector], Vector]:
    """The support function of a shape's core, as a loop over memory if it has many vertices."""
    if not isinstance(shape, Convex) or len(shape.points) <= FEW:
        return shape.core
    cloud = Cloud(shape.points)
    return lambda direction: cloud.best(direction.dot)
