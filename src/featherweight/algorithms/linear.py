"""Linear algebra of single joints over any scalar: columns, and small symmetric systems D = L diag(d) Lᵀ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from featherweight.scalar import reciprocal, where
from featherweight.spatial import Force, Motion, Vector

Column = TypeVar("Column", Motion, Force)


def combine(columns: Sequence[Column], x: Sequence[Any]) -> Column:
    """S x or U x: the sum of six-dimensional columns, each with its number."""
    total = columns[0] * x[0]
    for column, number in zip(columns[1:], x[1:], strict=True):
        total = total + column * number
    return total


def is_zero(x: Any) -> bool:
    """Whether x is a structural zero: a plain number, the same for every state."""
    return isinstance(x, (int, float)) and x == 0


@dataclass(frozen=True)
class Factored:
    """L (unit lower triangle, by rows), the pivots d and their reciprocals; and D itself, its lower triangle."""

    L: list[list[Any]]
    d: list[Any]
    d_inverse: list[Any]
    D: Sequence[Sequence[Any]]

    def between(self, i: int, j: int) -> Any:
        """D_ij."""
        return self.D[max(i, j)][min(i, j)]

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """D⁻¹ b."""
        return self.backward([y * r for y, r in zip(self.forward(b), self.d_inverse, strict=True)])

    def forward(self, b: Sequence[Any]) -> list[Any]:
        """L⁻¹ b."""
        y: list[Any] = []
        for b_i, row in zip(b, self.L, strict=True):
            for L_ik, y_k in zip(row, y, strict=False):  # k < i
                b_i = b_i - L_ik * y_k
            y.append(b_i)
        return y

    def backward(self, b: Sequence[Any]) -> list[Any]:
        """L⁻ᵀ b."""
        y = list(b)
        for i in reversed(range(len(b))):
            y_i = y[i]
            for k in range(i + 1, len(b)):
                y_i = y_i - self.L[k][i] * y[k]
            y[i] = y_i
        return y

    def right_divide(self, U: Sequence[Force]) -> list[Force]:
        """U D⁻¹, for six-dimensional columns U; D is symmetric, so its rows solve D x = uᵀ."""
        moment = [self.solve([column.moment[k] for column in U]) for k in range(3)]
        force = [self.solve([column.force[k] for column in U]) for k in range(3)]
        return [Force(Vector(*(m[j] for m in moment)), Vector(*(f[j] for f in force))) for j in range(len(U))]


def factor(D: Sequence[Sequence[Any]], held: Sequence[Any] | None = None) -> Factored:
    """The factors of a symmetric positive definite matrix; only the lower triangle is read.

    Rows and columns of coordinates that are `held` are left out: D⁻¹ b is zero there.
    """
    if held is not None:
        answers = factor([[_left_out(D, held, i, j) for j in range(i + 1)] for i in range(len(D))])
        inverse = [where(h, 0, x) for h, x in zip(held, answers.d_inverse, strict=True)]
        return Factored(answers.L, answers.d, inverse, D)
    n = len(D)
    L: list[list[Any]] = [[0] * n for _ in range(n)]
    d: list[Any] = [0] * n
    d_inverse: list[Any] = [0] * n
    for i in range(n):
        weighted: list[Any] = []  # L_ik d_k
        for j in range(i):
            s = D[i][j]
            for Ld_k, L_jk in zip(weighted, L[j], strict=False):  # k < j
                s = s - Ld_k * L_jk
            L[i][j] = s * d_inverse[j]
            weighted.append(L[i][j] * d[j])
        s = D[i][i]
        for Ld_k, L_ik in zip(weighted, L[i], strict=False):  # k < i
            s = s - Ld_k * L_ik
        d[i] = s
        d_inverse[i] = reciprocal(s)
    return Factored(L, d, d_inverse, D)


def _left_out(D: Sequence[Sequence[Any]], held: Sequence[Any], i: int, j: int) -> Any:
    if i == j:
        return D[i][i]
    return where(held[i], 0, where(held[j], 0, D[i][j]))
