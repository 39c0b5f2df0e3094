"""One contact or one row of a joint, solved for itself while the others stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.scalar import logical_not, maximum, minimum, sqrt, when, where

TURNS = 2  # Newton steps for the direction of sliding
TINY = 1e-30


@dataclass(frozen=True)
class Contact:
    """A touching point: three rows T = L⁻¹ t and Y = T / d by degree of freedom, G = T Yᵀ and its inverse, and the
    free velocity less v*."""

    dofs: tuple[int, ...]
    T: list[list[Any]]
    Y: list[list[Any]]
    G: list[Any]  # nn, n1, n2, 11, 12, 22
    inverse: list[Any]
    e: list[Any]

    def flat(self) -> list[Any]:
        rows = [y for row in (*self.T, *self.Y) for y in row]
        return [*rows, *self.G, *self.inverse, *self.e]

    @staticmethod
    def of(dofs: tuple[int, ...], values: Sequence[Any]) -> Contact:
        n = len(dofs)
        rows, rest = [list(values[k * n : (k + 1) * n]) for k in range(6)], values[6 * n :]
        return Contact(dofs, rows[:3], rows[3:], list(rest[:6]), list(rest[6:12]), list(rest[12:15]))

    def velocity(self, change: Sequence[Any]) -> list[Any]:
        """G Δλ: what a change of its own impulse does to its velocity."""
        nn, n1, n2, o11, o12, o22 = self.G
        n, x, y = change
        return [nn * n + n1 * x + n2 * y, n1 * n + o11 * x + o12 * y, n2 * n + o12 * x + o22 * y]

    def error(self, s: dict[int, Any]) -> list[Any]:
        """v⁺ - v* of the impulses whose pushes are s."""
        return [e + dot(row, [s[d] for d in self.dofs]) for e, row in zip(self.e, self.T, strict=True)]

    def pushed(self, impulse: Sequence[Any], s: dict[int, Any]) -> list[Any]:
        """s with the share of an impulse, by its degrees of freedom."""
        return [
            s[d] + impulse[0] * n + impulse[1] * a + impulse[2] * b
            for d, n, a, b in zip(self.dofs, *self.Y, strict=True)
        ]

    def solved(self, own: Sequence[Any], e: Sequence[Any], mu: Any) -> list[Any]:
        """The impulse that solves this contact; e is v⁺ - v* with its own impulse as it is."""
        nn, n1, n2, o11, o12, o22 = self.G
        l_n, l_1, l_2 = own

        # open: even without an impulse the point leaves
        b_n = e[0] - (nn * l_n + n1 * l_1 + n2 * l_2)
        opens = b_n >= 0

        # sticking: no velocity is left
        a = self.inverse
        t_n = l_n - (a[0] * e[0] + a[1] * e[1] + a[2] * e[2])
        t_1 = l_1 - (a[1] * e[0] + a[3] * e[1] + a[4] * e[2])
        t_2 = l_2 - (a[2] * e[0] + a[4] * e[1] + a[5] * e[2])
        sticks = (t_n >= 0) & (t_1 * t_1 + t_2 * t_2 <= (mu * mu) * t_n * t_n)

        def slide() -> list[Any]:
            b_1 = e[1] - (n1 * l_n + o11 * l_1 + o12 * l_2)
            b_2 = e[2] - (n2 * l_n + o12 * l_1 + o22 * l_2)
            # along d the impulse is n (1, -μ d), the velocity v = b + n w; d turns until v is along d: p·v = 0, p ⟂ d
            # begin where it slid before, or against what would hold it
            friction, bound = l_1 * l_1 + l_2 * l_2, mu * mu * l_n * l_n
            slid = (friction > 0) & (friction >= 0.99 * bound)
            x, y = where(slid, -l_1, -t_1), where(slid, -l_2, -t_2)
            scale = 1.0 / sqrt(maximum(x * x + y * y, TINY))
            x, y = x * scale, y * scale
            for _ in range(TURNS):
                n, per = self._normal(b_n, x, y, mu)
                w_1, w_2 = n1 - mu * (o11 * x + o12 * y), n2 - mu * (o12 * x + o22 * y)
                v_1, v_2 = b_1 + n * w_1, b_2 + n * w_2
                along, turning = x * v_1 + y * v_2, n * mu * (o11 * y * y - 2.0 * o12 * x * y + o22 * x * x)
                feedback = n * mu * (n2 * x - n1 * y) * per * (x * w_2 - y * w_1)
                slope = minimum(feedback - along - turning, -0.1 * (abs(along) + turning) - TINY)
                turn = maximum(minimum((y * v_1 - x * v_2) / slope, 1.0), -1.0)
                scale = 1.0 / sqrt(1.0 + turn * turn)
                x, y = (x - turn * y) * scale, (y + turn * x) * scale
            n, _ = self._normal(b_n, x, y, mu)
            return [n, -mu * n * x, -mu * n * y]

        slides = when(logical_not(opens | sticks), slide, [t_n, t_1, t_2])
        return [where(opens, 0.0, x) for x in slides]

    def _normal(self, b_n: Any, x: Any, y: Any, mu: Any) -> tuple[Any, Any]:
        """The normal impulse while it slides along (x, y), and one over what it acts on: G_nn less what friction adds.
        Friction that pulls a point down harder than it is pushed up has no answer; a twentieth of G_nn is least."""
        nn, n1, n2 = self.G[:3]
        per = 1.0 / maximum(nn - mu * (n1 * x + n2 * y), 0.05 * nn)
        return -b_n * per, per


@dataclass(frozen=True)
class JointRow:
    """A row of a joint: T and Y by degree of freedom, G = T Yᵀ, 1 / G, and the free velocity less what is wanted."""

    dofs: tuple[int, ...]
    T: list[Any]
    Y: list[Any]
    G: Any
    inverse: Any
    e: Any

    def pushed(self, impulse: Any, s: dict[int, Any]) -> list[Any]:
        """s with the share of an impulse, by its degrees of freedom."""
        return [s[d] + y * impulse for d, y in zip(self.dofs, self.Y, strict=True)]

    def again(self, own: Any, s: dict[int, Any], worst: Any) -> list[Any]:
        """s, the impulse and the worst error after this row was solved again."""
        e = self.e + dot(self.T, [s[d] for d in self.dofs])
        new = maximum(own - e * self.inverse, 0.0)
        error = (new - own) * self.G
        return [*self.pushed(new - own, s), new, maximum(worst, error * error)]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
