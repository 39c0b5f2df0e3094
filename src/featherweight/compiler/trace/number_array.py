"""Arrays on numbers, for programs that are interpreted: the same as in a trace, each state for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.compiler.trace.arrays import NO_INDEX, states_done
from featherweight.compiler.trace.lanes import Lanes, plain


class NumberArray:
    """Numbers, one for all states or one for each: `array[i]` is one of them, `array[i] = x` replaces it."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        """Entry ⌊index⌋, the first or last one if there is none."""
        k = position(plain(index), len(self.values))
        if not isinstance(k, np.ndarray):
            return self.values[k]
        entries = np.stack(np.broadcast_arrays(*map(plain, self.values), k)[:-1])
        chosen = np.take_along_axis(entries, np.broadcast_to(k, entries.shape[1:])[None], axis=0)[0]
        return Lanes(chosen) if any(isinstance(x, Lanes) for x in (index, *self.values)) else chosen

    def __setitem__(self, index: Any, value: Any) -> None:
        """Replace an entry; states that are done in a loop around this keep theirs."""
        k = position(plain(index), len(self.values))
        if isinstance(k, np.ndarray):
            raise TypeError(NO_INDEX)
        old = self.values[k]
        for done in states_done.now():
            if isinstance(done, np.ndarray) and done.ndim:
                kept = np.where(done, plain(old), plain(value))
                value = Lanes(kept) if isinstance(old, Lanes) or isinstance(value, Lanes) else kept
            elif done:
                value = old
        self.values[k] = value


def position(index: Any, size: int) -> Any:
    """⌊index⌋ as a whole number, at least 0 and less than the size; 0 for what is not a number."""
    if isinstance(index, np.ndarray) and index.ndim:
        return np.minimum(np.where(index >= 0, index, 0.0), size - 1).astype(int)
    return int(min(max(index, 0), size - 1)) if index == index else 0
