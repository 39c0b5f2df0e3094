"""Robots whose joints share coordinates (mimic joints).

The motion of mimic joints is linear in that of their leaders, so inverse dynamics, mass matrix and Jacobians are plain
sums over shared coordinates. Articulated inertias are not: they need aggregated joints (`model.aggregated`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featherweight.algorithms.articulated import articulated_bodies
from featherweight.algorithms.contact_inertia import (
    answers_and_forces,
    by_body,
    joint_answers,
    response,
    response_and_drag,
)
from featherweight.algorithms.inverse_dynamics import inverse_dynamics
from featherweight.model import Tree, aggregated
from featherweight.scalar import where
from featherweight.spatial import Force


def coupled_forward_dynamics(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[list[Any], list[Any]]:
    """q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext) without forming M, and the pivots of the joints' inertias D."""
    bias, _ = inverse_dynamics(tree, q, v, [0] * tree.nv, f_ext)
    tree = aggregated(tree)
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
    prescribed: Mapping[int, Any],
    f_ext: Sequence[Force] | None,
) -> tuple[list[Any], list[Any], list[Any]]:
    """All forces and all accelerations, where the joints of the bodies `prescribed` move as `a` says; pivots.

    With ã the prescribed accelerations, zero elsewhere, a = ã + Δ: the other joints yield with Δ to the remaining
    forces τ - M ã - c. To prescribe a mimic joint prescribes the coordinate that it shares.
    """
    given: dict[int, Any] = {}
    for i, condition in prescribed.items():
        for d in tree.joints[i].dofs:
            given[d] = given.get(d, False) | condition
    leaders = {i: given[joint.v.start] for i, joint in enumerate(tree.joints) if i and joint.v.start in given}
    first = [where(given[d], a[d], 0) if d in given else 0 for d in range(tree.nv)]
    held, _ = inverse_dynamics(tree, q, v, first, f_ext)  # τ = M ã + c
    whole = aggregated(tree.held(leaders))
    bodies = articulated_bodies(whole, q, pushed=False)
    y, t = answers_and_forces(whole, bodies, [t - b for t, b in zip(tau, held, strict=True)])
    answer, drag = response_and_drag(whole, bodies, by_body(whole, y))
    a = [first[d] + answer[d] for d in range(tree.nv)]
    forces = list(tau)
    for i, joint in enumerate(whole.joints):
        for k, d in enumerate(joint.dofs):
            if d in given:  # the force that locks this coordinate: D Δ + drag - t
                needed = drag[d] - t[d]
                for j, other in enumerate(joint.dofs):
                    if j != k:
                        needed = needed + bodies.D[i].between(k, j) * answer[other]
                forces[d] = tau[d] + where(given[d], needed, 0)
    pivots = [pivot for on_joint in whole.bodies_on().values() for pivot in bodies.D[on_joint[0]].d]
    return forces, a, pivots
