"""What `soak.py` knows of the calls that were made, in memory that does not grow."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from soak_jobs import CALLS, MODELS

SEEDS = 6  # of each call
Key = tuple[int, str, int]  # model, name and seed of a call
NAMES = list(CALLS)


class Digests:
    """The first digest of every call there is, in a table that is filled from the start.

    A dictionary would grow with every call that is new, by 5 MB in the end, and its small entries, allocated in the
    midst of everything, would keep arenas of Python's allocator from going back to the system: the soak would measure
    itself.
    """

    def __init__(self) -> None:
        self._table = np.full((MODELS, len(CALLS), SEEDS), b"", dtype="S16")  # written to, so it is in memory

    def __len__(self) -> int:
        return int(np.count_nonzero(self._table))

    def __getitem__(self, key: Key) -> str:
        return self._table[_place(key)].decode()

    def setdefault(self, key: Key, found: str) -> str:
        """The digest of this call that came first."""
        place = _place(key)
        if not self._table[place]:
            self._table[place] = found.encode()
        return self._table[place].decode()

    def __contains__(self, key: Key) -> bool:
        return bool(self._table[_place(key)])

    def keys(self, numbers: Iterable[int]) -> list[Key]:
        """Calls on these models that were made."""
        there = sorted(numbers)
        found = np.argwhere(self._table[there] != b"")
        return [(there[i], NAMES[j], seed) for i, j, seed in found.tolist()]

    def kinds(self, numbers: Iterable[int]) -> list[tuple[int, str]]:
        """The same without their seeds."""
        there = sorted(numbers)
        found = np.argwhere((self._table[there] != b"").any(axis=2))
        return [(there[i], NAMES[j]) for i, j in found.tolist()]


def _place(key: Key) -> tuple[int, int, int]:
    number, name, seed = key
    return number, NAMES.index(name), seed
