"""Roaming blocks in the system of all: they push other bodies from state to state, and so all degrees of freedom.

In the system of all blocks, (1 + Σ Yᵀ H T) Δs = Σ Yᵀ a (`system`), they would fill the whole matrix, whether they act
or not. So it is factored without them, K of the others, and they come as a correction of low rank (Woodbury): with
c = K⁻¹ r of the others and Z = K⁻¹ Yᵀ, the change of their impulses μ and that of all pushes are

    (1 + H T Z) μ = a - H T c,    Δs = c + Z μ.

All of it is computed only where one of them acts, in loops that pass over those that do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from featherweight.constraints.law import SOFT, Linearised, LocalProblem, dot
from featherweight.scalar import array, count, when, where


class Factors(Protocol):
    """K of the blocks that stay where they are."""

    def solve(self, r: dict[int, Any]) -> dict[int, Any]:
        """K⁻¹ r by degree of freedom."""
        ...


class WhereItActs(LocalProblem):
    """A block, computed only where it acts. Elsewhere it has no impulse and no error: it is open."""

    def __init__(self, part: LocalProblem, acts: Any) -> None:
        self.part, self.acts = part, acts
        self.dofs, self.law, self.T, self.Y, self.e = part.dofs, part.law, part.T, part.Y, part.e

    @property
    def mass(self) -> Any:
        return self.part.mass

    def error(self, s: dict[int, Any]) -> list[Any]:
        return when(self.acts, partial(self.part.error, s), [0.0] * len(self.e))

    def pushed(self, impulse: Sequence[Any], s: dict[int, Any]) -> list[Any]:
        return when(self.acts, partial(self.part.pushed, impulse, s), [s[d] for d in self.dofs])

    def with_error(self, e: list[Any]) -> WhereItActs:
        return WhereItActs(self.part.with_error(e), self.acts)

    def linearised(self, own: Sequence[Any], w: Sequence[Any], soft: Any = SOFT) -> Linearised:
        nothing = [0.0] * len(self.e)
        open_ = Linearised(nothing, [nothing for _ in nothing], 0.0)
        return when(self.acts, partial(self.part.linearised, own, w, soft), open_)

    def held(self, own: Sequence[Any], w: Sequence[Any], mass: Any) -> Linearised:
        return self.part.held(own, w, mass)

    def reach(self, own: Sequence[Any], change: Sequence[Any]) -> Any:
        return when(self.acts, partial(self.part.reach, own, change), 1.0)

    def inside(self, own: Sequence[Any]) -> list[Any]:
        return when(self.acts, partial(self.part.inside, own), [0.0] * len(self.e))


def _felt(part: LocalProblem, law: Linearised, s: dict[int, Any]) -> list[Any]:
    """H T s of a block."""
    w = [dot(row, [s[d] for d in part.dofs]) for row in part.T]
    return [dot(row, w) for row in law.H]


class Roaming:
    """The blocks that roam, with all that no Newton step changes."""

    def __init__(self, parts: Sequence[WhereItActs], dofs: Sequence[int]) -> None:
        self._parts, self._dofs = parts, list(dofs)
        self._rows = [(part, k) for part in parts for k in range(len(part.T))]
        own = [dict(zip(part.dofs, part.Y[k], strict=True)) for part, k in self._rows]
        self._Y = array([y.get(d, 0.0) for y in own for d in self._dofs])
        self._acts = array([where(part.acts, 1.0, 0.0) for part, _ in self._rows])
        self._some: Any = False
        for part in parts:
            self._some = self._some | part.acts

    def corrected(self, change: dict[int, Any], factors: Factors, laws: Sequence[Linearised]) -> dict[int, Any]:
        """Δs with these blocks, from the one without."""
        before = [change[d] for d in self._dofs]
        found = when(self._some, lambda: self._correct(before, factors, laws), before)
        return dict(zip(self._dofs, found, strict=True))

    def _correct(self, before: list[Any], factors: Factors, laws: Sequence[Linearised]) -> list[Any]:
        size = len(self._rows)
        width = float(size + 1)
        Z, A = self._arrays(1)
        self._fill(Z, A, 1, factors, laws)
        for i, x in enumerate(self._asked(before, laws)):
            A[i * width + float(size)] = x
        self._eliminate(A, 1)
        return self._moved(before, Z, lambda k: A[k * width + float(size)])

    def inverted(self, factors: Factors, laws: Sequence[Linearised]) -> tuple[Any, Any]:
        """Z and (1 + H T Z)⁻¹, for many changes with the same H."""
        size = len(self._rows)
        Z, A = self._arrays(size)

        def invert() -> list[Any]:
            self._fill(Z, A, size, factors, laws)
            for i in range(size):
                for j in range(size):
                    A[float(i * 2 * size + size + j)] = 1.0 if i == j else 0.0
            self._eliminate(A, size)
            return []

        when(self._some, invert, [])
        return Z, A

    def corrected_by(
        self, inverse: tuple[Any, Any], change: dict[int, Any], laws: Sequence[Linearised]
    ) -> dict[int, Any]:
        """Δs with these blocks, from the one without and what `inverted` gave."""
        before, (Z, A), size = [change[d] for d in self._dofs], inverse, len(self._rows)

        def correct() -> list[Any]:
            asked = self._asked(before, laws)
            impulse = lambda k: dot([A[k * float(2 * size) + float(size + j)] for j in range(size)], asked)  # noqa: E731
            return self._moved(before, Z, impulse)

        return dict(zip(self._dofs, when(self._some, correct, before), strict=True))

    def _arrays(self, sides: int) -> tuple[Any, Any]:
        """Room for Z, and for 1 + H T Z with so many right sides."""
        size, n = len(self._rows), len(self._dofs)
        return array([0.0] * (size * n)), array([0.0] * (size * (size + sides)))

    def _fill(self, Z: Any, A: Any, sides: int, factors: Factors, laws: Sequence[Linearised]) -> None:
        """Z = K⁻¹ Yᵀ and 1 + H T Z."""
        n, width = len(self._dofs), float(len(self._rows) + sides)

        def column(k: Any, now: list[Any]) -> list[Any]:
            z = factors.solve({d: self._Y[k * float(n) + float(j)] for j, d in enumerate(self._dofs)})
            for j, d in enumerate(self._dofs):
                Z[k * float(n) + float(j)] = z[d]
            for i, x in enumerate(self._felt(z, laws)):
                A[k + i * width] = x + where(k == float(i), 1.0, 0.0)
            return now

        self._each(column, [])

    def _asked(self, before: list[Any], laws: Sequence[Linearised]) -> list[Any]:
        """a - H T c."""
        felt = self._felt(dict(zip(self._dofs, before, strict=True)), laws)
        return [x - y for x, y in zip([x for law in laws for x in law.a], felt, strict=True)]

    def _moved(self, before: list[Any], Z: Any, impulse: Callable[[Any], Any]) -> list[Any]:
        """c + Z μ."""
        n = float(len(self._dofs))

        def add(k: Any, now: list[Any]) -> list[Any]:
            own = impulse(k)
            return [x + own * Z[k * n + float(j)] for j, x in enumerate(now)]

        return self._each(add, before)

    def _felt(self, s: dict[int, Any], laws: Sequence[Linearised]) -> list[Any]:
        """H T s of each row."""
        result = []
        for part, law in zip(self._parts, laws, strict=True):
            result += when(part.acts, partial(_felt, part, law, s), [0.0] * len(part.T))
        return result

    def _eliminate(self, A: Any, sides: int) -> None:
        """A has a square and its right sides; in their place come the solutions (Gauss–Jordan). Rows that do not act
        are those of a unit matrix."""
        width = len(self._rows) + sides

        def pivot(k: Any, now: list[Any]) -> list[Any]:
            first = k * float(width)
            scale = 1.0 / A[first + k]
            row = [A[first + float(j)] * scale for j in range(width)]

            def subtract(i: Any, now: list[Any]) -> list[Any]:
                begin = i * float(width)
                factor = where(i == k, 0.0, A[begin + k])
                for j, x in enumerate(row):
                    own = A[begin + float(j)]
                    A[begin + float(j)] = where(i == k, x, own - factor * x)
                return now

            return self._each(subtract, now)

        self._each(pivot, [])

    def _each(self, body: Callable[[Any, list[Any]], list[Any]], carry: list[Any]) -> list[Any]:
        """All rows that act, one after the other."""
        return count(len(self._rows), lambda k, now: when(self._acts[k] > 0, lambda: body(k, now), now), carry)
