"""Energy: kinetic with motors, potential of gravity and of the joints' springs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.kinematics import forward_kinematics
from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.spatial import Motion


def kinetic_energy(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> Any:
    """T = ½ Σ Vᵀ I V, with armature and rotors: ½ vᵀ M v."""
    V = tree.per_body(Motion.zero())
    twice: Any = 0
    for i, parent, joint in tree.outward():
        V[i] = joint.transform(q) @ tree.X_tree[i] @ V[parent] + combine(joint.subspace(q), v[joint.v])
        twice = twice + V[i].dot(tree.I[i] @ V[i])
        for rate, armature in zip(v[joint.v], joint.armature, strict=True):
            twice = twice + armature * rate * rate
        if joint.spin is not None:
            twice = twice + 2 * V[parent].dot(joint.spin * v[joint.v.start])
    return twice * 0.5


def potential_energy(tree: Tree, q: Sequence[Any]) -> Any:
    """U = -Σ m g·c + ½ Σ κ |q ⊖ rest|²."""
    X = forward_kinematics(tree, q)
    energy: Any = 0
    for i, _, joint in tree.outward():
        moment = X[i].E.transposed_times(tree.I[i].h) + X[i].r * tree.I[i].m  # m c in the world
        energy = energy - tree.gravity.dot(moment)
        for stretch, stiffness in zip(joint.stretch(q), joint.stiffness, strict=True):
            energy = energy + stiffness * stretch * stretch * 0.5
    return energy
