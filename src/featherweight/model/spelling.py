"""Numbers as a file spells them, possible or not, and where in the file they are."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, cast

from featherweight.errors import ModelError
from featherweight.model.inertia import Inertia
from featherweight.model.placement import Placement
from featherweight.model.properties import Limits
from featherweight.spatial import Matrix, Transform

Three = tuple[float, float, float]
BODY = Transform.identity()  # the frame of a body, in itself
REMEMBERED = 11_000  # origins and inertias: as many as the largest files have


class Source(NamedTuple):
    """Where something came from: the file, the line in it, and how messages call the element."""

    file: str | None = None
    line: int = 0
    element: str = ""


NOWHERE = Source()  # of what was made in Python


class Sourced:
    """What has a source."""

    word: ClassVar[str]  # for things of its kind
    name: str
    source: Source

    @property
    def line(self) -> int:
        """In its file; 0 for what was made in Python."""
        return self.source.line

    @property
    def where(self) -> str:
        """How messages call it."""
        return self.source.element or f"{self.word} {getattr(self, 'name', '')!r}"


@dataclass(frozen=True)
class Origin:
    """A placement as a file spells it: position [m] and roll pitch yaw [rad]."""

    xyz: Three = (0.0, 0.0, 0.0)
    rpy: Three = (0.0, 0.0, 0.0)

    _transform: Transform | None = field(default=None, init=False, repr=False, compare=False)
    _in_body: Transform | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def transform(self) -> Transform:
        """X, from the parent's coordinates to this frame's."""
        if self._transform is None:  # readers ask several times
            object.__setattr__(self, "_transform", placement_of(self).transform)
        return cast(Transform, self._transform)

    @property
    def in_body(self) -> Transform:
        """`transform` of an origin in a body's own frame: times the identity, which leaves no negative zeros."""
        if self._in_body is None:
            object.__setattr__(self, "_in_body", self.transform @ Transform.identity())
        return cast(Transform, self._in_body)


@dataclass(frozen=True)
class Inertial(Sourced):
    """An inertia as a file spells it, possible or not.

    Mass [kg] at an origin, and the moments there: xx xy xz yy yz zz [kg m²].
    """

    word = "inertia"
    origin: Origin
    mass: float
    moments: tuple[float, ...]
    source: Source = field(default=NOWHERE, compare=False)
    unreadable: bool = field(default=False, compare=False)  # some of its numbers are not what the file says

    _inertia: Inertia | None = field(default=None, init=False, repr=False, compare=False)

    @staticmethod
    def of(inertia: Inertia, source: Source = NOWHERE) -> Inertial:
        """An inertia of Python, spelled out."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.moment_about_com
        inertial = Inertial(Origin(inertia.com), inertia.mass, (xx, xy, xz, yy, yz, zz), source)
        object.__setattr__(inertial, "_inertia", inertia)
        return inertial

    @property
    def inertia(self) -> Inertia:
        """In the link's axes, about the centre of mass; a negative mass is taken as none."""
        if self._inertia is None:  # readers ask several times
            object.__setattr__(self, "_inertia", _inertia_of(self))
        return cast(Inertia, self._inertia)


def forget() -> None:
    """What was computed of origins and inertias, by whoever is done with a file."""
    placement_of.cache_clear()
    _inertia_of.cache_clear()


@functools.lru_cache(maxsize=REMEMBERED)  # files repeat them, and readers ask several times
def placement_of(origin: Origin) -> Placement:
    """An origin as a placement, without negative zeros: origins that are equal are one here."""
    x, y, z = origin.xyz
    roll, pitch, yaw = origin.rpy
    turned = (roll + 0.0, pitch + 0.0, yaw + 0.0) if roll or pitch or yaw else None
    return Placement((x + 0.0, y + 0.0, z + 0.0), rpy=turned)


@functools.lru_cache(maxsize=REMEMBERED)
def _inertia_of(inertial: Inertial) -> Inertia:
    xx, xy, xz, yy, yz, zz = [x + 0.0 for x in inertial.moments]  # no negative zeros, as of origins
    x, y, z = inertial.origin.xyz
    mass, com = max(inertial.mass, 0.0) + 0.0, (x + 0.0, y + 0.0, z + 0.0)
    if not any(inertial.origin.rpy):
        return Inertia(mass, com, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    R = placement_of(inertial.origin).rotation
    moment = R @ (Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))) @ R.T)
    symmetric = tuple(tuple([(moment[i][j] + moment[j][i]) / 2 + 0.0 for j in range(3)]) for i in range(3))
    return Inertia(mass, com, symmetric)


@dataclass(frozen=True)
class Bounds:
    """Limits as a URDF file spells them: without lower and upper a joint that has such bounds cannot move."""

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None

    def limits(self, bounded: bool) -> Limits:
        """Of a joint that has bounds of position, or none."""
        return Limits(
            (self.lower or 0.0) if bounded else -math.inf,
            (self.upper or 0.0) if bounded else math.inf,
            math.inf if self.velocity is None else self.velocity,
            math.inf if self.effort is None else self.effort,
        )


def placed(what: str, origin: Any, base: Transform) -> Transform:
    """The pose of an origin that is given in the frame `base` of a body; ModelError if that is no placement."""
    if base is BODY and isinstance(origin, Origin):
        return origin.in_body
    if origin is None:
        return Transform.identity() @ base
    if not isinstance(origin, (Origin, Placement)):
        raise ModelError(f"{what}: placement: expected featherweight.Placement, got {type(origin).__name__}")
    return origin.transform @ base
