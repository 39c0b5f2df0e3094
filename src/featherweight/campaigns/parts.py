"""Parts of a sweep for processes that know nothing of each other: a job array of Slurm, machines without a scheduler.

Process k of n takes the chunks k, k + n, k + 2n …: nobody takes one of another.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np


class Part(NamedTuple):
    """The share of one process."""

    number: int = 0
    processes: int = 1

    def numbers(self, chunks: int) -> range:
        """Its chunks."""
        return range(self.number, chunks, self.processes)

    def has(self, chunk: int) -> bool:
        """Is this one of its chunks?"""
        return chunk % self.processes == self.number


def part_of(part: Any, scheduler: Any) -> Part:
    """What was asked for, or what Slurm says of a job array; all of it elsewhere."""
    if part is None:
        return Part() if scheduler is not None else _of_slurm()
    if scheduler is not None:
        raise ValueError("part, scheduler: expected one of them, got both: a scheduler gives out the work by itself")
    match part:
        case (int() | np.integer() as number, int() | np.integer() as count) if 0 <= number < count:
            if not isinstance(number, bool) and not isinstance(count, bool):
                return Part(int(number), int(count))
    raise ValueError(f"part: expected (k, n) with 0 <= k < n, got {part!r}")


def _of_slurm() -> Part:
    """In a job array: the position of this task among all of them."""
    try:
        task, count = int(os.environ["SLURM_ARRAY_TASK_ID"]), int(os.environ["SLURM_ARRAY_TASK_COUNT"])
        first, step = int(os.environ["SLURM_ARRAY_TASK_MIN"]), int(os.environ.get("SLURM_ARRAY_TASK_STEP", "1"))
    except (KeyError, ValueError):
        return Part()
    number = (task - first) // max(step, 1)
    if not 0 <= number < count:
        raise ValueError(f"SLURM_ARRAY_TASK_ID={task}: expected one of {count} from {first} on; give part=(k, n)")
    return Part(number, count)
