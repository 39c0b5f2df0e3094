"""Forces of joints in a step, by the discrete d'Alembert principle: each gives its impulse in halves to both ends.

Damping d takes the impulse d δ. In halves it is of second order, and makes the velocity of a light joint change its sign when
h d is more than twice its inertia D; so at least 1 - D / (h d) of it acts at the beginning of the step, with D the inertia
of the joint's own body, which is what it feels at least. Dry friction f is damping f / |v|, all at the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from featherweight.algorithms.linear import is_zero
from featherweight.model import Tree, TreeJoint
from featherweight.model.tree import SLOW
from featherweight.scalar import maximum
from featherweight.spatial import RigidInertia


def braked(tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any) -> tuple[Tree, list[Any]]:
    """The tree with armatures a + h d₀, what a step feels at its beginning; and h d₁, what it feels at its end."""
    late: list[Any] = [0] * tree.nv
    joints = [tree.joints[0]]
    for i, _, joint in tree.outward():
        early = list(joint.armature)
        for n, k in enumerate(range(joint.v.start, joint.v.stop)):
            d, f = joint.damping[n], joint.friction[n]
            if not is_zero(d):
                first = maximum(0.5 * h * d, h * d - _own_inertia(tree.I[i], joint, q, n))
                early[n] = early[n] + first
                late[k] = late[k] + (h * d - first)
            if not is_zero(f):
                early[n] = early[n] + h * f / maximum(abs(v[k]), SLOW)
        joints.append(replace(joint, armature=tuple(early)))
    return replace(tree, joints=tuple(joints)), late


def _own_inertia(I: RigidInertia, joint: TreeJoint, q: Sequence[Any], n: int) -> Any:
    """Sᵀ I S of the joint's own body, and its motor."""
    s = joint.subspace(q)[n]
    return s.dot(I @ s) + joint.armature[n]


def springs(tree: Tree, q: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
    """τ and what the joints' springs add to it."""
    total = list(tau)
    for _, _, joint in tree.outward():
        for k, force in zip(range(joint.v.start, joint.v.stop), joint.spring_force(q), strict=True):
            total[k] = total[k] + force
    return total
