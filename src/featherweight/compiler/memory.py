"""Memory for large results, used again.

The C library gives blocks of 32 MB and more back to the system at once, and the system clears the pages of a new block
one by one, which takes longer than filling them and does not get faster with a second thread. So large blocks are kept
when their arrays are gone, as long as they are few.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from math import prod
from typing import Any

import numpy as np

LARGE = 32 << 20  # bytes of an array whose memory is kept
MOST = 256 << 20  # bytes kept in all


class _Store:
    """Blocks that nobody uses now."""

    def __init__(self) -> None:
        self._blocks: list[np.ndarray] = []
        self._mutex = threading.Lock()

    def take(self, n: int) -> np.ndarray:
        """A block of n doubles."""
        with self._mutex:
            for k, block in enumerate(self._blocks):
                if len(block) == n:
                    return self._blocks.pop(k)
        return np.empty(n)

    def give(self, block: np.ndarray) -> None:
        """Keep a block; the oldest ones go if there are too many. Not at all if a signal has come in between."""
        if self._mutex.acquire(blocking=False):
            try:
                self._blocks.append(block)
                while sum(b.nbytes for b in self._blocks) > MOST:
                    self._blocks.pop(0)
            finally:
                self._mutex.release()


_store = _Store()


@functools.lru_cache(maxsize=64)
def _lent(n: int) -> Any:
    """A class of buffers of n doubles that give their memory back when the last array on them is gone."""

    def give_back(self: Any) -> None:
        _store.give(self.block)

    return type("LentMemory", (ctypes.c_double * n,), {"__del__": give_back})


def empty(shape: tuple[int, ...]) -> np.ndarray:
    """np.empty(shape) of doubles."""
    n = prod(shape)
    if 8 * n < LARGE:
        return np.empty(shape)
    block = _store.take(n)
    lent = _lent(n).from_buffer(block)
    lent.block = block
    return np.frombuffer(lent).reshape(shape)
