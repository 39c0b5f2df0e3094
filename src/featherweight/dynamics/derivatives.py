"""Derivatives of dynamics with respect to state, acceleration or force, and inertial parameters.

Directions of a configuration are those of v: column j of ∂/∂q is the derivative along q ⊕ ε e_j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, evaluate, flat, wrenches
from featherweight.dynamics.fast_path import fast_path
from featherweight.model import Model, Tree

Three = tuple[np.ndarray, np.ndarray, np.ndarray]


def _inverse(model: Model, tree: Tree, x: Scalars) -> Results:
    f_ext = wrenches(x.get("f_ext"))
    return [flat(rows) for rows in algorithms.inverse_dynamics_derivatives(tree, x["q"], x["v"], x["a"], f_ext)], []


def _forward(model: Model, tree: Tree, x: Scalars) -> Results:
    f_ext = wrenches(x.get("f_ext"))
    results, pivots = algorithms.forward_dynamics_derivatives(tree, x["q"], x["v"], x["tau"], f_ext)
    return [flat(rows) for rows in results], pivots


INVERSE_DYNAMICS_DERIVATIVES = Quantity(
    "inverse_dynamics_derivatives", ("q", "v", "a"), lambda model: [(model.nv, model.nv)] * 3, _inverse
)
FORWARD_DYNAMICS_DERIVATIVES = Quantity(
    "forward_dynamics_derivatives",
    ("q", "v", "tau"),
    lambda model: [(model.nv, model.nv)] * 3,
    _forward,
    pivots=algorithms.pivots_of_matrix,
)


@fast_path(INVERSE_DYNAMICS_DERIVATIVES)
def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: tuple[np.ndarray, ...] | None = None,
    parameters: Parameters = None,
) -> Three:
    """Derivatives of τ = M(q) a + c(q, v) - Σ Jᵀ f_ext, analytic.

    Returns:
        `(dq, dv, da)`: ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M, shape (…, nv, nv) each.
    """
    values = {"q": q, "v": v, "a": a, "f_ext": f_ext}
    dq, dv, da = evaluate(INVERSE_DYNAMICS_DERIVATIVES, model, values, out, (), parameters)
    return dq, dv, da


@fast_path(FORWARD_DYNAMICS_DERIVATIVES)
def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: tuple[np.ndarray, ...] | None = None,
    parameters: Parameters = None,
) -> Three:
    """Derivatives of q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext).

    Returns:
        `(dq, dv, dtau)`: ∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ = M⁻¹, shape (…, nv, nv) each.
    """
    values = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
    dq, dv, dtau = evaluate(FORWARD_DYNAMICS_DERIVATIVES, model, values, out, (), parameters)
    return dq, dv, dtau
