"""Derivatives of inverse dynamics: analytic, by composite bodies (Singh, Russell and Wensing, 2022).

Directions of q are those of v: ∂/∂q_j is d/dε at q ⊕ ε e_j. With I, B and F summed over all that joint i carries, for
each column c of it and each column k of a joint before it

    ∂τ_k/∂q_c = s_k · (2B P1_c + I P2_c + s_c ×* F)       ∂τ_c/∂q_k = P1_k · 2Bᵀ s_c + P2_k · I s_c
    ∂τ_k/∂v_c = s_k · (2B s_c + I D_c)                    ∂τ_c/∂v_k = s_k · 2Bᵀ s_c + D_k · I s_c.

All of it is written in the frame of the root body. A rotor with the couple w on the parent p of joint i adds w to I s_c
and V_p ×* w to what velocities do. Joints that share a coordinate (mimic joints) add to the same entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import combine
from featherweight.algorithms.root_frame import RootFrame, Rows
from featherweight.model import Tree, TreeJoint
from featherweight.spatial import Force, Matrix, Motion, RigidInertia, Vector


def inverse_dynamics_derivatives(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any], f_ext: Sequence[Force] | None
) -> tuple[Rows, Rows, Rows]:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M; f_ext stays as it is in the bodies' frames."""
    tree = tree.fused_passes()
    x = RootFrame.of(tree, q, v)
    I_c, felt, M = x.composite(tree)
    return *force_derivatives(tree, x, q, v, a, f_ext, I_c, felt), M


def force_derivatives(
    tree: Tree,
    x: RootFrame,
    q: Sequence[Any],
    v: Sequence[Any],
    a: Sequence[Any],
    f_ext: Sequence[Force] | None,
    I_c: Sequence[RigidInertia],
    felt: Sequence[Sequence[Force]],
) -> tuple[Rows, Rows]:
    """∂τ/∂q and ∂τ/∂v, given the composite bodies of this state."""
    A, F = x.forces(tree, v, a, f_ext)
    B2, P2 = list(x.B2), tree.per_body()

    # outward: how accelerations change when a coordinate moves
    for i, parent, joint in tree.outward():
        before = x.before(i, parent, A)
        P2[i] = [before.cross(s) + x.V[parent].cross(p) for s, p in zip(x.S[i], x.P1[i], strict=True)]
        if x.S_prime[i] is not None:
            P2[i] = _with_turning_axes(x, i, joint, q, v, a, P2[i])
        w = x.spin[i]
        if w is not None:
            turned = Matrix.cross(w.moment * v[joint.v.start])  # m ↦ m ×* w q̇
            B2[parent] = B2[parent]._replace(block=B2[parent].block - turned)

    # inward: columns and rows of each joint with all joints on its path to the root
    dq, dv = ([[0] * tree.nv for _ in range(tree.nv)] for _ in range(2))
    for i, parent, joint in tree.inward():
        Fq = [B2[i].times(p1) + I_c[i] @ p2 for p1, p2 in zip(x.P1[i], P2[i], strict=True)]
        Fv = [B2[i].times(s) + I_c[i] @ d for s, d in zip(x.S[i], x.D[i], strict=True)]
        Bs = [B2[i].transposed_times(s).moment for s in x.S[i]]  # a pure moment
        for r, s in zip(joint.dofs, x.S[i], strict=True):
            for c, fq, fv in zip(joint.dofs, Fq, Fv, strict=True):
                _add(dq, r, c, s.dot(fq))
                _add(dv, r, c, s.dot(fv))
        for c, derivative in zip(joint.dofs, x.S_prime[i] or (), strict=False):
            for r, s in zip(joint.dofs, derivative, strict=True):
                _add(dq, r, c, s.dot(F[i]))
        Fq = [f + s.cross_force(F[i]) for f, s in zip(Fq, x.S[i], strict=True)]
        w = x.spin[i]
        if w is not None:
            turning = x.V[parent].angular.cross(w.moment)
            Fv, Bs = [Fv[0] + Force(turning, Vector.zero())], [Bs[0] + turning]
        for _, above in tree.rootward(i):
            columns = zip(tree.joints[above].dofs, x.S[above], x.P1[above], P2[above], x.D[above], strict=True)
            for k, s, p1, p2, d in columns:
                for c, fq, fv, fa, b in zip(joint.dofs, Fq, Fv, felt[i], Bs, strict=True):
                    _add(dq, k, c, s.dot(fq))
                    _add(dv, k, c, s.dot(fv))
                    _add(dq, c, k, p1.angular.dot(b) + p2.dot(fa))
                    _add(dv, c, k, s.angular.dot(b) + d.dot(fa))
        if parent > 0:
            B2[parent] = B2[parent].plus(B2[i])
            F[parent] = F[parent] + F[i]
    return dq, dv


def _with_turning_axes(
    x: RootFrame, i: int, joint: TreeJoint, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any], P2: list[Motion]
) -> list[Motion]:
    """P2 of a joint whose S changes in the body: V × S' v + S' a + ∂(S' v v)/∂q more."""
    columns = []
    for p, row, change in zip(P2, x.S_prime[i] or (), x.of_joint(i, joint.bias_derivative(q, v)), strict=True):
        columns.append(p + x.V[i].cross(combine(row, v[joint.v])) + combine(row, a[joint.v]) + change)
    return columns


def _add(rows: Rows, r: int, c: int, z: Any) -> None:
    rows[r][c] = rows[r][c] + z
