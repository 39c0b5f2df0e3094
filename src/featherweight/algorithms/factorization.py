"""M = Lᵀ D L without fill-in (RBDA, section 6.5): entries of L between different branches stay zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from featherweight.algorithms.linear import is_zero
from featherweight.algorithms.products import BLOCK, add_block
from featherweight.scalar import reciprocal


@dataclass(frozen=True)
class LTDL:
    """L (unit lower triangle, rows as {column: entry}), the pivots d and their reciprocals."""

    L: list[dict[int, Any]]
    d: list[Any]
    d_inverse: list[Any]

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """M⁻¹ b = L⁻¹ D⁻¹ L⁻ᵀ b."""
        y = list(b)
        for i in reversed(range(len(y))):  # L⁻ᵀ b: from the tips to the root
            for j, l in self.L[i].items():
                y[j] = y[j] - l * y[i]
        y = [y_i * r for y_i, r in zip(y, self.d_inverse, strict=True)]
        for i in range(len(y)):  # L⁻¹: from the root to the tips
            for j, l in self.L[i].items():
                y[i] = y[i] - l * y[j]
        return y

    def carried(self, b: Mapping[int, Any]) -> dict[int, Any]:
        """L⁻ᵀ b of a sparse b: from where it acts to the root."""
        y = dict(b)
        for i in reversed(range(len(self.d))):
            for j, l in self.L[i].items() if i in y else ():
                y[j] = y[j] - l * y[i] if j in y else -(l * y[i])
        return y

    def unit_inverse(self, mark: Callable[[], None] = lambda: None) -> list[dict[int, Any]]:
        """Z = L⁻¹, rows as {column: entry}: as sparse as L. `mark` begins a new region of the program, here and below,
        so that rows of equal limbs share code."""
        Z: list[dict[int, Any]] = []
        for i, own in enumerate(self.L):
            mark()
            row: dict[int, Any] = {i: 1}
            for j, l in own.items():
                for k, z in Z[j].items():
                    row[k] = row.get(k, 0) - l * z
            Z.append(row)
        return Z

    def scaled(self, x: Any) -> LTDL:
        """The factors of M / x."""
        return LTDL(self.L, [d / x for d in self.d], [r * x for r in self.d_inverse])

    def inverse(self, mark: Callable[[], None] = lambda: None) -> list[list[Any]]:
        """M⁻¹, whole and symmetric: (M⁻¹)_ij = Σ_k Z_ik Z_jk / d_k over common ancestors k of i and j, Z = L⁻¹."""
        n = len(self.d)
        Z = self.unit_inverse(mark)
        W: list[dict[int, Any]] = []
        for row in Z:
            mark()
            W.append({k: z * self.d_inverse[k] for k, z in row.items()})
        inverse: list[list[Any]] = [[0] * n for _ in range(n)]
        limbs = self.limbs
        for rows, columns in ((limbs[a], limbs[b]) for a in range(len(limbs)) for b in range(a + 1)):
            mark()
            for i, j in product(rows, columns):
                if j <= i:
                    total: Any = 0
                    for k in sorted(W[i].keys() & Z[j].keys()):
                        total = total + W[i][k] * Z[j][k]
                    inverse[i][j] = inverse[j][i] = total
        return inverse

    def minus_solved(self, B: Sequence[Sequence[Any]], mark: Callable[[], None] = lambda: None) -> list[list[Any]]:
        """-M⁻¹ B = -Z D⁻¹ Zᵀ B, Z = L⁻¹. Structural zeros of B cost nothing: Zᵀ takes a column from the bodies where it
        acts to those that carry them, Z from there to all."""
        n = len(B)
        Z = self.unit_inverse(mark)
        W: list[dict[int, Any]] = []
        for row in Z:
            mark()
            W.append({k: -(z * self.d_inverse[k]) for k, z in row.items()})
        below: list[dict[int, Any]] = [{i: Z[i][k] for i in range(n) if k in Z[i]} for k in range(n)]  # Zᵀ
        entries = [{c: b for c, b in enumerate(row) if not is_zero(b)} for row in B]
        limbs = self.limbs
        Y: list[dict[int, Any]] = [{} for _ in range(n)]
        X: list[dict[int, Any]] = [{} for _ in range(n)]
        for columns in limbs:
            for rows in limbs:
                mark()
                add_block(below, entries, rows, columns, Y)
            for rows in limbs:
                mark()
                add_block(W, Y, rows, columns, X)
        return [[row.get(c, 0) for c in range(n)] for row in X]

    @property
    def limbs(self) -> list[list[int]]:
        """Coordinates in runs of up to four, each the only child of the one before: a block of M⁻¹ with these rows and
        columns loads its operands once."""
        parents = [max(row, default=-1) for row in self.L]
        limbs: list[list[int]] = []
        for i, parent in enumerate(parents):
            if limbs and parent == limbs[-1][-1] and parents.count(parent) == 1 and len(limbs[-1]) < BLOCK:
                limbs[-1].append(i)
            else:
                limbs.append([i])
        return limbs


def factorize(M: Sequence[Sequence[Any]], mark: Callable[[], None] = lambda: None) -> LTDL:
    """The factors of a mass matrix; only its lower triangle is read.

    Row by row, from the tips to the root: H_ij = M_ij - Σ_k L_ki H_kj over all descendants k of i, L_ij = H_ij / H_ii.
    `mark` begins a new region of the program.
    """
    n = len(M)
    columns = _pattern(M)
    below: list[list[int]] = [[] for _ in range(n)]
    H: list[dict[int, Any]] = [{} for _ in range(n)]
    L: list[dict[int, Any]] = [{} for _ in range(n)]
    d_inverse: list[Any] = [0] * n
    for i in reversed(range(n)):
        mark()
        for j in (*columns[i], i):
            H[i][j] = M[i][j]
            for k in below[i]:
                if j in H[k]:
                    H[i][j] = H[i][j] - L[k][i] * H[k][j]
        d_inverse[i] = reciprocal(H[i][i])
        for j in columns[i]:
            L[i][j] = H[i][j] * d_inverse[i]
            below[j].append(i)
    return LTDL(L, [H[i][i] for i in range(n)], d_inverse)


def _pattern(M: Sequence[Sequence[Any]]) -> list[list[int]]:
    """The columns of each row of L: where M is not zero, and where the rows below fill in."""
    columns = [{j for j in range(i) if not is_zero(M[i][j])} for i in range(len(M))]
    for row in reversed(columns):
        for i in row:
            columns[i] |= {j for j in row if j < i}
    return [sorted(row) for row in columns]
