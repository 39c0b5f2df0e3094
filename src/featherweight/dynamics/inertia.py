"""Inverse of the mass matrix, and forces: bias, gravity, Coriolis, passive joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, divides, evaluate, flat
from featherweight.dynamics.fast_path import fast_path
from featherweight.dynamics.functions import acceleration_rule, accelerations
from featherweight.model import Model, Tree


def _inverse(model: Model, tree: Tree, x: Scalars) -> Results:
    factors = algorithms.factorize(algorithms.mass_matrix(tree, x["q"]), tree.mark)
    return [flat(factors.inverse(tree.mark))], factors.d


def _solve(model: Model, tree: Tree, x: Scalars) -> Results:
    return accelerations(tree.without_gravity(), x["q"], [0] * tree.nv, x["b"], None)


def _bias(model: Model, tree: Tree, x: Scalars) -> Results:
    return [algorithms.inverse_dynamics(tree, x["q"], x["v"], [0] * tree.nv, None)[0]], []


def _gravity(model: Model, tree: Tree, x: Scalars) -> Results:
    still = [0] * tree.nv
    return [algorithms.inverse_dynamics(tree, x["q"], still, still, None)[0]], []


def _coriolis(model: Model, tree: Tree, x: Scalars) -> Results:
    return [flat(algorithms.coriolis_matrix(tree, x["q"], x["v"]))], []


def _passive(model: Model, tree: Tree, x: Scalars) -> Results:
    return [algorithms.passive_force(tree, x["q"], x["v"])], []


MASS_MATRIX_INVERSE = Quantity(
    "mass_matrix_inverse",
    ("q",),
    lambda model: [(model.nv, model.nv)],
    _inverse,
    chunk_limit=96,  # measured: blocks of products keep what they read in registers
    pivots=algorithms.pivots_of_matrix,
)
SOLVE_MASS_MATRIX = Quantity(
    "solve_mass_matrix", ("q", "b"), lambda model: [(model.nv,)], _solve, pivots=divides, rule=acceleration_rule
)
BIAS_FORCE = Quantity("bias_force", ("q", "v"), lambda model: [(model.nv,)], _bias)
GRAVITY_FORCE = Quantity("gravity_force", ("q",), lambda model: [(model.nv,)], _gravity)
CORIOLIS_MATRIX = Quantity("coriolis_matrix", ("q", "v"), lambda model: [(model.nv, model.nv)], _coriolis)
PASSIVE_FORCE = Quantity("passive_force", ("q", "v"), lambda model: [(model.nv,)], _passive)


@fast_path(MASS_MATRIX_INVERSE)
def mass_matrix_inverse(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The inverse M(q)⁻¹ of the mass matrix, whole and symmetric, by its sparse factors M = Lᵀ D L.

    Returns:
        M⁻¹, shape (…, nv, nv).

    >>> import featherweight as fw
    >>> fw.mass_matrix_inverse(fw.robots.pendulum(length=2.0), [0.3])
    array([[0.25]])
    """
    return evaluate(MASS_MATRIX_INVERSE, model, {"q": q}, out, (), parameters)[0]


@fast_path(SOLVE_MASS_MATRIX)
def solve_mass_matrix(
    model: Model, q: ArrayLike, b: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """M(q)⁻¹ b, without forming M: the acceleration that forces b give a robot at rest without gravity.

    Args:
        b: right-hand side, shape (…, nv).

    Returns:
        M⁻¹ b, shape (…, nv).

    >>> import featherweight as fw
    >>> fw.solve_mass_matrix(fw.robots.pendulum(length=2.0), [0.3], [1.0])
    array([0.25])
    """
    return evaluate(SOLVE_MASS_MATRIX, model, {"q": q, "b": b}, out, (), parameters)[0]


@fast_path(BIAS_FORCE)
def bias_force(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Forces c(q, v) = C v + g that hold the robot at zero acceleration.

    Returns:
        c [N m or N], shape (…, nv).
    """
    return evaluate(BIAS_FORCE, model, {"q": q, "v": v}, out, (), parameters)[0]


@fast_path(GRAVITY_FORCE)
def gravity_force(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Forces g(q) that hold the robot still against gravity.

    Returns:
        g [N m or N], shape (…, nv).

    >>> import featherweight as fw
    >>> fw.gravity_force(fw.robots.pendulum(), [0.0])  # hanging
    array([0.])
    """
    return evaluate(GRAVITY_FORCE, model, {"q": q}, out, (), parameters)[0]


@fast_path(CORIOLIS_MATRIX)
def coriolis_matrix(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The Coriolis matrix C(q, v): C v + g = c, and dM/dt - 2C is skew-symmetric.

    Returns:
        C, shape (…, nv, nv).
    """
    return evaluate(CORIOLIS_MATRIX, model, {"q": q, "v": v}, out, (), parameters)[0]


@fast_path(PASSIVE_FORCE)
def passive_force(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Forces of the joints themselves: -damping v - friction sgn v - stiffness (q ⊖ rest).

    The other functions describe the rigid bodies with armature and rotors only; a simulator adds these.

    Returns:
        Forces [N m or N], shape (…, nv).
    """
    return evaluate(PASSIVE_FORCE, model, {"q": q, "v": v}, out, (), parameters)[0]
