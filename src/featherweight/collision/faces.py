"""Faces that two convex shapes turn to each other, as four points each, and where they meet.

A face may have shrunk to an edge or a point, whose four points coincide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from featherweight.collision.geometry import across
from featherweight.collision.spread import Candidate
from featherweight.scalar import absolute, logical_not, maximum, minimum, where
from featherweight.shapes import Cylinder, Shape
from featherweight.spatial import Vector

TILT = 0.01  # [rad], by how much a face may be inclined and is still one
NARROW = 1e-7  # area of a face by the square of its size below which it is an edge
AROUND = ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))


class Corner(NamedTuple):
    """A point in the plane across the normal, and its height along it [m]."""

    u: Any
    v: Any
    height: Any


def face(shape: Shape, support: Callable[[Vector], Vector], n: Vector) -> list[tuple[Vector, Vector]]:
    """The farthest points in four directions around the unit vector n, counter-clockwise, in the axes of the shape; and
    these directions across n."""
    t = across(n)
    w = n.cross(t)
    sides = [t * x + w * y for x, y in AROUND]
    tilted = [n + side * TILT for side in sides]
    if isinstance(shape, Cylinder):  # a mantle is touched along one line, however round it is
        x, y, _ = n
        is_end = x * x + y * y < TILT * TILT
        tilted = [Vector(where(is_end, d.x, x), where(is_end, d.y, y), d.z) for d in tilted]
    return [(support(d), side) for d, side in zip(tilted, sides, strict=True)]


def wider(face: list[Corner], sides: list[Corner], by: Any) -> list[Corner]:
    """A face that reaches farther to all sides, so that an edge has some width, too."""
    return [Corner(c.u + by * s.u, c.v + by * s.v, c.height) for c, s in zip(face, sides, strict=True)]


def edge_crossings(a: list[Corner], b: list[Corner], around_a: list[Corner], around_b: list[Corner]) -> list[Candidate]:
    """Where edges of one face are above or below the other: ends of these parts. The gap is height of a less that of b.

    Args:
        a, b: corners, counter-clockwise.
        around_a, around_b: the same faces, a little wider: edges end where they leave these.
    """
    wide_a, wide_b = _is_wide(a), _is_wide(b)
    neither = logical_not(wide_a | wide_b)
    found = []
    for own, other, around, exists, sign in (
        (a, b, around_b, wide_b | neither, 1.0),
        (b, a, around_a, wide_a, -1.0),
    ):
        height = plane(other)
        for k in range(4):
            p, q = own[k], own[(k + 1) % 4]
            low, high = _within(p, q, around)
            there = exists & (low <= high)
            for s in (low, high):
                s = where(there, s, 0.0)
                u, v, z = (x + s * (y - x) for x, y in zip(p, q, strict=True))
                found.append(Candidate(u, v, sign * (z - height(u, v)), there))
    return found


def _within(p: Corner, q: Corner, sides: list[Corner]) -> tuple[Any, Any]:
    """From where to where, 0 to 1, the edge from p to q is inside a convex face."""
    low, high = 0.0, 1.0
    du, dv = q.u - p.u, q.v - p.v
    for k in range(4):
        c, d = sides[k], sides[(k + 1) % 4]
        u, v = d.u - c.u, d.v - c.v
        # side × (x - c) ≥ 0 along x = p + s (q - p)
        start = u * (p.v - c.v) - v * (p.u - c.u)
        rise = u * dv - v * du
        is_steep = absolute(rise) > 1e-18
        s = -start / where(is_steep, rise, 1.0)
        low = maximum(low, where(is_steep & (rise > 0), s, where(is_steep | (start >= 0), 0.0, 2.0)))
        high = minimum(high, where(is_steep & (rise < 0), s, 1.0))
    return low, high


def _diagonals(face: list[Corner]) -> tuple[Corner, Corner]:
    a, b, c, d = face
    return Corner(*(y - x for x, y in zip(a, c, strict=True))), Corner(*(y - x for x, y in zip(b, d, strict=True)))


def _area(face: list[Corner]) -> Any:
    """Twice the area [m²]."""
    p, q = _diagonals(face)
    return p.u * q.v - p.v * q.u


def _is_wide(face: list[Corner]) -> Any:
    p, q = _diagonals(face)
    return _area(face) > NARROW * (p.u * p.u + p.v * p.v + q.u * q.u + q.v * q.v) + 1e-16


def plane(face: list[Corner]) -> Callable[[Any, Any], Any]:
    """Height of a face at (u, v): of the plane through it, or along it if it is an edge."""
    p, q = _diagonals(face)
    area, wide = _area(face), _is_wide(face)
    scale = 1.0 / where(wide, area, 1.0)
    # slopes g with g·p = p.height, g·q = q.height; of an edge along the longer diagonal alone
    pp, qq = p.u * p.u + p.v * p.v, q.u * q.u + q.v * q.v
    is_p = pp > qq
    u, v, z = (where(is_p, x, y) for x, y in zip(p, q, strict=True))
    along = z / maximum(maximum(pp, qq), 1e-18)
    slope_u = where(wide, (p.height * q.v - q.height * p.v) * scale, along * u)
    slope_v = where(wide, (q.height * p.u - p.height * q.u) * scale, along * v)
    center = [0.25 * (a + b + c + d) for a, b, c, d in zip(*face, strict=True)]
    return lambda x, y: center[2] + slope_u * (x - center[0]) + slope_v * (y - center[1])
