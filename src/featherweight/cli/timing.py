"""A run and how long it took, without what compiling took."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import featherweight as fw
from featherweight.model import Model
from featherweight.simulation import Compiled, Trajectory


class Timed(NamedTuple):
    """A trajectory, and the seconds it took to compute; None if that is not known."""

    run: Trajectory
    seconds: float | None


def timed(
    model: Model, q: np.ndarray, *, dt: float, control: Any = None, progress: bool = False, **options: Any
) -> Timed:
    """`simulate` from rest, after one step that compiles; a controller in Python is not called for that one."""
    v = np.zeros(model.nv)
    by_python = control is not None and not isinstance(control, Compiled)
    means = {name: value for name, value in options.items() if name not in ("duration", "record_every")}
    drive: dict[str, Any] = {"tau": np.zeros((1, model.nv))} if by_python else {"control": control}
    fw.rollout(model, q, v, steps=1, dt=dt, **drive, **means)
    began = time.perf_counter()
    run = fw.simulate(model, q, v, dt=dt, control=control, progress=progress, **options)
    return Timed(run, time.perf_counter() - began)
