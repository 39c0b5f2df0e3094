"""A sphere against sphere, capsule, box and cylinder: the signed distance of its centre less its radius."""

from __future__ import annotations

from typing import Any

from featherweight.collision.geometry import above_box, above_cylinder, clamp, direction
from featherweight.collision.touch import Placed, Touch
from featherweight.shapes import Box, Capsule, Cylinder, Sphere
from featherweight.spatial import Vector


def sphere_sphere(a: Placed[Sphere], b: Placed[Sphere]) -> list[Touch]:
    """gap = |r_a - r_b| - (R_a + R_b)."""
    return [balls(a.X.r, a.shape.radius, b.X.r, b.shape.radius)]


def sphere_capsule(a: Placed[Sphere], b: Placed[Capsule]) -> list[Touch]:
    """The ball around the point of the capsule's segment that is nearest to the centre."""
    half = 0.5 * b.shape.length
    t = clamp(b.X.E.z.dot(a.X.r - b.X.r), -half, half)
    return [balls(a.X.r, a.shape.radius, b.X.r + b.X.E.z * t, b.shape.radius)]


def sphere_box(a: Placed[Sphere], b: Placed[Box]) -> list[Touch]:
    """Outside the nearest point of the box, inside its nearest face."""
    height, n = above_box(b.X.E @ (a.X.r - b.X.r), b.shape.half)
    return [ball_above(a.X.r, a.shape.radius, height, b.X.E.transposed_times(n))]


def sphere_cylinder(a: Placed[Sphere], b: Placed[Cylinder]) -> list[Touch]:
    """Outside the nearest point of the cylinder, inside the nearer one of its mantle and its ends."""
    height, n = above_cylinder(b.X.E @ (a.X.r - b.X.r), b.shape.radius, 0.5 * b.shape.length)
    return [ball_above(a.X.r, a.shape.radius, height, b.X.E.transposed_times(n))]


def balls(a: Vector, radius_a: Any, b: Vector, radius_b: Any) -> Touch:
    """Two balls by centre and radius."""
    distance, n = direction(a - b)
    gap = distance - radius_a - radius_b
    return Touch(gap, n, b + n * (radius_b + 0.5 * gap))


def ball_above(center: Vector, radius: Any, height: Any, n: Vector) -> Touch:
    """A ball whose centre is at a signed distance from a surface with normal n."""
    return Touch(height - radius, n, center - n * (0.5 * (height + radius)))
