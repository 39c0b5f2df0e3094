"""Gaussian elimination over any scalar: A = L U of a square matrix, row by row, without exchanges.

Where rows follow from those before them (contacts of a rigid body that are more than it needs), a pivot vanishes. Then
the unknown of that row is taken as zero: if the equations have a solution at all, what is found is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.algorithms.linear import is_zero
from featherweight.scalar import absolute, when, where

VANISHED = 1e-11  # of what a pivot was before the elimination


@dataclass(frozen=True)
class LU:
    """L below the diagonal (unit on it), U above it, by rows; the reciprocals of the pivots, 0 where they vanish."""

    rows: list[list[Any]]
    inverse: list[Any]

    def replaced(self, condition: Any, make: Callable[[], LU]) -> LU:
        """The factors that are made where a condition holds, these elsewhere; both are zero in the same places."""

        def entries(lu: LU) -> list[Any]:
            return [x for row in (*lu.rows, lu.inverse) for x in row]

        known = entries(self)
        places = [k for k, x in enumerate(known) if not is_zero(x)]

        def made() -> list[Any]:
            other = entries(make())
            return [other[k] for k in places]

        for k, x in zip(places, when(condition, made, [known[k] for k in places]), strict=True):
            known[k] = x
        n = len(self.inverse)
        return LU([known[i * n : i * n + n] for i in range(n)], known[n * n :])

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """A⁻¹ b."""
        n, x = len(b), list(b)
        for i in range(n):
            for k in range(i):
                x[i] = _less(x[i], self.rows[i][k], x[k])
        for i in reversed(range(n)):
            for k in reversed(range(i + 1, n)):  # what was found last is needed last: chains wait for it alone
                x[i] = _less(x[i], self.rows[i][k], x[k])
            x[i] = _times(x[i], self.inverse[i])
        return x

    def solve_transposed(self, b: Sequence[Any]) -> list[Any]:
        """A⁻ᵀ b."""
        n, x = len(b), list(b)
        for i in range(n):
            for k in range(i):
                x[i] = _less(x[i], self.rows[k][i], x[k])
            x[i] = _times(x[i], self.inverse[i])
        for i in reversed(range(n)):
            for k in reversed(range(i + 1, n)):
                x[i] = _less(x[i], self.rows[k][i], x[k])
        return x


def eliminated(A: Sequence[Sequence[Any]], mark: Callable[[], None] = lambda: None) -> LU:
    """The factors of a matrix. `mark` begins a new region of the program."""
    n, rows = len(A), [list(row) for row in A]
    inverse: list[Any] = []
    for i in range(n):
        mark()
        for j in range(n):
            for k in range(min(i, j)):
                rows[i][j] = _less(rows[i][j], rows[i][k], rows[k][j])
            if j < i:
                rows[i][j] = _times(rows[i][j], inverse[j])
        pivot = rows[i][i]
        vanishes = absolute(pivot) <= VANISHED * absolute(A[i][i])
        inverse.append(where(vanishes, 0.0, 1.0 / where(vanishes, 1.0, pivot)))
    return LU(rows, inverse)


def _less(x: Any, a: Any, b: Any) -> Any:
    return x if is_zero(a) or is_zero(b) else x - a * b


def _times(x: Any, a: Any) -> Any:
    return x if is_zero(x) else x * a
