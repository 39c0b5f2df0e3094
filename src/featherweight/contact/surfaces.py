"""Surfaces that points touch: how high above one a point is, and which way is up there."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from featherweight.inputs import Numbers, with_fields
from featherweight.model import Placement
from featherweight.scalar import absolute, lookup, maximum, minimum, sqrt, where
from featherweight.spatial import Matrix, Transform, Vector

Own = TypeVar("Own", bound="Surface")


def check_friction(name: str, value: Any) -> None:
    """Raise ValueError if it is no coefficient μ."""
    if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{name}: expected a number of 0 or more, got {value!r}")


def check_restitution(name: str, value: Any) -> None:
    """Raise ValueError if it is no coefficient e."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name}: expected a number from 0 to 1, got {value!r}")


@dataclass(frozen=True)
class Surface:
    """Something solid in the world.

    Args, by name:
        friction: coefficient μ of Coulomb's law; None: that of the contact model.
        restitution: e from 0 to 1; None: that of the contact model.
    """

    friction: float | None = field(default=None, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.friction is not None:
            check_friction(f"{name}: friction", self.friction)
        if self.restitution is not None:
            check_restitution(f"{name}: restitution", self.restitution)

    def over(self: Own, numbers: Numbers) -> Own:
        """The same surface over other scalars: what it asks `numbers` for is an input of compiled code, everything else
        shapes the code. A user's surface need not do more than this does."""
        own = {name: numbers.optional(getattr(self, name)) for name in ("friction", "restitution")}
        return with_fields(self, **own)

    def height(self, p: Vector) -> tuple[Any, Vector]:
        """The signed distance [m] of a point in the world, negative inside, and the unit normal there."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plane(Surface):
    """The half space below a plane through `point` with `normal`."""

    normal: Sequence[float] = (0.0, 0.0, 1.0)
    point: Sequence[float] = (0.0, 0.0, 0.0)
    offset: float = field(init=False, repr=False)  # n · point

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = np.array(_numbers("Plane: normal", self.normal))
        if not np.linalg.norm(normal) > 0:
            raise ValueError("Plane: normal: expected a direction, got zero")
        object.__setattr__(self, "normal", tuple((normal / np.linalg.norm(normal)).tolist()))
        object.__setattr__(self, "point", _numbers("Plane: point", self.point))
        object.__setattr__(self, "offset", Vector(*self.normal).dot(Vector(*self.point)))

    def over(self, numbers: Numbers) -> Plane:
        new = super().over(numbers)
        if _is_changed(self, Plane):
            return new
        normal, offset = numbers.direction(self.normal), numbers.number(self.offset)
        return with_fields(new, normal=normal, point=(), offset=offset)

    def height(self, p: Vector) -> tuple[Any, Vector]:
        n = Vector(*self.normal)
        return n.dot(p) - self.offset, n


@dataclass(frozen=True)
class Sphere(Surface):
    """A ball."""

    center: Sequence[float] = (0.0, 0.0, 0.0)
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "center", _numbers("Sphere: center", self.center))
        _check_length("Sphere: radius", self.radius)

    def over(self, numbers: Numbers) -> Sphere:
        new = super().over(numbers)
        if _is_changed(self, Sphere):
            return new
        return with_fields(new, center=tuple(map(numbers.number, self.center)), radius=numbers.number(self.radius))

    def height(self, p: Vector) -> tuple[Any, Vector]:
        distance, n = _direction(p - Vector(*self.center), Vector(0.0, 0.0, 1.0))
        return distance - self.radius, n


@dataclass(frozen=True)
class Box(Surface):
    """A block with edges of `size` [m] and its centre at `placement`. The normal turns around edges and corners."""

    size: Sequence[float] = (1.0, 1.0, 1.0)
    placement: Placement = field(default_factory=Placement)
    transform: Transform = field(init=False, repr=False)  # from the world's frame to its own

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", _numbers("Box: size", self.size))
        if not min(self.size) > 0:
            raise ValueError(f"Box: size: expected three lengths > 0 [m], got {self.size}")
        object.__setattr__(self, "transform", self.placement.transform)

    def over(self, numbers: Numbers) -> Box:
        new = super().over(numbers)
        if _is_changed(self, Box):
            return new
        size, r = (tuple(map(numbers.number, x)) for x in (self.size, self.transform.r))
        E = Matrix.of([numbers.direction(row) for row in self.transform.E])
        return with_fields(new, size=size, placement=None, transform=Transform(E, Vector(*r)))

    def height(self, p: Vector) -> tuple[Any, Vector]:
        X = self.transform
        local = X.E @ (p - X.r)
        side = Vector(*(where(x < 0, -1.0, 1.0) for x in local))
        beyond = Vector(*(absolute(x) - 0.5 * s for x, s in zip(local, self.size, strict=True)))
        # inside: the nearest face; outside: away from the nearest point of the box
        x, y, z = beyond
        is_x = (x >= y) & (x >= z)
        is_y = y >= z
        face = Vector(
            where(is_x, side.x, 0.0), where(is_x, 0.0, where(is_y, side.y, 0.0)),
            where(is_x, 0.0, where(is_y, 0.0, side.z)),
        )  # fmt: skip
        inside = maximum(x, maximum(y, z))
        out = Vector(*(maximum(b, 0.0) * s for b, s in zip(beyond, side, strict=True)))
        distance, n = _direction(out, face)
        normal = Vector(*(where(inside > 0, a, b) for a, b in zip(n, face, strict=True)))
        return where(inside > 0, distance, inside), X.E.transposed_times(normal)


@dataclass(frozen=True, eq=False, init=False)
class Heightfield(Surface):
    """Ground with heights [m] at the points of a grid, bilinear between them. The distance of a point is that from the
    plane which touches the ground straight below it.

    Args:
        heights: shape (nx, ny), finite.
        spacing: distance of grid points along x and y [m].
        origin: x and y of heights[0, 0] [m]; beyond an edge the ground is as high as there.
    """

    heights: np.ndarray
    spacing: float
    origin: Sequence[float]
    shape: tuple[int, ...] = field(init=False, repr=False)
    table: np.ndarray = field(init=False, repr=False)  # the heights, one row after the other

    def __init__(
        self,
        heights: ArrayLike = ((0.0, 0.0), (0.0, 0.0)),
        spacing: float = 1.0,
        origin: Sequence[float] = (0.0, 0.0),
        *,
        friction: float | None = None,
        restitution: float | None = None,
    ) -> None:
        given = {"heights": heights, "spacing": spacing, "origin": origin}
        for name, value in {**given, "friction": friction, "restitution": restitution}.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        super().__post_init__()
        heights = np.array(self.heights, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ValueError(f"Heightfield: heights: expected shape (nx, ny) of 2 or more each, got {heights.shape}")
        if not np.isfinite(heights).all():
            bad = tuple(int(k) for k in np.argwhere(~np.isfinite(heights))[0])
            raise ValueError(f"Heightfield: heights: expected finite numbers, got {heights[bad]} at {bad}")
        heights.flags.writeable = False
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "shape", heights.shape)
        object.__setattr__(self, "table", heights.ravel())
        _check_length("Heightfield: spacing", self.spacing)
        object.__setattr__(self, "origin", _numbers("Heightfield: origin", self.origin, 2))

    def over(self, numbers: Numbers) -> Heightfield:
        new = super().over(numbers)
        if _is_changed(self, Heightfield):
            return new
        spacing, origin = numbers.number(self.spacing), tuple(map(numbers.number, self.origin))
        return with_fields(new, heights=None, table=numbers.table(self.table), spacing=spacing, origin=origin)

    def height(self, p: Vector) -> tuple[Any, Vector]:
        nx, ny = self.shape
        x, y = ((a - o) / self.spacing for a, o in zip(p[:2], self.origin, strict=True))
        row, column = _cell(x, nx), _cell(y, ny)
        u, w = (minimum(maximum(a - k, 0.0), 1.0) for a, k in ((x, row), (y, column)))
        corner = row * float(ny) + column
        a, b, c, d = (lookup(self.table, corner + k) for k in (0.0, float(ny), 1.0, ny + 1.0))
        ground = a + u * (b - a) + w * ((c - a) + u * (d - c - b + a))
        slope_x, slope_y = (b - a) + w * (d - c - b + a), (c - a) + u * (d - c - b + a)
        slope_x, slope_y = (  # beyond an edge it is as high as there: level across the edge
            where((k >= 0.0) & (k <= n - 1.0), slope / self.spacing, 0.0)
            for k, n, slope in ((x, nx, slope_x), (y, ny, slope_y))
        )
        steep = 1.0 / sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
        return (p.z - ground) * steep, Vector(-slope_x * steep, -slope_y * steep, steep)

    def __repr__(self) -> str:
        digest = hashlib.sha256(self.heights.tobytes()).hexdigest()[:16]
        return (
            f"Heightfield({self.heights.shape}, {digest}, {self.spacing}, {self.origin}, {self.friction}, "
            f"{self.restitution})"
        )


def frame(n: Vector) -> Matrix:
    """Rows n, t1, t2: a right-handed frame on a unit normal, without a direction in which it fails (Duff, 2017)."""
    s = where(n.z < 0, -1.0, 1.0)
    a = -1.0 / (s + n.z)
    b = n.x * n.y * a
    return Matrix(n, Vector(1.0 + s * n.x * n.x * a, s * b, -s * n.x), Vector(b, s + n.y * n.y * a, -n.y))


def _is_changed(surface: Surface, kind: type[Surface]) -> bool:
    """Has somebody's subclass a height of its own, which may look at any field?"""
    return type(surface).height is not kind.height


def _cell(x: Any, n: int) -> Any:
    """The grid cell a coordinate falls into: a whole number from 0 to n - 2."""
    return lookup(np.arange(n - 1.0), x)


def _direction(d: Vector, fallback: Vector) -> tuple[Any, Vector]:
    """Length and direction of a vector; `fallback` where it is zero."""
    square = d.dot(d)
    is_some = square > 0
    length = sqrt(square)
    scale = 1.0 / where(is_some, length, 1.0)
    return length, Vector(*(where(is_some, a * scale, b) for a, b in zip(d, fallback, strict=True)))


def _check_length(what: str, value: Any) -> None:
    try:
        fits = bool(0 < value < math.inf)
    except (TypeError, ValueError):  # not one number
        fits = False
    if not fits:
        raise ValueError(f"{what}: expected a length > 0 [m], got {value!r}")


def _numbers(what: str, values: Any, n: int = 3) -> tuple[float, ...]:
    array = np.asarray(values, dtype=float)
    if array.shape != (n,) or not np.isfinite(array).all():
        raise ValueError(f"{what}: expected {n} finite numbers, got {values!r}")
    return tuple(array.tolist())
