"""The ground as triangles: the part of it that is near a robot's way."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.contact import Box, Heightfield, Plane, Sphere, Surface
from featherweight.visuals.shapes import Color
from featherweight.visuals.solids import Mesh, ball, box

GROUND, THINGS = (0.86, 0.87, 0.88), (0.74, 0.69, 0.62)  # colours
DRAWN = (Plane, Box, Sphere, Heightfield)
MOST_POINTS = 150  # of a heightfield that are drawn along one axis


@dataclass(frozen=True)
class Terrain:
    """A surface as triangles in the world; planes also have a frame for a grid, z along the normal."""

    mesh: Mesh
    color: Color
    plane: tuple[np.ndarray, np.ndarray] | None = None  # rotation and position
    size: float = 0.0  # of a plane's square
    kind: type = Plane  # of surface


def terrain_of(surfaces: Sequence[Surface], center: np.ndarray, size: float) -> list[Terrain]:
    """Surfaces near a place, within a square of that size [m]. Those of other packages are left out, with a warning."""
    others = sorted({type(surface).__name__ for surface in surfaces if type(surface) not in DRAWN})
    if others:
        known = ", ".join(kind.__name__ for kind in DRAWN)
        warnings.warn(
            f"ground: {', '.join(others)} cannot be drawn and is left out; surfaces that can be drawn are {known}",
            stacklevel=2,
        )
    return [_ground(surface, np.asarray(center), size) for surface in surfaces if type(surface) in DRAWN]


def round_length(least: float) -> float:
    """The shortest of 1, 2 or 5 times a power of ten [m] that is as long as this."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(f"{power * next(step for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9)):.12g}")


def _ground(surface: Any, center: np.ndarray, size: float) -> Terrain:
    if isinstance(surface, Plane):
        normal, point = np.array(surface.normal), np.array(surface.point)
        position = center - normal * (normal @ (center - point))
        rotation = _upright(normal)
        corners = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]) * size / 2
        square = Mesh(corners, np.array([(0, 1, 2), (0, 2, 3)])).moved(rotation, position)
        return Terrain(square, GROUND, (rotation, position), size)
    if isinstance(surface, Box):
        place = surface.placement
        rotation = np.array(place.rotation, dtype=float)
        return Terrain(box(tuple(surface.size)).moved(rotation, np.array(place.position)), THINGS, kind=Box)
    if isinstance(surface, Sphere):
        return Terrain(ball(surface.radius, 32).moved(np.eye(3), np.array(surface.center)), THINGS, kind=Sphere)
    return Terrain(_field(surface), GROUND, kind=Heightfield)


def _field(field: Heightfield) -> Mesh:
    """Two triangles for each cell, with every so many points if there are very many."""
    rows, columns = (np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(int)) for n in field.heights.shape)
    x, y = np.meshgrid(rows * field.spacing, columns * field.spacing, indexing="ij")
    heights = field.heights[np.ix_(rows, columns)]
    vertices = np.stack([x + field.origin[0], y + field.origin[1], heights], axis=-1).reshape(-1, 3)
    corner = (np.arange(len(rows) - 1)[:, None] * len(columns) + np.arange(len(columns) - 1)).ravel()
    a, b, c, d = corner, corner + len(columns), corner + len(columns) + 1, corner + 1
    return Mesh(vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


def _upright(normal: np.ndarray) -> np.ndarray:
    """A frame with z along the normal, and x as near to the world's as it can be."""
    guide = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = guide - normal * (normal @ guide)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])
