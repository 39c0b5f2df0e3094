"""Steps between configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.dynamics.evaluate import Quantity, Results, Scalars, run
from featherweight.model import Model, Tree

Parameters = Mapping[str, Any] | None


def _integrate(model: Model, tree: Tree, x: Scalars) -> Results:
    (dt,) = x["dt"]
    return [algorithms.integrate(tree, x["q"], [rate * dt for rate in x["v"]])], []


INTEGRATE = Quantity("integrate", ("q", "v", "dt"), lambda model: [(model.nq,)], _integrate)
DIFFERENCE = Quantity(
    "difference",
    ("q0", "q1"),
    lambda model: [(model.nv,)],
    lambda model, tree, x: ([algorithms.difference(tree, x["q0"], x["q1"])], []),
)


def integrate(
    model: Model, q: Any, v: Any, dt: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Where a configuration gets to: q ⊕ v dt, on the circle, the sphere, or wherever the joints live.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, held constant in each joint's own frame, shape (…, nv).
        dt: time step [s], shape (…).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        The configuration after the step, shape (…, nq); quaternions have unit length.

    >>> import featherweight as fw
    >>> fw.integrate(fw.robots.pendulum(), [0.1], [2.0], 0.5)
    array([1.1])
    """
    step = np.array(float(dt)) if isinstance(dt, (float, int)) and not isinstance(dt, bool) else dt
    return run(INTEGRATE, model, (q, v, step), out, parameters)


def difference(
    model: Model, q0: Any, q1: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The velocity that leads from q0 to q1 in a unit of time: q1 = q0 ⊕ v. For orientations and continuous joints
    the short way round.

    Args:
        model: the robot.
        q0: configuration, shape (…, nq).
        q1: configuration, shape (…, nq).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        The velocity, shape (…, nv).

    >>> import featherweight as fw
    >>> fw.difference(fw.robots.pendulum(), [0.25], [1.0])
    array([0.75])
    """
    return run(DIFFERENCE, model, (q0, q1), out, parameters)
