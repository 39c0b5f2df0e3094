"""Articulated and composite bodies: what the recursions mean, checked with dense matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from featherweight.algorithms.articulated import articulated_bodies
from featherweight.spatial import Force, Motion, Vector
from laws.measure import allowance, close, law
from laws.random_trees import Body, build, recipes, state, trees

pytestmark = pytest.mark.usefixtures("interpreted")
UNITS = np.eye(6)


def motion(x: np.ndarray) -> Motion:
    return Motion(Vector(*x[3:]), Vector(*x[:3]))


def array(x: Motion | Force) -> np.ndarray:
    """Linear first, as in public arrays."""
    return np.array([*x[1], *x[0]], dtype=float)


def matrix(operator: Any) -> np.ndarray:
    """The 6×6 matrix of a transform or an inertia, from what it does to unit motions."""
    return np.stack([array(operator @ motion(unit)) for unit in UNITS], axis=1)


def crossed(V: np.ndarray) -> np.ndarray:
    """V ×, on motions."""
    return np.stack([array(motion(V).cross(motion(unit))) for unit in UNITS], axis=1)


@law
@given(trees())
def test_force_is_articulated_inertia_times_acceleration_and_bias(model: fw.Model) -> None:
    """f = I^A a + p^A at every body, and what its parent feels is I^a a_λ + p^a, with the rotor that spins there."""
    q, v, tau = state(model)
    f_ext = np.random.default_rng(4).normal(size=(model.nb + 1, 6))
    a = fw.forward_dynamics(model, q, v, tau, f_ext)
    wrenches = fw.joint_wrenches(model, q, v, a, f_ext)
    tree = model.over(float, lambda: None)
    n = len(tree.parent)
    X, S, V, A, c = ([np.zeros(6)] * n for _ in range(5))
    A[0] = np.array([*-model.gravity, 0, 0, 0])
    IA = [matrix(I) for I in tree.I]
    pA = [np.zeros(6)] * n
    spin = [np.zeros(6) if joint.spin is None else array(joint.spin) for joint in tree.joints]

    # outward: true velocities and accelerations
    for i, parent, joint in tree.outward():
        X[i] = matrix(joint.transform(q) @ tree.X_tree[i])
        S[i] = np.stack([array(s) for s in joint.subspace(q)], axis=1)
        V[i] = X[i] @ V[parent] + S[i] @ v[joint.v]
        c[i] = array(joint.bias(q, v)) + crossed(V[i]) @ S[i] @ v[joint.v]
        A[i] = X[i] @ A[parent] + S[i] @ a[joint.v] + c[i]
        pA[i] = -crossed(V[i]).T @ IA[i] @ V[i] - f_ext[i]

    # inward: articulated inertia and bias force, each with its law
    scale = max(1.0, np.abs(wrenches).max(), max(np.abs(I).max() for I in IA) * np.abs(A).max())
    tolerance = 1e-12 * allowance(model, q) * scale
    ours = articulated_bodies(tree, list(q)).IA
    for i, parent, joint in tree.inward():
        close(matrix(ours[i]), IA[i], 1e-12 * allowance(model, q))
        close(wrenches[i], IA[i] @ A[i] + pA[i], tolerance)
        D = S[i].T @ IA[i] @ S[i] + np.diag(joint.armature)
        U = X[i].T @ IA[i] @ S[i] + np.outer(spin[i], np.ones(S[i].shape[1]))
        u = tau[joint.v] - S[i].T @ (pA[i] + IA[i] @ c[i])
        gyroscopic = -crossed(V[parent]).T @ spin[i] * v[joint.v][0]
        Ia = X[i].T @ IA[i] @ X[i] - U @ np.linalg.solve(D, U.T)
        pa = X[i].T @ (pA[i] + IA[i] @ c[i]) + U @ np.linalg.solve(D, u) + gyroscopic
        felt = X[i].T @ wrenches[i] + spin[i] * a[joint.v][0] + gyroscopic
        close(felt, Ia @ A[parent] + pa, tolerance)
        IA[parent], pA[parent] = IA[parent] + Ia, pA[parent] + pa


def without_rotors(bodies: list[Body]) -> list[Body]:
    return [replace(body, rotor=None) for body in bodies]


@law
@given(recipes().map(without_rotors))
def test_mass_matrix_is_the_sum_over_common_subtrees(bodies: list[Body]) -> None:
    """M_ij = Σ J_kiᵀ I_k J_kj over k in ν(i) ∩ ν(j): what both joints move; nothing if they share no body."""
    model = build(bodies)
    q, _, _ = state(model)
    J = [fw.jacobian(model, q, name) for name in model.names]
    I = [matrix(inertia) for inertia in model.inertias]
    M = fw.mass_matrix(model, q)
    for a in model.joints:
        for b in model.joints:
            common = set(model.subtree(a.body)) & set(model.subtree(b.body))
            block = sum((J[k][:, a.v].T @ I[k] @ J[k][:, b.v] for k in common), np.zeros((a.kind.nv, b.kind.nv)))
            if a is b:
                block = block + np.diag(a.armature)
            close(M[a.v, b.v], block)
            if not common:
                assert not M[a.v, b.v].any()


@law
@given(trees(mimic=True))
def test_subtrees_are_what_paths_say(model: fw.Model) -> None:
    """j in ν(i) exactly if i is on the way from j to the world; μ(i) are the roots of what is left of ν(i)."""
    for i in range(model.nb + 1):
        below = []
        for j in range(model.nb + 1):
            k = j
            while k > i:
                k = model.parent[k]
            below += [j] * (k == i)
        assert model.subtree(i) == tuple(below)
        children = model.children(i)
        assert sorted([i, *(k for child in children for k in model.subtree(child))]) == below
        assert all(model.parent[child] == i for child in children)
