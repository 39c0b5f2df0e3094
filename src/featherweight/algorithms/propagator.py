"""What the articulated-body algorithm knows of a tree at rest: I^A, U and D of each joint, and the propagator χ.

χ = X - S D⁻¹ Uᵀ X takes the acceleration of a parent to the body, through the free joint; χᵀ takes a force the other
way (`articulated.handed_on`). With a rotor on the parent, U has its momentum there, too: then these hold as they are,

    I^a = I^A - U D⁻¹ Uᵀ,    I^A = I + Σ Xᵀ I^a X over the children.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.articulated import articulated_bodies
from featherweight.algorithms.linear import combine
from featherweight.model import Tree, aggregated
from featherweight.spatial import ArticulatedInertia, Force, Motion


def articulated_inertia(tree: Tree, q: Sequence[Any]) -> tuple[list[ArticulatedInertia], list[Force], list[list[Any]]]:
    """I^A of each body; the columns of U, by coordinate, each in the frame of the body its joint moves; and D, whose
    blocks are those of the joints."""
    whole = aggregated(tree)
    bodies = articulated_bodies(whole, q)
    U: list[Any] = [None] * tree.nv
    D: list[list[Any]] = [[0] * tree.nv for _ in range(tree.nv)]
    for i, joint in enumerate(tree.joints[1:], start=1):
        first, on_joint = whole.joints[i].v.start, range(whole.joints[i].v.start, whole.joints[i].v.stop)
        if joint.kind.leader is None:
            for k in joint.dofs:
                U[k] = bodies.U[i][k - first]
                D[k] = [bodies.D[i].between(k - first, c - first) if c in on_joint else 0 for c in range(tree.nv)]
            if joint.spin is not None and whole is tree:
                U[joint.v.start] = U[joint.v.start] + bodies.X[i].ahead(joint.spin)
    return bodies.IA, U, D


def propagated(tree: Tree, q: Sequence[Any], a: Sequence[Motion]) -> list[list[Motion]]:
    """χ a of each body, for accelerations a of its parent; of bodies on an aggregated joint, of the joint's base."""
    tree = aggregated(tree)
    bodies = articulated_bodies(tree, q)
    moved: list[list[Motion]] = tree.per_body()
    for i, _, joint in tree.outward():
        moved[i] = []
        for a_parent in a:
            rigid = bodies.X[i] @ a_parent
            drag = [rigid.dot(u) for u in bodies.U[i]]
            if joint.spin is not None:
                drag[0] = drag[0] + a_parent.dot(joint.spin)
            moved[i].append(rigid - combine(bodies.S[i], bodies.D[i].solve(drag)))
    return moved
