"""The states of a rollout that its gradient goes back over, in segments: one, or as many as memory asks for.

Of each step q, v, the controller's state and what is remembered (impulses, deflections) are kept, and forces. Beyond a
bound of memory only the carry at the beginning of each segment is (a checkpoint), and the steps of a segment are made
once more when it is visited: to the same bits, for a step knows nothing of those before it but the carry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod, sqrt
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from featherweight.compiler.runtime.loop import Call
from featherweight.errors import SimulationError
from featherweight.simulation.problem import Problem
from featherweight.simulation.running import chunk_of

KEPT = ("q", "v", "x", "memory")  # parts of the carry
NUMBER = 8  # bytes


@dataclass(frozen=True)
class Segment:
    """Steps `first` to `last` of all robots: parts of the carry (count, steps + 1, n) by name, and forces (count,
    steps, nv)."""

    first: int
    last: int
    states: dict[str, np.ndarray]
    tau: np.ndarray


class KeptSteps:
    """The steps of a problem; `more` numbers of each are needed beside its state and forces."""

    def __init__(self, problem: Problem, memory: int, more: int) -> None:
        self.problem, self.names = problem, [a.name for a in problem.loop.carry]
        self.sizes = {a.name: prod(a.shape) for a in problem.loop.carry}
        kept = sum(size for name, size in self.sizes.items() if name in KEPT)
        self.per_step = NUMBER * problem.count * (kept + problem.model.nv + more)
        self.length = self._length(memory)
        self._unread = {name: _anywhere(problem.count, self.length, shape) for name, shape in problem.records.items()}

    def _length(self, memory: int) -> int:
        """Steps of a segment: all, if they fit; else as many as fit beside the checkpoints, of which the fewest bytes
        are √(steps · checkpoint · step)."""
        steps, carry = self.problem.steps, NUMBER * self.problem.count * sum(self.sizes.values())
        if steps * self.per_step <= memory:
            return steps
        half = memory // (2 * self.per_step)
        least = ceil(sqrt(steps * carry / self.per_step))
        return min(steps, half if half and ceil(steps / half) * carry <= memory // 2 else max(1, least))

    def backwards(self) -> Iterator[Segment]:
        """The segments, the last one first. SimulationError if a step fails."""
        steps, begins = self.problem.steps, list(range(0, self.problem.steps, self.length))
        carries = [list(self.problem.carry)]
        for first in begins[:-1]:
            carries.append(self._run(carries[-1], first, first + self.length))
        for first in reversed(begins):
            yield self._segment(carries.pop(), first, min(first + self.length, steps))

    def _segment(self, carry: list[np.ndarray], first: int, last: int) -> Segment:
        count, steps = self.problem.count, last - first
        states = {name: np.empty((count, steps + 1, self.sizes[name])) for name in self.names if name in KEPT}
        tau = np.empty((count, steps, self.problem.model.nv))
        self._run(carry, first, last, states, tau)
        return Segment(first, last, states, tau)

    def _run(
        self,
        carry: list[np.ndarray],
        first: int,
        last: int,
        states: dict[str, np.ndarray] | None = None,
        tau: np.ndarray | None = None,
    ) -> list[np.ndarray]:
        """Make steps, and keep them in these arrays, if there are any; the carry after them."""
        p, at_once = self.problem, max(1, chunk_of(self.problem.loop, self.problem.count))
        for begin in range(first, last, at_once):
            end = min(begin + at_once, last)
            part, n = slice(begin - first, end - first + 1), end - begin
            after = [np.empty_like(c) if not states or name not in states else states[name][:, part]
                     for name, c in zip(self.names, carry, strict=True)]  # fmt: skip
            records = [
                unread[:, :n] if tau is None or name != "tau" else tau[:, begin - first : end - first]
                for name, unread in self._unread.items()
            ]
            given = [forces[:, begin:end] for forces in p.given]
            every = 1 if states else n
            p.loop.run(Call(carry, given, p.constants, after, records, n, every))
            carry = [np.ascontiguousarray(a[:, -1]) if a.ndim == 3 else a for a in after]
        if (carry[self.names.index("clock")][:, 1] != 0).any():
            raise SimulationError("rollout_gradient: a step of this rollout fails; rollout says which, and why")
        return carry


def _anywhere(count: int, steps: int, shape: tuple[int, ...]) -> np.ndarray:
    """(count, steps, …) of what nobody reads: all steps write to one place."""
    one: Any = np.empty((count, 1, *shape))
    return as_strided(one, (count, steps, *shape), (one.strides[0], 0, *one.strides[2:]))
