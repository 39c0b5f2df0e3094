"""Contact candidates: every contact point of a robot with every surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.contact.surfaces import Surface, frame
from featherweight.forces import Kinematics
from featherweight.scalar import maximum
from featherweight.spatial import Force, Matrix, Transform, Vector


@dataclass(frozen=True)
class Ground:
    """The surfaces that are there, and the coefficients of those that have none of their own."""

    surfaces: tuple[Surface, ...]
    friction: Any
    restitution: Any


@dataclass(frozen=True)
class ContactCandidate:
    """A point of the robot and a surface: z is the height of the point's lowest part above it, negative inside."""

    point: int
    body: int
    friction: Any
    restitution: Any
    z: Any
    frame: Matrix  # rows: normal, and two directions along the surface
    place: Vector  # where they touch, in the body's frame
    X_0: Transform

    @property
    def gap(self) -> Any:
        """The height z."""
        return self.z

    @property
    def axes(self) -> Matrix:
        """Rows of axes in the world: normal, and two directions along the surface."""
        return self.frame

    def velocity(self, at: Kinematics) -> Vector:
        """Of the robot where they touch, in the world's axes [m/s]."""
        V = at.velocity[self.body]
        return self.X_0.E.transposed_times(V.linear + V.angular.cross(self.place))

    def pushes(self, at: Kinematics, force: Vector) -> dict[int, Force]:
        """A force in the world's axes on the robot, by body."""
        return {self.body: self.force(force)}

    def force(self, direction: Vector) -> Force:
        """A force in the world's axes where they touch, in the body's frame."""
        f = self.X_0.E @ direction
        return Force(self.place.cross(f), f)


def candidates(ground: Ground, at: Kinematics) -> list[ContactCandidate]:
    """Every point with every surface. A parameter "ground.friction" takes the place of the ground's own."""
    found = []
    tree = at.tree
    friction = ground.friction if tree.ground_friction is None else tree.ground_friction
    for k, point in enumerate(at.model.contact_points):
        tree.mark()
        X = at.pose[point.body]
        place, radius = Vector(*point.position).lift(tree.lift), tree.lift(point.radius)
        center = X.r + X.E.transposed_times(place)
        for surface in ground.surfaces:
            height, n = _height(surface, center)
            lowest = place - (X.E @ n) * radius if point.radius else place
            found.append(
                ContactCandidate(
                    k, point.body,
                    friction if surface.friction is None else surface.friction,
                    ground.restitution if surface.restitution is None else surface.restitution,
                    height - radius, frame(n), lowest, X,
                )
            )  # fmt: skip
    return found


def _height(surface: Surface, p: Vector) -> tuple[Any, Vector]:
    """What a surface says of a point, checked."""
    found = surface.height(p)
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], Vector):
        raise TypeError(
            f"{type(surface).__name__}.height: expected (distance, Vector of the normal), got {type(found).__name__}"
        )
    return found


def per_point(
    points: int, found: Sequence[ContactCandidate], values: Sequence[Any], first: Any, join: Callable[[Any, Any], Any]
) -> list[Any]:
    """Values of the candidates, joined for each of so many points."""
    result = [first for _ in range(points)]
    for candidate, value in zip(found, values, strict=True):
        result[candidate.point] = join(result[candidate.point], value)
    return result


def contact_records(
    at: Kinematics, found: Sequence[ContactCandidate], forces: Sequence[Vector], slips: Sequence[Any]
) -> dict[str, list[Any]]:
    """What is recorded of contact in a step, for each point: mean force [N] in the world's axes, speed along the
    surface [m/s], depth [m]."""
    points = len(at.model.contact_points)
    force = per_point(points, found, forces, Vector.zero(), lambda x, y: x + y)
    return {
        "contact_force": [number for vector in force for number in vector],
        "contact_slip": per_point(points, found, slips, 0.0, maximum),
        "penetration": per_point(points, found, [maximum(-m.z, 0.0) for m in found], 0.0, maximum),
    }
