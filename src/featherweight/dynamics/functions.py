"""Dynamics of a model: forces, accelerations, mass matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.docstrings import documented
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, divides, evaluate, flat, wrenches
from featherweight.dynamics.fast_path import fast_path
from featherweight.model import Model, Tree
from featherweight.spatial import Force


def accelerations(tree: Tree, q: list[Any], v: list[Any], tau: list[Any], f_ext: list[Force] | None) -> Results:
    """Those of forward dynamics, and the pivots of the joints' inertias."""
    if tree.coupled:
        a, pivots = algorithms.coupled_forward_dynamics(tree, q, v, tau, f_ext)
        return [a], pivots
    a, D = algorithms.forward_dynamics(tree, q, v, tau, f_ext)
    return [a], [pivot for factored in D[1:] for pivot in factored.d]


def _forward(model: Model, tree: Tree, x: Scalars) -> Results:
    return accelerations(tree, x["q"], x["v"], x["tau"], wrenches(x.get("f_ext")))


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


def acceleration_rule(model: Model, inputs: Scalars, parameters: Scalars) -> Any:
    """The derivative of what solves M a = …: forward dynamics, or M⁻¹ b."""
    from featherweight.dynamics.acceleration_rule import AccelerationRule  # what only differentiates is loaded for it

    return AccelerationRule(model, tuple(inputs), tuple(parameters))


FORWARD_DYNAMICS = Quantity(
    "forward_dynamics", ("q", "v", "tau"), lambda model: [(model.nv,)], _forward, pivots=divides, rule=acceleration_rule
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
    """Forces as rows [force; moment]; row 0, the world's, is zero."""
    return [0.0] * 6 + [x for f in F[1:] for x in (*f.force, *f.moment)]


@fast_path(FORWARD_DYNAMICS)
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Acceleration q̈ = M(q)⁻¹ (τ - c(q, v) + Σ Jᵀ f_ext), by the articulated-body algorithm.

    Returns:
        The acceleration, shape (…, nv).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> fw.forward_dynamics(pendulum, [0.0], [0.0], [4.0])  # τ / (m l²)
    array([1.])
    """
    return evaluate(FORWARD_DYNAMICS, model, {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, out, (), parameters)[0]


@fast_path(INVERSE_DYNAMICS)
def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Joint forces τ = M(q) a + c(q, v) - Σ Jᵀ f_ext, by the recursive Newton-Euler algorithm.

    Returns:
        The joint forces [N m or N], shape (…, nv).

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(length=2.0)
    >>> fw.inverse_dynamics(pendulum, [0.0], [0.0], [1.0])  # m l² q̈
    array([4.])
    """
    return evaluate(INVERSE_DYNAMICS, model, {"q": q, "v": v, "a": a, "f_ext": f_ext}, out, (), parameters)[0]


@fast_path(JOINT_WRENCHES)
def joint_wrenches(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The whole force through every joint: reaction forces with the actuation.

    Returns:
        Wrenches [force; moment] in [N, N m], shape (…, nb+1, 6). Row i is what the parent exerts on body i,
        in body i's frame at its origin; row 0, the world's, is zero.
    """
    return evaluate(JOINT_WRENCHES, model, {"q": q, "v": v, "a": a, "f_ext": f_ext}, out, (), parameters)[0]


@fast_path(MASS_MATRIX)
def mass_matrix(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The joint-space inertia matrix M(q), whole and symmetric, by the composite-rigid-body algorithm.

    Returns:
        M, shape (…, nv, nv).

    >>> import featherweight as fw
    >>> fw.mass_matrix(fw.robots.pendulum(length=2.0), [0.3])
    array([[4.]])
    """
    return evaluate(MASS_MATRIX, model, {"q": q}, out, (), parameters)[0]


@documented
def hybrid_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a: ArrayLike,
    prescribed: Iterable[str],
    f_ext: ArrayLike | None = None,
    *,
    parameters: Parameters = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Forces and accelerations when some joints are moved as prescribed and the others by given forces.

    Args:
        tau: joint forces [N m or N], shape (…, nv); ignored where the acceleration is prescribed.
        a: accelerations, shape (…, nv); ignored where it is not prescribed.
        prescribed: names of the joints whose acceleration is given; of a mimic joint, that of its leader.

    Returns:
        `(tau, a)`, all of them, shape (…, nv) each: what the prescribed joints need, how the others move.

    >>> import featherweight as fw
    >>> cartpole = fw.robots.cartpole(cart_mass=1.0, pole_mass=1.0)
    >>> tau, a = fw.hybrid_dynamics(cartpole, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], ["rail"])
    >>> a  # the cart moves as told, the pole hangs back: θ̈ = -ẍ / L
    array([ 1., -2.])
    """
    checked_model(model)
    if isinstance(prescribed, str):
        raise TypeError(f"prescribed: expected names of joints, got the text {prescribed!r}; write [{prescribed!r}]")
    bodies = tuple(sorted(model.joint(name).body for name in prescribed))
    values = {"q": q, "v": v, "tau": tau, "a": a, "f_ext": f_ext}
    result = evaluate(HYBRID_DYNAMICS, model, values, None, (bodies,), parameters)
    return result[0], result[1]
