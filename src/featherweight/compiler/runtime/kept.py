"""Results that a native entry point keeps and hands out again, once nobody else refers to them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence

import numpy as np

from featherweight.compiler.llvm.results import KEPT, is_kept

MOST = 128 << 20  # bytes kept for batches in all


class KeptResults:
    """The arrays an entry point keeps, KEPT of each result, and a table of their addresses that it reads.

    For one state all are there from the beginning. Those of batches are as large as the last ones that were asked for:
    the entry point calls the functions at the end of the table for them. All entry points together keep no more than
    `MOST`, those that were made last. Everything happens with the interpreter lock held.
    """

    def __init__(self, outputs: Sequence[tuple[int, ...]], batch: bool) -> None:
        self.arrays = [np.empty(s if is_kept(s) and not batch else (0,)) for s in outputs for _ in range(KEPT)]
        bound = weakref.ref(self)  # not the object itself, which has the functions: only the collector would free it
        self.makers = [functools.partial(_make, bound, j, shape) for j, shape in enumerate(outputs)] if batch else []
        self.table = np.array([id(x) for x in (*self.arrays, *self.makers)], dtype=np.uintp)

    def keep(self, place: int, array: np.ndarray) -> None:
        """Put another array at a place of the table."""
        before, self.arrays[place], self.table[place] = self.arrays[place], array, id(array)
        del before  # not sooner: its address stood in the table


def _make(owner: weakref.ref[KeptResults], j: int, shape: tuple[int, ...], rows: int) -> np.ndarray:
    """A new array for result j of so many rows, kept in place of the older one."""
    array = np.empty((rows, *shape))
    kept = owner()
    if kept is not None:
        first = KEPT * j
        kept.keep(first + 1, kept.arrays[first])
        kept.keep(first, array)
        _note(kept)
    return array


_users: dict[int, weakref.ref[KeptResults]] = {}  # entry points that keep arrays of batches, the latest last


def _note(latest: KeptResults) -> None:
    """Drop arrays of the entry points that made theirs first, as long as there are too many."""
    key = id(latest)
    _users.pop(key, None)
    _users[key] = weakref.ref(latest, lambda _: _users.pop(key, None))
    users = [user for user in (reference() for reference in tuple(_users.values())) if user is not None]
    total = sum(array.nbytes for user in users for array in user.arrays)
    for user in users:
        if total <= MOST:
            break
        for place, array in enumerate(user.arrays):
            total -= array.nbytes
            user.keep(place, np.empty(0))
