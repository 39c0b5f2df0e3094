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

from featherweight.algorithms.linear import is_zero
from featherweight.integrators.variational.drnea import Trial
from featherweight.model import Tree, TreeJoint
from featherweight.model.tree import SLOW
from featherweight.scalar import maximum, where
from featherweight.spatial import RigidInertia


@dataclass(frozen=True)
class Braked:
    """A tree as both ends of a step feel it: what brakes with δ or with v⁺ is armature there."""

    begin: Tree
    end: Tree
    late: list[Any]  # h d₁: what damping takes at the end is h d₁ δ
    alike: bool  # both ends feel the same: nothing brakes

    @staticmethod
    def of(tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any) -> Braked:
        late: list[Any] = [0] * tree.nv
        begin, end = [tree.joints[0]], [tree.joints[0]]
        for i, _, joint in tree.outward():
            first, last = list(joint.armature), list(joint.armature)
            for n, k in enumerate(range(joint.v.start, joint.v.stop)):
                d, f = joint.damping[n], joint.friction[n]
                if not is_zero(d):
                    early = maximum(0.5 * h * d, h * d - _own_inertia(tree.I[i], joint, q, n))
                    first[n], late[k] = first[n] + early, late[k] + (h * d - early)
                if not is_zero(f):
                    half = 0.5 * h * f / maximum(abs(v[k]), SLOW)
                    first[n], last[n] = first[n] + half, last[n] + half
            begin.append(replace(joint, armature=tuple(first)))
            end.append(replace(joint, armature=tuple(last)))
        alike = all(is_zero(x) for joint in tree.joints for x in (*joint.damping, *joint.friction))
        return Braked(replace(tree, joints=tuple(begin)), replace(tree, joints=tuple(end)), late, alike)

    def corrected(self, trial: Trial, delta: Sequence[Any]) -> Trial:
        """The trial, had it been this δ: of e, what motors and brakes at the beginning have to do with the difference
        is gone, the rest is in the momenta. Where there is no difference, damping takes e until the step ends."""
        e = list(trial.e)
        for _, _, joint in self.begin.inward():
            for k, braking in zip(joint.dofs, joint.armature, strict=True):
                difference = trial.delta[k] - delta[k]
                e[k] = e[k] - braking * difference
                if not is_zero(self.late[k]):
                    e[k] = where(difference == 0, 0.0, e[k])
        return replace(trial, delta=list(delta), e=e)


def _own_inertia(I: RigidInertia, joint: TreeJoint, q: Sequence[Any], n: int) -> Any:
    """Sᵀ I S of the joint's own body, and its motor."""
    s = joint.subspace(q)[n]
    return s.dot(I @ s) + joint.armature[n]


def with_springs(tree: Tree, q: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
    """τ and what the joints' springs add to it."""
    total = list(tau)
    for _, _, joint in tree.outward():
        for k, force in zip(range(joint.v.start, joint.v.stop), joint.spring_force(q), strict=True):
            total[k] = total[k] + force
    return total
