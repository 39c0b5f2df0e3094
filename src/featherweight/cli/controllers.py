"""Controllers that a run can have by name. A new one is a line in `CONTROLLERS`."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.control.layout import RowLayout, shaped
from featherweight.control.names import CONTROLLERS as OF_ROBOTS
from featherweight.model import Model

STIFFNESS, DAMPING = 4.5, 0.11  # gains of `hold`, for each kilogram of the robot [N m/rad/kg], [N m s/rad/kg]
FASTEST = 100.0  # natural frequency [rad/s] of a joint that is held: light ones get less, or they would tremble

Control = Callable[..., Any] | None


def none(model: Model, q: np.ndarray) -> Control:
    """Nothing drives the joints."""
    return None


@dataclass(frozen=True)
class HoldParameters:
    """Parameters p of `hold`: of each held joint its angle, gains, and limit of effort."""

    target: np.ndarray = shaped("joints")
    stiffness: np.ndarray = shaped("joints")
    damping: np.ndarray = shaped("joints")
    effort: np.ndarray = shaped("joints")


@dataclass(frozen=True)
class Hold:
    """A controller f(t, q, v, x, p): PD on these coordinates and degrees of freedom, within the limits of effort."""

    nv: int
    places: tuple[int, ...]
    degrees: tuple[int, ...]

    @property
    def layout(self) -> RowLayout[HoldParameters]:
        """Of p."""
        return RowLayout(HoldParameters, {"joints": len(self.places)})

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        own, tau = self.layout.read(p), np.array([0.0] * self.nv, dtype=object)
        asked = own.stiffness * (own.target - q[list(self.places)]) - own.damping * v[list(self.degrees)]
        for degree, force, limit in zip(self.degrees, asked, own.effort, strict=True):
            tau[degree] = fw.scalar.maximum(fw.scalar.minimum(force, limit), -limit)
        return tau, x


def hold(model: Model, q: np.ndarray) -> Control:
    """PD towards the first configuration, on all joints with one coordinate, within their limits of effort. Gains
    follow the robot's mass, and where a joint is too light for them, its inertia."""
    joints = [j for j in model.independent_joints if j.kind.nq == 1]
    function = Hold(model.nv, tuple(j.q.start for j in joints), tuple(j.v.start for j in joints))
    places, degrees = list(function.places), list(function.degrees)
    inertia = 1.0 / np.diag(fw.mass_matrix_inverse(model, q))[degrees]  # that each joint feels if the others are free
    parameters = HoldParameters(
        q[places],
        np.minimum(STIFFNESS * model.mass, FASTEST**2 * inertia),
        np.minimum(DAMPING * model.mass, 2.0 * FASTEST * inertia),
        np.array([np.ravel(j.limits.effort)[0] for j in joints]),
    )
    return fw.compiled(function, parameters=function.layout.pack(parameters))


USUAL = {"humanoid": "balance"}  # what a built-in robot on the ground does, if not `hold`
CROUCHING = ("stand", "trot")  # controllers of quadrupeds, which begin on bent legs
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
