"""Where a run went wrong: what there is to see up to there, and in words when and why it ends.

A run that diverges is at 1e142 J before its numbers are no longer finite, and is called a failure only then. What is
shown ends where it leaves all bounds: with more kinetic energy than any robot of its weight and size has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from featherweight.dynamics import kinetic_energy
from featherweight.simulation import Status, Trajectory
from featherweight.simulation.loading import RECORDS

WILD = 1e6  # times m g L, and the energy at the start: no robot is so fast, steps are too long
CALM = 1e2  # … as fast as that it was still itself; the last states before are shown
GRAVITY = 9.81  # [m/s²]
LARGEST = 1e30  # of a number whose square is taken


class Failure(NamedTuple):
    """How many samples of a run are to be shown, at which step and of which lane it failed, and all that in words."""

    samples: int
    where: str
    text: str


def failure_of(trajectory: Trajectory, lane: int = 0) -> Failure | None:
    """Of one robot; None if all of it can be shown."""
    one = trajectory.lane(lane)
    status, states = Status(int(one.status)), len(one.q)
    finite = _bounded(one.q) & _bounded(one.v)
    good = states if finite.all() else int(np.argmin(finite))
    calm, wild = _calm(one, good)
    if status is Status.OK and good == states and not wild:
        return None
    good = max(min(good, calm), 1) if finite[0] else 0
    step, last = int(one.failed_step), float(one.t[max(good - 1, 0)])
    where = f"step {step}" if step >= 0 else f"sample {min(good, states - 1)} of {states - 1}"
    where += f" of lane {lane}" if trajectory.q.ndim > 2 else ""
    reason = "it diverged" if status in (Status.OK, Status.DIVERGED) else status.reason
    return Failure(good, where, f"failed at {where}: {reason}; shown up to {last:.4g} s")


def good_part(trajectory: Trajectory, lane: int = 0) -> tuple[Trajectory, Failure | None]:
    """One robot of a trajectory up to where it failed, and how it did; at least its first state."""
    one, failure = trajectory.lane(lane), failure_of(trajectory, lane)
    if failure is None:
        return one, None
    n = max(failure.samples, 1)
    records: dict[str, Any] = {name: getattr(one, name) for name in RECORDS}
    records = {name: rows[: n - 1] if rows.shape != (0, 0) else rows for name, rows in records.items()}
    return replace(one, t=one.t[:n], q=one.q[:n], v=one.v[:n], **records), failure


def _bounded(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (np.abs(values) < LARGEST).all(axis=-1)


def _calm(one: Trajectory, good: int) -> tuple[int, bool]:
    """How many of the first samples are those of a robot that moves as robots do, and whether it went wild after."""
    model = one.model
    if model is None or not model.nv or not good:
        return good, False
    constants = {name: np.broadcast_to(x, (good, *np.shape(x))) for name, x in one.parameters.items()}
    kinetic = kinetic_energy(model, one.q[:good], one.v[:good], parameters=constants)
    reach = sum(float(np.linalg.norm(np.array(X.r, dtype=float))) for X in model.X_tree[1:])
    usual = kinetic[0] + model.mass * GRAVITY * max(reach, 0.1)
    wild = bool((kinetic > WILD * usual).any())
    fast = kinetic > CALM * usual
    return (int(np.argmax(fast)) if fast.any() else good), wild
