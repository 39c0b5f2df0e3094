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
from featherweight.integrators.variational.drnea import Trial
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


def end_impulses(
    tree: Tree, trial: Trial, h: Any, late: Sequence[Any], forces: Sequence[Any], external: Sequence[Force] | None
) -> tuple[list[Any], list[Force]]:
    """h p where a step ends, with half of all impulses but gravity's: at the joints, and on the bodies in their frames.

    Joints have the momenta of their motors, less what damping takes at the end, `late` δ; and less e, which the step
    began with too much, so that what is left of the equations is not carried on.
    """
    half = 0.5 * h * h
    impulses, pushed = list(trial.spun), list(trial.after)
    for i, _, joint in tree.inward():
        if external is not None:
            pushed[i] = pushed[i] + external[i] * half
        for k, armature in zip(joint.dofs, joint.armature, strict=True):
            impulses[k] = impulses[k] + armature * trial.delta[k]
            if joint.joint.leader is None:
                impulses[k] = impulses[k] + half * forces[k] - late[k] * trial.delta[k] - trial.e[k]
    return impulses, pushed


def read_out(tree: Tree, q: Sequence[Any], h: Any, impulses: Sequence[Any], pushed: Sequence[Force]) -> list[Any]:
    """v = M(q)⁻¹ p at the end of a step, by its `end_impulses`: forward dynamics of the impulses, at rest."""
    pulled = replace(tree, gravity=tree.gravity * (0.5 * h * h))
    solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
    moved, _ = solve(pulled, q, [0] * tree.nv, impulses, pushed)
    return per_time(tree, moved, h)


def per_time(tree: Tree, moved: Sequence[Any], h: Any) -> list[Any]:
    """From h v to v, in a pass of this tree."""
    rate, v = reciprocal(h), list(moved)
    for k in tree.coordinates():
        v[k] = moved[k] * rate
    return v
