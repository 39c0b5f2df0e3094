"""Operations of one state that are done at once (superword-level parallelism): neighbours in the code of a chunk that
do the same to other numbers, as the entries of a row in a product of matrices. Each number goes through what it would
go through alone, so bits are the same (docs/decisions/0043).
"""

from __future__ import annotations

from collections.abc import Sequence

from featherweight.compiler.plan.steps import Chunk

WIDEST = 4  # operations at once: products of matrices have blocks of so many columns
LEAST = 8  # operations that must be saved in a chunk: vectors wait for what was stored number by number just before
ARITHMETIC = frozenset(("add", "sub", "mul", "neg", "fma", "fms", "fnma"))

Lane = tuple[int, int, int]  # the first operation of a vector, the place in it, how many there are


class Vectors:
    """Which operations of a chunk are done at once: up to so many, and none where it does not pay."""

    def __init__(self, chunk: Chunk, widest: int) -> None:
        self.lanes: dict[tuple, Lane] = {}  # by reference
        if widest > 1:
            self._find(chunk.code, min(widest, WIDEST))

    def width(self, k: int) -> int:
        """How many operations are done at once from this one on; 0 if it is done with those before it."""
        first, _, n = self.lanes.get(("local", k), (k, 0, 1))
        return n if first == k else 0

    def hold(self, refs: tuple) -> bool:
        """Are these the numbers of one vector, in order?"""
        n, lane = len(refs), self.lanes.get(refs[0])
        return lane is not None and [self.lanes.get(ref) for ref in refs] == [(lane[0], j, n) for j in range(n)]

    def _find(self, code: Sequence[tuple], widest: int) -> None:
        apart: set[tuple] = set()  # operands whose numbers must be put together
        saved = k = 0
        while k < len(code):
            n = 1
            while n < widest and k + n < len(code) and self._goes_on(code[k + n - 1], code[k + n]):
                n += 1
            while n > 1 and not self._fit(code[k : k + n], k):
                n -= 1
            if n > 1:
                apart.update(refs for refs in operands(code[k : k + n]) if self._are_apart(refs))
                self.lanes |= {("local", k + j): (k, j, n) for j in range(n)}
                saved += n - 1
            k += n
        if saved < LEAST or saved <= self._moved(code, apart):
            self.lanes = {}

    def _goes_on(self, one: tuple, other: tuple) -> bool:
        """Might these operations be neighbours in a vector?"""
        if one[0] != other[0] or one[0] not in ARITHMETIC:
            return False
        return sum(not self._is_next(a, b) for a, b in zip(one[1:], other[1:], strict=True)) <= 1

    def _is_next(self, a: tuple, b: tuple) -> bool:
        """Is b the number of a, or next to it in memory or in a vector?"""
        if a == b or (a[0] == "slot" and b == ("slot", a[1], a[2] + 1)):
            return True
        first, j, n = self.lanes.get(a, (-1, 0, 0))
        return self.lanes.get(b) == (first, j + 1, n)

    def _fit(self, run: Sequence[tuple], k: int) -> bool:
        """Can these operations, from this one on, be one? No more than one operand may have to be put together."""
        apart = [refs for refs in operands(run) if self._are_apart(refs)]
        waits = any(ref[0] == "local" and ref[1] >= k for refs in apart for ref in refs)  # one of them for another
        return len(apart) <= 1 and not waits

    def _are_apart(self, refs: tuple) -> bool:
        return not (are_one(refs) or side_by_side(refs) or self.hold(refs))

    def _moved(self, code: Sequence[tuple], apart: set[tuple]) -> int:
        """How often numbers are put into vectors or taken out; slots, which must be loaded anyway, count as one."""
        alone = [refs for k, (_, *refs) in enumerate(code) if ("local", k) not in self.lanes]
        taken = {ref for refs in (*alone, *apart) for ref in refs}
        return len(taken & self.lanes.keys()) + sum(1 if refs[0][0] == "slot" else len(refs) for refs in apart)


def operands(run: Sequence[tuple]) -> list[tuple]:
    """For each operand of equal operations its references, one an operation."""
    return list(zip(*run, strict=True))[1:]


def are_one(refs: tuple) -> bool:
    """Are these the same number?"""
    return refs.count(refs[0]) == len(refs)


def side_by_side(refs: tuple) -> bool:
    """Are these slots, each behind the one before it?"""
    kind, *place = refs[0]
    return kind == "slot" and [*refs] == [(kind, place[0], place[1] + j) for j in range(len(refs))]
