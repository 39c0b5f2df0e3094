"""The exact Newton step in linear time: an articulated-body recursion with inertias that are not symmetric.

A change ξ of a body's pose at the end of the step changes its momentum at the beginning by K ξ. Forces are carried by
the transforms at the beginning, X, changes by those at the end, X⁺; so what an articulated body feels,

    Π = K + Σ Xᵀ (Π - Π S⁺ d⁻¹ Sᵀ Π) X⁺ over the children,    d = Sᵀ Π S⁺,

has columns Π S⁺ and rows Sᵀ Π that differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import combine, is_zero
from featherweight.integrators.variational.drnea import Place, Trial
from featherweight.model import Tree, TreeJoint
from featherweight.scalar import reciprocal
from featherweight.spatial import Force, Motion


def newton_step(place: Place, q_after: Sequence[Any], trial: Trial) -> list[Any]:
    """(∂e/∂q⁺)⁻¹ e, a velocity at q⁺."""
    if place.tree.coupled:
        return _coupled_newton_step(place, q_after, trial)
    tree = place.tree
    D, u, p, columns, rows = (tree.per_body() for _ in range(5))
    X, S, Pi = _after(tree, q_after, trial)

    # inward: each body with all it carries
    for i, parent, joint in tree.inward():
        own = Force.zero() if p[i] is None else p[i]
        U = [Pi[i] @ s for s in S[i]]  # Π S⁺
        W = [Pi[i].row(s) for s in place.S[i]]  # Sᵀ Π
        D[i] = _factor(_own(place.S[i], U, joint, trial))
        u[i] = [x - s.dot(own) for x, s in zip(trial.e[joint.v], place.S[i], strict=True)]
        columns[i], rows[i] = [place.X[i].back(c) for c in U], [X[i].back(w) for w in W]
        if joint.spin is not None and parent > 0:  # a rotor on the parent
            at_start, at_end = trial.log[parent].momenta(joint.spin)
            columns[i], rows[i] = [columns[i][0] + at_start], [rows[i][0] + at_end]
        if parent > 0:
            divided = _right_divide(columns[i], D[i])
            felt = Pi[i].seen_through(place.X[i], X[i]).minus_outer(divided, rows[i])
            Pi[parent] = Pi[parent] + felt
            carried = place.X[i].back(own) + combine(divided, u[i])
            p[parent] = carried if p[parent] is None else p[parent] + carried

    # outward: the change of each joint
    change: list[Any] = [0] * tree.nv
    xi = tree.per_body(Motion.zero())
    for i, parent, joint in tree.outward():
        rest = [x - xi[parent].dot(row) for x, row in zip(u[i], rows[i], strict=True)]
        change[joint.v] = _solve(D[i], rest)
        xi[i] = X[i] @ xi[parent] + combine(S[i], change[joint.v])
    return change


def _coupled_newton_step(place: Place, q_after: Sequence[Any], trial: Trial) -> list[Any]:
    """The same where joints share coordinates: ∂e/∂q⁺ as a matrix, which adds up in them by itself, and its factors.

    As for the mass matrix, each body with all it carries is one, Π = K + Σ Xᵀ Π X⁺. Columns Π S⁺ are carried to the
    root by X, rows Sᵀ Π by X⁺.
    """
    tree = place.tree
    X, S, Pi = _after(tree, q_after, trial)
    A: list[list[Any]] = [[0] * tree.nv for _ in range(tree.nv)]
    for i, parent, joint in tree.inward():
        if parent > 0:
            Pi[parent] = Pi[parent] + Pi[i].seen_through(place.X[i], X[i])
        columns, rows = [Pi[i] @ s for s in S[i]], [Pi[i].row(s) for s in place.S[i]]
        for r, entries in zip(joint.dofs, _own(place.S[i], columns, joint, trial), strict=True):
            for c, x in zip(joint.dofs, entries, strict=True):
                A[r][c] = A[r][c] + x
        for j, above in tree.rootward(i):
            columns, rows = [place.X[j].back(U) for U in columns], [X[j].back(W) for W in rows]
            if j == i and joint.spin is not None:
                at_start, at_end = trial.log[parent].momenta(joint.spin)
                columns[0], rows[0] = columns[0] + at_start, rows[0] + at_end
            for k, U, W in zip(joint.dofs, columns, rows, strict=True):
                for d, s, s_after in zip(tree.joints[above].dofs, place.S[above], S[above], strict=True):
                    A[d][k] = A[d][k] + s.dot(U)
                    A[k][d] = A[k][d] + s_after.dot(W)

    # from the tips to the root, so that branches stay apart
    order = list(reversed(range(tree.nv)))
    factors = _factor([[A[r][c] for c in order] for r in order])
    return _solve(factors, [trial.e[d] for d in order])[::-1]


def _after(tree: Tree, q_after: Sequence[Any], trial: Trial) -> tuple[list[Any], list[Any], list[Any]]:
    """X and S where the step ends, and what each body feels of a change there."""
    X, S, K = (tree.per_body() for _ in range(3))
    for i, _, joint in tree.outward():
        X[i] = joint.transform(q_after) @ tree.X_tree[i]
        S[i] = joint.subspace(q_after)
        K[i] = trial.log[i].change(tree.I[i], trial.P[i])
    return X, S, K


def _own(S: Sequence[Motion], U: Sequence[Force], joint: TreeJoint, trial: Trial) -> list[list[Any]]:
    """d = Sᵀ Π S⁺ of a joint, with its motor: a ∂δ/∂q⁺."""
    d = [[s.dot(column) for column in U] for s in S]
    for n, armature in enumerate(joint.armature):
        if not is_zero(armature):
            for k, unit in enumerate(_units(len(S))):
                d[n][k] = d[n][k] + armature * joint.kind.rate(trial.delta[joint.v], unit)[n]
    return d


def _units(n: int) -> list[list[int]]:
    return [[int(j == k) for j in range(n)] for k in range(n)]


# ---- small systems that are not symmetric: d = L U, U with a unit diagonal; the pivots as reciprocals

Factors = list[list[Any]]


def _factor(d: Sequence[Sequence[Any]]) -> Factors:
    """L below and on the diagonal (reciprocals there), U above it. The symmetric part is positive: no pivoting."""
    n = len(d)
    f = [list(row) for row in d]
    for j in range(n):
        f[j][j] = reciprocal(f[j][j])
        for k in range(j + 1, n):
            f[j][k] = f[j][k] * f[j][j]
        for i in range(j + 1, n):
            for k in range(j + 1, n):
                f[i][k] = f[i][k] - f[i][j] * f[j][k]
    return f


def _solve(f: Factors, b: Sequence[Any]) -> list[Any]:
    """d⁻¹ b."""
    x = list(b)
    for i in range(len(x)):
        for j in range(i):
            x[i] = x[i] - f[i][j] * x[j]
        x[i] = x[i] * f[i][i]
    for i in reversed(range(len(x))):
        for j in range(i + 1, len(x)):
            x[i] = x[i] - f[i][j] * x[j]
    return x


def _right_divide(columns: Sequence[Force], f: Factors) -> list[Force]:
    """U d⁻¹: columns x with Σ x_j d_jk = u_k."""
    n = len(columns)
    x = list(columns)
    for k in range(n):  # x U = u
        for j in range(k):
            x[k] = x[k] - x[j] * f[j][k]
    for k in reversed(range(n)):  # x L
        for j in range(k + 1, n):
            x[k] = x[k] - x[j] * f[j][k]
        x[k] = x[k] * f[k][k]
    return x
