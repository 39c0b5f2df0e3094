"""A robot in a state, as force elements and constraints see it: poses and velocities of its bodies."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from featherweight import algorithms
from featherweight.cached import cached_property
from featherweight.model import Model, Tree
from featherweight.spatial import Force, Motion, Transform, Vector

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Kinematics:
    """The state (q, v) of a robot over any scalar. Poses and velocities are computed when they are first asked for."""

    model: Model
    tree: Tree
    q: Sequence[Any]
    v: Sequence[Any]

    @cached_property
    def pose(self) -> list[Transform]:
        """X_0 of each body: from the world's frame to the body's."""
        return algorithms.forward_kinematics(self.tree, self.q)

    @cached_property
    def velocity(self) -> list[Motion]:
        """Of each body, in its own frame."""
        _ = self.pose  # first: both passes share what the joints compute
        return algorithms.velocities(self.tree, self.q, self.v)

    def once(self, what: Hashable, make: Callable[[], Value]) -> Value:
        """What is made of this state, made once: numbers of the robot that are traced again would be other leaves."""
        known = self.__dict__.setdefault("_known", {})
        if what not in known:
            known[what] = make()
        return known[what]

    def frame(self, name: str) -> tuple[int, Transform]:
        """The body that a frame (of a link, joint or contact point) is fixed to, and the transform from there."""
        frame = self.model.frame(name)
        return frame.body, frame.X.lift(self.tree.lift)

    def position(self, body: int, point: Vector) -> Vector:
        """A point of a body, given in its frame, in the world [m]."""
        X = self.pose[body]
        return X.r + X.E.transposed_times(point)

    def point_velocity(self, body: int, point: Vector) -> Vector:
        """The velocity of a point of a body, in the world's axes [m/s]."""
        V = self.velocity[body]
        return self.pose[body].E.transposed_times(V.linear + V.angular.cross(point))

    def force_at(self, body: int, point: Vector, force: Vector) -> Force:
        """A force in the world's axes [N] at a point of a body, as a spatial force in the body's frame."""
        f = self.pose[body].E @ force
        return Force(point.cross(f), f)
