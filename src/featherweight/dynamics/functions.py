"""Dynamics of a model: forces, accelerations, mass matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.dynamics.evaluate import NO_FAST_PATH, Quantity, Results, Scalars, divides, evaluate, flat, wrenches
from featherweight.model import Model, Tree
from featherweight.spatial import Force

Parameters = Mapping[str, Any] | None


def _forward(model: Model, tree: Tree, x: Scalars) -> Results:
    arguments = (x["q"], x["v"], x["tau"], wrenches(x.get("f_ext")))
    if tree.coupled:
        a, pivots = algorithms.coupled_forward_dynamics(tree, *arguments)
        return [a], pivots
    a, D = algorithms.forward_dynamics(tree, *arguments)
    return [a], [pivot for factored in D[1:] for pivot in factored.d]


def _inverse(model: Model, tree: Tree, x: Scalars) -> Results:
    return [algorithms.inverse_dynamics(tree, x["q"], x["v"], x["a"], wrenches(x.get("f_ext")))[0]], []


def _wrenches(model: Model, tree: Tree, x: Scalars) -> Results:
    return [_rows(algorithms.inverse_dynamics(tree, x["q"], x["v"], x["a"], wrenches(x.get("f_ext")))[1])], []


def _mass(model: Model, tree: Tree, x: Scalars) -> Results:
    return [flat(algorithms.mass_matrix(tree, x["q"]))], []


def _hybrid(model: Model, tree: Tree, x: Scalars, prescribed: tuple[int, ...]) -> Results:
    arguments = (x["q"], x["v"], x["tau"], x["a"], dict.fromkeys(prescribed, True), wrenches(x.get("f_ext")))
    if tree.coupled:
        tau, a, pivots = algorithms.coupled_hybrid_dynamics(tree, *arguments)
        return [tau, a], pivots
    tau, a, D = algorithms.hybrid_dynamics(tree, *arguments)
    return [tau, a], [pivot for factored in D for pivot in factored.d]


FORWARD_DYNAMICS = Quantity(
    "forward_dynamics", ("q", "v", "tau"), lambda model: [(model.nv,)], _forward, pivots=divides
)
INVERSE_DYNAMICS = Quantity("inverse_dynamics", ("q", "v", "a"), lambda model: [(model.nv,)], _inverse)
JOINT_WRENCHES = Quantity("joint_wrenches", ("q", "v", "a"), lambda model: [(model.nb + 1, 6)], _wrenches)
MASS_MATRIX = Quantity("mass_matrix", ("q",), lambda model: [(model.nv, model.nv)], _mass)
HYBRID_DYNAMICS = Quantity(
    "hybrid_dynamics",
    ("q", "v", "tau", "a"),
    lambda model, _: [(model.nv,), (model.nv,)],
    _hybrid,
    pivots=algorithms.pivots,
)


def _rows(F: list[Force]) -> list[Any]:
    """Forces as rows [force; moment]; the world's joint carries nothing."""
    return [0.0] * 6 + [x for f in F[1:] for x in (*f.force, *f.moment)]


def forward_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    f_ext: Any = None,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Acceleration q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext), by the articulated-body algorithm.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        tau: joint forces [N m or N], shape (…, nv).
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays for constants that were declared when the model was built, by name.

    Returns:
        The acceleration, shape (…, nv).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> fw.forward_dynamics(pendulum, [0.0], [0.0], [4.0])  # τ / (m l²)
    array([1.])
    """
    if f_ext is None and out is None and parameters is None:
        try:
            result = model.cache.entries["forward_dynamics"](q, v, tau)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    return evaluate(FORWARD_DYNAMICS, model, {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, out, (), parameters)[0]


def inverse_dynamics(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    f_ext: Any = None,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Joint forces τ = M(q) a + c(q, v) - Σ Jᵀ f_ext, by the recursive Newton-Euler algorithm.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        a: acceleration, shape (…, nv).
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays for constants that were declared when the model was built, by name.

    Returns:
        The joint forces [N m or N], shape (…, nv).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> fw.inverse_dynamics(pendulum, [0.0], [0.0], [1.0])  # m l² q̈
    array([4.])
    """
    if f_ext is None and out is None and parameters is None:
        try:
            result = model.cache.entries["inverse_dynamics"](q, v, a)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    return evaluate(INVERSE_DYNAMICS, model, {"q": q, "v": v, "a": a, "f_ext": f_ext}, out, (), parameters)[0]


def joint_wrenches(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    f_ext: Any = None,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The whole force through every joint: reaction forces with the actuation.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        a: acceleration, shape (…, nv).
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays for constants that were declared when the model was built, by name.

    Returns:
        Wrenches [force; moment] in [N, N m], shape (…, nb+1, 6). Row i is what the parent exerts on body i,
        in body i's frame at its origin; row 0, the world's, is zero.
    """
    if f_ext is None and out is None and parameters is None:
        try:
            result = model.cache.entries["joint_wrenches"](q, v, a)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    return evaluate(JOINT_WRENCHES, model, {"q": q, "v": v, "a": a, "f_ext": f_ext}, out, (), parameters)[0]


def mass_matrix(model: Model, q: Any, *, out: np.ndarray | None = None, parameters: Parameters = None) -> np.ndarray:
    """The joint-space inertia matrix M(q), whole and symmetric, by the composite-rigid-body algorithm.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays for constants that were declared when the model was built, by name.

    Returns:
        M, shape (…, nv, nv).

    >>> import featherweight as fw
    >>> fw.mass_matrix(fw.robots.pendulum(length=2.0), [0.3])
    array([[4.]])
    """
    if out is None and parameters is None:
        try:
            result = model.cache.entries["mass_matrix"](q)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    return evaluate(MASS_MATRIX, model, {"q": q}, out, (), parameters)[0]


def hybrid_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    a: Any,
    prescribed: Iterable[str],
    f_ext: Any = None,
    *,
    parameters: Parameters = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Forces and accelerations when some joints are moved as prescribed and the others by given forces.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        tau: joint forces [N m or N], shape (…, nv); ignored where the acceleration is prescribed.
        a: accelerations, shape (…, nv); ignored where it is not prescribed.
        prescribed: names of the joints whose acceleration is given; of a mimic joint, that of its leader.
        f_ext: wrench [force; moment] on each body, in its frame at its origin, shape (…, nb+1, 6).
        parameters: arrays for constants that were declared when the model was built, by name.

    Returns:
        `(tau, a)`, all of them, shape (…, nv) each: what the prescribed joints need, how the others move.

    >>> import featherweight as fw
    >>> cartpole = fw.robots.cartpole(cart_mass=1.0, pole_mass=1.0)
    >>> tau, a = fw.hybrid_dynamics(cartpole, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], ["rail"])
    >>> a  # the cart moves as told, the pole hangs back: θ̈ = -ẍ / L
    array([ 1., -2.])
    """
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    if isinstance(prescribed, str):
        raise TypeError(f"prescribed: expected names of joints, got the text {prescribed!r}; write [{prescribed!r}]")
    bodies = tuple(sorted(model.joint(name).body for name in prescribed))
    values = {"q": q, "v": v, "tau": tau, "a": a, "f_ext": f_ext}
    result = evaluate(HYBRID_DYNAMICS, model, values, None, (bodies,), parameters)
    return result[0], result[1]
