"""Shapes against the ground: surfaces that are known by the height of points above them.

Each contact point is a point of the shape, so it has an identity from step to step. The gap is that of the surface's
`height`, whatever the surface.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from featherweight.collision.cloud import FEW, Cloud
from featherweight.collision.geometry import chosen, direction
from featherweight.collision.spheres import ball_above
from featherweight.collision.spread import STEEP
from featherweight.collision.touch import Placed, Touch
from featherweight.scalar import absolute, maximum, where
from featherweight.shapes import Box, Capsule, Convex, Cylinder, Shape, Sphere
from featherweight.spatial import Vector

Height = Callable[[Vector], tuple[Any, Vector]]  # of a point in the world: signed distance [m] and unit normal
UPRIGHT = 0.5  # cosine² of an axis with the normal above which a cylinder may stand
STEADY = 1e-5  # slope below which points of a standing cylinder's rim stay where they are in the body


def ground_touch_count(shape: Shape) -> int:
    """How many contact points a shape has with a surface: known before anything is traced."""
    return _entry(shape)[0](shape)


def ground_touches(a: Placed[Shape], height: Height) -> list[Touch]:
    """The contact points of a shape with a surface, as many as `ground_touch_count` says; normals point to the shape.

    Args:
        a: the shape in the world.
        height: of a point in the world, its signed distance [m] from the surface and the unit normal there.
    """
    return _entry(a.shape)[1](a, height)


def _entry(shape: Shape) -> Any:
    if shape.kind not in GROUND:
        raise TypeError(f"collision: there is no detection of {shape.kind} and the ground")
    return GROUND[shape.kind]


def sphere_ground(a: Placed[Sphere], height: Height) -> list[Touch]:
    """Below the centre."""
    return [ball_above(a.X.r, a.shape.radius, *height(a.X.r))]


def capsule_ground(a: Placed[Capsule], height: Height) -> list[Touch]:
    """The balls at both ends."""
    along = a.X.E.z * (0.5 * a.shape.length)
    return [ball_above(p, a.shape.radius, *height(p)) for p in (a.X.r + along, a.X.r - along)]


def box_ground(a: Placed[Box], height: Height) -> list[Touch]:
    """The lower end of each of the four body diagonals; of a plane these are the four lowest corners."""
    (x, y, z), half = a.X.E, a.shape.half
    x, y, z = x * half.x, y * half.y, z * half.z
    found = []
    for diagonal in (x + y + z, x + y - z, x - y + z, x - y - z):
        one, other = (_corner(a.X.r + corner, height) for corner in (diagonal, -diagonal))
        is_one = one.gap <= other.gap
        found.append(
            Touch(
                where(is_one, one.gap, other.gap),
                chosen(is_one, one.normal, other.normal),
                chosen(is_one, one.point, other.point),
            )
        )
    return found


def cylinder_ground(a: Placed[Cylinder], height: Height) -> list[Touch]:
    """The lowest point of each rim, and two of the lower rim a quarter turn from it.

    Where the cylinder may stand, the point of its upper rim is on the lower one instead, opposite the lowest: four
    points around the face. The lowest point is along -s/|s|, s = n - a (a·n), with the axis a.
    """
    _, n = height(a.X.r)
    axis, radius = a.X.E.z, a.shape.radius
    cosine = axis.dot(n)
    s = n - axis * cosine
    # upright, where s vanishes, towards the x axis of the body
    lean = maximum(STEADY - 10.0 * s.dot(s), 0.0)
    _, low = direction(a.X.E.x * lean - s, a.X.E.x)
    low = low * radius
    quarter = axis.cross(low)
    along = axis * (0.5 * a.shape.length)
    below = chosen(cosine < 0, along, -along)  # center of the lower rim
    stands = cosine * cosine > UPRIGHT
    places = [
        chosen(stands & is_upper, below - low, center + low)
        for center, is_upper in ((along, cosine >= 0), (-along, cosine < 0))
    ]
    return [_corner(a.X.r + p, height) for p in (*places, below + quarter, below - quarter)]


def convex_ground(a: Placed[Convex], height: Height) -> list[Touch]:
    """All vertices of a small hull; of a large one the lowest and three that spread widest around it."""
    points = a.shape.points
    if len(points) <= FEW:
        return [_corner(a.X.r + a.X.E.transposed_times(Vector(*p)), height) for p in points]
    up = a.X.E @ height(a.X.r)[1]
    cloud = Cloud(points)
    first = cloud.best((-up).dot)

    def distance(p: Vector) -> Any:
        rise = STEEP * up.dot(p - first)
        return (p - first).dot(p - first) - rise * rise

    second = cloud.best(distance)
    line = second - first
    left = up.cross(line)
    length = sum(map(absolute, line))

    def beside(side: float) -> Vector:
        return cloud.best(lambda p: side * left.dot(p - first) - length * STEEP * up.dot(p - first))

    return [
        _corner(a.X.r + a.X.E.transposed_times(p), height) for p in (first, second, beside(1.0), beside(-1.0))
    ]  # fmt: skip


def _corner(p: Vector, height: Height) -> Touch:
    """A point of the shape, and the ground below it."""
    gap, n = height(p)
    return Touch(gap, n, p - n * (0.5 * gap))


# kind: how many points there are, and what finds them
GROUND: dict[str, tuple[Callable[[Any], int], Callable[[Any, Height], list[Touch]]]] = {
    "sphere": (lambda shape: 1, sphere_ground),
    "capsule": (lambda shape: 2, capsule_ground),
    "box": (lambda shape: 4, box_ground),
    "cylinder": (lambda shape: 4, cylinder_ground),
    "convex": (lambda shape: len(shape.points) if len(shape.points) <= FEW else 4, convex_ground),
}
