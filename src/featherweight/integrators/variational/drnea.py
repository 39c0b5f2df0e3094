"""Discrete inverse dynamics: the recursive Newton-Euler algorithm of a step (Lee, Liu, Park and Srinivasa, 2016).

Each body moves by Δ = T⁻¹ T⁺ in a step, with the mean velocity log(Δ) / h. Its discrete Lagrangian is trapezoidal,
h/2 L(T, V) + h/2 L(T⁺, V); the derivatives with respect to both ends are the momenta there. Everything here is
multiplied by h, so that nothing is divided by it: X = h V, P = I X, and e is h times an impulse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.integrators.variational.logarithm import Log
from featherweight.model import Tree, TreeJoint
from featherweight.scalar import minimum
from featherweight.spatial import Displacement, Force, Motion, Transform


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
    """A step δ: what is left of the discrete Euler-Lagrange equations, and momenta at its end."""

    delta: list[Any]
    e: list[Any]
    square: Any  # |e|²
    upright: Any  # least cos(θ/2) of the turns θ of the bodies
    after: list[Force]  # momentum of each body, in its frame at the end
    spun: list[Any]  # momentum of each joint's rotor by the turning of its parent
    log: list[Log]
    P: list[Force]


def drnea(place: Place, delta: Sequence[Any]) -> Trial:
    """e = Sᵀ F - start, with F = dlogᵀ P + Σ Xᵀ F_c over the children c; and the same momenta seen from the end."""
    tree = place.tree
    spinning: list[list[TreeJoint]] = [[] for _ in tree.parent]  # joints whose rotors a body carries
    for joint, parent in zip(tree.joints[1:], tree.parent[1:], strict=True):
        if joint.spin is not None:
            spinning[parent].append(joint)
    move, log, P, F, after = (tree.per_body() for _ in range(5))
    move[0], log[0], F[0], after[0] = Displacement.identity(), Log(Motion.zero(), 0, 0), Force.zero(), Force.zero()
    upright: Any = 1.0

    # outward: displacement of each body
    for i, parent, joint in tree.outward():
        move[i] = move[parent].seen_from(place.X[i]).then(joint.displacement(place.q, delta))
        upright = minimum(upright, move[i].turn.w)

    # inward: its logarithm; momentum, seen where the step begins, projected on the joint, and handed to the parent
    e: list[Any] = [0] * tree.nv
    spun: list[Any] = [0] * tree.nv
    for i, parent, joint in tree.inward():
        log[i] = Log.of(move[i]) if log[i] is None else log[i]
        P[i] = tree.I[i] @ log[i].X
        for child in spinning[i]:
            P[i] = P[i] + child.spin * delta[child.v.start]
        before, after[i] = log[i].momenta(P[i])
        F[i] = before if F[i] is None else F[i] + before
        for k, s, armature in zip(range(joint.v.start, joint.v.stop), place.S[i], joint.armature, strict=True):
            e[k] = e[k] + s.dot(F[i]) + armature * delta[k]
            if joint.joint.leader is None:
                e[k] = e[k] - place.start[k]
        carried = place.X[i].back(F[i])
        F[parent] = carried if F[parent] is None else F[parent] + carried
        if joint.spin is not None:
            k = joint.v.start
            log[parent] = Log.of(move[parent]) if log[parent] is None else log[parent]
            felt = log[parent].X.dot(joint.spin)
            e[k], spun[k] = e[k] + felt, spun[k] + felt
    return Trial(list(delta), e, _square(tree, e), upright, after, spun, log, P)


def _square(tree: Tree, e: Sequence[Any]) -> Any:
    """|e|², joint by joint."""
    total: Any = 0.0
    for _, _, joint in tree.inward():
        if joint.joint.leader is None:
            for x in e[joint.v]:
                total = total + x * x
    return total
