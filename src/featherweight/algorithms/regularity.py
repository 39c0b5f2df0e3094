"""The pivots of M(q), each with the size below which it is rounding (see `model.regularity`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies
from featherweight.model import Tree, aggregated
from featherweight.model.regularity import DIGITS, carried
from featherweight.scalar import where

Pivot = tuple[int, Any, Any]


def pivots(tree: Tree, q: Sequence[Any], prescribed: Collection[int] = ()) -> list[Pivot]:
    """Of each coordinate: the body it moves, its pivot D, and the size of the inertias that D is a difference of.

    Joints with prescribed motion, by body, are left out. Dynamics computes the same D, so that a kernel with both
    computes it once.
    """
    whole = aggregated(tree.held(dict.fromkeys(prescribed, True)))
    bodies = articulated_bodies(whole, q)
    given = {d for i in prescribed for d in tree.joints[i].dofs}
    return _beside(whole, bodies, _handed_over(whole, bodies), given)


def pivots_of_matrix(tree: Tree, q: Sequence[Any]) -> list[Pivot]:
    """The same for a factorisation of M itself, whose entries are inertias of composite bodies."""
    whole = aggregated(tree)
    return _beside(whole, articulated_bodies(whole, q), carried(tree.parent, tree.X_tree, tree.I), ())


def _beside(
    tree: Tree, bodies: ArticulatedTree, sizes: tuple[list[Any], list[Any]], given: Collection[int]
) -> list[Pivot]:
    """Pivots of coordinates that are not `given`, each with the inertia along its axis of masses and moments of these
    sizes, by body."""
    m, B = sizes
    found = []
    for first, on_joint in tree.bodies_on().items():
        for k, d in enumerate(bodies.D[on_joint[0]].d):
            size: Any = 0.0
            for i in on_joint:
                s = bodies.S[i][k]
                size = size + 2 * (s.angular.dot(s.angular) * B[i] + s.linear.dot(s.linear) * m[i])
            if first + k not in given:
                found.append((on_joint[0], d, size))
    return found


def _handed_over(tree: Tree, bodies: ArticulatedTree) -> tuple[list[Any], list[Any]]:
    """Of each body, the size of masses and moments that the articulated-body algorithm sums there: its own, and those
    of each child before they pass through its joint."""
    m, B = [3 * I.m for I in tree.I], [I.I.xx + I.I.yy + I.I.zz for I in tree.I]
    for i in range(1, len(tree.parent)):
        parent, r, (I, _, M) = tree.parent[i], bodies.X[i].r, bodies.IA[i]
        mass = M.xx + M.yy + M.zz
        m[parent] = m[parent] + mass
        B[parent] = B[parent] + 2 * (I.xx + I.yy + I.zz + r.dot(r) * mass)  # (a + b)² ≤ 2 (a² + b²)
    return m, B


def lost_pivots(found: Sequence[Pivot], watched: Collection[int]) -> Any:
    """The number of pivots of watched bodies that are zero or rounding: 0 where M(q) is regular."""
    count: Any = 0.0
    for i, d, size in found:
        if i in watched:
            count = count + where(d > DIGITS * size, 0.0, 1.0)
    return count
