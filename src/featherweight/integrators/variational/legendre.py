"""The discrete Legendre transforms: from (q, v) into a step, and out of it to (q⁺, v⁺).

The momentum at a node is what both steps that meet there have in common: p = -D₁L_d of the one that begins and D₂L_d of
the one that ends, each with its half of the impulses. It starts a step from any (q, v), and reads the velocity out at
second order: p = M(q) v. So (q, v) is the whole state. All momenta are multiplied by h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from featherweight import algorithms
from featherweight.integrators.variational.drnea import Trial
from featherweight.integrators.variational.forces import Braked
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
    begin, _ = algorithms.inverse_dynamics(pulled, q, [0] * tree.nv, moved, pushed)
    for _, _, joint in tree.inward():
        if joint.kind.leader is None:
            begin[joint.v] = [p + half * f for p, f in zip(begin[joint.v], forces[joint.v], strict=True)]
    return begin


def momentum_after(
    tree: Tree, begin: Sequence[Any], trial: Trial, delta: Sequence[Any], h: Any, braked: Braked, forces: Sequence[Any]
) -> list[Any]:
    """p⁺ where a step δ ends, of which a trial close to it is known: what it began with, and what the joints gained;
    less what brakes took, and with half of the forces but gravity. What is left of the equations is not carried on.
    That of floating bodies is not here (`floating`)."""
    p: list[Any] = [0] * tree.nv
    for i, _, joint in tree.inward():
        if joint.kind.leader is None and not tree.floats(i):
            for k in joint.dofs:
                taken = (braked.early[k] + braked.late[k]) * delta[k]
                p[k] = begin[k] + trial.gained[k] - taken + 0.5 * h * h * forces[k]
    return p


def read_out(tree: Tree, q: Sequence[Any], h: Any, p: Sequence[Any]) -> list[Any]:
    """v = M(q)⁻¹ p at the end of a step, with gravity's half: forward dynamics of the impulses, at rest."""
    pulled = replace(tree, gravity=tree.gravity * (0.5 * h * h))
    solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
    moved, _ = solve(pulled, q, [0] * tree.nv, p, None)
    return per_time(tree, moved, h)


def per_time(tree: Tree, moved: Sequence[Any], h: Any) -> list[Any]:
    """From h v to v, in a pass of this tree."""
    rate, v = reciprocal(h), list(moved)
    for k in tree.coordinates():
        v[k] = moved[k] * rate
    return v
