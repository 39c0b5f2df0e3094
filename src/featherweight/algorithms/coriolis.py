"""The Coriolis matrix: C v = velocity-product forces, with Ṁ - 2C skew-symmetric (Echeandia and Wensing, 2021).

C = Σ Jᵀ (I J̇ + B J) over the bodies, where B(I, v) = ½ (v ×* I - I v × + (I v) ×̄*) satisfies B + Bᵀ = dI/dt and
B v = v ×* I v. Worked out, half of B vanishes:

    B = [[ω̂ Ī - ½ tr(Ī) ω̂ - ĥ v̂, 0], [-p̂, 0]]     with the linear momentum p = m v - h × ω.

Like an inertia it can be summed over bodies and transformed to the parent, so one inward pass is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.spatial import Force, Matrix, Motion, RigidInertia, Transform, Vector


class VelocityProduct(NamedTuple):
    """B, its upper left block and the momentum p."""

    block: Matrix
    p: Vector

    @staticmethod
    def of(I: RigidInertia, v: Motion) -> VelocityProduct:
        omega = Matrix.cross(v.angular)
        half_trace = (I.I.xx + I.I.yy + I.I.zz) * 0.5
        scaled = Matrix.cross(v.angular * half_trace)
        block = omega @ I.I.matrix - scaled - Matrix.cross(I.h) @ Matrix.cross(v.linear)
        return VelocityProduct(block, v.linear * I.m - I.h.cross(v.angular))

    def plus(self, other: VelocityProduct) -> VelocityProduct:
        return VelocityProduct(self.block + other.block, self.p + other.p)

    def times(self, m: Motion) -> Force:
        """B m."""
        return Force(self.block @ m.angular, -self.p.cross(m.angular))

    def transposed_times(self, m: Motion) -> Force:
        """Bᵀ m."""
        return Force(self.block.transposed_times(m.angular) + self.p.cross(m.linear), Vector.zero())

    def seen_through(self, X: Transform) -> VelocityProduct:
        """Xᵀ B X: rotate, then move the origin by r."""
        p = X.E.transposed_times(self.p)
        block = X.E.T @ (self.block @ X.E) - Matrix.cross(X.r) @ Matrix.cross(p)
        return VelocityProduct(block, p)


def coriolis_matrix(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> list[list[Any]]:
    """C(q, v)."""
    X, S, V, S_dot = (tree.per_body() for _ in range(4))
    B: list[VelocityProduct] = tree.per_body()
    I_c = list(tree.I)
    V[0] = Motion.zero()
    C: list[list[Any]] = [[0] * tree.nv for _ in range(tree.nv)]

    # outward: velocities, and how the joints' axes change
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)
        V[i] = X[i] @ V[parent] + combine(S[i], v[joint.v])
        rates = joint.subspace_rate(q, v)
        S_dot[i] = [V[i].cross(s) + rate for s, rate in zip(S[i], rates, strict=True)]
        B[i] = VelocityProduct.of(tree.I[i], V[i])
    for _, parent, joint in tree.outward():
        if joint.spin is not None and parent > 0:  # a rotor's own part of B
            h = joint.spin.moment * (v[joint.v.start] * 0.5)
            B[parent] = B[parent]._replace(block=B[parent].block - Matrix.cross(h))

    # inward: columns and rows of each joint with all joints on its path to the root
    for i, parent, joint in tree.inward():
        if parent > 0:
            I_c[parent] = I_c[parent] + I_c[i].seen_through(X[i])
            B[parent] = B[parent].plus(B[i].seen_through(X[i]))
        F1 = [I_c[i] @ s_dot + B[i].times(s) for s, s_dot in zip(S[i], S_dot[i], strict=True)]
        F2 = [I_c[i] @ s for s in S[i]]
        F3 = [B[i].transposed_times(s) for s in S[i]]
        own = range(joint.v.start, joint.v.stop)
        for r, s in zip(own, S[i], strict=True):
            for column, f in zip(own, F1, strict=True):
                C[r][column] = C[r][column] + s.dot(f)
        for j, above in tree.rootward(i):
            F1, F2, F3 = ([X[j].back(f) for f in F] for F in (F1, F2, F3))
            if j == i and joint.spin is not None:
                half = Force(V[parent].angular.cross(joint.spin.moment) * 0.5, Vector.zero())
                F1, F2, F3 = [F1[0] + half], [F2[0] + joint.spin], [F3[0] + half]
            others = tree.joints[above].v
            for k, s, s_dot in zip(range(others.start, others.stop), S[above], S_dot[above], strict=True):
                for c, f1, f2, f3 in zip(own, F1, F2, F3, strict=True):
                    C[k][c] = C[k][c] + s.dot(f1)
                    C[c][k] = C[c][k] + s_dot.dot(f2) + s.dot(f3)
    return C
