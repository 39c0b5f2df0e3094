"""Controllers that a run can have by name. A new one is a line in `CONTROLLERS`."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.control.names import CONTROLLERS as OF_ROBOTS
from featherweight.model import Model

STIFFNESS, DAMPING = 4.5, 0.11  # gains of `hold`, for each kilogram of the robot [N m/rad/kg], [N m s/rad/kg]
FASTEST = 100.0  # natural frequency [rad/s] of a joint that is held: light ones get less, or they would tremble

Control = Callable[..., Any] | None


def none(model: Model, q: np.ndarray) -> Control:
    """Nothing drives the joints."""
    return None


def hold(model: Model, q: np.ndarray) -> Control:
    """PD towards the first configuration, on all joints with one coordinate, within their limits of effort. Gains
    follow the robot's mass, and where a joint is too light for them, its inertia."""
    joints = [j for j in model.independent_joints if j.kind.nq == 1]
    places, degrees = [j.q.start for j in joints], [j.v.start for j in joints]
    target, limits = q[places], np.array([j.limits.effort[0] for j in joints])  # type: ignore[index]
    inertia = 1.0 / np.diag(fw.mass_matrix_inverse(model, q))[degrees]  # that each joint feels if the others are free
    kp = np.minimum(STIFFNESS * model.mass, FASTEST**2 * inertia)
    kd = np.minimum(DAMPING * model.mass, 2.0 * FASTEST * inertia)

    def pd(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        tau = np.zeros(model.nv, dtype=object)
        for k, place, degree in zip(range(len(joints)), places, degrees, strict=True):
            asked = kp[k] * (target[k] - q[place]) - kd[k] * v[degree]
            tau[degree] = fw.scalar.maximum(fw.scalar.minimum(asked, limits[k]), -limits[k])
        return tau, x

    return fw.compiled(pd)


USUAL = {"humanoid": "balance"}  # what a built-in robot on the ground does, if not `hold`
CONTROLLERS: dict[str, Callable[..., Control]] = {"none": none, "hold": hold, **OF_ROBOTS}


def controller_named(name: str, model: Model, q: np.ndarray) -> Control:
    """One of those above, or `FILE.py:NAME`: a function f(t, q, v) -> tau in a file of yours."""
    if name in CONTROLLERS:
        return CONTROLLERS[name](model, q)
    file, colon, function = name.rpartition(":")
    if not colon or not Path(file).is_file():
        raise ValueError(f"--controller: expected {', '.join(CONTROLLERS)} or FILE.py:NAME, got {name!r}")
    try:
        found = runpy.run_path(file).get(function)
    except Exception as error:
        at = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        where = f"line {at[-1]}: " if at else ""
        raise ValueError(f"--controller: {file} cannot be run: {where}{type(error).__name__}: {error}") from None
    if not callable(found) and not hasattr(found, "function"):
        raise ValueError(f"--controller: {file} has no function {function!r}")
    return found
