"""Small pieces of branch-free geometry: choosing, clamping, directions that always exist, and signed distances."""

from __future__ import annotations

from typing import Any

from featherweight.scalar import absolute, maximum, minimum, sqrt, where
from featherweight.spatial import Vector

UP = Vector(0.0, 0.0, 1.0)  # the direction of a vector that has none
TINY = 1e-280  # [m²], squares below lose digits


def chosen(condition: Any, if_true: Vector, if_false: Vector) -> Vector:
    """One of two vectors, component by component."""
    return Vector(*(where(condition, x, y) for x, y in zip(if_true, if_false, strict=True)))


def clamp(x: Any, low: Any, high: Any) -> Any:
    """x, or the bound that it is beyond."""
    return minimum(maximum(x, low), high)


def direction(d: Vector, fallback: Vector = UP) -> tuple[Any, Vector]:
    """|d| and d / |d|; 0 and `fallback` where d is zero."""
    square = d.dot(d)
    exists = square > TINY
    length = sqrt(where(exists, square, 1.0))
    return where(exists, length, 0.0), chosen(exists, d * (1.0 / length), fallback)


def largest(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """Three conditions, of which one holds: where x, y or z is the largest; the first of equal ones."""
    is_x = (x >= y) & (x >= z)
    is_y = (y >= z) & (y > x)
    return is_x, is_y, (z > x) & (z > y)


def across(n: Vector) -> Vector:
    """A unit vector at right angles to a unit vector: along its cross product with the axis it is least along."""
    x, y, z = n.lift(absolute)
    along_x, along_y = (x <= y) & (x <= z), y <= z
    # e × n for e = x, y or z
    e_n = chosen(along_x, Vector(0.0, -n.z, n.y), chosen(along_y, Vector(n.z, 0.0, -n.x), Vector(-n.y, n.x, 0.0)))
    return e_n * (1.0 / sqrt(maximum(e_n.dot(e_n), 0.25)))


def above_box(x: Vector, half: Vector) -> tuple[Any, Vector]:
    """Signed distance [m] of a point from a box around the origin, and the unit normal; inside, of the nearest face."""
    out = Vector(*(a - clamp(a, -h, h) for a, h in zip(x, half, strict=True)))
    square = out.dot(out)
    is_out = square > TINY
    distance = sqrt(where(is_out, square, 1.0))
    bx, by, bz = (absolute(a) - h for a, h in zip(x, half, strict=True))
    is_x, is_y, _ = largest(bx, by, bz)
    side_x, side_y, side_z = (where(a < 0, -1.0, 1.0) for a in x)
    # inside: the nearest face
    face = Vector(
        where(is_x, side_x, 0.0), where(is_y, side_y, 0.0), where(is_x | is_y, 0.0, side_z)
    )  # fmt: skip
    n = chosen(is_out, out * (1.0 / distance), face)
    return where(is_out, distance, maximum(bx, maximum(by, bz))), n


def above_cylinder(x: Vector, radius: Any, half: Any) -> tuple[Any, Vector]:
    """Signed distance [m] of a point from a cylinder about z, and the unit normal; inside, of the nearest surface."""
    square = x.x * x.x + x.y * x.y
    is_off_axis = square > TINY
    distance = sqrt(where(is_off_axis, square, 1.0))
    ox, oy = where(is_off_axis, x.x / distance, 1.0), where(is_off_axis, x.y / distance, 0.0)
    beside, beyond = where(is_off_axis, distance, 0.0) - radius, absolute(x.z) - half
    side = where(x.z < 0, -1.0, 1.0)
    # in the half plane through the axis: outward, and along the axis
    out, along = maximum(beside, 0.0), maximum(beyond, 0.0)
    far = out * out + along * along
    is_out = far > TINY
    length = sqrt(where(is_out, far, 1.0))
    is_mantle = beside >= beyond
    n_out = where(is_out, out / length, where(is_mantle, 1.0, 0.0))
    n_along = where(is_out, along / length, where(is_mantle, 0.0, 1.0)) * side
    return where(is_out, length, maximum(beside, beyond)), Vector(ox * n_out, oy * n_out, n_along)
