"""Forces of passive joints: damping, dry friction, springs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import is_zero
from featherweight.model import Tree
from featherweight.scalar import sign


def passive_force(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """τ = -d v - f sgn v - ∂U/∂q, with U = ½ κ |q ⊖ rest|², for each degree of freedom."""
    tau: list[Any] = [0] * tree.nv
    for _, _, joint in tree.outward():
        rows = range(joint.v.start, joint.v.stop)
        for k, d, f, spring in zip(rows, joint.damping, joint.friction, joint.spring_force(q), strict=True):
            tau[k] = tau[k] - d * v[k] + spring
            if not is_zero(f):
                tau[k] = tau[k] - f * sign(v[k])
    return tau
