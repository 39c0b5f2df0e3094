"""Gyroscopic terms in the middle of a step: the implicit midpoint rule for bodies on free and ball joints.

A body of inertia Θ that turns by itself obeys Θ ω̇ + ω × Θ ω = 0, in its own axes. The midpoint rule

    Θ (ω⁺ - ω) + h ω_m × Θ ω_m = 0,    ω_m = ½ (ω + ω⁺)

keeps its energy ½ ω·Θ ω and the length of its angular momentum Θ ω, whatever the step h: multiply by ω_m, or by Θ ω_m.
Dynamics with the velocity ω_m in place of ω makes just this step. In a tree ω_m is a guess: that of a body without its
neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.linear import combine, is_zero
from featherweight.model import Tree, TreeJoint
from featherweight.scalar import reciprocal, where
from featherweight.spatial import Matrix, Motion, RigidInertia, Symmetric, Vector

NEWTON_STEPS = 2  # leave 1e-14 of the energy at h ω = 0.3, 3e-7 in a long run of the worst box there
SINGULAR = 2.0**-44  # of the cube of the trace: a determinant that is not to be told from rounding


def change_to_midpoint(tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any) -> dict[int, Any]:
    """v_m - v by degree of freedom, of those that are angular velocities about all axes (`Joint.turns`).

    ω is the body's velocity in the world, so what its parent changes by is subtracted. Joints of other kinds keep v.
    """
    turning = [i for i, joint in enumerate(tree.joints) if joint.kind.turns is not None]
    V, turned = tree.per_body(Motion.zero()), tree.per_body(Vector.zero())
    change: dict[int, Any] = {}
    for i in sorted({ancestor for body in turning for ancestor in tree.path(body)}):
        joint, parent = tree.joints[i], tree.parent[i]
        tree.mark()
        X = joint.transform(q) @ tree.X_tree[i]
        V[i] = X @ V[parent] + combine(joint.subspace(q), v[joint.v])
        carried = X.E @ turned[parent]
        turned[i] = carried
        inertia = _own_inertia(tree.I[i], joint)
        if joint.kind.turns is not None and not all(map(is_zero, inertia)):
            turned[i] = half_turn(inertia, joint.armature[joint.kind.turns], V[i].angular, h)
            change |= zip(joint.dofs[joint.kind.turns], turned[i] - carried, strict=True)
    if turning:
        tree.mark()
    return change


def _own_inertia(I: RigidInertia, joint: TreeJoint) -> Symmetric:
    """Θ of the body alone: about its centre of mass if it floats, about the joint if that holds it."""
    return I.central if joint.kind.floating else I.I


def half_turn(inertia: Symmetric, armature: Sequence[Any], omega: Vector, h: Any) -> Vector:
    """ω_m - ω = ½ h α, by Newton steps from α = 0 on M α + ω_m × Θ ω_m = 0, ω_m = ω + ½ h α.

    M is Θ with the armature of a motor, which has inertia and no gyroscopic term. Where the equation is singular (a
    body without inertia about an axis, h |ω| of 2 and more) it is left out: 0.
    """
    half, M = 0.5 * h, inertia + Symmetric.diagonal(*armature)
    trace = M.xx + M.yy + M.zz
    small = SINGULAR * trace * trace * trace
    middle, momentum = omega, inertia @ omega
    residual, alpha = middle.cross(momentum), Vector.zero()
    for step in range(NEWTON_STEPS):
        if step > 0:
            middle = omega + alpha * half
            momentum = inertia @ middle
            residual = M @ alpha + middle.cross(momentum)

        # columns of M + ½ h (ω_m^ Θ - (Θ ω_m)^)
        each = zip(M.matrix, inertia.matrix, Matrix.identity(), strict=True)
        a, b, c = (M_k + (middle.cross(I_k) - momentum.cross(e)) * half for M_k, I_k, e in each)
        alpha = alpha - _solved(a, b, c, residual, small)
    return alpha * half


def _solved(a: Vector, b: Vector, c: Vector, r: Vector, small: Any) -> Vector:
    """[a b c]⁻¹ r by Cramer's rule; 0 where the determinant is not above `small`."""
    bc, ra = b.cross(c), r.cross(a)
    determinant = a.dot(bc)
    regular = determinant > small
    over = where(regular, reciprocal(where(regular, determinant, 1.0)), 0.0)
    return Vector(r.dot(bc) * over, -(c.dot(ra)) * over, b.dot(ra) * over)
