"""Memory for large results, used again.

The C library gives blocks of 32 MB and more back to the system at once, and the system clears the pages of a new block
one by one, which takes longer than filling them and does not get faster with a second thread. So large blocks are kept
when their arrays are gone, as long as they are few.
"""

from __future__ import annotations

import ctypes
import functools
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler.llvm.calls import LARGE

MOST = 256 << 20  # bytes kept in all


class _Store:
    """Blocks that nobody uses now.

    There is no lock, for arrays are dropped in the midst of anything, and a child would find it held. Each change is
    one operation of a dictionary, and a block belongs to whoever has taken it out.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, np.ndarray] = {}  # by identity, the oldest first

    def take(self, n: int) -> np.ndarray:
        """A block of n doubles."""
        for key, block in self._blocks.copy().items():
            if len(block) == n and self._blocks.pop(key, None) is not None:
                return block
        return np.empty(n)

    def give(self, block: np.ndarray) -> None:
        """Keep a block; the oldest ones go if there are too many."""
        self._blocks[id(block)] = block
        kept = self._blocks.copy()
        surplus = sum(other.nbytes for other in kept.values()) - MOST
        for key, other in kept.items():
            if surplus <= 0:
                break
            self._blocks.pop(key, None)
            surplus -= other.nbytes


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
