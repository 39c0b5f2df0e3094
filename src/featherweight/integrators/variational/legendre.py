"""The discrete Legendre transforms: from (q, v) into a step, and out of it to (q⁺, v⁺).

The momentum at a node is what both steps that meet there have in common: p = -D₁L_d of the one that begins and D₂L_d of
the one that ends, each with its half of the impulses. It starts a step from any (q, v), and reads the velocity out at
second order: p = M(q) v. So (q, v) is the whole state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from featherweight import algorithms
from featherweight.model import Tree
from featherweight.scalar import reciprocal
from featherweight.spatial import Force


def start(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, forces: Sequence[Any], external: Sequence[Force] | None
) -> list[Any]:
    """h M(q) v + ½ h² (gravity + forces): inverse dynamics of the impulses, at rest.

    `forces` are those of the joints, `external` those on the bodies, in their frames.
    """
    half = 0.5 * h * h
    pulled = replace(tree, gravity=tree.gravity * -half)
    pushed = None if external is None else [F * -half for F in external]
    moved: list[Any] = [0] * tree.nv
    for _, _, joint in tree.outward():
        moved[joint.v] = [h * x for x in v[joint.v]]
    momentum, _ = algorithms.inverse_dynamics(pulled, q, [0] * tree.nv, moved, pushed)
    for _, _, joint in tree.inward():
        if joint.joint.leader is None:
            momentum[joint.v] = [p + half * f for p, f in zip(momentum[joint.v], forces[joint.v], strict=True)]
    return momentum


def read_out(
    tree: Tree, q: Sequence[Any], h: Any, after: Sequence[Force], momentum: Sequence[Any], forces: Sequence[Any],
    external: Sequence[Force] | None,
) -> list[Any]:  # fmt: skip
    """v = M(q)⁻¹ p at the end of a step: forward dynamics of the impulses, at rest.

    `after` and `momentum` are h times the momenta of bodies and joints; `forces` and `external` act for h/2 there.
    """
    half = 0.5 * h * h
    pulled = replace(tree, gravity=tree.gravity * half)
    pushed = after if external is None else [a + F * half for a, F in zip(after, external, strict=True)]
    tau: list[Any] = [0] * tree.nv
    for _, _, joint in tree.inward():
        tau[joint.v] = [p + half * f for p, f in zip(momentum[joint.v], forces[joint.v], strict=True)]
    solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
    moved, _ = solve(pulled, q, [0] * tree.nv, tau, pushed)
    rate = reciprocal(h)
    for _, _, joint in tree.outward():
        if joint.joint.leader is None:
            moved[joint.v] = [x * rate for x in moved[joint.v]]
    return moved
