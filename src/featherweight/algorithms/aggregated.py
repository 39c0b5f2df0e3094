"""Articulated inertias of trees with aggregated joints (see `model.aggregated`; Jain 2012).

Several bodies share an aggregated joint. Its inertia D is a sum over them all, and a force on one moves the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import factor
from featherweight.model import Tree
from featherweight.spatial import ArticulatedInertia, Force, Motion, Transform


class JointInertia:
    """The inertia of an aggregated joint: D = Σ Sᵀ I^A S over its bodies; in the frame of its base, U = Σ Xᵀ I^A S and
    Σ Xᵀ I^A X. Summed by composite bodies (RBDA, section 6.2).

    A rotor of coordinate k on one of the bodies has the momentum spin · q̇_k there: it adds to column k of U, and to D
    by the motion of that body.
    """

    def __init__(self, coordinates: slice) -> None:
        n = coordinates.stop - coordinates.start
        self.D: list[list[Any]] = [[0] * n for _ in range(n)]  # the lower triangle
        self.U = [Force.zero()] * n
        self.held: list[Any] = [False] * n
        self.inertias: list[ArticulatedInertia] = []

    def add_axis(self, k: int, p: Force, path: Sequence[tuple[Transform, Sequence[Motion], int]]) -> None:
        """Add an axis of coordinate k with the force p = I^C s that accelerates the composite body along it.

        `path` leads to the base: transform, axes and first coordinate of each body, beginning with the axis' own.
        """
        for n, (X, S, first) in enumerate(path):
            for c, s in enumerate(S, first):
                if n > 0 or c <= k:
                    high, low = max(k, c), min(k, c)
                    self.D[high][low] = self.D[high][low] + s.dot(p) * (2 if n > 0 and k == c else 1)
            p = X.back(p)
        self.U[k] = self.U[k] + p

    def add_armature(self, k: int, armature: Any) -> None:
        self.D[k][k] = self.D[k][k] + armature

    def add_rotor(self, k: int, spin: Force, X: Transform, S: Sequence[Motion]) -> None:
        self.U[k] = self.U[k] + X.back(spin)
        for c, s in enumerate(S):
            high, low = max(k, c), min(k, c)
            self.D[high][low] = self.D[high][low] + s.dot(spin) * (2 if k == c else 1)


def aggregated_bodies(tree: Tree, spanning: Tree, q: Sequence[Any], pushed: bool) -> tuple[list[Any], ...]:
    """The fields of an `ArticulatedTree`, by body: X and S from the base of the joint, U and D of the whole joint, U in
    the body's frame; I^A; X and S from the parent in the spanning tree.

    If no forces will act on bodies (`pushed=False`), U is known for the first body of each joint alone. A joint of n
    coordinates with m bodies, at most d deep, costs O(m d + n m + n³).
    """
    still = Motion.zero()
    X, X_own, S, S_own, U, D, beyond = (tree.per_body() for _ in range(7))
    IA = [I.articulated for I in tree.I]

    # outward: pose of each body from the base, and its motion with all coordinates of the joint
    for i, carrier, joint in spanning.outward():
        whole = tree.joints[i].v
        X_own[i], S_own[i] = joint.transform(q) @ tree.X_tree[i], joint.subspace(q)
        X[i], axes = X_own[i], [still] * (whole.stop - whole.start)
        if carrier != tree.parent[i]:  # the carrier is on the same joint
            X[i], axes = X[i] @ X[carrier], [s if s is still else X[i] @ s for s in S[carrier]]
        for k, s in enumerate(S_own[i], joint.v.start - whole.start):
            axes[k] = axes[k] + s
        S[i] = tuple(axes)

    # inward: sum the inertia of each joint over its bodies; with the first body it is complete
    inertias = {joint.v.start: JointInertia(joint.v) for joint in tree.joints[1:]}
    bodies_on = tree.bodies_on()
    for i, carrier, joint in spanning.inward():
        base, whole = tree.parent[i], tree.joints[i].v
        on_joint, own = inertias[whole.start], joint.v.start - whole.start
        IC = IA[i] if beyond[i] is None else IA[i] + beyond[i]  # composite with the bodies beyond on the same joint
        path = [(X_own[j], S_own[j], spanning.joints[j].v.start - whole.start) for j in spanning.path(i) if j > base]
        for k, s in enumerate(S_own[i], own):
            on_joint.add_axis(k, IC @ s, path)
        for k, armature in enumerate(joint.armature, own):
            on_joint.add_armature(k, armature)
        for k, held in enumerate(joint.held or (), own):
            on_joint.held[k] = held
        if joint.spin is not None:
            place = (Transform.identity(), ()) if carrier == base else (X[carrier], S[carrier])
            on_joint.add_rotor(own, joint.spin, *place)
        IC = IC.seen_through(X_own[i])
        if carrier == base:
            on_joint.inertias.append(IC)
        else:
            beyond[carrier] = IC if beyond[carrier] is None else beyond[carrier] + IC
        bodies = bodies_on[whole.start]
        if i == bodies[0]:
            factors = factor(on_joint.D, None if all(h is False for h in on_joint.held) else on_joint.held)
            for j in bodies:
                D[j] = factors
                if pushed or j == i:
                    U[j] = [X[j].ahead(u) for u in on_joint.U]
            if base > 0:
                outer = factors.right_divide(on_joint.U)
                IA[base] = sum(on_joint.inertias, IA[base]).minus_outer(outer, on_joint.U)
    return X, S, U, D, IA, X_own, S_own
