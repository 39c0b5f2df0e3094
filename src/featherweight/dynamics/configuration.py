"""Steps between configurations: q ⊕ v and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, evaluate
from featherweight.dynamics.fast_path import fast_path
from featherweight.model import Model, Tree


def _integrate(model: Model, tree: Tree, x: Scalars) -> Results:
    (dt,) = x["dt"]
    return [algorithms.integrate(tree, x["q"], [rate * dt for rate in x["v"]])], []


def _as_array(dt: Any) -> Any:
    """A number as an array without axes, which entry points take."""
    return np.array(float(dt)) if isinstance(dt, (float, int)) and not isinstance(dt, bool) else dt


INTEGRATE = Quantity("integrate", ("q", "v", "dt"), lambda model: [(model.nq,)], _integrate)
DIFFERENCE = Quantity(
    "difference",
    ("q0", "q1"),
    lambda model: [(model.nv,)],
    lambda model, tree, x: ([algorithms.difference(tree, x["q0"], x["q1"])], []),
)


@fast_path(INTEGRATE, convert={"dt": _as_array})
def integrate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: ArrayLike,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The configuration q ⊕ v dt after a step, in each joint's own space (line, circle, rotations).

    Args:
        v: velocity, held constant in each joint's own frame, shape (…, nv).
        dt: time step [s], shape (…).

    Returns:
        The configuration after the step, shape (…, nq); quaternions have unit length.

    >>> import featherweight as fw
    >>> fw.integrate(fw.robots.pendulum(), [0.1], [2.0], 0.5)
    array([1.1])
    """
    return evaluate(INTEGRATE, model, {"q": q, "v": v, "dt": _as_array(dt)}, out, (), parameters)[0]


@fast_path(DIFFERENCE)
def difference(
    model: Model, q0: ArrayLike, q1: ArrayLike, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The velocity that leads from q0 to q1 in a unit of time: q1 = q0 ⊕ v. For orientations and continuous joints
    the short way round.

    Args:
        q0: configuration, shape (…, nq).
        q1: configuration, shape (…, nq).

    Returns:
        The velocity, shape (…, nv).

    >>> import featherweight as fw
    >>> fw.difference(fw.robots.pendulum(), [0.25], [1.0])
    array([0.75])
    """
    return evaluate(DIFFERENCE, model, {"q0": q0, "q1": q1}, out, (), parameters)[0]
