"""Geometry of a body from a shape of a description, checked."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from featherweight.errors import ModelError
from featherweight.model.description import Shape
from featherweight.model.pieces import Frame, Geometry
from featherweight.model.placement import Placement, plain, real_numbers
from featherweight.model.spelling import Origin, placed

ROLES = ("visual", "collision")
SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "mesh": 3}  # numbers in a size; of "convex", 3 a vertex
KINDS = (*SIZES, "convex")
FEWEST = 4  # vertices of a convex hull


def geometry_of(parent: str, base: Frame, shape: Shape) -> Geometry:
    """The shape of a link or frame that is called `parent`, whose frame in its body is `base`."""
    usual = shape.role in ROLES and plain(shape.size) and SIZES.get(shape.kind) == len(shape.size)
    usual = usual and isinstance(shape.origin, (Origin, Placement, type(None)))
    what = "" if usual else f"geometry of {parent!r}"  # names may be long, and shapes many
    if shape.role not in ROLES or shape.kind not in KINDS:
        expected = f"a visual or collision {', '.join(KINDS)}"
        raise ModelError(f"{what}: expected {expected}, got {shape.role!r} {shape.kind!r}")
    size = tuple(shape.size) if usual else _size(what, shape)
    X = placed(what, shape.origin, base.X)
    if shape.friction is not None or shape.restitution is not None:
        check_coefficients(f"geometry of {parent!r}", shape.friction, shape.restitution)
    return Geometry(
        parent, base.body, shape.role, shape.kind, size, X, shape.mesh, tuple(map(float, shape.color)), shape.path,
        shape.name, shape.friction, shape.restitution, shape.ground, shape.group,
    )  # fmt: skip


def check_coefficients(what: str, friction: Any, restitution: Any) -> None:
    """ModelError if μ is not 0 or more, or e not from 0 to 1; None is that of the contact model."""
    for name, value, most in (("friction", friction, math.inf), ("restitution", restitution, 1.0)):
        real = isinstance(value, Real) and not isinstance(value, bool)
        if value is not None and not (real and 0 <= float(value) <= most and math.isfinite(value)):
            expected = "a number of 0 or more" if most == math.inf else "a number from 0 to 1"
            raise ModelError(f"{what}: {name}: expected {expected}, or None, got {value!r}")


def _size(what: str, shape: Shape) -> tuple[float, ...]:
    if shape.kind != "convex":
        return tuple(real_numbers(f"{what}: size", shape.size, (SIZES[shape.kind],)).tolist())
    count = len(shape.size) // 3
    if count < FEWEST or len(shape.size) != 3 * count:
        raise ModelError(f"{what}: size: expected 3 numbers for each of at least 4 vertices, got {len(shape.size)}")
    return tuple(real_numbers(f"{what}: size", shape.size, (3 * count,)).tolist())
