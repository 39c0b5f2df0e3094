"""Derivatives of forward dynamics, from those of inverse dynamics by the sparse factors of M (Carpentier and Mansard,
2018): where τ = ID(q, v, q̈), ∂q̈/∂q = -M⁻¹ ∂ID/∂q, ∂q̈/∂v = -M⁻¹ ∂ID/∂v and ∂q̈/∂τ = M⁻¹."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.inverse_dynamics_derivatives import force_derivatives
from featherweight.algorithms.linear import is_zero
from featherweight.algorithms.root_frame import RootFrame, Rows
from featherweight.model import Tree
from featherweight.spatial import Force, Motion


def forward_dynamics_derivatives(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[tuple[Rows, Rows, Rows], list[Any]]:
    """∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ = M⁻¹, and the pivots of M; f_ext stays as it is in the bodies' frames."""
    x = RootFrame.of(tree, q, v)
    I_c, felt, M = x.composite(tree)
    factors = factorize(M, tree.mark)
    bias = x.bias(tree, v, f_ext)
    tree.mark()
    a = factors.solve([t - b for t, b in zip(tau, bias, strict=True)])
    dq, dv = force_derivatives(tree, x, q, v, a, f_ext, I_c, felt)
    along_q, along_v = _of_floating_bases(tree, x)
    inverse = factors.inverse(tree.mark)
    return (
        _with_columns(factors.minus_solved(_without_columns(dq, along_q), tree.mark), along_q),
        _with_columns(factors.minus_solved(_without_columns(dv, along_v), tree.mark), along_v),
        inverse,
    ), factors.d


Columns = dict[int, dict[int, Any]]  # column: {row: entry}


def _of_floating_bases(tree: Tree, x: RootFrame) -> tuple[Columns, Columns]:
    """Columns of ∂q̈/∂q and ∂q̈/∂v that need no solution: moving a floating robot changes where it is pulled to, a
    steady velocity of all of it nothing but the spatial acceleration ω × v. No joint notices."""
    along_q: Columns = {}
    along_v: Columns = {}
    for i, _, joint in tree.outward():
        if tree.floats(i) and all(is_zero(armature) for armature in joint.armature):
            for k, s in zip(joint.dofs, x.S[i], strict=True):
                along_q[k] = _minus_along(joint.dofs, x.S[i], x.field[i].cross(s))
                if all(is_zero(entry) for entry in s.angular):
                    along_v[k] = _minus_along(joint.dofs, x.S[i], x.V[i].cross(s))
    return along_q, along_v


def _minus_along(dofs: Sequence[int], S: Sequence[Motion], m: Motion) -> dict[int, Any]:
    """-m in coordinates of a floating joint, whose axes S are the unit twists."""
    return {k: -(s.angular.dot(m.angular) + s.linear.dot(m.linear)) for k, s in zip(dofs, S, strict=True)}


def _without_columns(rows: Rows, columns: Columns) -> Rows:
    return [[0 if c in columns else entry for c, entry in enumerate(row)] for row in rows]


def _with_columns(rows: Rows, columns: Columns) -> Rows:
    for c, column in columns.items():
        for r, row in enumerate(rows):
            row[c] = column.get(r, 0)
    return rows
