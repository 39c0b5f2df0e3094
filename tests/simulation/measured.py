"""The order of a method, measured on the end of a trajectory."""

from __future__ import annotations

import numpy as np

import featherweight as fw


def order_of(
    method: str, model: fw.Model, q: np.ndarray, v: np.ndarray, *, time: float, steps: int, finest: int
) -> float:
    """log₂ of the error's ratio between 2 steps and 4 steps of `steps`, against Runge-Kutta with the finest steps."""

    def end(n: int, method: str) -> fw.Trajectory:
        return fw.rollout(model, q, v, steps=n, dt=time / n, integrator=method, record_every=n)

    truth = end(finest, "rk4")
    errors = []
    for n in (2 * steps, 4 * steps):
        run = end(n, method)
        gap = np.concatenate([fw.difference(model, truth.q[-1], run.q[-1]), run.v[-1] - truth.v[-1]])
        errors.append(np.abs(gap).max())
    return float(np.log2(errors[0] / errors[1]))
