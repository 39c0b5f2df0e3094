"""Bodies and joints in one frame that stands still: that of the root body, as it is now.

Derivatives compare all bodies on a path, so these are written in one frame. In the world's frame numbers grow with the
distance from its origin and cancel later; in the root body's they do not. The axes of a floating base are unit twists
there, and what carries it is at rest. Each root of a robot has a frame of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.algorithms.coriolis import VelocityProduct
from featherweight.algorithms.jacobian import seen_from
from featherweight.algorithms.linear import combine
from featherweight.algorithms.mass_matrix import add_symmetric
from featherweight.model import Tree
from featherweight.spatial import Force, Motion, RigidInertia, Transform, Vector

Rows = list[list[Any]]


@dataclass(frozen=True)
class RootFrame:
    """A state in the frame of the root, by body.

    Y is the pose, from the root's frame to the body's; S has the joint's axes, V the velocity, I the inertia, B2 twice
    the velocity product B. When coordinate j of a joint moves, all beyond it moves with s_j, and beside that
    velocities change by P1 = V_λ × s + S' v; when its velocity changes, accelerations change by D = P1 + Ṡ.
    """

    Y: list[Transform]
    S: list[list[Motion]]
    V: list[Motion]
    P1: list[list[Motion]]
    D: list[list[Motion]]
    I: list[RigidInertia]
    B2: list[VelocityProduct]
    spin: list[Force | None]  # couple of the joint's rotor, on the parent
    S_prime: list[list[list[Motion]] | None]  # [j][k] = ∂S_k/∂q_j as seen in the body; None: S is constant there
    field: list[Motion]  # of roots: the acceleration -g of what carries them

    @staticmethod
    def of(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> RootFrame:
        Y, S, V, P1, D, I, B2, spin, S_prime, field = (tree.per_body() for _ in range(10))
        V[0] = Motion.zero()
        for i, parent, joint in tree.outward():
            X = joint.transform(q) @ tree.X_tree[i]
            Y[i] = X @ Y[parent] if parent > 0 else Transform.identity()
            if parent == 0:
                field[i] = Motion(Vector.zero(), X.E @ -tree.gravity)
            S[i] = [seen_from("world", Y[i], s) for s in joint.subspace(q)]
            V[i] = V[parent] + combine(S[i], v[joint.v])
            P1[i] = [V[parent].cross(s) for s in S[i]]
            if len(S[i]) == 1:
                D[i] = [p * 2 for p in P1[i]]  # V × s = V_λ × s
            else:
                D[i] = [p + V[i].cross(s) for p, s in zip(P1[i], S[i], strict=True)]
            if not joint.kind.uniform:
                S_prime[i] = [[seen_from("world", Y[i], s) for s in row] for row in joint.subspace_derivative(q)]
                rates = joint.subspace_rate(q, v)
                for j, (row, rate) in enumerate(zip(S_prime[i], rates, strict=True)):
                    P1[i][j] = P1[i][j] + combine(row, v[joint.v])
                    D[i][j] = D[i][j] + combine(row, v[joint.v]) + seen_from("world", Y[i], rate)
            I[i] = tree.I[i].seen_through(Y[i])
            B2[i] = VelocityProduct.of(I[i], V[i] * 2)
            if joint.spin is not None and parent > 0:
                spin[i] = Y[parent].back(joint.spin)
        return RootFrame(Y, S, V, P1, D, I, B2, spin, S_prime, field)

    def of_joint(self, i: int, columns: Sequence[Motion]) -> list[Motion]:
        """Motions in the frame of body i, in that of the root."""
        return [seen_from("world", self.Y[i], m) for m in columns]

    def before(self, i: int, parent: int, A: Sequence[Any]) -> Motion:
        """The acceleration of what carries body i, given those of bodies."""
        return A[parent] if parent > 0 else self.field[i]

    def forces(
        self, tree: Tree, v: Sequence[Any], a: Sequence[Any], f_ext: Sequence[Force] | None
    ) -> tuple[list[Motion], list[Force]]:
        """Acceleration and net force of each body, as in the recursive Newton-Euler algorithm."""
        A, F = tree.per_body(), tree.per_body()
        for i, parent, joint in tree.outward():
            A[i] = self.before(i, parent, A) + combine(self.S[i], a[joint.v]) + combine(self.P1[i], v[joint.v])
            F[i] = self.I[i] @ A[i] + self.B2[i].times(self.V[i] * 0.5)  # I a + v ×* I v
            if f_ext is not None:
                F[i] = F[i] - self.Y[i].back(f_ext[i])
            w, k = self.spin[i], joint.v.start
            if w is not None:  # the rotor's momentum w q̇ turns with the parent
                F[parent] = F[parent] + w * a[k] + self.V[parent].cross_force(w * v[k])
        return A, F

    def bias(self, tree: Tree, v: Sequence[Any], f_ext: Sequence[Force] | None) -> list[Any]:
        """The joint forces at zero acceleration."""
        A, F = self.forces(tree, v, [0] * tree.nv, f_ext)
        tau: list[Any] = [0] * tree.nv
        for i, parent, joint in tree.inward():
            for k, s in zip(joint.dofs, self.S[i], strict=True):
                tau[k] = tau[k] + s.dot(F[i])
            if parent > 0:
                F[parent] = F[parent] + F[i]
            w = self.spin[i]
            if w is not None:
                tau[joint.v.start] = tau[joint.v.start] + A[parent].dot(w)
        return tau

    def at_joints(self, tree: Tree, f_ext: Sequence[Force]) -> list[Any]:
        """Σ Jᵀ f: forces on bodies, each in its frame, as joint forces."""
        F = [f if i == 0 else self.Y[i].back(f) for i, f in enumerate(f_ext)]
        tau: list[Any] = [0] * tree.nv
        for i, parent, joint in tree.inward():
            for k, s in zip(joint.dofs, self.S[i], strict=True):
                tau[k] = tau[k] + s.dot(F[i])
            if parent > 0:
                F[parent] = F[parent] + F[i]
        return tau

    def composite(self, tree: Tree) -> tuple[list[RigidInertia], list[list[Force]], Rows]:
        """Each body with all it carries as one rigid body I_c; the forces that accelerate it along its joint's axes, as
        the joints before it feel them; and M."""
        I_c, felt = list(self.I), tree.per_body()
        M: Rows = [[0] * tree.nv for _ in range(tree.nv)]
        for i, parent, joint in tree.inward():
            F = [I_c[i] @ s for s in self.S[i]]
            for n, (r, s, armature) in enumerate(zip(joint.dofs, self.S[i], joint.armature, strict=True)):
                M[r][r] = M[r][r] + s.dot(F[n]) + armature
                for c, f in zip(joint.dofs[:n], F, strict=False):
                    add_symmetric(M, r, c, s.dot(f))
            w = self.spin[i]
            felt[i] = F if w is None else [F[0] + w]
            for _, above in tree.rootward(i):
                for c, s in zip(tree.joints[above].dofs, self.S[above], strict=True):
                    for r, f in zip(joint.dofs, felt[i], strict=True):
                        add_symmetric(M, r, c, s.dot(f))
            if parent > 0:
                I_c[parent] = I_c[parent] + I_c[i]
        return I_c, felt, M
