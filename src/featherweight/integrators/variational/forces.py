"""Forces of joints in a step, by the discrete d'Alembert principle: each gives its impulse in halves to both ends.

Damping d takes the impulse d δ. In halves it is of second order, and turns a light joint back when h d is more than
twice its inertia D; so at least 1 - D / (h d) of it acts at the beginning of the step, with D the inertia of the
joint's own body, which is what the joint feels at least (with its ancestors held). Dry friction f is damping f / |v|;
to hold a joint against a load, its two halves act with δ / h, and with the velocity at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.algorithms.linear import is_zero
from featherweight.integrators.integrator import External
from featherweight.model import Tree, TreeJoint
from featherweight.model.damping import SLOW
from featherweight.scalar import maximum
from featherweight.spatial import Force, RigidInertia


@dataclass(frozen=True)
class Braked:
    """A tree as both ends of a step feel it: what brakes with δ or with v⁺ is armature there. And how much that is of
    each coordinate: impulses `early` δ at the beginning, `late` δ at the end, and `last` h v⁺ there."""

    begin: Tree
    end: Tree
    early: list[Any]
    late: list[Any]
    last: list[Any]

    @staticmethod
    def of(tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any) -> Braked:
        early: list[Any] = [0] * tree.nv
        late, last = list(early), list(early)
        begin, end = [tree.joints[0]], [tree.joints[0]]
        for i, _, joint in tree.outward():
            first, then = list(joint.armature), list(joint.armature)
            for n, k in enumerate(joint.dofs):
                d, f = joint.damping[n], joint.friction[n]
                if not is_zero(d):
                    most = maximum(0.5 * h * d, h * d - _own_inertia(tree.I[i], joint, q, n))
                    first[n], early[k], late[k] = first[n] + most, early[k] + most, late[k] + (h * d - most)
                if not is_zero(f):
                    half = 0.5 * h * f / maximum(abs(v[k]), SLOW)
                    first[n], early[k] = first[n] + half, early[k] + half
                    then[n], last[k] = then[n] + half, last[k] + half
            begin.append(replace(joint, armature=tuple(first)))
            end.append(replace(joint, armature=tuple(then)))
        return Braked(replace(tree, joints=tuple(begin)), replace(tree, joints=tuple(end)), early, late, last)

    def rubbed(self, p: dict[int, Any], v: Sequence[Any], h: Any) -> dict[int, Any]:
        """What is left of momenta, by degree of freedom, when friction at the end has acted with v⁺."""
        return {k: x if is_zero(self.last[k]) else x - self.last[k] * (h * v[k]) for k, x in p.items()}

    @property
    def alike(self) -> bool:
        """Both ends feel the same: nothing brakes."""
        return all(map(is_zero, (*self.early, *self.late, *self.last)))


def _own_inertia(I: RigidInertia, joint: TreeJoint, q: Sequence[Any], n: int) -> Any:
    """Sᵀ I S of the joint's own body, and its motor."""
    s = joint.subspace(q)[n]
    return s.dot(I @ s) + joint.armature[n]


@dataclass(frozen=True)
class Acting:
    """What acts on a robot in a step: motors, springs, and forces on its bodies."""

    tree: Tree
    v: Sequence[Any]
    tau: Sequence[Any]
    h: Any
    external: External | None

    def on_joints(self, along: Tree, q: Sequence[Any]) -> list[Any]:
        """By motors and springs at q, in a pass of this tree."""
        total = list(self.tau)
        for _, _, joint in along.outward():
            for k, force in zip(joint.dofs, joint.spring_force(q), strict=True):
                total[k] = total[k] + force
        return total

    def on_bodies(self, q: Sequence[Any], v: Sequence[Any]) -> list[Force] | None:
        """In their frames."""
        return None if self.external is None else self.external(q, v)

    def at_end(self, along: Tree, q_after: Sequence[Any], delta: Sequence[Any]) -> list[Any]:
        """All of them as the joints feel them where the step δ ends."""
        forces = self.on_joints(along, q_after)
        if self.external is None:
            return forces
        ahead = [2 * d / self.h - x for d, x in zip(delta, self.v, strict=True)]  # v⁺ to second order
        own, rest = replace(self.tree, weave=along.weave).without_gravity(), [0] * self.tree.nv
        felt, _ = algorithms.inverse_dynamics(own, q_after, rest, rest, self.external(q_after, ahead))  # -Σ Jᵀ f
        return [f - x for f, x in zip(forces, felt, strict=True)]
