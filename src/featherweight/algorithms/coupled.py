"""Robots whose joints share coordinates (mimic joints).

The followers' motion is linear in the leaders', so inverse dynamics, mass matrix and Jacobians add up in shared
coordinates by themselves. Articulated bodies do not; there, joints that share coordinates are taken as one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from featherweight.algorithms.articulated import articulated_bodies
from featherweight.algorithms.contact_inertia import by_body, joint_answers, response
from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.inverse_dynamics import inverse_dynamics
from featherweight.algorithms.mass_matrix import mass_matrix
from featherweight.model import Tree, joined
from featherweight.spatial import Force


def coupled_forward_dynamics(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[list[Any], list[Any]]:
    """q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext) without forming M, and the pivots of the inertias felt at the joints."""
    bias, _ = inverse_dynamics(tree, q, v, [0] * tree.nv, f_ext)
    tree = joined(tree)
    bodies = articulated_bodies(tree, q, pushed=False)
    y = joint_answers(tree, bodies, [t - b for t, b in zip(tau, bias, strict=True)])
    pivots = [pivot for on_joint in tree.bodies_on().values() for pivot in bodies.D[on_joint[0]].d]
    return response(tree, bodies, by_body(tree, y)), pivots


def coupled_hybrid_dynamics(
    tree: Tree,
    q: Sequence[Any],
    v: Sequence[Any],
    tau: Sequence[Any],
    a: Sequence[Any],
    prescribed: Collection[int],
    f_ext: Sequence[Force] | None,
) -> tuple[list[Any], list[Any], list[Any]]:
    """All forces and all accelerations, where the joints of the bodies `prescribed` move as `a` says; pivots.

    With f for free and p for prescribed coordinates, M_ff a_f = τ_f - c_f - M_fp a_p. To prescribe a joint prescribes
    the coordinate that it shares. M is formed: for n coordinates at most d deep that costs n d, and n d² to factor it.
    """
    given = {d for i in prescribed for d in tree.joints[i].dofs}
    free = [d for d in range(tree.nv) if d not in given]
    a = [a[d] if d in given else 0 for d in range(tree.nv)]
    held, _ = inverse_dynamics(tree, q, v, a, f_ext)  # τ if nothing else accelerates
    M = mass_matrix(tree, q)
    factors = factorize([[M[r][c] for c in free] for r in free])
    for d, x in zip(free, factors.solve([tau[d] - held[d] for d in free]), strict=True):
        a[d] = x
    forces = list(tau)
    for r in given:
        forces[r] = held[r]
        for c in free:
            forces[r] = forces[r] + M[r][c] * a[c]
    return forces, a, factors.d
