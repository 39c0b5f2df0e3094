"""Products of sparse matrices over any scalar, block by block: what a block reads stays in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

BLOCK = 4  # rows and columns
TALLEST = 6  # rows of a block of limbs: 24 sums and what is read for them are as many as there are registers
LONGEST = 240  # products of a block: it fits one function of native code

Sparse = Sequence[Mapping[int, Any]]  # rows as {column: entry}


def multiplied(
    A: Sparse,
    B: Sparse,
    mark: Callable[[], None] = lambda: None,
    start: Sparse | None = None,
    limbs: Sequence[Sequence[int]] = (),
) -> list[dict[int, Any]]:
    """A B, added to `start`. `mark` begins a new region of the program: one for each block.

    With `limbs`, coordinates in runs, rows and columns of the product are all coordinates, once or several times. Then
    blocks are made of whole limbs: those of equal limbs are alike and share code.
    """
    found: list[dict[int, Any]] = [{} for _ in A] if start is None else [dict(row) for row in start]
    begins = {k for limb in limbs for k in limb[:1]}
    n = sum(map(len, limbs))
    for columns in _alike(B, begins, n):
        reads = {k for k, row in enumerate(B) if columns[0] in row}
        height = max(1, min(BLOCK, LONGEST // max(1, len(reads) * len(columns))))
        for rows in _whole_limbs(len(A), begins, n) if limbs else _in_turn(len(A), height):
            mark()
            add_block(A, B, rows, columns, found)
    return found


def _in_turn(rows: int, height: int) -> list[Sequence[int]]:
    return [range(first, min(first + height, rows)) for first in range(0, rows, height)]


def _whole_limbs(rows: int, begins: set[int], n: int) -> list[list[int]]:
    """Rows in blocks of whole limbs, as many as fit; longer ones are cut."""
    limbs: list[list[int]] = []
    for i in range(rows):
        if i % n in begins or len(limbs[-1]) == TALLEST:
            limbs.append([])
        limbs[-1].append(i)
    blocks: list[list[int]] = []
    for limb in limbs:
        if blocks and len(blocks[-1]) + len(limb) <= TALLEST and limb[0] % n > 0:
            blocks[-1] += limb
        else:
            blocks.append(limb)
    return blocks


def _alike(B: Sparse, begins: set[int], n: int) -> Iterator[list[int]]:
    """Columns in runs of up to four that are not zero in the same rows; none goes on where a limb begins."""
    support: dict[int, list[int]] = {}
    for k, row in enumerate(B):
        for c in row:
            support.setdefault(c, []).append(k)
    run: list[int] = []
    for c in sorted(support):
        begin = bool(n) and c % n in begins
        if run and (len(run) == BLOCK or support[c] != support[run[0]] or begin):
            yield run
            run = []
        run.append(c)
    if run:
        yield run


def add_block(
    A: Sparse, B: Sparse, rows: Sequence[int], columns: Sequence[int], into: Sequence[dict[int, Any]]
) -> None:
    """Add a block of A B, one product of a column with a row after the other."""
    for k in sorted({k for i in rows for k in A[i]}):
        for i, c in product(rows, columns):
            if k in A[i] and c in B[k]:
                into[i][c] = into[i].get(c, 0) + A[i][k] * B[k][c]
