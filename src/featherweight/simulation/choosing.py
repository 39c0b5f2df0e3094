"""Which robots of a stepper, how many, their states, and for whom: what its calls have to know before they begin."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.runtime.arguments import as_array
from featherweight.simulation.problem import whole_number
from featherweight.simulation.status import Status

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_ROBOTS = 100_000_000


class Alone:
    """A lock that nobody waits for: RuntimeError if another thread is at work."""

    def __init__(self) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():  # it may have been another thread's when the process forked
            self._lock, self._process = threading.Lock(), os.getpid()
        if not self._lock.acquire(False):
            raise RuntimeError("this Stepper is at work in another thread; a stepper is for one thread at a time")

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def chosen(ids: ArrayLike, count: int) -> np.ndarray:
    """Numbers of robots, each once."""
    array = np.asarray(ids)
    if array.dtype == bool:
        if array.shape != (count,):
            raise ValueError(f"ids: expected a boolean of shape ({count},), got {array.shape}")
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        what = f"{array.dtype} of shape {array.shape}"
        raise TypeError(f"ids: expected numbers of robots, shape (n,), or a boolean ({count},), got {what}")
    array = array.astype(np.int64)
    if array.size and not (array.min() >= 0 and array.max() < count):
        wrong = next(int(k) for k in array if not 0 <= k < count)
        raise IndexError(f"ids: expected numbers from 0 to {count - 1}, got {wrong}")
    if array.size > 1:
        counts = np.bincount(array, minlength=1)
        if counts.max() > 1:
            raise ValueError(f"ids: expected each robot once, got {int(counts.argmax())} {counts.max()} times")
    return array


def number_of_robots(count: Any, given: Mapping[str, tuple[np.ndarray, int]]) -> int:
    """Number of robots: what is asked for, or as many as there are rows."""
    found = 1
    for name, (array, rank) in given.items():
        leading = array.shape[: array.ndim - rank]
        if len(leading) > 1:
            raise ValueError(f"{name}: expected a row for all robots or one for each, got shape {array.shape}")
        if prod(leading) != 1:
            if found != 1 and leading[0] != found:
                raise ValueError(f"{name}: expected {found} rows, as there are robots, got {leading[0]}")
            found = leading[0]
    if count is None:
        return found
    count = whole_number("count", count)
    if found not in (1, count):
        name = next(n for n, (a, rank) in given.items() if a.shape[: a.ndim - rank] == (found,))
        raise ValueError(f"{name}: expected a row for all or {count} rows, one for each robot, got {found}")
    if count > MOST_ROBOTS:
        raise ValueError(f"count: expected at most {MOST_ROBOTS} robots, got {count}")
    return count


def as_states(state: ArrayLike, width: int, clock: slice) -> np.ndarray:
    """Rows that `load` may take: of the right width, and with a clock that can be, which nothing checks later."""
    rows = as_array("state", state, (width,), "columns of the layout")
    clocks = rows[..., clock]
    good = (clocks == np.floor(clocks)) & (clocks >= (0, 0, -1)) & (clocks <= (2**53, max(Status), 2**53))
    if not good.all():
        wrong = clocks[~good.all(axis=-1)][0]
        what = f"got the clock {wrong}: steps made, status, failed step"
        raise ValueError(f"state: expected rows as state() gives them, {what}")
    return rows
