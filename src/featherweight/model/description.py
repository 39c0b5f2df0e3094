"""A neutral description of a robot: what the builder and every reader of files write, and every writer reads.

Links, joints, frames, contact points and shapes in the order they were given, with the numbers they were given with,
impossible ones too, and where in which file each came from. Links with frames, joints, and contact points have spaces
of names of their own; a parent is the name of a link, of a frame, or "world". `featherweight.io.build` makes a model of
a description.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from featherweight.inputs import with_fields
from featherweight.joints import Continuous, Fixed, Free, Joint, Planar, Prismatic, Revolute, Spherical
from featherweight.model.placement import Placement
from featherweight.model.properties import Limits, Rotor
from featherweight.model.spelling import NOWHERE, Bounds, Inertial, Origin, Source, Sourced, Three

Numbers = float | Sequence[float]  # one for all degrees of freedom of a joint, or one for each

TYPES: dict[str, Callable[[Three], Joint]] = {  # of joints that an axis is enough for
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "planar": Planar,
    "spherical": lambda axis: Spherical(),
    "floating": lambda axis: Free(),
    "fixed": lambda axis: Fixed(),
}


@dataclass(frozen=True)
class Shape(Sourced):
    """Geometry of a link: `kind` is box, sphere, cylinder, capsule, convex or mesh; `role` visual or collision.

    `size` [m]: edges of a box, radius of a sphere, radius and length of a cylinder or capsule along z, vertices of a
    convex hull one after another, scale of a mesh. A mesh is kept by its name; `path` is the file that was found for
    it. What touches may have coefficients of its own; `ground`: it touches the ground as a shape, no contact points
    stand for it; `group` tells with which added model it came.
    """

    word = "shape"
    role: str
    origin: Origin | Placement | None
    kind: str
    size: Sequence[float]
    mesh: str = ""
    color: Sequence[float] = ()  # red, green, blue, opacity
    name: str = ""
    material: str = ""
    source: Source = field(default=NOWHERE, compare=False)
    path: str | None = field(default=None, compare=False)
    friction: float | None = None
    restitution: float | None = None
    ground: bool = False
    group: int = 0

    def at(self, path: str) -> Shape:
        """The same shape, whose mesh is in this file."""
        return with_fields(self, path=path)


@dataclass(frozen=True)
class Link(Sourced):
    """A rigid link, and everything that is fixed to it; `world` may be one, with shapes and no inertia."""

    word = "link"
    name: str
    inertial: Inertial | None = None
    shapes: tuple[Shape, ...] = ()
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Follow(Sourced):
    """What a joint follows: q = multiplier · q of the other joint + offset."""

    word = "mimic"
    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Motor:
    """A joint's motor behind a gear: reduction, and inertia of the rotor [kg m²]."""

    reduction: float = 1.0
    inertia: float = 0.0

    @property
    def armature(self) -> float:
        """The inertia that the joint feels."""
        return self.reduction**2 * self.inertia


@dataclass(frozen=True)
class LinkJoint(Sourced):
    """A joint between two links: `type` is one of `TYPES`, with an axis in the joint's frame, or the name of `kind`.

    `kind`, a joint of Python, stands in place of type, axis and mimic; `motor` in place of `armature`.
    """

    word = "joint"
    name: str
    type: str
    parent: str
    child: str
    origin: Origin | Placement | None = None
    axis: Three = (1.0, 0.0, 0.0)
    limits: Bounds | Limits | None = None
    damping: Numbers = 0.0
    friction: Numbers = 0.0
    mimic: Follow | None = None
    motor: Motor | None = None
    source: Source = field(default=NOWHERE, compare=False)
    armature: Numbers = 0.0
    stiffness: Numbers = 0.0
    rest: Numbers | None = None
    rotor: Rotor | None = None
    kind: Joint | None = None

    _motion: Joint | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def motion(self) -> Joint:
        """The joint of Python, without what it follows; one of an unknown type is free."""
        motion = self.kind or self._motion
        if motion is None:
            motion = TYPES.get(self.type, TYPES["floating"])(self.axis)
            object.__setattr__(self, "_motion", motion)
        return motion

    @property
    def moves(self) -> bool:
        """Is not fixed."""
        return self.motion.nv > 0

    @property
    def simple(self) -> bool:
        """Has one coordinate: it can follow, and be followed."""
        return (self.motion.nq, self.motion.nv) == (1, 1)


@dataclass(frozen=True)
class LinkFrame(Sourced):
    """A named frame, fixed to a link or to another frame."""

    word = "frame"
    name: str
    parent: str
    origin: Origin | Placement | None = None
    shapes: tuple[Shape, ...] = ()
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class LinkPoint(Sourced):
    """A point of a link or frame that may touch the ground; with a radius [m], the centre of a ball."""

    word = "contact point"
    name: str
    parent: str
    position: Sequence[float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class LoopClosure(Sourced):
    """A constraint between two links or frames that closes a loop: point, hinge, slider, weld or distance."""

    word = "loop"
    name: str
    kind: str
    a: str
    b: str
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Actuator(Sourced):
    """Drives a joint by `gear` times its control, which stays between `lower` and `upper`."""

    word = "actuator"
    name: str
    joint: str
    gear: float = 1.0
    lower: float = -math.inf
    upper: float = math.inf
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Sensor(Sourced):
    """Measures something of a link, frame or joint; `kind` is the file's word for it."""

    word = "sensor"
    name: str
    kind: str
    of: str
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Keyframe(Sourced):
    """A configuration with a name: numbers of joints by their names."""

    word = "keyframe"
    name: str
    q: Mapping[str, Sequence[float]]
    source: Source = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Description(Sourced):
    """A robot: everything in the order it was given."""

    word = "robot"
    name: str
    links: tuple[Link, ...]
    joints: tuple[LinkJoint, ...]
    source: Source = field(default=NOWHERE, compare=False)
    format: str = field(default="", compare=False)  # of the file it came from
    frames: tuple[LinkFrame, ...] = ()
    points: tuple[LinkPoint, ...] = ()
    loops: tuple[LoopClosure, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    excluded: tuple[tuple[str, str], ...] = ()  # names of links, frames or shapes that do not touch each other

    @property
    def file(self) -> str | None:
        """The file it came from, if any."""
        return self.source.file

    def shapes(self) -> Iterator[tuple[str, Shape]]:
        """All of them, with the link or frame that each is fixed to."""
        owners: tuple[Link | LinkFrame, ...] = (*self.links, *self.frames)
        return ((owner.name, shape) for owner in owners for shape in owner.shapes)


def source_of(part: Inertial | Follow, owner: Link | LinkJoint) -> Source:
    """That of a part; of what it belongs to, if it has none of its own."""
    return part.source if part.source.element else owner.source._replace(element=owner.where)
