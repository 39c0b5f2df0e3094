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


def _regressor(model: Model, tree: Tree, x: Scalars) -> Results:
    return [flat(algorithms.regressor(tree, x["q"], x["v"], x["a"]))], []


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
REGRESSOR = Quantity("regressor", ("q", "v", "a"), lambda model: [(model.nv, 10 * model.nb)], _regressor)


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
    """Derivatives of the joint forces τ = M(q) a + c(q, v) - Σ Jᵀ f_ext, by analytic formulas.

    Column j of ∂τ/∂q is the derivative along q ⊕ ε e_j, in the directions of v, whatever the joint; f_ext stays as it
    is in the bodies' frames.

    Args:
        out: three arrays for the results; what they hold after an error is undefined.

    Returns:
        `(dq, dv, da)`: ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M, shape (…, nv, nv) each.

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> dq, dv, da = fw.inverse_dynamics_derivatives(pendulum, [0.0], [0.0], [0.0])
    >>> dq, da  # m g l cos q, m l²
    (array([[19.62]]), array([[4.]]))
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
    """Derivatives of the acceleration q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext), by the sparse factors of M.

    Column j of ∂q̈/∂q is the derivative along q ⊕ ε e_j, in the directions of v, whatever the joint; f_ext stays as it
    is in the bodies' frames.

    Args:
        out: three arrays for the results; what they hold after an error is undefined.

    Returns:
        `(dq, dv, dtau)`: ∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ = M⁻¹, shape (…, nv, nv) each.

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> dq, dv, dtau = fw.forward_dynamics_derivatives(pendulum, [0.0], [0.0], [0.0])
    >>> dq, dtau  # -g / l cos q, 1 / (m l²)
    (array([[-4.905]]), array([[0.25]]))
    """
    values = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
    dq, dv, dtau = evaluate(FORWARD_DYNAMICS_DERIVATIVES, model, values, out, (), parameters)
    return dq, dv, dtau


@fast_path(REGRESSOR)
def regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The regressor Y of inertial parameters: joint forces are linear in them, τ = Y(q, v, a) π.

    π has ten numbers for each moving body, 1 … nb: mass m, first moment m c (three), and the inertia about the body's
    origin, xx xy yy xz yz zz. A body includes all links that are fixed to it, and the rotors it carries, as if they did
    not turn. What armature and turning rotors add to `inverse_dynamics` is not in Y π.

    Returns:
        Y, shape (…, nv, 10 nb).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(mass=3.0, length=2.0)
    >>> Y = fw.regressor(pendulum, [0.3], [0.0], [1.0])
    >>> m, h, I = pendulum.inertias[1]
    >>> Y @ [m, *h, I.xx, I.xy, I.yy, I.xz, I.yz, I.zz] - fw.inverse_dynamics(pendulum, [0.3], [0.0], [1.0])
    array([0.])
    """
    return evaluate(REGRESSOR, model, {"q": q, "v": v, "a": a}, out, (), parameters)[0]
