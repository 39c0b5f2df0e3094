"""The point of a tetrahedron that is nearest to the origin, by trying all edges and triangles (for GJK)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from featherweight.collision.geometry import clamp
from featherweight.scalar import where
from featherweight.spatial import Vector

FLAT = 1e-12  # triangles of less area² than this part of their sides' are left to their edges
FARTHEST = 1e300


def nearest(y: list[Vector]) -> list[Any]:
    """Weights of four points whose sum is nearest to the origin, which must be outside. Points may coincide."""
    square = [p.dot(p) for p in y]
    side = {(i, j): y[j] - y[i] for i, j in combinations(range(4), 2)}
    long = {pair: d.dot(d) for pair, d in side.items()}
    best: tuple[Any, list[Any]] = (FARTHEST, [1.0, 0.0, 0.0, 0.0])

    def offer(distance: Any, corners: tuple[int, ...], weights: tuple[Any, ...]) -> None:
        nonlocal best
        is_best = distance < best[0]
        own = dict(zip(corners, weights, strict=True))
        best = where(is_best, distance, best[0]), [where(is_best, own.get(k, 0.0), w) for k, w in enumerate(best[1])]

    # edges with their ends: y_i + t d, t = -y_i·d / d·d from 0 to 1
    for (i, j), d in side.items():
        is_long = long[i, j] > 0
        along = y[i].dot(d)
        t = where(is_long, clamp(-along / where(is_long, long[i, j], 1.0), 0.0, 1.0), 0.0)
        offer(square[i] + t * (2.0 * along + t * long[i, j]), (i, j), (1.0 - t, t))
    # triangles, if the nearest point of their plane is inside
    for i, j, k in combinations(range(4), 3):
        u, v = side[i, j], side[i, k]
        uu, uv, vv, yu, yv = long[i, j], u.dot(v), long[i, k], y[i].dot(u), y[i].dot(v)
        det = uu * vv - uv * uv
        is_open = det > FLAT * (uu * vv)
        scale = 1.0 / where(is_open, det, 1.0)
        s, t = (yv * uv - yu * vv) * scale, (yu * uv - yv * uu) * scale
        inside = is_open & (s >= 0) & (t >= 0) & (s + t <= 1)
        offer(where(inside, square[i] + s * yu + t * yv, FARTHEST), (i, j, k), (1.0 - s - t, s, t))
    return best[1]
