"""Steps between configurations, joint by joint: q ⊕ v and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree


def integrate(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """q ⊕ v: where the robot is after moving with v for a unit of time."""
    moved = list(q)
    for _, _, joint in tree.outward():
        if joint.kind.leader is None:
            moved[joint.q] = joint.kind.integrate(q[joint.q], v[joint.v])
    return moved


def difference(tree: Tree, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
    """q1 ⊖ q0: the velocity that leads from q0 to q1 in a unit of time."""
    v: list[Any] = [0] * tree.nv
    for _, _, joint in tree.outward():
        if joint.kind.leader is None:
            v[joint.v] = joint.kind.difference(q0[joint.q], q1[joint.q])
    return v
