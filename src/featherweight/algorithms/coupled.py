"""Robots whose joints share coordinates (mimic joints): dynamics through the mass matrix.

The followers' motion is linear in the leaders', so inverse dynamics and mass matrix add up in shared coordinates by
themselves; free articulated bodies would not know of the coupling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.inverse_dynamics import inverse_dynamics
from featherweight.algorithms.mass_matrix import mass_matrix
from featherweight.model import Tree
from featherweight.spatial import Force


def coupled_forward_dynamics(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[list[Any], list[Any]]:
    """q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext), and the pivots of M."""
    bias, _ = inverse_dynamics(tree, q, v, [0] * tree.nv, f_ext)
    factors = factorize(mass_matrix(tree, q))
    return factors.solve([t - b for t, b in zip(tau, bias, strict=True)]), factors.d
