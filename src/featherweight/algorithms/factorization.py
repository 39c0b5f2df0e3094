"""M = Lᵀ D L without fill-in (RBDA, section 6.5): branches that do not touch stay zero in L."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.algorithms.linear import is_zero
from featherweight.scalar import reciprocal

BLOCK = 4  # rows and columns


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

    def inverse(self) -> list[list[Any]]:
        """M⁻¹, whole and symmetric: (M⁻¹)_ij = Σ_k Z_ik Z_jk / d_k over what both i and j hang on, Z = L⁻¹."""
        n = len(self.d)
        Z: list[dict[int, Any]] = []
        for i in range(n):
            row: dict[int, Any] = {i: 1}
            for j, l in self.L[i].items():
                for k, z in Z[j].items():
                    row[k] = row.get(k, 0) - l * z
            Z.append(row)
        W = [{k: z * self.d_inverse[k] for k, z in row.items()} for row in Z]
        inverse: list[list[Any]] = [[0] * n for _ in range(n)]
        for i, j in _by_blocks(n):
            total: Any = 0
            for k in sorted(W[i].keys() & Z[j].keys()):
                total = total + W[i][k] * Z[j][k]
            inverse[i][j] = inverse[j][i] = total
        return inverse


def _by_blocks(n: int) -> Iterator[tuple[int, int]]:
    """The places of a lower triangle, a square of them at a time: what a square needs is read once."""
    for top in range(0, n, BLOCK):
        for left in range(0, top + 1, BLOCK):
            for i in range(top, min(top + BLOCK, n)):
                for j in range(left, min(left + BLOCK, i + 1)):
                    yield i, j


def factorize(M: Sequence[Sequence[Any]]) -> LTDL:
    """The factors of a mass matrix; only its lower triangle is read. Eliminate the tips first."""
    n = len(M)
    H = [{j: M[i][j] for j in range(i) if not is_zero(M[i][j])} for i in range(n)]
    d: list[Any] = [M[i][i] for i in range(n)]
    d_inverse: list[Any] = [0] * n
    L: list[dict[int, Any]] = [{} for _ in range(n)]
    for k in reversed(range(n)):
        d_inverse[k] = reciprocal(d[k])
        L[k] = {i: h * d_inverse[k] for i, h in H[k].items()}
        for i, l in L[k].items():
            d[i] = d[i] - l * H[k][i]
            for j in L[k]:
                if j < i:
                    H[i][j] = H[i].get(j, 0) - l * H[k][j]
    return LTDL(L, d, d_inverse)
