"""The convex hull of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight.inputs import with_fields
from featherweight.scalar import where
from featherweight.shapes.shape import Lift, Shape
from featherweight.spatial import Vector


@dataclass(frozen=True)
class Convex(Shape):
    """The convex hull of `vertices` [m], shape (n, 3), at least four that are not in a plane."""

    vertices: ArrayLike
    kind = "convex"

    def __post_init__(self) -> None:
        try:
            points = np.array(self.vertices, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"Convex: vertices: expected numbers of shape (n, 3), got {self.vertices!r}") from None
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
            raise ValueError(f"Convex: vertices: expected finite numbers of shape (n ≥ 4, 3), got {points.shape}")
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if not spread[2] > 1e-9 * spread[0]:
            raise ValueError("Convex: vertices: expected points that are not all in one plane")
        object.__setattr__(self, "vertices", tuple(map(tuple, points.tolist())))

    def lifted(self, lift: Lift) -> Convex:
        return with_fields(self, vertices=tuple(tuple(map(lift, point)) for point in self.points))

    @property
    def points(self) -> tuple[Any, ...]:
        """The vertices as tuples."""
        return self.vertices  # type: ignore[return-value]

    def support(self, direction: Vector) -> Vector:
        best, most = Vector(*self.points[0]), direction.dot(Vector(*self.points[0]))
        for point in self.points[1:]:
            farther = direction.dot(Vector(*point))
            is_best = farther > most
            most = where(is_best, farther, most)
            best = Vector(*(where(is_best, x, y) for x, y in zip(point, best, strict=True)))
        return best

    @property
    def reach(self) -> float:
        return float(np.linalg.norm(np.array(self.points), axis=1).max())
