"""The distance of two shapes and their nearest points; of shapes that overlap, their depth and the deepest points."""

from __future__ import annotations

from typing import Any, NamedTuple

from featherweight.collision.detection import touches
from featherweight.collision.hulls import hull_point
from featherweight.collision.touch import FAR, Placed, either
from featherweight.scalar import when
from featherweight.shapes import Shape
from featherweight.spatial import Vector


class Witnesses(NamedTuple):
    """The distance [m], negative inside, a point on each shape, and the unit normal from a to b."""

    distance: Any
    point_a: Vector
    point_b: Vector
    normal: Vector


def nearest_points(a: Placed[Shape], b: Placed[Shape]) -> Witnesses:
    """Where two shapes are nearest to each other, or overlap deepest."""
    first, *others = touches(a, b, 0.0)  # of boxes that are apart: below
    for touch in others:
        is_nearer = (touch.gap < first.gap) & (touch.gap < FAR)  # shapes may be farther apart than what is not there
        first = either(is_nearer, touch, first)
    if a.shape.kind == b.shape.kind == "box":  # contacts of boxes that are apart are along their axes
        first = when(first.gap > 0, lambda: hull_point(a, b)[0], first)
    half = first.normal * (0.5 * first.gap)
    return Witnesses(first.gap, first.point + half, first.point - half, -first.normal)
