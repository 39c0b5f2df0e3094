"""Dynamics of a model: forces, accelerations, mass matrix."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.dynamics.evaluate import Quantity, evaluate, native, wrenches
from featherweight.model import Model, Tree
from featherweight.spatial import Force

Scalars = dict[str, list[Any]]


def _forward(model: Model, tree: Tree, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    a, D = algorithms.forward_dynamics(tree, x["q"], x["v"], x["tau"], wrenches(x.get("f_ext")))
    return [a], [pivot for factored in D[1:] for pivot in factored.d]


def _inverse(model: Model, tree: Tree, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    return [algorithms.inverse_dynamics(tree, x["q"], x["v"], x["a"], wrenches(x.get("f_ext")))[0]], []


def _wrenches(model: Model, tree: Tree, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    return [_rows(algorithms.inverse_dynamics(tree, x["q"], x["v"], x["a"], wrenches(x.get("f_ext")))[1])], []


def _mass(model: Model, tree: Tree, x: Scalars) -> tuple[list[list[Any]], list[Any]]:
    return [list(chain.from_iterable(algorithms.mass_matrix(tree, x["q"], model.nv)))], []


FORWARD_DYNAMICS = Quantity("forward_dynamics", ("q", "v", "tau"), lambda model: [(model.nv,)], _forward)
INVERSE_DYNAMICS = Quantity("inverse_dynamics", ("q", "v", "a"), lambda model: [(model.nv,)], _inverse)
JOINT_WRENCHES = Quantity("joint_wrenches", ("q", "v", "a"), lambda model: [(model.nb + 1, 6)], _wrenches)
MASS_MATRIX = Quantity("mass_matrix", ("q",), lambda model: [(model.nv, model.nv)], _mass)


def _rows(F: list[Force]) -> list[Any]:
    """Forces as rows [force; moment]; the world's joint carries nothing."""
    return [0.0] * 6 + [x for f in F[1:] for x in (*f.force, *f.moment)]


def forward_dynamics(
    model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Acceleration q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext), by the articulated-body algorithm.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        tau: joint forces [N m or N], shape (…, nv).
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        out: array for the result; what it holds after an error is undefined.

    Returns:
        The acceleration, shape (…, nv).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> fw.forward_dynamics(pendulum, [0.0], [0.0], [4.0])  # τ / (m l²)
    array([1.])
    """
    if f_ext is None and out is None:
        a = native(model, "forward_dynamics")(q, v, tau)
        if a is not None:
            return a
    return evaluate(FORWARD_DYNAMICS, model, {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, out)[0]


def inverse_dynamics(
    model: Model, q: Any, v: Any, a: Any, f_ext: Any = None, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Joint forces τ = M(q) a + c(q, v) - Σ Jᵀ f_ext, by the recursive Newton-Euler algorithm.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        a: acceleration, shape (…, nv).
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        out: array for the result; what it holds after an error is undefined.

    Returns:
        The joint forces [N m or N], shape (…, nv).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> fw.inverse_dynamics(pendulum, [0.0], [0.0], [1.0])  # m l² q̈
    array([4.])
    """
    if f_ext is None and out is None:
        tau = native(model, "inverse_dynamics")(q, v, a)
        if tau is not None:
            return tau
    return evaluate(INVERSE_DYNAMICS, model, {"q": q, "v": v, "a": a, "f_ext": f_ext}, out)[0]


def joint_wrenches(
    model: Model, q: Any, v: Any, a: Any, f_ext: Any = None, *, out: np.ndarray | None = None
) -> np.ndarray:
    """The whole force through every joint: reaction forces with the actuation.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        a: acceleration, shape (…, nv).
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        out: array for the result; what it holds after an error is undefined.

    Returns:
        Wrenches [force; moment] in [N, N m], shape (…, nb+1, 6). Row i is what the parent exerts on body i,
        in body i's frame at its origin; row 0, the world's, is zero.
    """
    if f_ext is None and out is None:
        f = native(model, "joint_wrenches")(q, v, a)
        if f is not None:
            return f
    return evaluate(JOINT_WRENCHES, model, {"q": q, "v": v, "a": a, "f_ext": f_ext}, out)[0]


def mass_matrix(model: Model, q: Any, *, out: np.ndarray | None = None) -> np.ndarray:
    """The joint-space inertia matrix M(q), whole and symmetric, by the composite-rigid-body algorithm.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.

    Returns:
        M, shape (…, nv, nv).

    >>> import featherweight as fw
    >>> fw.mass_matrix(fw.robots.pendulum(length=2.0), [0.3])
    array([[4.]])
    """
    if out is None:
        M = native(model, "mass_matrix")(q)
        if M is not None:
            return M
    return evaluate(MASS_MATRIX, model, {"q": q}, out)[0]
