"""Hybrid dynamics: each joint has either its force or its acceleration given (RBDA, section 9.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from featherweight.algorithms.articulated import felt_by_parent, joint_inertia, parent_columns
from featherweight.algorithms.linear import Factored, combine
from featherweight.model import Tree
from featherweight.spatial import Force, Motion


def hybrid_dynamics(
    tree: Tree,
    q: Sequence[Any],
    v: Sequence[Any],
    tau: Sequence[Any],
    a: Sequence[Any],
    prescribed: Collection[int],
    f_ext: Sequence[Force] | None,
) -> tuple[list[Any], list[Any], list[Factored]]:
    """All forces and all accelerations; the joints of the bodies `prescribed` move as `a` says, the others as `tau`.

    With all prescribed this is the recursive Newton-Euler algorithm, with none the articulated-body algorithm.
    """
    X, S, V, c, pA, U, u, A = (tree.per_body() for _ in range(8))
    D: list[Factored] = tree.per_body()
    IA = [I.articulated for I in tree.I]
    V[0], A[0], pA[0] = Motion.zero(), tree.gravity_field, Force.zero()

    # outward: velocities and bias terms; a prescribed acceleration is one more bias
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)
        V_J = combine(S[i], v[joint.v])
        V[i] = X[i] @ V[parent] + V_J
        c[i] = joint.bias(q, v) + V[i].cross(V_J)
        if i in prescribed:
            c[i] = c[i] + combine(S[i], a[joint.v])
        pA[i] = tree.I[i].bias_force(V[i])
        if f_ext is not None:
            pA[i] = pA[i] - f_ext[i]

    # inward: a prescribed joint hands on all of the inertia, a free one what is left of it
    for i, parent, joint in tree.inward():
        carried = X[i].back(pA[i] + IA[i] @ c[i])
        if joint.spin is not None:
            carried = carried + V[parent].cross_force(joint.spin * v[joint.v.start])
        if i in prescribed:
            if joint.spin is not None:
                carried = carried + joint.spin * a[joint.v.start]
            if parent > 0:
                IA[parent] = IA[parent] + IA[i].seen_through(X[i])
        else:
            U[i], D[i] = joint_inertia(IA[i], S[i], joint)
            u[i] = [t - s.dot(pA[i]) - c[i].dot(U_k) for t, s, U_k in zip(tau[joint.v], S[i], U[i], strict=True)]
            carried = carried + combine(parent_columns(X[i], U[i], joint), D[i].solve(u[i]))
            if parent > 0:
                IA[parent] = IA[parent] + felt_by_parent(IA[i], X[i], S[i], U[i], D[i], joint)
        pA[parent] = pA[parent] + carried

    # outward: the accelerations that are not given, then the forces that are not
    a, tau = list(a), list(tau)
    for i, parent, joint in tree.outward():
        A[i] = X[i] @ A[parent] + c[i]
        if i in prescribed:
            f = IA[i] @ A[i] + pA[i]
            for k, s, armature in zip(range(joint.v.start, joint.v.stop), S[i], joint.armature, strict=True):
                tau[k] = s.dot(f) + armature * a[k]
            if joint.spin is not None:
                tau[joint.v.start] = tau[joint.v.start] + A[parent].dot(joint.spin)
        else:
            felt = parent_columns(X[i], U[i], joint)
            a[joint.v] = D[i].solve([u_k - A[parent].dot(U_k) for u_k, U_k in zip(u[i], felt, strict=True)])
            A[i] = A[i] + combine(S[i], a[joint.v])
    return tau, a, [factored for factored in D[1:] if factored is not None]
