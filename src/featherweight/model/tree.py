"""A model as the algorithms see it: its constants over the scalar at hand, its bodies in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.joints import Joint
from featherweight.spatial import Motion, RigidInertia, Transform, Vector


@dataclass(frozen=True)
class Tree:
    """λ, joints, tree transforms and inertias by body; body 0 is the world."""

    parent: tuple[int, ...]
    joints: tuple[TreeJoint, ...]
    X_tree: tuple[Transform, ...]
    I: tuple[RigidInertia, ...]
    gravity: Vector
    mark: Callable[[], None]  # told where a new piece of the program begins

    def outward(self) -> Iterator[tuple[int, int, TreeJoint]]:
        """Bodies with their parent and joint, every parent before its children."""
        for i in range(1, len(self.parent)):
            self.mark()
            yield i, self.parent[i], self.joints[i]
        self.mark()

    def inward(self) -> Iterator[tuple[int, int, TreeJoint]]:
        """Bodies with their parent and joint, every child before its parent."""
        for i in range(len(self.parent) - 1, 0, -1):
            self.mark()
            yield i, self.parent[i], self.joints[i]
        self.mark()

    def rootward(self, i: int) -> Iterator[tuple[int, int]]:
        """From body i towards the world: each body with its parent, until the parent is the world."""
        while self.parent[i] > 0:
            self.mark()
            yield i, self.parent[i]
            i = self.parent[i]

    def per_body(self, first: Any = None) -> list[Any]:
        """A list with a place for each body; `first` is the world's."""
        return [first] + [None] * (len(self.parent) - 1)

    @property
    def gravity_field(self) -> Motion:
        """a_0 = -g: instead of pulling all bodies down, let the world accelerate upward."""
        return Motion(Vector.zero(), -self.gravity)


@dataclass(frozen=True)
class TreeJoint:
    """A joint in its place: takes its own part of the model's q and v."""

    joint: Joint
    q: slice
    v: slice

    def transform(self, q: Sequence[Any]) -> Transform:
        """X_J(q)."""
        return self.joint.transform(q[self.q])

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q)."""
        return self.joint.subspace(q[self.q])

    def bias(self, q: Sequence[Any], v: Sequence[Any]) -> Motion:
        """c_J."""
        return self.joint.bias(q[self.q], v[self.v])
