"""Momentum of the whole robot: centre of mass, centroidal momentum matrix and its bias (Orin et al., 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.inverse_dynamics import inverse_dynamics
from featherweight.algorithms.kinematics import forward_kinematics
from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.scalar import reciprocal
from featherweight.spatial import Force, Matrix, Motion, RigidInertia, Transform, Vector


def center_of_mass(tree: Tree, q: Sequence[Any]) -> Vector:
    """c = Σ m_i c_i / Σ m_i, in the world."""
    X = forward_kinematics(tree, q)
    mass: Any = 0
    moment = Vector.zero()
    for i, _, _ in tree.outward():
        mass = mass + tree.I[i].m
        moment = moment + X[i].E.transposed_times(tree.I[i].h) + X[i].r * tree.I[i].m
    return moment * reciprocal(mass)


def momentum(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> Force:
    """h = Σ X_0iᵀ I_i V_i, about the world's origin, in its axes."""
    X, V, h = tree.per_body(), tree.per_body(Motion.zero()), tree.per_body(Force.zero())
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        V[i] = X[i] @ V[parent] + combine(joint.subspace(q), v[joint.v])
        h[i] = tree.I[i] @ V[i]
    for i, parent, joint in tree.inward():
        h[parent] = h[parent] + X[i].back(h[i])
        if joint.spin is not None:
            h[parent] = h[parent] + joint.spin * v[joint.v.start]
    return h[0]


def composite_bodies(tree: Tree, q: Sequence[Any]) -> tuple[list[RigidInertia], RigidInertia]:
    """Each body with all it carries as one rigid body, in its own coordinates, and the whole robot in the world's."""
    I_c = list(tree.I)
    whole = RigidInertia.zero()
    for i, parent, joint in tree.inward():
        I_parent = I_c[i].seen_through(joint.transform(q) @ tree.X_tree[i])
        if parent > 0:
            I_c[parent] = I_c[parent] + I_parent
        else:
            whole = whole + I_parent
    return I_c, whole


def centroidal_momentum_matrix(tree: Tree, q: Sequence[Any]) -> list[Force]:
    """The columns of A with h = A v about the centre of mass, in the world's axes.

    Column j is the momentum of everything joint j carries, as one composite body, when only q̇_j = 1.
    """
    I_c, whole = composite_bodies(tree, q)
    columns = [Force.zero()] * tree.nv
    X_com = tree.per_body()  # from a frame at the centre of mass, parallel to the world's
    X_com[0] = Transform(Matrix.identity(), -(whole.h * reciprocal(whole.m)))
    for i, parent, joint in tree.outward():
        X_com[i] = joint.transform(q) @ tree.X_tree[i] @ X_com[parent]
        for k, s in zip(range(joint.v.start, joint.v.stop), joint.subspace(q), strict=True):
            columns[k] = columns[k] + X_com[i].back(I_c[i] @ s)
        if joint.spin is not None:
            columns[joint.v.start] = columns[joint.v.start] + X_com[parent].back(joint.spin)
    return columns


def com_jacobian(tree: Tree, q: Sequence[Any]) -> list[Vector]:
    """The columns of J_c: velocity of the centre of mass = J_c v, its momentum over the mass."""
    _, whole = composite_bodies(tree, q)
    one_over_mass = reciprocal(whole.m)
    return [column.force * one_over_mass for column in centroidal_momentum_matrix(tree, q)]


def about(point: Vector, f: Force) -> Force:
    """A force or momentum about the origin, about another point."""
    return Force(f.moment - point.cross(f.force), f.force)


def centroidal_bias(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> Force:
    """Ȧ v: the rate of the centroidal momentum at zero acceleration, the wrench that the world would have to exert."""
    _, F = inverse_dynamics(tree.without_gravity(), q, v, [0] * tree.nv, None)
    return about(center_of_mass(tree, q), F[0])
