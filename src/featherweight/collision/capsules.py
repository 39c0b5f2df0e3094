"""A capsule against capsule and box: the segment's nearest point, and how far the contact reaches along the segment.

Each contact point is a ball of the capsule, at s [m] along its segment, against the other shape. So every s is
a valid contact with its own gap and normal; the choice decides how well two points stand for a line.
"""

from __future__ import annotations

from typing import Any

from featherweight.collision.geometry import above_box, across, chosen, clamp, direction, largest
from featherweight.collision.spheres import ball_above
from featherweight.collision.touch import Placed, Touch, only_if
from featherweight.scalar import absolute, maximum, minimum, sqrt, where
from featherweight.shapes import Box, Capsule
from featherweight.spatial import Vector

FLAT = 1e-9  # [m], how much farther than the nearest point of crossing capsules their two points may be
TOGETHER = 0.01  # two points that are nearer to each other than this times the radius are one
LEVEL = 1e-14  # [m], slopes that are zero but for rounding: between them a segment is inside a box
PARALLEL = 1e-12  # sine² below which directions are parallel


def capsule_capsule(a: Placed[Capsule], b: Placed[Capsule]) -> list[Touch]:
    """Nearest points of two segments; parallel ones touch at both ends of their overlap."""
    (u, w), r = (a.X.E.z, b.X.E.z), a.X.r - b.X.r
    half_a, half_b, radius = 0.5 * a.shape.length, 0.5 * b.shape.length, a.shape.radius + b.shape.radius
    cosine, f = u.dot(w), w.dot(r)
    u_w = u.cross(w)
    square = u_w.dot(u_w)  # sine²
    s, t = _on_segments(a, b)
    is_parallel = square < PARALLEL
    sideways = chosen(is_parallel, across(u), u_w * (1.0 / sqrt(where(is_parallel, 1.0, square))))
    distance, n = direction(r + u * s - w * t, sideways)

    # the part of a that is beside b: |s cosine + f| ≤ half_b
    slope = where(absolute(cosine) < 1e-6, 1e-6, cosine)
    ends = (half_b - f) / slope, (-half_b - f) / slope
    low = minimum(maximum(minimum(*ends), -half_a), s)
    high = maximum(minimum(maximum(*ends), half_a), s)
    # crossing capsules: |d + x u_w·n|² ≈ d² + (x u_w·n)², so no farther from s than x
    most = sqrt(2.0 * FLAT * distance) / maximum(absolute(n.dot(u_w)), 1e-12)
    low, high = maximum(low, s - most), minimum(high, s + most)
    two = high - low > TOGETHER * radius

    def at(s: Any) -> Touch:
        t = clamp(cosine * s + f, -half_b, half_b)
        length, normal = direction(r + u * s - w * t, n)
        gap = length - radius
        return Touch(gap, normal, b.X.r + w * t + normal * (b.shape.radius + 0.5 * gap))

    second = at(high)
    return [at(where(two, low, s)), only_if(two, second)]


def _on_segments(a: Placed[Capsule], b: Placed[Capsule]) -> tuple[Any, Any]:
    """s and t of the nearest points r_a + s u, r_b + t w of two segments (Ericson, 5.1.9)."""
    (u, w), r = (a.X.E.z, b.X.E.z), a.X.r - b.X.r
    half_a, half_b = 0.5 * a.shape.length, 0.5 * b.shape.length
    cosine, c, f = u.dot(w), u.dot(r), w.dot(r)
    u_w = u.cross(w)
    s = clamp((cosine * f - c) / maximum(u_w.dot(u_w), PARALLEL), -half_a, half_a)
    t = clamp(cosine * s + f, -half_b, half_b)
    return clamp(cosine * t - c, -half_a, half_a), t


def capsules_within(a: Placed[Capsule], b: Placed[Capsule], gap: Any) -> Any:
    """Are two capsules nearer to each other than this? Without a root."""
    s, t = _on_segments(a, b)
    between, most = a.X.r - b.X.r + a.X.E.z * s - b.X.E.z * t, a.shape.radius + b.shape.radius + gap
    return between.dot(between) <= most * most


def capsule_box(a: Placed[Capsule], b: Placed[Box]) -> list[Touch]:
    """The nearest point of the capsule's segment, and the other end of the part that is above the same face."""
    E, half, reach = b.X.E, b.shape.half, 0.5 * a.shape.length
    p, d = E @ (a.X.r - b.X.r), E @ a.X.E.z
    breaks = _breaks(p, d, half, reach)
    s, is_inside = _nearest(p, d, half, reach, breaks)
    _, n = above_box(p + d * s, half)

    # the part of the segment between the sides of the face that is nearest
    is_x, is_y, _ = largest(*n.lift(absolute))
    (x0, y0, z0), (x1, y1, z1) = ([f(*pair) for pair in breaks] for f in (minimum, maximum))
    low = where(is_x, maximum(y0, z0), where(is_y, maximum(x0, z0), maximum(x0, y0)))
    high = where(is_x, minimum(y1, z1), where(is_y, minimum(x1, z1), minimum(x1, y1)))
    low, high = minimum(low, s), maximum(high, s)
    # a segment inside the box: its middle there, and its deeper end
    deeper = where(_beyond(p - d * reach, half) < _beyond(p + d * reach, half), -reach, reach)
    low, high = where(is_inside, s, low), where(is_inside, deeper, high)
    two = absolute(high - low) > TOGETHER * a.shape.radius

    def at(s: Any) -> Touch:
        height, normal = above_box(p + d * s, half)
        return ball_above(a.X.r + a.X.E.z * s, a.shape.radius, height, E.transposed_times(normal))

    second = at(high)
    return [at(where(two, low, s)), only_if(two, second)]


def _breaks(p: Vector, d: Vector, half: Vector, reach: Any) -> list[tuple[Any, Any]]:
    """Where the segment p + s d, |s| ≤ reach, passes the two planes of each axis of a box; its ends if it does not."""
    pairs = []
    for x, slope, h in zip(p, d, half, strict=True):
        slope = where(absolute(slope) < 1e-12, 1e-12, slope)
        pairs.append((clamp((h - x) / slope, -reach, reach), clamp((-h - x) / slope, -reach, reach)))
    return pairs


def _nearest(p: Vector, d: Vector, half: Vector, reach: Any, breaks: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """s of the point of p + s d that is nearest to a box, and whether it is inside: then the middle of what is inside.

    g(s) = d·(x - clamp x), half the slope of the squared distance, does not decrease and is linear between the breaks.
    """

    def slope(s: Any) -> Any:
        return d.dot(Vector(*(x - clamp(x, -h, h) for x, h in zip(p + d * s, half, strict=True))))

    low, high = -reach, reach  # the last s with g ≤ 0, the first with g ≥ 0
    for s in (-reach, reach, *(s for pair in breaks for s in pair)):
        g = slope(s)
        low = maximum(low, where(g <= LEVEL, s, -reach))
        high = minimum(high, where(g >= -LEVEL, s, reach))
    below, above = slope(low), slope(high)
    rise = above - below
    is_flat = rise <= 2.0 * LEVEL
    part = where(is_flat, 0.5, clamp(-below / where(is_flat, 1.0, rise), 0.0, 1.0))
    s = low + part * (high - low)
    return s, _beyond(p + d * s, half) < 0


def _beyond(x: Vector, half: Vector) -> Any:
    """How far a point is beyond the farthest of the box's faces [m]."""
    bx, by, bz = (absolute(a) - h for a, h in zip(x, half, strict=True))
    return maximum(bx, maximum(by, bz))
