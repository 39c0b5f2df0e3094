"""Regressor of inertial parameters: inverse dynamics is linear in masses, first moments and inertias (Atkeson, An and
Hollerbach, 1986).

In a body's own frame, with angular velocity ω, its rate α and the classical acceleration a' of the origin, the net
force is

    force = m a' + α × h + ω × (ω × h),   moment = h × a' + I α + ω × I ω,

so each of m, h and I has a column of its own; each joint that carries the body feels it along its axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.spatial import Force, Matrix, Motion, Symmetric, Vector

INERTIA = ("xx", "xy", "yy", "xz", "yz", "zz")


def regressor(tree: Tree, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any]) -> list[list[Any]]:
    """Y with τ = Y π, without armature and turning rotors; π of each body is m, h and I about its origin."""
    V, A = tree.per_body(Motion.zero()), tree.per_body(tree.gravity_field)
    J: list[dict[int, Motion]] = tree.per_body({})  # axes of all joints that carry a body, in its frame
    Y: list[list[Any]] = [[0] * (10 * (len(tree.parent) - 1)) for _ in range(tree.nv)]
    for i, parent, joint in tree.outward():
        X, S = joint.transform(q) @ tree.X_tree[i], joint.subspace(q)
        V_J = combine(S, v[joint.v])  # v_J = S q̇
        V[i] = X @ V[parent] + V_J
        A[i] = X @ A[parent] + combine(S, a[joint.v]) + joint.bias(q, v) + V[i].cross(V_J)
        J[i] = {k: X @ s for k, s in J[parent].items()}
        for k, s in zip(joint.dofs, S, strict=True):
            J[i][k] = J[i][k] + s if k in J[i] else s
        forces = body_regressor(V[i], A[i])
        for k, s in J[i].items():
            tree.mark()
            for n, f in enumerate(forces, start=10 * (i - 1)):
                Y[k][n] = s.dot(f)
    return Y


def body_regressor(V: Motion, A: Motion) -> list[Force]:
    """The net force of a body for each of its ten parameters: m, h, and the inertia about its origin."""
    omega, alpha = V.angular, A.angular
    classical = A.linear + omega.cross(V.linear)
    columns = [Force(Vector.zero(), classical)]
    for e in Matrix.identity():
        columns.append(Force(e.cross(classical), alpha.cross(e) + omega.cross(omega.cross(e))))
    for name in INERTIA:
        I = Symmetric.zero()._replace(**{name: 1})
        columns.append(Force(I @ alpha + omega.cross(I @ omega), Vector.zero()))
    return columns
