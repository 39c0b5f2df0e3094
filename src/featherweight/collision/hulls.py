"""Convex shapes against each other by support functions: for all pairs without a closed form."""

from __future__ import annotations

from typing import Any

from featherweight.collision.cloud import supporting
from featherweight.collision.faces import Corner, edge_crossings, face, plane, wider
from featherweight.collision.geometry import across, chosen
from featherweight.collision.gjk import Nearest, separation
from featherweight.collision.spread import spread
from featherweight.collision.touch import FAR, Placed, Touch
from featherweight.scalar import maximum, where
from featherweight.shapes import Shape
from featherweight.spatial import Vector

BESIDE = 1e-5  # [m], how far apart parallel edges may be that touch along their length
SAME = 1e-7  # [m], by how much the nearest point must be nearer than those of the faces to be one
TOGETHER = 1e-4  # [m], points that are nearer are one


def hull_point(a: Placed[Shape], b: Placed[Shape]) -> list[Touch]:
    """The one point where a shape meets another, one of which is round."""
    found, _ = _nearest(a, b)
    return [_in_world(a, found.n, _touch(found, a.shape.rounding, b.shape.rounding))]


def hull_hull(a: Placed[Shape], b: Placed[Shape]) -> list[Touch]:
    """Up to four points: where the faces meet that the shapes turn to each other, or the nearest point."""
    found, (support_a, support_b, R, t) = _nearest(a, b)
    n, radius = found.n, a.shape.rounding + b.shape.rounding
    u = across(n)
    v = n.cross(u)

    def corners(points: list[Vector]) -> list[Corner]:
        return [Corner(u.dot(p), v.dot(p), n.dot(p)) for p in points]

    # of a what is lowest along n, of b what is highest; both counter-clockwise about n
    below, below_sides = (
        corners(list(points)) for points in zip(*face(a.shape, support_a, -n)[::-1], strict=True)
    )  # fmt: skip
    points, sides = zip(*face(b.shape, support_b, R.transposed_times(n)), strict=True)
    above, above_sides = corners([t + R @ p for p in points]), corners([R @ side for side in sides])
    around = wider(below, below_sides, BESIDE), wider(above, above_sides, BESIDE)
    four = spread(edge_crossings(below, above, *around), TOGETHER)
    height_a, height_b, middle = plane(below), plane(above), 0.5 * (b.shape.rounding - a.shape.rounding)
    nearest = _touch(found, a.shape.rounding, b.shape.rounding)
    # the lowest point of a round rim is none of a face's four
    is_one = (four[1][2] >= FAR) | (nearest.gap < four[0][2] - radius - SAME)
    least = found.gap
    touches = [
        Touch(
            where(gap < FAR, maximum(gap, least) - radius, FAR),
            n,
            u * x + v * y + n * (0.5 * (height_a(x, y) + height_b(x, y)) + middle),
        )
        for x, y, gap in four
    ]
    first = Touch(where(is_one, nearest.gap, touches[0].gap), n, chosen(is_one, nearest.point, touches[0].point))
    return [_in_world(a, n, touch) for touch in (first, *touches[1:])]


def _nearest(a: Placed[Shape], b: Placed[Shape]) -> tuple[Nearest, Any]:
    """In the axes of a."""
    R = a.X.E @ b.X.E.T
    t = a.X.E @ (b.X.r - a.X.r)
    support_a, support_b = supporting(a.shape), supporting(b.shape)
    found = separation(support_a, lambda d: t + R @ support_b(R.transposed_times(d)), R, t)
    return found, (support_a, support_b, R, t)


def _touch(found: Nearest, radius_a: Any, radius_b: Any) -> Touch:
    point = (found.a + found.b + found.n * (radius_b - radius_a)) * 0.5
    return Touch(found.gap - radius_a - radius_b, found.n, point)


def _in_world(a: Placed[Shape], n: Vector, touch: Touch) -> Touch:
    E = a.X.E
    return Touch(touch.gap, E.transposed_times(n), a.X.r + E.transposed_times(touch.point))
