"""Derivatives of forward dynamics, from those of inverse dynamics by the sparse factors of M (Carpentier and Mansard,
2018): where τ = ID(q, v, q̈), ∂q̈/∂q = -M⁻¹ ∂ID/∂q, ∂q̈/∂v = -M⁻¹ ∂ID/∂v and ∂q̈/∂τ = M⁻¹."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.inverse_dynamics_derivatives import force_derivatives
from featherweight.algorithms.root_frame import RootFrame, Rows
from featherweight.model import Tree
from featherweight.spatial import Force


def forward_dynamics_derivatives(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[tuple[Rows, Rows, Rows], list[Any]]:
    """∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ = M⁻¹, and the pivots of M."""
    x = RootFrame.of(tree, q, v)
    I_c, felt, M = x.composite(tree)
    factors = factorize(M, tree.mark)
    bias = x.bias(tree, v, f_ext)
    a = factors.solve([t - b for t, b in zip(tau, bias, strict=True)])
    dq, dv = force_derivatives(tree, x, q, v, a, f_ext, I_c, felt)
    inverse = factors.inverse(tree.mark)
    return (factors.minus_solved(dq, tree.mark), factors.minus_solved(dv, tree.mark), inverse), factors.d
