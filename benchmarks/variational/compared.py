"""What the linear-time algorithms are compared with: the same equations without recursion; a dense Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np

import featherweight as fw
from featherweight import algorithms
from featherweight.dynamics.evaluate import Quantity
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.integrators.variational.legendre import read_out, start
from featherweight.spatial import Motion

Scalars = dict[str, list[Any]]


def _recursive(model: fw.Model, tree: Any, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    """e by DRNEA."""
    return [drnea(Place.at(tree, x["q"], [0.0] * tree.nv), x["v"]).e], []


def _direct(model: fw.Model, tree: Any, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    """e as the derivative of the action with respect to each coordinate: every body's momentum along every joint below
    which it hangs, J_jᵀ μ_j, one body after the other. Quadratic in the length of a chain."""
    place = Place.at(tree, x["q"], [0.0] * tree.nv)
    trial = drnea(place, x["v"])
    e: list[Any] = [0.0] * tree.nv
    for j in range(1, len(tree.parent)):
        F = trial.log[j].felt(tree.I[j], trial.P[j])
        for i in tree.path(j):
            tree.mark()
            joint = tree.joints[i]
            for k, s in zip(range(joint.v.start, joint.v.stop), place.S[i], strict=True):
                e[k] = e[k] + s.dot(F)
            F = place.X[i].back(F)
    return [e], []


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


def _start(model: fw.Model, tree: Any, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    return [start(tree, x["q"], x["v"], x["dt"][0], [0.0] * tree.nv, None)], []


def _read_out(model: fw.Model, tree: Any, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    trial = drnea(Place.at(tree, x["q"], [0.0] * tree.nv), x["v"])
    after = algorithms.integrate(tree, x["q"], x["v"])
    p = [a + b for a, b in zip(trial.e, trial.gained, strict=True)]  # of joints but floating ones
    return [after, read_out(tree, after, x["dt"][0], p)], []


DRNEA = Quantity("drnea", ("q", "v"), lambda m: [(m.nv,)], _recursive)
DIRECT = Quantity("direct residual", ("q", "v"), lambda m: [(m.nv,)], _direct)
JACOBIAN = Quantity("dense jacobian", ("q", "v"), lambda m: [(m.nv,), (m.nv, m.nv)], _jacobian)
START = Quantity("start", ("q", "v", "dt"), lambda m: [(m.nv,)], _start)
READ_OUT = Quantity("read-out", ("q", "v", "dt"), lambda m: [(m.nq,), (m.nv,)], _read_out)


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
