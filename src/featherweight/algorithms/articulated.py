"""Articulated-body inertia I^A: the inertia of a body with all it carries through free joints (RBDA, section 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.algorithms.aggregated import aggregated_bodies
from featherweight.algorithms.linear import Factored, combine, factor, is_zero
from featherweight.model import Tree, TreeJoint
from featherweight.spatial import ArticulatedInertia, Force, Motion, Transform


def joint_inertia(IA: ArticulatedInertia, S: Sequence[Motion], joint: TreeJoint) -> tuple[list[Force], Factored]:
    """U = I^A S and D = Sᵀ U + armature: the articulated inertia along the joint's axes."""
    U = [IA @ s for s in S]
    D = [[s.dot(U_k) for U_k in U] for s in S]
    for k, armature in enumerate(joint.armature):
        D[k][k] = D[k][k] + armature
    return U, factor(D, joint.held)


def parent_columns(X: Transform, U: Sequence[Force], joint: TreeJoint) -> list[Force]:
    """U in the parent's coordinates, with the rotor that spins there: Xᵀ U + spin."""
    columns = [X.back(u) for u in U]
    return columns if joint.spin is None else [columns[0] + joint.spin]


def handed_on(X: Transform, F: Force, U: Sequence[Force], y: Sequence[Any], joint: TreeJoint) -> Force:
    """χᵀ F = Xᵀ F - U_λ y: a force propagated through a free joint, which yields with y = D⁻¹ Sᵀ F."""
    if joint.spin is None:
        return X.back(F - combine(U, y))
    return X.back(F) - combine(parent_columns(X, U, joint), y)


@dataclass(frozen=True)
class ArticulatedTree:
    """The factorisation of M(q) that the articulated-body algorithm makes, by body: no velocities, no forces."""

    X: list[Transform]
    S: list[tuple[Motion, ...]]
    U: list[list[Force]]
    D: list[Factored]
    IA: list[ArticulatedInertia]
    X_own: list[Transform]  # X and S from the parent in the spanning tree; others than X and S on aggregated joints
    S_own: list[tuple[Motion, ...]]


def articulated_bodies(tree: Tree, q: Sequence[Any], *, pushed: bool = True) -> ArticulatedTree:
    """The inward pass of the articulated-body algorithm, for inertias alone.

    If forces will act at the joints alone, not on bodies, `pushed=False` leaves out what only bodies need.
    """
    if tree.spanning_tree is not None:
        return ArticulatedTree(*aggregated_bodies(tree, tree.spanning_tree, q, pushed))
    X, S, U, D = (tree.per_body() for _ in range(4))
    IA = [I.articulated for I in tree.I]
    for i, _, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)
    for i, parent, joint in tree.inward():
        U[i], D[i] = joint_inertia(IA[i], S[i], joint)
        if parent > 0:
            IA[parent] = IA[parent] + propagated_inertia(IA[i], X[i], S[i], U[i], D[i], joint)
    return ArticulatedTree(X, S, U, D, IA, X, S)


def inertia_through_joint(
    IA: ArticulatedInertia, S: Sequence[Motion], U: Sequence[Force], D: Factored, joint: TreeJoint
) -> ArticulatedInertia:
    """I^a = I^A - U D⁻¹ Uᵀ: a body's inertia as it acts through its free joint.

    I^a S = 0: along the joint nothing is left, unless D has armature or the joint is locked.
    """
    Ia = IA.minus_outer(D.right_divide(U), U)
    if joint.held is None and all(map(is_zero, joint.armature)):
        for s in S:
            Ia = Ia.without(s)
    return Ia


def propagated_inertia(
    IA: ArticulatedInertia,
    X: Transform,
    S: Sequence[Motion],
    U: Sequence[Force],
    D: Factored,
    joint: TreeJoint,
) -> ArticulatedInertia:
    """Xᵀ I^a X: the inertia through the joint, in the parent's coordinates, where the joint's rotor is."""
    if joint.spin is None:
        return inertia_through_joint(IA, S, U, D, joint).seen_through(X)
    U_parent = parent_columns(X, U, joint)
    return IA.seen_through(X).minus_outer(D.right_divide(U_parent), U_parent)
