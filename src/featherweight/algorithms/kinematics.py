"""Forward kinematics: poses, velocities and accelerations of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.spatial import Motion, Transform


def forward_kinematics(tree: Tree, q: Sequence[Any]) -> list[Transform]:
    """X_0i for every body: from the world's coordinates to the body's."""
    X = tree.per_body(Transform.identity())
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i] @ X[parent]
    return X


def velocities(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> list[Motion]:
    """V_i = X V_λ + S q̇ for every body, in its frame."""
    V = tree.per_body(Motion.zero())
    for i, parent, joint in tree.outward():
        X = joint.transform(q) @ tree.X_tree[i]
        V[i] = X @ V[parent] + combine(joint.subspace(q), v[joint.v])
    return V


def body_motion(
    tree: Tree, body: int, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any]
) -> tuple[Transform, Motion, Motion]:
    """X_0b, velocity and acceleration of one body, in its frame; only its ancestors are visited."""
    X, V, A = Transform.identity(), Motion.zero(), Motion.zero()
    for i in reversed(tree.path(body)):
        joint = tree.joints[i]
        tree.mark()
        X_i = joint.transform(q) @ tree.X_tree[i]
        S = joint.subspace(q)
        V_J = combine(S, v[joint.v])  # v_J = S q̇
        X, V = X_i @ X, X_i @ V + V_J
        A = X_i @ A + combine(S, a[joint.v]) + joint.bias(q, v) + V.cross(V_J)
    return X, V, A
