"""Results that go straight to their rows: one state's long results are stored where they stand, not copied later.

A row of a result has an address of its own in shared functions: equal limbs write equal parts of different rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from featherweight.compiler.llvm.one_row import PIECE, covering
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Chunk

LONG = 256  # entries of all results together; fewer are copied in no time
LATE = 64  # entries that no chunk computes: inputs, numbers of the model


@dataclass(frozen=True)
class Leaving:
    """What one chunk stores in results: of each value the row, by its number here, and the place in it."""

    rows: list[tuple[int, int]]  # result, and the first entry that is stored there
    leaves: dict[int, list[tuple[int, int]]]  # by local number
    unread: frozenset[int]  # local numbers of values that stand in these results and nowhere else

    @property
    def pattern(self) -> tuple:
        """What chunks have in common that share a function."""
        results = tuple(result for result, _ in self.rows)
        return results, tuple((k, tuple(places)) for k, places in self.leaves.items()), self.unread

    @property
    def pointers(self) -> str:
        """Arguments of the chunk's function: the row of each result that it stores in."""
        return "".join(f", ptr %result{j}" for j in sorted({result for result, _ in self.rows}))

    @property
    def places(self) -> list[int]:
        """Of each row, where its first entry stands in the result [bytes]."""
        return [8 * begin for _, begin in self.rows]


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
        found: dict[int, list[tuple[int, int, int]]] = {}  # by local number: result, row, entry
        begins: dict[tuple[int, int], int] = {}
        for k, entries in chunk.leaves.items():
            for entry in entries:
                for j, first in self.first.items():
                    place, columns = entry - first, self.shapes[j][-1]
                    if 0 <= place < prod(self.shapes[j]):
                        row = j, place // columns
                        found.setdefault(k, []).append((*row, place))
                        begins[row] = min(place, begins.get(row, place))
        ordinal = {row: g for g, row in enumerate(begins)}
        leaves = {k: [(ordinal[j, r], place - begins[j, r]) for j, r, place in own] for k, own in found.items()}
        unread = frozenset(k for k in chunk.unread if len(leaves.get(k, ())) == len(chunk.leaves[k]))
        return Leaving([(j, begin) for (j, _), begin in begins.items()], leaves, unread)


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
