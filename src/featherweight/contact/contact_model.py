"""What a contact model is, and where the points of a robot meet its surfaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from featherweight.contact.surfaces import Plane, Surface, check_friction, check_restitution, frame
from featherweight.integrators.integrator import Advanced
from featherweight.model import Model, Tree
from featherweight.model.parameters import GROUND_FRICTION
from featherweight.spatial import Force, Matrix, Transform, Vector

NONE = Advanced([], [], [])


@dataclass(frozen=True)
class Outcome:
    """A step with contact: the new state, what is carried on, and what is recorded, lists over the points."""

    q: list[Any]
    v: list[Any]
    state: list[Any]
    force: list[Vector]  # mean of the step, in the world's axes [N]
    slip: list[Any]  # speed along the surface where it touches [m/s]
    depth: list[Any]  # how deep a point is inside [m], 0 outside
    iterations: Any
    residual: Any
    converged: Any
    free: Advanced = NONE  # the integrator's part of it, where it solved equations


@dataclass(frozen=True)
class ContactModel:
    """Points of the robot against surfaces. Frozen: what it depends on is in its fields.

    Args:
        ground: a surface, or several.
        friction: coefficient μ where the surface has none; a parameter "ground.friction" of the robot takes its place.
        restitution: e where the surface has none.
    """

    ground: Surface | Sequence[Surface] = field(default_factory=Plane)
    friction: float = GROUND_FRICTION
    restitution: float = 0.0

    def __post_init__(self) -> None:
        ground = self.ground if isinstance(self.ground, Iterable) else (self.ground,)
        ground = tuple(ground)
        if not ground or not all(isinstance(s, Surface) for s in ground):
            raise TypeError(f"ground: expected a surface of featherweight.contact or several, got {self.ground!r}")
        object.__setattr__(self, "ground", ground)
        check_friction("friction", self.friction)
        check_restitution("restitution", self.restitution)

    def check(self, model: Model, integrator: Any) -> None:
        """Raise ValueError if this cannot be used with the robot and the integrator."""
        if not model.contact_points:
            raise ValueError(f"contact: {model.name!r} has no contact points; add some with Builder.add_contact_point")

    def points(self, model: Model) -> int:
        """How many points may touch something."""
        return len(model.contact_points)

    def state_size(self, model: Model, limits: bool) -> int:
        """How many numbers are carried from step to step."""
        raise NotImplementedError

    def step(
        self, model: Model, tree: Tree, integrator: Any, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any,
        state: Sequence[Any], memory: Sequence[Any] = (), going: Any = True, limits: bool = True,
    ) -> Outcome:  # fmt: skip
        """One step of the robot with contact and, if `limits`, within the limits of its joints, over any scalar;
        `memory` is what the integrator carries on. Where it is not `going`, nobody looks at the result."""
        raise NotImplementedError

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        return self.ground  # type: ignore[return-value]


@dataclass(frozen=True)
class Meeting:
    """A point of the robot and a surface: z is the height of the point's lowest part above it."""

    point: int
    body: int
    friction: Any
    restitution: float
    z: Any
    frame: Matrix  # rows: normal, and two directions along the surface
    place: Vector  # where they touch, in the body's frame
    X_0: Transform

    def force(self, direction: Vector) -> Force:
        """A force in the world's axes where they touch, in the body's frame."""
        f = self.X_0.E @ direction
        return Force(self.place.cross(f), f)


def meetings(contact: ContactModel, model: Model, tree: Tree, X_0: Sequence[Transform]) -> list[Meeting]:
    """Every point with every surface."""
    found = []
    friction = contact.friction if tree.ground_friction is None else tree.ground_friction
    for k, point in enumerate(model.contact_points):
        tree.mark()
        X = X_0[point.body]
        at = Vector(*point.position).lift(tree.lift)
        center = X.r + X.E.transposed_times(at)
        for surface in contact.surfaces:
            height, n = surface.height(center)
            place = at - (X.E @ n) * point.radius if point.radius else at
            found.append(
                Meeting(
                    k, point.body,
                    friction if surface.friction is None else surface.friction,
                    contact.restitution if surface.restitution is None else surface.restitution,
                    height - point.radius, frame(n), place, X,
                )
            )  # fmt: skip
    return found


def per_point(points: int, meetings: Sequence[Meeting], values: Sequence[Any], first: Any, join: Any) -> list[Any]:
    """Values of the meetings, joined for each of so many points."""
    result = [first for _ in range(points)]
    for meeting, value in zip(meetings, values, strict=True):
        result[meeting.point] = join(result[meeting.point], value)
    return result
