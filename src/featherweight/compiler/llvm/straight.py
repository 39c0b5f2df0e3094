"""Results that go straight to their rows: one state's long results are stored where they stand, not copied later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from featherweight.compiler.llvm.one_row import PIECE, covering
from featherweight.compiler.llvm.places import Place
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Chunk

LONG = 256  # entries of all results together; fewer are copied in no time
LATE = 64  # entries that no chunk computes: inputs, numbers of the model


@dataclass(frozen=True)
class Leaving:
    """What one chunk stores in results: numbers of values, of each the result and the place in its row [bytes]."""

    values: list[tuple[int, int, int]]
    unread: frozenset[int]  # local numbers of values that stand in these results and nowhere else

    @property
    def pattern(self) -> tuple:
        """What chunks have in common that share a function."""
        return tuple([(k, result) for k, result, _ in self.values]), self.unread

    @property
    def rows(self) -> str:
        """Arguments of the chunk's function: the row of each result that it stores in."""
        return "".join(f", ptr %result{j}" for j in sorted({result for _, result, _ in self.values}))

    @property
    def places(self) -> list[Place]:
        return [(f"%result{result}", place) for _, result, place in self.values]


NOTHING = Leaving([], frozenset())


@dataclass(frozen=True)
class Straight:
    """The results of a plan that go straight to their rows."""

    shapes: Sequence[tuple[int, ...]]
    first: dict[int, int]  # of these results: the first of their entries among all
    zeros: dict[int, list[int]]  # of those that have entries that are zero for good: their columns
    late: dict[int, list[tuple[int, int]]]  # by result: slots that are copied when all is done, and where to

    @property
    def pointers(self) -> str:
        """Arguments of @step: the row of each result."""
        return "".join(f", ptr %result{j}" for j in self.first)

    def pieces(self, j: int) -> tuple[list[int], list[int]]:
        """Where pieces of result j begin that cover what is zero for good; and what is not."""
        n, zeros = prod(self.shapes[j]), self.zeros[j]
        return covering(zeros, n), covering(sorted({*range(n)} - {*zeros}), n)

    def leaving(self, chunk: Chunk) -> Leaving:
        """What a chunk stores in results."""
        values = [
            (k, j, 8 * (entry - first))
            for k, entries in chunk.leaves.items()
            for entry in entries
            for j, first in self.first.items()
            if 0 <= entry - first < prod(self.shapes[j])
        ]
        stored = Counter(k for k, _, _ in values)
        return Leaving(values, frozenset(k for k in chunk.unread if stored[k] == len(chunk.leaves[k])))


def straight_results(plan: Plan, shapes: Sequence[tuple[int, ...]], width: int) -> Straight | None:
    """The results that go straight to their rows; None if they are short, or there are several lanes."""
    if width > 1 or sum(map(prod, shapes)) < LONG:
        return None
    made = {entry for step in plan.steps if isinstance(step, Chunk) for own in step.leaves.values() for entry in own}
    first: dict[int, int] = {}
    zeros: dict[int, list[int]] = {}
    late: dict[int, list[tuple[int, int]]] = {}
    begin = 0
    for j, shape in enumerate(shapes):
        n = prod(shape)
        others = [c for c in range(n) if begin + c not in made]
        copied = [(plan.outputs[begin + c], c) for c in others if plan.outputs[begin + c] != plan.zero]
        if len(shape) > 0 and n >= PIECE and len(copied) <= LATE:
            first[j], late[j] = begin, copied
            if len(others) > len(copied):
                zeros[j] = sorted({*others} - {c for _, c in copied})
        begin += n
    return Straight(shapes, first, zeros, late) if first else None
