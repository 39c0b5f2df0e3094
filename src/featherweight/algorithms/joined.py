"""Articulated bodies where joints share coordinates and are taken as one (see `model.joined`; Jain 2012).

Several bodies hang on such a joint. It feels them all, and a push on one of them moves the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import factor, is_zero
from featherweight.model import Tree
from featherweight.spatial import ArticulatedInertia, Force, Motion, Transform


class Felt:
    """What a joint feels of the bodies on it: D = Σ Sᵀ I^A S, and in the frame of its base U = Σ Xᵀ I^A S, Σ Xᵀ I^A X.

    A rotor of coordinate k on one of the bodies has the momentum spin · q̇_k there: it adds to column k of U, and to D
    what comes of the motion of that body.
    """

    def __init__(self, coordinates: slice) -> None:
        n = coordinates.stop - coordinates.start
        self.D: list[list[Any]] = [[0] * n for _ in range(n)]  # the lower triangle
        self.U = [Force.zero()] * n
        self.inertias: list[ArticulatedInertia] = []

    def add_body(self, IA: ArticulatedInertia, X: Transform, S: Sequence[Motion]) -> None:
        P = {k: IA @ s for k, s in enumerate(S) if not all(map(is_zero, (*s.angular, *s.linear)))}
        for c, p in P.items():
            self.U[c] = self.U[c] + X.back(p)
            for r in P:
                if r >= c:
                    self.D[r][c] = self.D[r][c] + S[r].dot(p)
        self.inertias.append(IA.seen_through(X))

    def add_armature(self, k: int, armature: Any) -> None:
        self.D[k][k] = self.D[k][k] + armature

    def add_rotor(self, k: int, spin: Force, X: Transform, S: Sequence[Motion]) -> None:
        self.U[k] = self.U[k] + X.back(spin)
        for c, s in enumerate(S):
            high, low = max(k, c), min(k, c)
            self.D[high][low] = self.D[high][low] + s.dot(spin) * (2 if k == c else 1)


def joined_bodies(tree: Tree, unjoined: Tree, q: Sequence[Any]) -> tuple[list[Any], ...]:
    """X, S, U, D and I^A by body: X and S from the base of the joint, D of the joint, U of it as seen from the body.

    A joint of n coordinates and m bodies costs n² m + n³.
    """
    X, S, U, D = (tree.per_body() for _ in range(4))
    IA = [I.articulated for I in tree.I]

    # outward: where each body is on its joint, and how it moves with all coordinates of the joint
    for i, carrier, joint in unjoined.outward():
        whole = tree.joints[i].v
        X[i], axes = joint.transform(q) @ tree.X_tree[i], [Motion.zero()] * (whole.stop - whole.start)
        if carrier != tree.parent[i]:  # another body on the same joint
            X[i], axes = X[i] @ X[carrier], [X[i] @ s for s in S[carrier]]
        for k, s in enumerate(joint.subspace(q), joint.v.start - whole.start):
            axes[k] = axes[k] + s
        S[i] = tuple(axes)

    # inward: what each joint feels of its bodies; with the first of them it is complete
    felt = {joint.v.start: Felt(joint.v) for joint in tree.joints[1:]}
    bodies_on = tree.bodies_on()
    for i, carrier, joint in unjoined.inward():
        base, whole = tree.parent[i], tree.joints[i].v
        on_joint, own = felt[whole.start], joint.v.start - whole.start
        on_joint.add_body(IA[i], X[i], S[i])
        for k, armature in enumerate(joint.armature, own):
            on_joint.add_armature(k, armature)
        if joint.spin is not None:
            place = (Transform.identity(), ()) if carrier == base else (X[carrier], S[carrier])
            on_joint.add_rotor(own, joint.spin, *place)
        bodies = bodies_on[whole.start]
        if i == bodies[0]:
            factors = factor(on_joint.D)
            for j in bodies:
                U[j], D[j] = [X[j].ahead(u) for u in on_joint.U], factors
            if base > 0:
                outer = factors.right_divide(on_joint.U)
                IA[base] = sum(on_joint.inertias, IA[base]).minus_outer(outer, on_joint.U)
    return X, S, U, D, IA
