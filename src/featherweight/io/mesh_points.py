"""Contact points of a mesh: a ball fitted to its support function, or vertices at the corners of its box."""

from __future__ import annotations

from itertools import product

import numpy as np

from featherweight.io.mesh_files import triangles_of
from featherweight.model.spelling import Three

DIRECTIONS = 400  # in which a mesh is touched by planes
ROUND = 0.15  # largest distance of these planes from a ball's, in its radii


def mesh_points(path: str, scale: tuple[float, ...], outward: np.ndarray) -> list[tuple[Three, float]] | None:
    """Positions in the mesh's frame, and radii; None if the file cannot be read.

    A plane touches a mesh by its support function h(d) = max v·d, and a ball by c·d + r: the ball is fitted to it, in
    all directions d of the side that looks `outward` (3,), or of all sides if that is zero.
    """
    parts = triangles_of(path)
    if parts is None:
        return None
    vertices = np.concatenate([part.vertices for part in parts]) * scale
    d = directions()
    d = d[d @ outward >= 0]
    h = (vertices @ d.T).max(axis=0)
    rows = np.column_stack([d, np.ones(len(d))])
    ball = np.linalg.lstsq(rows, h, rcond=None)[0]
    if ball[3] > 0 and np.abs(rows @ ball - h).max() <= ROUND * ball[3]:
        return [(_three(ball), float(ball[3]))]
    corners = np.array(list(product((1.0, -1.0), repeat=3))) / np.maximum(np.ptp(vertices, axis=0), 1e-12)
    found = dict.fromkeys((vertices @ corners.T).argmax(axis=0).tolist())  # each once, in their order
    return [(_three(vertices[k]), 0.0) for k in found]


def directions() -> np.ndarray:
    """Spread over a sphere along a spiral of equal areas (n, 3)."""
    k = np.arange(DIRECTIONS) + 0.5
    z, turn = 1 - 2 * k / DIRECTIONS, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.column_stack([r * np.cos(turn), r * np.sin(turn), z])


def _three(values: np.ndarray) -> Three:
    x, y, z = (float(value) for value in values[:3])
    return x, y, z
