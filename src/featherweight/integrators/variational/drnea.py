"""Discrete inverse dynamics: the recursive Newton-Euler algorithm of a step (Lee, Liu, Park and Srinivasa, 2016).

Each body moves by Δ = T⁻¹ T⁺ in a step, with the mean velocity log(Δ) / h, or, if it floats, with those of its centre
of mass and of its turn (`straight`). Its discrete Lagrangian is trapezoidal, h/2 L(T, V) + h/2 L(T⁺, V). Derivatives
with respect to both ends are the momenta there, one momentum seen from two frames: F where the step begins, Ad_Δᵀ F
where it ends. All is multiplied by h, so that nothing is divided by it: X = h V, P = I X, and e is h times an impulse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.integrators.variational.logarithm import Log
from featherweight.integrators.variational.straight_line import StraightLine
from featherweight.model import Tree, TreeJoint
from featherweight.scalar import minimum
from featherweight.spatial import Displacement, Force, Motion, Transform

FEW = 3  # axes; fewer than these are moved themselves, of more the momentum is: that takes fewer operations


@dataclass(frozen=True)
class Place:
    """Where a step begins: q, transforms X and axes S by body, and h times the momentum with half of the impulses."""

    tree: Tree
    q: Sequence[Any]
    X: list[Transform]
    S: list[tuple[Motion, ...]]
    start: Sequence[Any]

    @staticmethod
    def at(tree: Tree, q: Sequence[Any], start: Sequence[Any]) -> Place:
        X, S = tree.per_body(), tree.per_body()
        for i, _, joint in tree.outward():
            X[i] = joint.transform(q) @ tree.X_tree[i]
            S[i] = joint.subspace(q)
        return Place(tree, q, X, S, start)


@dataclass(frozen=True)
class Trial:
    """A step δ: what is left of the discrete Euler-Lagrange equations, and what the momenta of the joints gain."""

    delta: list[Any]
    e: list[Any]
    gained: list[Any]  # but for floating bodies
    square: Any  # |e|²
    upright: Any  # least cos(θ/2) of the turns θ of the bodies
    log: list[Log | StraightLine]
    P: list[Force]


def drnea(place: Place, delta: Sequence[Any]) -> Trial:
    """e = Sᵀ F - start, with F = dlogᵀ P + Σ Xᵀ F_c over the children c; and what each joint gains."""
    tree = place.tree
    spinning: list[list[TreeJoint]] = [[] for _ in tree.parent]  # joints whose rotors a body carries
    for joint, parent in zip(tree.joints[1:], tree.parent[1:], strict=True):
        if joint.spin is not None:
            spinning[parent].append(joint)
    move, log, P, F = (tree.per_body() for _ in range(4))
    move[0], log[0], F[0] = Displacement.identity(), Log(Motion.zero(), 0, 0), Force.zero()
    kinds: list[type[Log] | type[StraightLine]] = [StraightLine if afloat else Log for afloat in tree.afloat]
    upright: Any = 1.0

    # outward: displacement of each body
    for i, parent, joint in tree.outward():
        move[i] = move[parent].seen_from(place.X[i]).then(joint.displacement(place.q, delta))
        upright = minimum(upright, move[i].turn.w)

    # inward: its logarithm; momentum, seen where the step begins, projected on the joint, and handed to the parent
    e: list[Any] = [0] * tree.nv
    gained: list[Any] = [0] * tree.nv
    for i, parent, joint in tree.inward():
        log[i] = kinds[i].of(move[i]) if log[i] is None else log[i]
        spin = Force.zero()
        for child in spinning[i]:
            spin = spin + child.spin * delta[child.v.start]
        P[i] = log[i].momentum(tree.I[i], spin)
        own = log[i].felt(tree.I[i], P[i])
        F[i] = own if F[i] is None else F[i] + own
        felt = [s.dot(F[i]) for s in place.S[i]]
        for k, x, armature in zip(joint.dofs, felt, joint.armature, strict=True):
            e[k] = e[k] + x + armature * delta[k]
            if joint.kind.leader is None:
                e[k] = e[k] - place.start[k]
        if not tree.floats(i):
            for k, x in zip(joint.dofs, _gained(joint, place, delta, move[i], F[i], felt), strict=True):
                gained[k] = gained[k] + x
        carried = place.X[i].back(F[i])
        F[parent] = carried if F[parent] is None else F[parent] + carried
        if joint.spin is not None:
            log[parent] = kinds[parent].of(move[parent]) if log[parent] is None else log[parent]
            e[joint.v.start] = e[joint.v.start] + log[parent].turn.dot(joint.spin.moment)
    return Trial(list(delta), e, gained, _square(tree, e), upright, log, P)


def _gained(
    joint: TreeJoint, place: Place, delta: Sequence[Any], move: Displacement, F: Force, felt: Sequence[Any]
) -> list[Any]:
    """S⁺ᵀ Ad_Δᵀ F - Sᵀ F: the axes of a joint are moved, and the momentum of what is beyond it is not."""
    S = joint.subspace_after(place.q, delta)
    if joint.kind.uniform and len(S) < FEW:
        return [move.change(s).dot(F) for s in S]
    F_after = move.ahead(F)
    return [s.dot(F_after) - x for s, x in zip(S, felt, strict=True)]


def _square(tree: Tree, e: Sequence[Any]) -> Any:
    """|e|², joint by joint."""
    total: Any = 0.0
    for _, _, joint in tree.inward():
        if joint.kind.leader is None:
            for x in e[joint.v]:
                total = total + x * x
    return total
