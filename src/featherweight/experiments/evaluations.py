"""The discrete Euler-Lagrange equations of a step by DRNEA and as before it, and what solving them takes, in kernels.

DRNEA hands momenta from body to body: O(n). Before it (Johnson and Murphey, 2009) the momentum of each body was
projected on every coordinate that moves it, O(n²) for a chain, and its derivative on every pair of them, O(n³). The
equations are the same, and kernels of both come from the same compiler. For robots whose q̇ is v, held by the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.dynamics.evaluate import Quantity, Results, Scalars, flat, linear_first
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.integrators.variational.legendre import read_out, start
from featherweight.integrators.variational.newton import newton_step
from featherweight.model import Model, Tree
from featherweight.spatial import Force, Motion


def _place(tree: Tree, x: Scalars) -> Place:
    return Place.at(tree, x["q"], x["start"] if "start" in x else [0.0] * tree.nv)


def _residual(model: Model, tree: Tree, x: Scalars) -> Results:
    return [drnea(_place(tree, x), x["delta"]).e], []


def _newton(model: Model, tree: Tree, x: Scalars) -> Results:
    place = _place(tree, x)
    after = algorithms.integrate(tree, x["q"], x["delta"])
    return [newton_step(place, after, drnea(place, x["delta"]))], []


def _scalable_residual(model: Model, tree: Tree, x: Scalars) -> Results:
    """Body after body: its momentum along every joint on its path, J_jᵀ μ_j."""
    place = _place(tree, x)
    trial = drnea(place, x["delta"])
    e: list[Any] = [-p for p in place.start]
    for j in range(1, len(tree.parent)):
        F: Force = trial.log[j].felt(tree.I[j], trial.P[j])
        for i in tree.path(j):
            tree.mark()
            for k, s in zip(tree.joints[i].dofs, place.S[i], strict=True):
                e[k] = e[k] + s.dot(F)
            F = place.X[i].back(F)
    return [e], []


def _scalable_factors(model: Model, tree: Tree, x: Scalars) -> Results:
    """Of each body j: J_j where the step begins, and K_j J_j⁺ where it ends, K_j = ∂μ_j/∂ξ_j; six rows a body. The
    Jacobian of the residual is the sum of J_jᵀ K_j J_j⁺ over the bodies."""
    place = _place(tree, x)
    trial = drnea(place, x["delta"])
    after = algorithms.integrate(tree, x["q"], x["delta"])
    J, J_after = tree.per_body({}), tree.per_body({})
    rows: tuple[list[list[Any]], list[list[Any]]] = [], []
    for j, parent, joint in tree.outward():
        X_after = joint.transform(after) @ tree.X_tree[j]
        J[j] = {k: place.X[j] @ s for k, s in J[parent].items()} | dict(zip(joint.dofs, place.S[j], strict=True))
        own = dict(zip(joint.dofs, joint.subspace(after), strict=True))
        J_after[j] = {k: X_after @ s for k, s in J_after[parent].items()} | own
        K = trial.log[j].change(tree.I[j], trial.P[j])
        for part, columns in zip(rows, (J[j], {k: K @ s for k, s in J_after[j].items()}), strict=True):
            part += _matrix(columns, tree.nv)
    return [flat(rows[0]), flat(rows[1])], []


def _matrix(columns: dict[int, Motion] | dict[int, Force], nv: int) -> list[list[Any]]:
    """Six rows, zero but for these columns."""
    numbers = {k: linear_first(column) for k, column in columns.items()}
    return [[numbers[k][row] if k in numbers else 0.0 for k in range(nv)] for row in range(6)]


def _start(model: Model, tree: Tree, x: Scalars) -> Results:
    return [start(tree, x["q"], x["v"], x["dt"][0], [0.0] * tree.nv, None)], []


def _read_out(model: Model, tree: Tree, x: Scalars) -> Results:
    trial = drnea(_place(tree, x), x["delta"])
    after = algorithms.integrate(tree, x["q"], x["delta"])
    p = [begin + gained for begin, gained in zip(trial.e, trial.gained, strict=True)]
    return [after, read_out(tree, after, x["dt"][0], p)], []


STEP = ("q", "delta", "start")
RESIDUAL = Quantity("drnea", STEP, lambda m: [(m.nv,)], _residual)
NEWTON = Quantity("newton step in linear time", STEP, lambda m: [(m.nv,)], _newton)
SCALABLE_RESIDUAL = Quantity("scalable evaluation", STEP, lambda m: [(m.nv,)], _scalable_residual)
SCALABLE_FACTORS = Quantity(
    "factors of a Jacobian", ("q", "delta"), lambda m: [(6 * m.nb, m.nv), (6 * m.nb, m.nv)], _scalable_factors
)
START = Quantity("start of a step", ("q", "v", "dt"), lambda m: [(m.nv,)], _start)
READ_OUT = Quantity("end of a step", ("q", "delta", "dt"), lambda m: [(m.nq,), (m.nv,)], _read_out)


def scalable_jacobian(model: Model, q: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """∂e/∂δ (…, nv, nv), a product of matrices of 6n rows."""
    J, KJ = SCALABLE_FACTORS.kernel(model)(q, delta)
    return np.swapaxes(J, -1, -2) @ KJ
