"""A model as the algorithms see it: its constants over the scalar at hand, its bodies in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.model.passes import Passes
from featherweight.model.tree_joint import TreeJoint
from featherweight.spatial import Motion, RigidInertia, Transform, Vector

__all__ = ["Tree", "TreeJoint"]


@dataclass(frozen=True, kw_only=True)
class Tree(Passes):
    """λ, joints, tree transforms and inertias by body; body 0 is the world. `Passes` has the ways to visit them."""

    X_tree: tuple[Transform, ...]
    I: tuple[RigidInertia, ...]
    gravity: Vector
    lift: Callable[[float], Any]  # a constant over the scalar at hand
    nv: int
    spanning_tree: Tree | None = None  # of a tree with aggregated joints: the one with each joint by itself
    ground_friction: Any = None  # μ where a parameter gives it

    def path(self, i: int) -> list[int]:
        """From body i towards the world, without the world."""
        bodies = []
        while i > 0:
            bodies.append(i)
            i = self.parent[i]
        return bodies

    def floats(self, i: int) -> bool:
        """Whether body i moves freely in the world."""
        return self.parent[i] == 0 and self.joints[i].kind.floating

    @property
    def afloat(self) -> list[bool]:
        """Of each body: whether it floats, or is carried by one that does."""
        bodies = [False]
        for i in range(1, len(self.parent)):
            bodies.append(self.floats(i) or bodies[self.parent[i]])
        return bodies

    def bodies_on(self) -> dict[int, list[int]]:
        """The bodies on a joint, by its first degree of freedom: one, or several on an aggregated joint."""
        bodies: dict[int, list[int]] = {}
        for i, joint in enumerate(self.joints[1:], start=1):
            bodies.setdefault(joint.v.start, []).append(i)
        return bodies

    @property
    def depth(self) -> int:
        """The number of bodies on the longest path to the world."""
        depth = [0] * len(self.parent)
        for i in range(1, len(self.parent)):
            depth[i] = depth[self.parent[i]] + 1
        return max(depth)

    def moved(self, q: Sequence[Any], d: Sequence[Any], q_after: Sequence[Any]) -> Tree:
        """The same tree with its joints placed at q ⊕ d, for transforms and subspaces at `q_after` alone."""
        if self.coupled:
            return self
        joints = [self.joints[0]]
        for _, _, joint in self.outward():
            joints.append(replace(joint, place=joint.kind.place_after(q[joint.q], d[joint.v], q_after[joint.q])))
        return replace(self, joints=tuple(joints))

    def held(self, bodies: Mapping[int, Any]) -> Tree:
        """The same tree with the joints of these bodies locked where a condition holds: they do not yield to forces."""
        if not bodies:
            return self
        joints = list(self.joints)
        for i, condition in bodies.items():
            joints[i] = replace(joints[i], held=(condition,) * len(joints[i].dofs))
        return replace(self, joints=tuple(joints))

    def within(self, island: Sequence[int]) -> Tree:
        """The same tree with passes over some bodies alone, in order, which no joint connects with others."""
        if len(island) == len(self.parent) - 1:
            return self
        spanning = None if self.spanning_tree is None else self.spanning_tree.within(island)
        return replace(self, island=tuple(island), spanning_tree=spanning)

    def without_gravity(self) -> Tree:
        """The same tree where nothing falls."""
        return replace(self, gravity=Vector.zero())

    def per_body(self, first: Any = None) -> list[Any]:
        """A list with a place for each body; `first` is the world's."""
        return [first] + [None] * (len(self.parent) - 1)

    @property
    def gravity_field(self) -> Motion:
        """a_0 = -g: instead of pulling all bodies down, let the world accelerate upward."""
        return Motion(Vector.zero(), -self.gravity)
