"""What linear-time steps are compared with: Newton steps with a dense Jacobian, made column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

import featherweight as fw
from featherweight import algorithms
from featherweight.dynamics.evaluate import Quantity
from featherweight.experiments.evaluations import READ_OUT, START
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.spatial import Motion

Scalars = dict[str, list[Any]]


def _jacobian(model: fw.Model, tree: Any, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    """h momentum at the beginning, e without it, ∂e/∂δ column by column, and all that the read-out needs."""
    place = Place.at(tree, x["q"], [0.0] * tree.nv)
    trial = drnea(place, x["v"])
    q_after = algorithms.integrate(tree, x["q"], x["v"])
    X, S, K = tree.per_body(), tree.per_body(), tree.per_body()
    for i, _, joint in tree.outward():
        X[i] = joint.transform(q_after) @ tree.X_tree[i]
        S[i] = joint.subspace(q_after)
        K[i] = trial.log[i].change(tree.I[i], trial.P[i])
    columns = []
    for j in range(1, len(tree.parent)):
        for s in S[j]:
            columns.append(_column(tree, place, X, K, j, s))
    return [trial.e, [columns[c][r] for r in range(tree.nv) for c in range(tree.nv)]], []


def _column(tree: Any, place: Place, X: list[Any], K: list[Any], j: int, s: Motion) -> list[Any]:
    """What a change of joint j at the end of the step changes."""
    xi, F = {j: s}, {}
    inside = [j]
    for i in range(j + 1, len(tree.parent)):
        if tree.parent[i] in xi:
            tree.mark()
            xi[i] = X[i] @ xi[tree.parent[i]]
            inside.append(i)
    column: list[Any] = [0.0] * tree.nv
    for i in inside:
        F[i] = K[i] @ xi[i]
    for i in sorted({*inside, *tree.path(j)}, reverse=True):
        tree.mark()
        joint, parent = tree.joints[i], tree.parent[i]
        for k, axis in zip(range(joint.v.start, joint.v.stop), place.S[i], strict=True):
            column[k] = axis.dot(F[i])
        carried = place.X[i].back(F[i])
        F[parent] = F[parent] + carried if parent in F else carried
    return column


JACOBIAN = Quantity("dense jacobian", ("q", "v"), lambda m: [(m.nv,), (m.nv, m.nv)], _jacobian)


def dense_newton_step(
    model: fw.Model, q: np.ndarray, v: np.ndarray, dt: float, absolute: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """A step by Newton's method with the whole Jacobian, factorised by LAPACK: compiled kernels, joined by NumPy."""
    momentum = START.kernel(model)(q, v, np.array(dt))[0]
    delta = dt * v
    for iteration in range(30):
        e, jacobian = JACOBIAN.kernel(model)(q, delta)
        e = e - momentum
        if np.linalg.norm(e) <= absolute * dt:
            after, velocity = READ_OUT.kernel(model)(q, delta, np.array(dt))
            return after, velocity, iteration
        delta = delta - np.linalg.solve(jacobian, e)
    raise fw.ConvergenceError("dense Newton steps did not converge")
