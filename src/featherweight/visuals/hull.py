"""The convex hull of points as triangles, by gift wrapping: a face is found by turning a plane about an edge."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from featherweight.visuals.solids import Mesh

FLAT = 1e-9  # distance from a plane, in sizes of the hull, of a point that is in it


def hull(points: np.ndarray) -> Mesh:
    """Triangles around points (n, 3) that are not in one plane; what is inside is not among the vertices.

    Each face is a polygon: all points in its plane, in order, so that the corners of a box make six squares.
    """
    points = np.unique(np.asarray(points, dtype=float), axis=0)
    points = points - (middle := points.mean(axis=0))
    slack = FLAT * float(np.abs(points).max())
    faces: list[list[int]] = [_first(points, slack)]
    known = {frozenset(faces[0])}
    for face in faces:  # grows while it is walked through
        normal = _normal(points, face)
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            other = _about(points, a, b, normal, slack)
            if frozenset(other) not in known:
                known.add(frozenset(other))
                faces.append(other)
    triangles = np.array([(face[0], b, c) for face in faces for b, c in pairwise(face[1:])])
    used, numbers = np.unique(triangles, return_inverse=True)
    return Mesh(points[used] + middle, numbers.reshape(-1, 3))


def _first(points: np.ndarray, slack: float) -> list[int]:
    """The face that a plane comes to which leans on a lowest point, then on a flattest edge from there."""
    low = int(np.lexsort(points.T)[0])  # by z
    r = points - points[low]
    rise = np.arctan2(r[:, 2], np.hypot(r[:, 0], r[:, 1]))
    rise[low] = np.inf
    second = int(rise.argmin())
    edge, down = r[second] / np.linalg.norm(r[second]), np.array([0.0, 0.0, -1.0])
    normal = down - (down @ edge) * edge
    normal /= np.linalg.norm(normal)
    inside = np.flatnonzero(np.abs(r @ normal) <= slack)
    if np.linalg.norm(np.cross(r[inside], edge), axis=1).max() > slack:
        return _around(points, inside, normal)
    return _about(points, second, low, normal, slack)


def _about(points: np.ndarray, a: int, b: int, normal: np.ndarray, slack: float) -> list[int]:
    """The next face, on the other side of the edge from a to b of a face with this outward normal; seen from outside
    it goes from b to a."""
    edge = points[b] - points[a]
    edge /= np.linalg.norm(edge)
    out = np.cross(edge, normal)  # away from the face that is known
    r = points - points[a]
    x, y = r @ out, r @ normal  # around the edge
    angle = np.where(y >= -slack, -np.inf, np.arctan2(y, x))  # the face itself is at -π
    turned = angle[int(angle.argmax())]
    outward = np.cos(turned) * normal - np.sin(turned) * out
    inside = np.flatnonzero(np.abs(r @ outward) <= slack)
    return _around(points, inside, outward)


def _around(points: np.ndarray, own: np.ndarray, normal: np.ndarray) -> list[int]:
    """The corners of a face, counterclockwise as seen from outside: what lies on its edges is left out."""
    x = np.eye(3)[int(np.abs(normal).argmin())]
    x = x - (x @ normal) * normal
    flat = points[own] @ np.column_stack([x, np.cross(normal, x)])
    order = np.lexsort(flat.T)
    chains = []
    for row in (order, order[::-1]):  # lower and upper chain, by Andrew
        chain: list[int] = []
        for k in row:
            while len(chain) > 1 and not _left(flat[chain[-2]], flat[chain[-1]], flat[k]):
                chain.pop()
            chain.append(int(k))
        chains += chain[:-1]
    return [int(own[k]) for k in chains]


def _left(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
    """Does a way from a by b to c turn left, by more than rounding?"""
    u, v = b - a, c - b
    return bool(u[0] * v[1] - u[1] * v[0] > FLAT * np.hypot(*u) * np.hypot(*v))


def _normal(points: np.ndarray, face: list[int]) -> np.ndarray:
    """Outward, of length 1: of the whole polygon."""
    corners = points[face]
    total = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    return total / np.linalg.norm(total)
