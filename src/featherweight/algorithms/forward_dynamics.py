"""Forward dynamics: the articulated-body algorithm (RBDA, table 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.articulated import (
    inertia_through_joint,
    joint_inertia,
    parent_columns,
    propagated_inertia,
)
from featherweight.algorithms.linear import Factored, combine
from featherweight.model import Tree
from featherweight.spatial import Force, Motion


def forward_dynamics(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[list[Any], list[Factored]]:
    """q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext), without forming M; and the articulated inertia D of every joint."""
    X, S, V, c, pA, U, u, A = (tree.per_body() for _ in range(8))
    D: list[Factored] = tree.per_body()
    IA = [I.articulated for I in tree.I]
    V[0], A[0], pA[0] = Motion.zero(), tree.gravity_field, Force.zero()

    # outward: velocities and bias terms
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)
        V_J = combine(S[i], v[joint.v])  # v_J = S q̇
        V[i] = X[i] @ V[parent] + V_J
        c[i] = joint.bias(q, v) + V[i].cross(V_J)
        pA[i] = tree.I[i].bias_force(V[i])  # v ×* I v
        if f_ext is not None:
            pA[i] = pA[i] - f_ext[i]

    # inward: articulated inertia and bias force of each body with all it carries
    for i, parent, joint in tree.inward():
        U[i], D[i] = joint_inertia(IA[i], S[i], joint)  # U = I^A S, D = Sᵀ U
        u[i] = [tau_k - s.dot(pA[i]) for tau_k, s in zip(tau[joint.v], S[i], strict=True)]  # u = τ - Sᵀ p^A
        if parent == 0:
            continue
        if joint.spin is None:
            Ia = inertia_through_joint(IA[i], S[i], U[i], D[i], joint)  # I^a = I^A - U D⁻¹ Uᵀ
            pa = pA[i] + Ia @ c[i] + combine(U[i], D[i].solve(u[i]))  # p^a = p^A + I^a c + U D⁻¹ u
            IA[parent] = IA[parent] + Ia.seen_through(X[i])
            pA[parent] = pA[parent] + X[i].back(pa)
        else:  # the same in the parent's frame, where the rotor is
            free = D[i].solve([u_k - c[i].dot(U_k) for u_k, U_k in zip(u[i], U[i], strict=True)])
            gyroscopic = V[parent].cross_force(joint.spin * v[joint.v.start])
            pa = X[i].back(pA[i] + IA[i] @ c[i]) + combine(parent_columns(X[i], U[i], joint), free)
            IA[parent] = IA[parent] + propagated_inertia(IA[i], X[i], S[i], U[i], D[i], joint)
            pA[parent] = pA[parent] + pa + gyroscopic

    # outward: accelerations
    a: list[Any] = [0] * tree.nv
    for i, parent, joint in tree.outward():
        A_free = X[i] @ A[parent] + c[i]  # a' = X a_λ + c
        rest = [u_k - A_free.dot(U_k) for u_k, U_k in zip(u[i], U[i], strict=True)]
        if joint.spin is not None:
            rest[0] = rest[0] - A[parent].dot(joint.spin)
        a[joint.v] = D[i].solve(rest)
        A[i] = A_free + combine(S[i], a[joint.v])
    return a, D
