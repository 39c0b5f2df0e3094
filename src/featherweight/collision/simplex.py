"""The point of a tetrahedron that is nearest to the origin, by trying edges and triangles (for GJK)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from featherweight.collision.geometry import clamp
from featherweight.scalar import where
from featherweight.spatial import Vector

FLAT = 1e-12  # triangles of less area² than this part of their sides' are left to their edges
FARTHEST = 1e300


def nearest(y: list[Vector]) -> list[Any]:
    """Weights of four points whose sum is nearest to the origin, which must be outside. Points may coincide.

    Only edges and triangles at the first point are tried: in GJK it is the new one, and without it nothing is nearer.
    Nothing is subtracted from squares, so slender triangles keep their digits.
    """
    best: list[Any] = []  # the distance², and the weights

    def offer(distance: Any, corners: tuple[int, ...], weights: tuple[Any, ...]) -> None:
        nonlocal best
        given = dict(zip(corners, weights, strict=True))
        own = [distance, *(given.get(k, 0.0) for k in range(4))]
        best = [where(distance < best[0], x, y) for x, y in zip(own, best, strict=True)] if best else own

    # edges with their ends: the line's nearest point is y_0 + t d, t = -y_0·d / d·d
    lines = {}
    for j in (1, 2, 3):
        d = y[j] - y[0]
        square = d.dot(d)
        is_long = square > 0
        per_square = where(is_long, 1.0 / where(is_long, square, 1.0), 0.0)
        t = -y[0].dot(d) * per_square
        foot = y[0] + d * t
        distance = foot.dot(foot)
        lines[j] = d, square, per_square, t, foot, distance
        inside = clamp(t, 0.0, 1.0)
        off = inside - t
        offer(distance + off * off * square, (0, j), (1.0 - inside, inside))
    # triangles, if the nearest point of their plane is inside: from the line's, along what is at right angles to it
    for j, k in combinations((1, 2, 3), 2):
        (u, _, per_square, along, foot, distance), (v, square, *_) = lines[j], lines[k]
        slant = u.dot(v) * per_square
        across = v - u * slant
        width = across.dot(across)
        is_open = width > FLAT * square
        rise = foot.dot(across)
        t = -rise / where(is_open, width, 1.0)
        s = along - t * slant
        inside = is_open & (s >= 0) & (t >= 0) & (s + t <= 1)
        offer(where(inside, distance + t * rise, FARTHEST), (0, j, k), (1.0 - s - t, s, t))
    return best[1:]
