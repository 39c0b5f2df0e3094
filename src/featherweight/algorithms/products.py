"""Products of sparse matrices over any scalar, block by block: what a block reads stays in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

BLOCK = 4  # rows and columns
LONGEST = 240  # products of a block: it fits one function of native code

Sparse = Sequence[Mapping[int, Any]]  # rows as {column: entry}


def multiplied(
    A: Sparse, B: Sparse, mark: Callable[[], None] = lambda: None, start: Sparse | None = None
) -> list[dict[int, Any]]:
    """A B, added to `start`. `mark` begins a new region of the program: one for each block."""
    found: list[dict[int, Any]] = [{} for _ in A] if start is None else [dict(row) for row in start]
    for columns in _alike(B):
        reads = {k for k, row in enumerate(B) if columns[0] in row}
        height = max(1, min(BLOCK, LONGEST // max(1, len(reads) * len(columns))))
        for first in range(0, len(A), height):
            mark()
            add_block(A, B, range(first, min(first + height, len(A))), columns, found)
    return found


def _alike(B: Sparse) -> Iterator[list[int]]:
    """Columns in runs of up to four that are not zero in the same rows."""
    support: dict[int, list[int]] = {}
    for k, row in enumerate(B):
        for c in row:
            support.setdefault(c, []).append(k)
    run: list[int] = []
    for c in sorted(support):
        if run and (len(run) == BLOCK or support[c] != support[run[0]]):
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
