"""How much faster two threads are than one, for many functions in turns.

The second core of a shared machine is away at times, for seconds. So all functions are measured in several passes,
spread over the run, and of each the best time of one thread and of two counts: what the machine gives when it is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import featherweight as fw

PASSES = 40


class Pairs:
    """Functions to be measured with one thread and with two, and the rows the ratios go into."""

    def __init__(self) -> None:
        self.cases: list[tuple[dict[str, Any], str, Callable[[], Any], int]] = []

    def add(self, row: dict[str, Any], key: str, f: Callable[[], Any], calls: int) -> None:
        self.cases.append((row, key, f, calls))

    def measure(self, passes: int = PASSES) -> None:
        """Write one / two into each row."""
        best = [[float("inf")] * 2 for _ in self.cases]
        for _ in range(passes):
            for (_, _, f, calls), times in zip(self.cases, best, strict=True):
                for n in (1, 2):
                    with fw.threads(n):
                        f()
                        start = time.perf_counter()
                        for _ in range(calls):
                            f()
                        times[n - 1] = min(times[n - 1], time.perf_counter() - start)
        for (row, key, _, _), (one, two) in zip(self.cases, best, strict=True):
            row[key] = one / two
