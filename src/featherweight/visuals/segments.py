"""Lines that mark something in the world for a while: trails, fans of arrows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Segments:
    """Straight lines, each shown from a time to another.

    Args:
        ends: where they begin and end, shape (n, 2, 3) [m].
        begin: when each appears, shape (n,) [s], never decreasing.
        end: when each is gone again, shape (n,) [s].
        color: red, green and blue, from 0 to 1.
        width: [m].
    """

    ends: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    color: tuple[float, float, float]
    width: float = 0.004

    def __post_init__(self) -> None:
        n = len(self.ends)
        if self.ends.shape != (n, 2, 3) or self.begin.shape != (n,) or self.end.shape != (n,):
            shapes = f"{self.ends.shape}, {self.begin.shape} and {self.end.shape}"
            raise ValueError(f"ends, begin, end: expected shapes (n, 2, 3), (n,) and (n,), got {shapes}")
        if (np.diff(self.begin) < 0).any():
            raise ValueError("begin: expected times that never decrease; sort the segments by them")

    def shown(self, time: float) -> np.ndarray:
        """Those that are there at a time [s], shape (m, 2, 3)."""
        return self.ends[(self.begin <= time) & (time < self.end)]
