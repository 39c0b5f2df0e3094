"""Energy, centre of mass and momentum of the whole robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.dynamics.evaluate import (
    NO_FAST_PATH,
    Quantity,
    Results,
    Scalars,
    as_columns,
    evaluate,
    linear_first,
    run,
)
from featherweight.model import Model, Tree

Parameters = Mapping[str, Any] | None


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


def kinetic_energy(
    model: Model, q: Any, v: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Kinetic energy ½ vᵀ M v, with armature and rotors.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Energy [J], shape (…).

    >>> import featherweight as fw
    >>> float(fw.kinetic_energy(fw.robots.pendulum(), [0.3], [2.0]))  # ½ m (l q̇)²
    2.0
    """
    return run(KINETIC_ENERGY, model, (q, v), out, parameters)[()]


def potential_energy(
    model: Model, q: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Potential energy of gravity, zero at the world's origin, and of the joints' springs.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Energy [J], shape (…).

    >>> import featherweight as fw
    >>> float(fw.potential_energy(fw.robots.pendulum(), [0.0]))  # -m g l
    -9.81
    """
    return run(POTENTIAL_ENERGY, model, (q,), out, parameters)[()]


def center_of_mass(model: Model, q: Any, *, out: np.ndarray | None = None, parameters: Parameters = None) -> np.ndarray:
    """Centre of mass of all moving bodies, in the world.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Position [m], shape (…, 3).

    >>> import featherweight as fw
    >>> float(fw.center_of_mass(fw.robots.pendulum(), [0.0])[2])
    -1.0
    """
    return run(CENTER_OF_MASS, model, (q,), out, parameters)


def com_jacobian(model: Model, q: Any, *, out: np.ndarray | None = None, parameters: Parameters = None) -> np.ndarray:
    """Jacobian of the centre of mass: its velocity in the world is J v.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        J, shape (…, 3, nv).
    """
    return run(COM_JACOBIAN, model, (q,), out, parameters)


def momentum(
    model: Model, q: Any, v: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Momentum [linear; angular] of the whole robot about the world's origin, in its axes.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Momentum [kg m/s, kg m²/s], shape (…, 6).
    """
    return run(MOMENTUM, model, (q, v), out, parameters)


def centroidal_momentum_matrix(
    model: Model, q: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The matrix A(q): A v is the momentum [linear; angular] about the centre of mass, in the world's axes.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        A, shape (…, 6, nv).
    """
    if out is None and parameters is None:
        try:
            result = model.cache.entries["centroidal_momentum_matrix"](q)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    return evaluate(CENTROIDAL_MOMENTUM_MATRIX, model, {"q": q}, out, (), parameters)[0]


def centroidal_bias(
    model: Model, q: Any, v: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """(dA/dt) v: the rate of the centroidal momentum at zero acceleration.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Rate [N, N m], linear first, shape (…, 6).
    """
    return run(CENTROIDAL_BIAS, model, (q, v), out, parameters)
