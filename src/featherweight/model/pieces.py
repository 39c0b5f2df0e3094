"""The pieces of a frozen model: joints, bodies, links, frames, contact points, geometry."""

from __future__ import annotations

from dataclasses import dataclass, field

from featherweight.joints import Joint
from featherweight.model.inertia import Inertia
from featherweight.model.properties import Limits, Rotor
from featherweight.spatial import RigidInertia, Transform, Vector


@dataclass(frozen=True)
class JointInfo:
    """A joint of a model: its kind, the body it moves, its slices of q and v, and its properties.

    A mimic joint has the slices of its leader, and properties as its leader's coordinate feels them.
    """

    name: str
    kind: Joint
    body: int
    q: slice
    v: slice
    limits: Limits
    armature: tuple[float, ...]  # added inertia of each degree of freedom, without the rotor's [kg m² or kg]
    damping: tuple[float, ...]  # [N m s or N s/m]
    friction: tuple[float, ...]  # dry friction [N m or N]
    stiffness: tuple[float, ...]  # of a spring [N m or N/m]
    rest: tuple[float, ...]  # configuration where the spring rests
    rotor: Rotor | None = None
    rotor_inertia: float = 0.0  # gear² J
    spin: Vector | None = None  # gear J times the rotor's axis, in the parent's axes

    @property
    def independent(self) -> bool:
        """Has coordinates of its own."""
        return self.kind.leader is None


@dataclass(frozen=True)
class Part:
    """A link (or rotor) that is part of a body; X goes from the body's coordinates to the link's."""

    link: str
    body: int
    X: Transform
    inertia: Inertia
    joint: str = ""  # name of the joint that carries the link; empty for a rotor


@dataclass(frozen=True)
class BodyInfo:
    """A moving body (or the world, index 0)."""

    name: str
    index: int
    parent: int
    inertia: RigidInertia


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body; X goes from the body's coordinates to the frame's.

    `kind` tells what has this name: a "link", a "frame", a "joint" or a contact "point".
    """

    name: str
    body: int
    X: Transform
    kind: str = "frame"


@dataclass(frozen=True)
class ContactPoint:
    """A point fixed to a body that may touch the ground: position [m] in the body, radius [m]."""

    name: str
    body: int
    position: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class Geometry:
    """A shape fixed to a body: how it looks (`role` "visual") or what it touches with ("collision").

    `kind` is box, sphere, cylinder, capsule, convex or mesh; `size` [m] its edges, radius, or radius and length along
    z, the vertices of a convex hull one after another, or the scale of a mesh, which is kept by reference: `mesh` is
    its name in a file, `path` the file that was found for it when the robot was loaded. X goes from the body's
    coordinates to the shape's. The last five are of what touches: see `CollisionShape`, which is made of this.
    """

    link: str
    body: int
    role: str
    kind: str
    size: tuple[float, ...]
    X: Transform
    mesh: str = ""
    color: tuple[float, ...] = ()
    path: str | None = field(default=None, compare=False)
    name: str = ""  # as it was given
    friction: float | None = None
    restitution: float | None = None
    ground: bool = False  # touches the ground as a shape: no contact points stand for it
    group: int = 0  # which of the models that were added it came with; 0: none
