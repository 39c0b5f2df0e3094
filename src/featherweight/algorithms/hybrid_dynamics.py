"""Hybrid dynamics: each joint has either its force or its acceleration given (RBDA, section 9.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featherweight.algorithms.articulated import (
    inertia_through_joint,
    joint_inertia,
    parent_columns,
    propagated_inertia,
)
from featherweight.algorithms.linear import Factored, combine
from featherweight.model import Tree
from featherweight.scalar import where
from featherweight.spatial import Force, Motion


def hybrid_dynamics(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], a: Sequence[Any], prescribed: Mapping[int, Any],
    f_ext: Sequence[Force] | None,
) -> tuple[list[Any], list[Any], list[Factored]]:  # fmt: skip
    """All forces and all accelerations; the joints of the bodies `prescribed` move as `a` says, the others as `tau`.

    `prescribed` has a condition for each of its bodies: True, or one that depends on the state. With all prescribed
    this is the recursive Newton-Euler algorithm, with none the articulated-body algorithm.
    """
    tree = tree.held(prescribed)
    X, S, V, c, pA, U, D, u, A = (tree.per_body() for _ in range(9))
    IA = [I.articulated for I in tree.I]
    V[0], A[0], pA[0] = Motion.zero(), tree.gravity_field, Force.zero()

    def answer(i: int, force: Sequence[Any]) -> list[Any]:
        """D⁻¹ f, or the prescribed acceleration."""
        both = zip(tree.joints[i].dofs, D[i].solve(force), strict=True)
        return [where(prescribed.get(i, False), a[k], x) for k, x in both]

    # outward: velocities and bias terms
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)
        V_J = combine(S[i], v[joint.v])
        V[i] = X[i] @ V[parent] + V_J
        c[i] = joint.bias(q, v) + V[i].cross(V_J)
        bias = tree.I[i].bias_force(V[i])
        pA[i] = bias if f_ext is None else bias - f_ext[i]

    # inward: a prescribed joint propagates all of the inertia (its D⁻¹ is zero), a free one I^A - U D⁻¹ Uᵀ
    for i, parent, joint in tree.inward():
        U[i], D[i] = joint_inertia(IA[i], S[i], joint)
        u[i] = [tau_k - s.dot(pA[i]) for tau_k, s in zip(tau[joint.v], S[i], strict=True)]
        if parent == 0:
            continue
        if joint.spin is None:
            Ia = inertia_through_joint(IA[i], S[i], U[i], D[i], joint)
            pa = pA[i] + Ia @ c[i] + combine(U[i], answer(i, u[i]))
            IA[parent] = IA[parent] + Ia.seen_through(X[i])
            pA[parent] = pA[parent] + X[i].back(pa)
        else:  # the same in the parent's frame, where the rotor is
            own = answer(i, [u_k - c[i].dot(U_k) for u_k, U_k in zip(u[i], U[i], strict=True)])
            gyroscopic = V[parent].cross_force(joint.spin * v[joint.v.start])
            pa = X[i].back(pA[i] + IA[i] @ c[i]) + combine(parent_columns(X[i], U[i], joint), own)
            IA[parent] = IA[parent] + propagated_inertia(IA[i], X[i], S[i], U[i], D[i], joint)
            pA[parent] = pA[parent] + pa + gyroscopic

    # outward: accelerations, and the forces at prescribed joints
    accelerations, forces = list(a), list(tau)
    for i, parent, joint in tree.outward():
        A_free = X[i] @ A[parent] + c[i]
        rest = [u_k - A_free.dot(U_k) for u_k, U_k in zip(u[i], U[i], strict=True)]
        if joint.spin is not None:
            rest[0] = rest[0] - A[parent].dot(joint.spin)
        accelerations[joint.v] = own = answer(i, rest)
        A[i] = A_free + combine(S[i], own)
        if i in prescribed:
            for d, more in zip(joint.dofs, _force(D[i], [a[k] for k in joint.dofs], rest), strict=True):
                forces[d] = tau[d] + where(prescribed[i], more, 0)
    return forces, accelerations, [D[i] for i in range(1, len(D)) if prescribed.get(i) is not True]


def _force(D: Factored, a: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
    """D a - rest: what a joint's motor has to add for these accelerations."""
    forces = []
    for k, own in enumerate(rest):
        force = -own
        for j, a_j in enumerate(a):
            force = force + D.between(k, j) * a_j
        forces.append(force)
    return forces
