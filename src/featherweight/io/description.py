"""A robot as a URDF file describes it: links and joints with the numbers of the file, before any tree is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from featherweight.io.findings import short

Three = tuple[float, float, float]


@dataclass(frozen=True)
class Origin:
    """Position [m] and roll pitch yaw [rad]."""

    xyz: Three = (0.0, 0.0, 0.0)
    rpy: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Inertial:
    """Mass [kg] at an origin, and the moments there: xx xy xz yy yz zz [kg m²]."""

    origin: Origin
    mass: float
    moments: tuple[float, ...]
    line: int = field(default=0, compare=False)
    unreadable: bool = field(default=False, compare=False)  # some of its numbers are not what the file says


@dataclass(frozen=True)
class Shape:
    """Geometry of a link: `kind` is box, sphere, cylinder, capsule or mesh; `role` visual or collision.

    `size`: edges of a box, radius of a sphere, radius and length of a cylinder or capsule along z, scale of a mesh.
    """

    role: str
    origin: Origin
    kind: str
    size: tuple[float, ...]
    mesh: str = ""
    color: tuple[float, ...] = ()
    name: str = ""
    material: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Link:
    """A link, and everything that is fixed to it."""

    name: str
    inertial: Inertial | None = None
    shapes: tuple[Shape, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def where(self) -> str:
        """How messages call it."""
        return f'<link "{short(self.name)}">'


@dataclass(frozen=True)
class Bounds:
    """The limit element."""

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None


@dataclass(frozen=True)
class Follow:
    """The mimic element."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Motor:
    """What a transmission says of a joint: reduction, and inertia of the rotor [kg m²]."""

    reduction: float = 1.0
    inertia: float = 0.0


@dataclass(frozen=True)
class LinkJoint:
    """A joint between two links."""

    name: str
    type: str
    parent: str
    child: str
    origin: Origin = Origin()
    axis: Three = (1.0, 0.0, 0.0)
    limit: Bounds | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Follow | None = None
    motor: Motor | None = None
    line: int = field(default=0, compare=False)

    @property
    def where(self) -> str:
        """How messages call it."""
        return f'<joint "{short(self.name)}">'


@dataclass(frozen=True)
class Description:
    """Links and joints in the file's order."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[LinkJoint, ...]
    file: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Tree:
    """Links in depth-first order, and the joints to their children in the file's order."""

    root: Link
    joints: tuple[LinkJoint, ...]  # depth first; each one's parent is the root or an earlier child
    links: dict[str, Link]
