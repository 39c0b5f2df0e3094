"""Which function finds the contact points of which kinds of shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from featherweight.collision.boxes import box_box
from featherweight.collision.capsules import capsule_box, capsule_capsule, capsules_within
from featherweight.collision.hulls import hull_hull, hull_point
from featherweight.collision.spheres import sphere_box, sphere_capsule, sphere_cylinder, sphere_sphere
from featherweight.collision.touch import FAR, Placed, Touch
from featherweight.shapes import Shape

# (kind of a, kind of b): how many points there may be, and what finds them
PAIRS: dict[tuple[str, str], tuple[int, Callable[..., list[Touch]]]] = {
    ("sphere", "sphere"): (1, sphere_sphere),
    ("sphere", "capsule"): (1, sphere_capsule),
    ("sphere", "box"): (1, sphere_box),
    ("sphere", "cylinder"): (1, sphere_cylinder),
    ("capsule", "capsule"): (2, capsule_capsule),
    ("capsule", "box"): (2, capsule_box),
    ("box", "box"): (4, box_box),
    ("sphere", "convex"): (1, hull_point),
    ("capsule", "cylinder"): (2, hull_hull),
    ("capsule", "convex"): (2, hull_hull),
    ("box", "cylinder"): (4, hull_hull),
    ("box", "convex"): (4, hull_hull),
    ("cylinder", "cylinder"): (4, hull_hull),
    ("cylinder", "convex"): (4, hull_hull),
    ("convex", "convex"): (4, hull_hull),
}


# of some kinds: whether two shapes are nearer to each other than a gap, which takes less than to find where they touch
WITHIN: dict[tuple[str, str], Callable[[Any, Any, Any], Any]] = {("capsule", "capsule"): capsules_within}


def touch_count(a: Shape, b: Shape) -> int:
    """How many contact points two shapes have at most: known before anything is traced."""
    return _entry(a, b)[0][0]


def touches(a: Placed[Shape], b: Placed[Shape], within: Any = FAR) -> list[Touch]:
    """The contact points of two shapes, as many as `touch_count` says, nearest or not.

    Those with a gap of more than `within` [m] may be missing: to find them takes longer.
    """
    (number, find), swapped = _entry(a.shape, b.shape)
    if find is box_box:
        return box_box(a, b, within)
    if not swapped:
        return find(a, b)[:number]
    return [replace(touch, normal=-touch.normal) for touch in find(b, a)[:number]]


def may_be_within(a: Placed[Shape], b: Placed[Shape], gap: Any) -> Any:
    """False where two shapes are farther from each other than a gap [m]; True where that is not known."""
    within = WITHIN.get((a.shape.kind, b.shape.kind))
    return True if within is None else within(a, b, gap)


def _entry(a: Shape, b: Shape) -> tuple[Any, bool]:
    swapped = (a.kind, b.kind) not in PAIRS
    key = (b.kind, a.kind) if swapped else (a.kind, b.kind)
    if key not in PAIRS:
        raise TypeError(f"collision: there is no detection of {a.kind} and {b.kind}")
    return PAIRS[key], swapped
