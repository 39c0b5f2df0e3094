"""Energy, centre of mass and momentum of the whole robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, as_columns, evaluate, linear_first
from featherweight.dynamics.fast_path import fast_path
from featherweight.model import Model, Tree


def _number(energy: np.ndarray) -> np.ndarray:
    """A number for one state, not an array without axes."""
    return energy[()]


def _centroidal(model: Model, tree: Tree, x: Scalars) -> Results:
    columns = algorithms.centroidal_momentum_matrix(tree, x["q"])
    return [as_columns([linear_first(column) for column in columns])], []


KINETIC_ENERGY = Quantity(
    "kinetic_energy",
    ("q", "v"),
    lambda model: [()],
    lambda model, tree, x: ([[algorithms.kinetic_energy(tree, x["q"], x["v"])]], []),
)
POTENTIAL_ENERGY = Quantity(
    "potential_energy",
    ("q",),
    lambda model: [()],
    lambda model, tree, x: ([[algorithms.potential_energy(tree, x["q"])]], []),
)
CENTER_OF_MASS = Quantity(
    "center_of_mass",
    ("q",),
    lambda model: [(3,)],
    lambda model, tree, x: ([list(algorithms.center_of_mass(tree, x["q"]))], []),
)
COM_JACOBIAN = Quantity(
    "com_jacobian",
    ("q",),
    lambda model: [(3, model.nv)],
    lambda model, tree, x: ([as_columns(algorithms.com_jacobian(tree, x["q"]))], []),
)
MOMENTUM = Quantity(
    "momentum",
    ("q", "v"),
    lambda model: [(6,)],
    lambda model, tree, x: ([linear_first(algorithms.momentum(tree, x["q"], x["v"]))], []),
)
CENTROIDAL_MOMENTUM_MATRIX = Quantity("centroidal_momentum_matrix", ("q",), lambda model: [(6, model.nv)], _centroidal)
CENTROIDAL_BIAS = Quantity(
    "centroidal_bias",
    ("q", "v"),
    lambda model: [(6,)],
    lambda model, tree, x: ([linear_first(algorithms.centroidal_bias(tree, x["q"], x["v"]))], []),
)


@fast_path(KINETIC_ENERGY, returned=_number)
def kinetic_energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Kinetic energy ½ vᵀ M v, with armature and rotors.

    Returns:
        Energy [J], shape (…).

    >>> import featherweight as fw
    >>> float(fw.kinetic_energy(fw.robots.pendulum(), [0.3], [2.0]))  # ½ m (l q̇)²
    2.0
    """
    return _number(evaluate(KINETIC_ENERGY, model, {"q": q, "v": v}, out, (), parameters)[0])


@fast_path(POTENTIAL_ENERGY, returned=_number)
def potential_energy(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Potential energy of gravity, zero at the world's origin, and of the joints' springs.

    Returns:
        Energy [J], shape (…).

    >>> import featherweight as fw
    >>> float(fw.potential_energy(fw.robots.pendulum(), [0.0]))  # -m g l
    -9.81
    """
    return _number(evaluate(POTENTIAL_ENERGY, model, {"q": q}, out, (), parameters)[0])


@fast_path(CENTER_OF_MASS)
def center_of_mass(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Centre of mass of all moving bodies, in the world.

    Returns:
        Position [m], shape (…, 3).

    >>> import featherweight as fw
    >>> float(fw.center_of_mass(fw.robots.pendulum(), [0.0])[2])
    -1.0
    """
    return evaluate(CENTER_OF_MASS, model, {"q": q}, out, (), parameters)[0]


@fast_path(COM_JACOBIAN)
def com_jacobian(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Jacobian of the centre of mass: its velocity in the world is J v.

    Returns:
        J, shape (…, 3, nv).
    """
    return evaluate(COM_JACOBIAN, model, {"q": q}, out, (), parameters)[0]


@fast_path(MOMENTUM)
def momentum(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Momentum [linear; angular] of the whole robot about the world's origin, in its axes.

    Returns:
        Momentum [kg m/s, kg m²/s], shape (…, 6).
    """
    return evaluate(MOMENTUM, model, {"q": q, "v": v}, out, (), parameters)[0]


@fast_path(CENTROIDAL_MOMENTUM_MATRIX)
def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The matrix A(q): A v is the momentum [linear; angular] about the centre of mass, in the world's axes.

    Returns:
        A, shape (…, 6, nv).
    """
    return evaluate(CENTROIDAL_MOMENTUM_MATRIX, model, {"q": q}, out, (), parameters)[0]


@fast_path(CENTROIDAL_BIAS)
def centroidal_bias(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """(dA/dt) v: the rate of the centroidal momentum at zero acceleration.

    Returns:
        Rate [N, N m], linear first, shape (…, 6).
    """
    return evaluate(CENTROIDAL_BIAS, model, {"q": q, "v": v}, out, (), parameters)[0]
