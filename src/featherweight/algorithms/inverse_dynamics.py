"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA, table 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.spatial import Force, Motion


def inverse_dynamics(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[list[Any], list[Force]]:
    """τ = M(q) a + c(q, v) - Σ Jᵀ f_ext, and the whole force through every joint; F[0] is what the world exerts."""
    X, S, V, A, F = (tree.per_body() for _ in range(5))
    V[0], A[0], F[0] = Motion.zero(), tree.gravity_field, Force.zero()

    # outward: velocity, acceleration and net force of each body
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)
        V_J = combine(S[i], v[joint.v])  # v_J = S q̇
        V[i] = X[i] @ V[parent] + V_J
        c = joint.bias(q, v) + V[i].cross(V_J)
        A[i] = X[i] @ A[parent] + combine(S[i], a[joint.v]) + c
        F[i] = tree.I[i] @ A[i] + tree.I[i].bias_force(V[i])  # I a + v ×* I v
        if f_ext is not None:
            F[i] = F[i] - f_ext[i]

    # inward: project on the joint, hand the whole force to the parent
    tau: list[Any] = [0] * tree.nv
    for i, parent, joint in tree.inward():
        for k, s, armature in zip(range(joint.v.start, joint.v.stop), S[i], joint.armature, strict=True):
            tau[k] = tau[k] + s.dot(F[i]) + armature * a[k]  # τ = Sᵀ f
        F[parent] = F[parent] + X[i].back(F[i])
        if joint.spin is not None:  # the rotor's momentum h = spin q̇ turns with the parent
            k = joint.v.start
            tau[k] = tau[k] + A[parent].dot(joint.spin)
            F[parent] = F[parent] + joint.spin * a[k] + V[parent].cross_force(joint.spin * v[k])
    return tau, F
