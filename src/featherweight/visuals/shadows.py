"""Shadows on the ground as convex polygons, one for each shape: cheap to compute and to draw for every frame.

A shape stands for its hull, and that for few of its points. The sun throws them on the ground; of each of `EDGES`
directions the point that is farthest along it (the support function) is a corner of the polygon. Polygons lie a little
above each other, the first highest: drawn in their order with a depth test, no dot is darkened twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featherweight.contact import Heightfield, Plane, Surface
from featherweight.spatial import Vector
from featherweight.visuals.shapes import DrawnShape
from featherweight.visuals.solids import Mesh, ball

EDGES, DIRECTIONS = 16, 10  # of a polygon; along a circle, in which points of a hull are looked for
LOW, HIGH = 1e-3, 5e-3  # the lowest and the highest polygon above the ground, in robots' sizes
STEEP = 0.1  # cosine between the sun and the ground's normal: shadows get no longer beyond that
LEVEL = 0.5  # cosine between a floor's normal and the vertical, at least
RINGS = 3  # of a polygon on rolling ground, where its inner points need a height of their own


class Shadows:
    """Shadows of shapes (S) on one surface, where the sun stands in direction `sun` (3,), for a robot of a size [m].

    `faces` are triangles of the vertices that `at` gives; both are empty if nothing is there that shadows fall on.
    """

    def __init__(
        self, shapes: Sequence[DrawnShape], surfaces: Sequence[Surface], sun: Sequence[float], size: float
    ) -> None:
        self._ground = next(filter(_is_floor, surfaces), None)
        if self._ground is None:
            shapes = ()
        self._sun = np.asarray(sun, dtype=float) / np.linalg.norm(sun)
        self._bodies = np.array([shape.body for shape in shapes], dtype=int)
        around = ball(1.0, DIRECTIONS).vertices
        self._points = np.array([_support(shape.mesh.vertices, around) for shape in shapes])  # (S, K, 3), of its hull
        angles = 2 * np.pi * np.arange(EDGES) / EDGES
        self._directions = np.stack([np.cos(angles), np.sin(angles)])
        self._lifts = size * np.linspace(HIGH, LOW, len(shapes))[:, None, None]
        rings = RINGS if isinstance(self._ground, Heightfield) else 1
        self._shares = np.arange(1, rings + 1) / rings
        one = _disc(rings)
        self.faces = Mesh.joined([one] * len(shapes)).faces if shapes else np.zeros((0, 3), dtype=int)

    def at(self, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Vertices (n, 3) [m] for bodies at rotations (nb+1, 3, 3) and positions (nb+1, 3)."""
        if self._ground is None or not len(self._points):
            return np.zeros((0, 3))
        # where the sun throws the points of each shape
        points = self._points @ np.swapaxes(rotation[self._bodies], -1, -2) + position[self._bodies, None]
        distance, normal = _height(self._ground, points)
        way = np.maximum(distance, 0.0) / np.maximum(normal @ self._sun, STEEP)
        thrown = (points - way[..., None] * self._sun)[..., :2]
        # the hull of each, as corners in turn
        farthest = np.argmax(thrown @ self._directions, axis=1)
        corners = np.take_along_axis(thrown, farthest[..., None], axis=1)
        # its middle, and rings around it
        middle = corners.mean(axis=1, keepdims=True)
        rings = [middle + share * (corners - middle) for share in self._shares]
        places = np.concatenate([middle, *rings], axis=1)
        distance, normal = _height(self._ground, np.concatenate([places, np.zeros_like(places[..., :1])], axis=-1))
        heights = -distance / normal[..., 2]
        return np.concatenate([places, heights[..., None] + self._lifts], axis=-1).reshape(-1, 3)


def _is_floor(surface: Surface) -> bool:
    """May shadows be drawn on it?"""
    return isinstance(surface, Heightfield) or (isinstance(surface, Plane) and surface.normal[2] > LEVEL)


def _height(ground: Surface, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances (…) [m] of places (…, 3), and normals (…, 3)."""
    distance, normal = ground.height(Vector(*np.moveaxis(places, -1, 0)))
    return distance, np.stack([np.broadcast_to(x, distance.shape) for x in normal], axis=-1)


def _support(vertices: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The vertex that is farthest in each direction (n, 3)."""
    return np.asarray(vertices[np.argmax(vertices @ directions.T, axis=0)])


def _disc(rings: int) -> Mesh:
    """A middle and rings around it as triangles; its vertices are not places yet."""
    turn = np.arange(EDGES)
    after = (turn + 1) % EDGES
    faces = [np.stack([np.zeros_like(turn), 1 + turn, 1 + after], axis=1)]
    for ring in range(rings - 1):
        a, b = 1 + ring * EDGES, 1 + (ring + 1) * EDGES
        faces += [np.stack([a + turn, b + turn, b + after], axis=1), np.stack([a + turn, b + after, a + after], axis=1)]
    return Mesh(np.zeros((1 + rings * EDGES, 3)), np.concatenate(faces))
