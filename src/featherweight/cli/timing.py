"""A run and how long it took, apart from what compiling took; and how long that will be, told before it begins."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import featherweight as fw
from featherweight.contact import ContactModel
from featherweight.model import Model
from featherweight.simulation import Compiled, Trajectory

# seconds of one free core, by fitting ten robots from pendulum to Talos (2026-11-18)
SECONDS_OF_A_JOINT = 0.03
SECONDS_OF_A_POINT = {"Impulse": 0.1, "SpringDamper": 0.03}


class Timed(NamedTuple):
    """A trajectory, and the seconds it took to compute and to compile; None if that is not known."""

    run: Trajectory
    seconds: float | None
    compiling: float | None = None


def expected_compiling(model: Model, contact: ContactModel | None) -> float:
    """About how long compiling a step takes the first time [s], on a core that has nothing else to do."""
    if contact is None:
        return SECONDS_OF_A_JOINT * model.nv
    shapes = contact.arranged(model)
    points = len(model.contact_points) + sum(pair.count for pair in shapes.direct) + 2 * shapes.slots
    return SECONDS_OF_A_JOINT * model.nv + points * SECONDS_OF_A_POINT.get(type(contact).__name__, 0.0)


def timed(
    model: Model, q: np.ndarray, *, dt: float, control: Any = None, progress: bool = False, **options: Any
) -> Timed:
    """`simulate` from rest, after one step that compiles; a controller in Python is not called for that one."""
    v = np.zeros(model.nv)
    by_python = control is not None and not isinstance(control, Compiled)
    means = {name: value for name, value in options.items() if name not in ("duration", "record_every")}
    drive: dict[str, Any] = {"tau": np.zeros((1, model.nv))} if by_python else {"control": control}
    began = time.perf_counter()
    fw.rollout(model, q, v, steps=1, dt=dt, **drive, **means)
    compiled = time.perf_counter()
    run = fw.simulate(model, q, v, dt=dt, control=control, progress=progress, **options)
    return Timed(run, time.perf_counter() - compiled, compiled - began)
