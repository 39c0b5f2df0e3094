"""What must hold for the contents of a trajectory's file: nothing is made of it before it was compared. ValueError says
what does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, prod
from typing import Any, NamedTuple

import numpy as np

from featherweight.simulation.header import ROW
from featherweight.simulation.status import Status

Arrays = Mapping[str, np.ndarray]
STATES = ("q", "v", "x")
RECORDS = ("tau", "contact_force", "contact_slip", "penetration", "solver", "convergence")
NAMES = ("q", "v", *RECORDS)
OF_SHAPES = ("pair_force", "slots", "missed")  # where shapes may touch
OUTPUT = "output: "  # names of a controller's outputs begin with it
MOST_FILLED = 64_000_000  # bytes of NaN for samples that a file does not have
INTEGER = 1 << 53  # steps that a double can count


class Course(NamedTuple):
    """What a run was asked for: shape of the batch, step [s], steps from sample to sample, samples after the first."""

    batch: tuple[int, ...]
    dt: float
    every: int
    samples: int


def course_of(run: Any) -> Course:
    """The facts of a run that was written as it went."""
    match run:
        case {"batch": list(batch), "dt": float() | int() as dt, "record_every": int(every), "steps": int(steps)} if (
            all(type(n) is int and n >= 0 for n in batch)
            and not isinstance(dt, bool)
            and 0 < dt < 1e300
            and 0 < every <= INTEGER
            and 0 <= steps <= INTEGER
            and isfinite(float(dt) * steps)
        ):
            return Course(tuple(batch), float(dt), every, steps // every)
    raise ValueError(f"the facts of the run are impossible: {str(run)[:200]}")


def joined(course: Course, chunks: Sequence[Arrays]) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
    """States and records of all chunks, each (lanes, samples, …), the last clock, and how many samples there shall be:
    what was asked for, or what is there if that would be very much more."""
    lanes, had = prod(course.batch), 0
    first = chunks[0]
    for k, arrays in enumerate(chunks):
        new = _shape(arrays, "q", 3)[1]
        for name in (*NAMES, *others(first)):
            wanted = (lanes, new - (k == 0 and name not in STATES), *_shape(first, name)[2:])
            _is(arrays, name, wanted)
        had += new
    clock = _is(chunks[-1], "clock", (lanes, *_shape(first, "clock", 2)[1:]))
    if not 0 < had <= course.samples + 1 or clock.shape[1] < 3:
        raise ValueError(f"{had} samples of {course.samples + 1}, and a clock of {clock.shape[1]} numbers")
    if not lanes and 8 * had > MOST_FILLED:  # the times of nothing
        raise ValueError(f"{had} samples of no robot")
    check_ends(clock[:, 1], clock[:, 2])
    names = *NAMES, *others(first)
    whole = {n: np.concatenate([arrays[n] for arrays in chunks], axis=1) for n in names}
    bytes_of_one = 8 + sum(array[:, :1].nbytes for array in whole.values())
    missing = course.samples + 1 - had
    return whole, clock, course.samples if missing * bytes_of_one <= MOST_FILLED else had - 1


def check_saved(arrays: Arrays, complete: Any) -> None:
    """The arrays of a trajectory that was written whole, and whether it had come to its end."""
    more = others(arrays)
    if set(arrays) - {ROW, *more} != {*NAMES, "t", "status", "failed_step"} or not isinstance(complete, bool):
        raise ValueError(f"expected the arrays of a trajectory, got {', '.join(arrays)[:200]}, complete {complete!r}")
    batch, samples = _shape(arrays, "q")[:-2], len(_is(arrays, "t", _shape(arrays, "t", 1)))
    if not samples or not np.isfinite(arrays["t"]).all():
        raise ValueError(f"expected times, got {samples}, or not finite")
    for name in (n for n in STATES if n in arrays):
        _is(arrays, name, (*batch, samples, *_shape(arrays, name)[-1:]))
    for name in (*RECORDS, *(n for n in more if n not in STATES)):
        if _shape(arrays, name) != (0, 0):
            _is(arrays, name, (*batch, samples - 1, *_shape(arrays, name)[len(batch) + 1 :]))
    for name in ("status", "failed_step"):
        if _shape(arrays, name) != batch or arrays[name].dtype.kind not in "ui":
            raise ValueError(f"{name}: expected whole numbers of shape {batch}, got {arrays[name].dtype}")
    check_ends(arrays["status"], arrays["failed_step"])


def others(arrays: Arrays) -> list[str]:
    """Names of what only some runs have: a controller's state and outputs, forces of shapes that touch."""
    return [name for name in arrays if name in ("x", *OF_SHAPES) or name.startswith(OUTPUT)]


def check_sizes(model: Any, arrays: Arrays) -> None:
    """States of the robot that the file has, with its contact points."""
    sizes = {"q": model.nq, "v": model.nv, "tau": model.nv}
    for name, size in sizes.items():
        if arrays[name].shape[-1:] != (size,) and arrays[name].size:
            raise ValueError(f"{name}: expected {size} numbers a state, got {arrays[name].shape[-1]}")
    force, points = arrays["contact_force"], len(model.contact_points)
    if force.size and force.shape[-2:] != (points, 3):
        raise ValueError(f"contact_force: expected {points} points, got {force.shape[-2:]}")


def check_ends(status: np.ndarray, failed: np.ndarray) -> None:
    """How lanes ended, and at which step; -1 if they did not."""
    known = np.isin(status, list(Status)).all() and np.isin(np.sign(failed), (-1, 0, 1)).all()
    if not known or not (np.abs(failed) <= INTEGER).all() or (failed != np.trunc(failed)).any():
        raise ValueError("how lanes ended is impossible: expected a status and a step of each")


def _shape(arrays: Arrays, name: str, axes: int | None = None) -> tuple[int, ...]:
    shape = arrays[name].shape
    if len(shape) < 2 and axes is None and name not in ("status", "failed_step"):
        raise ValueError(f"{name}: expected two axes or more, got {len(shape)}")
    if axes is not None and len(shape) != axes:
        raise ValueError(f"{name}: expected {axes} axes, got {len(shape)}")
    return shape


def _is(arrays: Arrays, name: str, shape: tuple[int, ...]) -> np.ndarray:
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64:
        raise ValueError(f"{name}: expected float64 of shape {shape}, got {array.dtype} of shape {array.shape}")
    return array
