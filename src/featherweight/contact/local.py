"""One contact or one row of a joint: solved for itself while the others stay as they are, or linearised.

With w = v⁺ - v*, y = λ - ρ w and any ρ > 0, the laws of a contact are (Alart and Curnier)

    open      y_n ≤ 0               λ = 0
    sticking  |y_t| ≤ μ y_n         w = 0
    sliding   otherwise             w_n = 0,  λ_t = μ y_n d,  d = y_t / |y_t|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.scalar import logical_not, maximum, minimum, sqrt, when, where

TURNS = 2  # Newton steps for the direction of sliding
SOFT = 1e-6  # of the mobility: softness of a law that is linearised
TINY = 1e-30


@dataclass(frozen=True)
class Law:
    """Near impulses and velocities w as they are, the law says Δλ = a - H Δw; `error` is what it lacks, squared."""

    a: list[Any]
    H: list[list[Any]]
    error: Any


@dataclass(frozen=True)
class Contact:
    """A touching point: its friction, three rows T = L⁻¹ t and Y = T / d by degree of freedom, G = T Yᵀ and its
    inverse, and the free velocity less v*."""

    dofs: tuple[int, ...]
    mu: Any
    T: list[list[Any]]
    Y: list[list[Any]]
    G: list[Any]  # nn, n1, n2, 11, 12, 22
    inverse: list[Any]
    e: list[Any]

    @property
    def mass(self) -> Any:
        """That the point feels like, in the mean of three directions [kg]; ρ of its law."""
        return 3.0 / (self.G[0] + self.G[3] + self.G[5])

    def flat(self) -> list[Any]:
        rows = [y for row in (*self.T, *self.Y) for y in row]
        return [*rows, *self.G, *self.inverse, *self.e]

    @staticmethod
    def of(dofs: tuple[int, ...], mu: Any, values: Sequence[Any]) -> Contact:
        n = len(dofs)
        rows, rest = [list(values[k * n : (k + 1) * n]) for k in range(6)], values[6 * n :]
        return Contact(dofs, mu, rows[:3], rows[3:], list(rest[:6]), list(rest[6:12]), list(rest[12:15]))

    def only_if(self, acts: Any) -> Contact:
        """The same, or one that is nowhere near and weighs something."""
        T, Y = ([[where(acts, x, 0.0) for x in row] for row in rows] for rows in (self.T, self.Y))
        e, G = [where(acts, x, 0.0) for x in self.e], [where(acts, x, 1.0) for x in self.G]
        return replace(self, T=T, Y=Y, e=e, G=G)

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

    def solved(self, own: Sequence[Any], e: Sequence[Any]) -> list[Any]:
        """The impulse that solves this contact; e is v⁺ - v* with its own impulse as it is."""
        mu = self.mu
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
                n, per = self._normal(b_n, x, y)
                w_1, w_2 = n1 - mu * (o11 * x + o12 * y), n2 - mu * (o12 * x + o22 * y)
                v_1, v_2 = b_1 + n * w_1, b_2 + n * w_2
                along, turning = x * v_1 + y * v_2, n * mu * (o11 * y * y - 2.0 * o12 * x * y + o22 * x * x)
                feedback = n * mu * (n2 * x - n1 * y) * per * (x * w_2 - y * w_1)
                slope = minimum(feedback - along - turning, -0.1 * (abs(along) + turning) - TINY)
                turn = maximum(minimum((y * v_1 - x * v_2) / slope, 1.0), -1.0)
                scale = 1.0 / sqrt(1.0 + turn * turn)
                x, y = (x - turn * y) * scale, (y + turn * x) * scale
            n, _ = self._normal(b_n, x, y)
            return [n, -mu * n * x, -mu * n * y]

        slides = when(logical_not(opens | sticks), slide, [t_n, t_1, t_2])
        return [where(opens, 0.0, x) for x in slides]

    def _normal(self, b_n: Any, x: Any, y: Any) -> tuple[Any, Any]:
        """The normal impulse while it slides along (x, y), and one over what it acts on: G_nn less what friction adds.
        Friction that pulls a point down harder than it is pushed up has no answer; a twentieth of G_nn is least."""
        nn, n1, n2 = self.G[:3]
        per = 1.0 / maximum(nn - self.mu * (n1 * x + n2 * y), 0.05 * nn)
        return -b_n * per, per

    def law(self, own: Sequence[Any], w: Sequence[Any]) -> Law:
        """What the law of this contact says near an impulse and a velocity."""
        rho, mu = self.mass, self.mu
        stiff = rho / SOFT
        y_n, y_1, y_2 = (l - rho * x for l, x in zip(own, w, strict=True))
        size = sqrt(maximum(y_1 * y_1 + y_2 * y_2, TINY))
        x, y = y_1 / size, y_2 / size  # d; p is (-y, x)
        opens, sticks = y_n <= 0, size <= mu * y_n
        along, across = x * own[1] + y * own[2], x * own[2] - y * own[1]

        # sliding: λ_t is μ λ_n along d, and turns with the velocity across it
        ratio = maximum(minimum(mu * y_n / size, 1.0), 0.0)
        turning = 1.0 / (1.0 - (1.0 - SOFT) * ratio)
        a_n = -stiff * w[0]
        a_d = where(sticks, -stiff * (x * w[1] + y * w[2]), mu * (own[0] + a_n) - along)
        a_p = where(sticks, -stiff * (x * w[2] - y * w[1]), -turning * across)
        h_dn, h_dd = where(sticks, 0.0, mu * stiff), where(sticks, stiff, 0.0)
        h_pp = where(sticks, stiff, rho * ratio * turning)

        H = [
            [stiff, 0.0, 0.0],
            [h_dn * x, h_dd * x * x + h_pp * y * y, (h_dd - h_pp) * x * y],
            [h_dn * y, (h_dd - h_pp) * x * y, h_dd * y * y + h_pp * x * x],
        ]
        lacks_d, lacks_p = (along - mu * y_n) / rho, across / rho
        slides = w[0] * w[0] + lacks_d * lacks_d + lacks_p * lacks_p
        error = where(opens, dot(own, own) / (rho * rho), where(sticks, dot(w, w), slides))
        a = [a_n, x * a_d - y * a_p, y * a_d + x * a_p]
        return Law(
            [where(opens, -l, z) for l, z in zip(own, a, strict=True)],
            [[where(opens, 0.0, h) for h in row] for row in H],
            error,
        )

    def reach(self, own: Sequence[Any], change: Sequence[Any]) -> Any:
        """The part of a change, 1 at most, that brings the impulse to the edge of its cone."""
        bound = self.mu * self.mu
        (n, x, y), (dn, dx, dy) = own, change
        to_nothing = where((n > 0) & (n + dn < 0), n / maximum(-dn, TINY), 1.0)
        a, b = dx * dx + dy * dy - bound * dn * dn, x * dx + y * dy - bound * n * dn
        c = bound * n * n - (x * x + y * y)
        inside, crosses = c > 1e-9 * bound * n * n, a + 2.0 * b - c > 0
        to_edge = c / maximum(b + sqrt(maximum(b * b + a * c, 0.0)), TINY)
        return minimum(to_nothing, where(inside & crosses, minimum(to_edge, 1.0), 1.0))

    def inside(self, own: Sequence[Any]) -> list[Any]:
        """The impulse, no longer than its cone allows."""
        n = maximum(own[0], 0.0)
        part = minimum(self.mu * n / sqrt(maximum(own[1] * own[1] + own[2] * own[2], TINY)), 1.0)
        return [n, part * own[1], part * own[2]]


@dataclass(frozen=True)
class JointRow:
    """A row of a joint: T and Y by degree of freedom, G = T Yᵀ, and the free velocity less what is wanted; as
    lists of one, as a contact has lists of three. Its impulse is between two bounds, and at one of them if its velocity
    is not what is wanted: with u = w + R (λ - λ₀), where R is how much it yields, and y = λ - ρ u,

        y ≤ least    λ = least
        y ≥ most     λ = most
        otherwise    u = 0.
    """

    dofs: tuple[int, ...]
    T: list[list[Any]]
    Y: list[list[Any]]
    G: Any
    e: list[Any]
    least: Any
    most: Any
    yields: Any = 0.0
    before: Any = 0.0  # λ₀

    @property
    def mass(self) -> Any:
        return 1.0 / (self.G + self.yields)

    def only_if(self, acts: Any) -> JointRow:
        T, Y, e = ([[where(acts, x, 0.0) for x in row] for row in rows] for rows in (self.T, self.Y, [self.e]))
        return replace(self, T=T, Y=Y, e=e[0])

    def error(self, s: dict[int, Any]) -> list[Any]:
        return [self.e[0] + dot(self.T[0], [s[d] for d in self.dofs])]

    def pushed(self, impulse: Sequence[Any], s: dict[int, Any]) -> list[Any]:
        """s with the share of an impulse, by its degrees of freedom."""
        return [s[d] + y * impulse[0] for d, y in zip(self.dofs, self.Y[0], strict=True)]

    def again(self, own: Any, s: dict[int, Any], worst: Any) -> list[Any]:
        """s, the impulse and the worst error after this row was solved again."""
        new = self._bounded(own - self.mass * self._lacks(own, self.error(s)))
        error = (new - own) * (self.G + self.yields)
        return [*self.pushed([new - own], s), new, maximum(worst, error * error)]

    def law(self, own: Sequence[Any], w: Sequence[Any]) -> Law:
        """What the law of this row says near an impulse and a velocity."""
        u = self._lacks(own[0], w)
        y = own[0] - self.mass * u
        bound = self._bounded(y)
        inside, stiff = y == bound, 1.0 / (SOFT * self.G + self.yields)
        a, left = bound - own[0], (bound - own[0]) * (self.G + self.yields)
        return Law([where(inside, -stiff * u, a)], [[where(inside, stiff, 0.0)]], left * left)

    def _lacks(self, own: Any, w: Sequence[Any]) -> Any:
        return w[0] + self.yields * (own - self.before)

    def reach(self, own: Sequence[Any], change: Sequence[Any]) -> Any:
        """The part of a change, 1 at most, that brings the impulse to a bound."""
        (x,), (dx,) = own, change
        part = where((x > self.least) & (x + dx < self.least), (x - self.least) / maximum(-dx, TINY), 1.0)
        if is_infinite(self.most):
            return part
        return where((x < self.most) & (x + dx > self.most), (self.most - x) / maximum(dx, TINY), part)

    def inside(self, own: Sequence[Any]) -> list[Any]:
        return [self._bounded(own[0])]

    def _bounded(self, impulse: Any) -> Any:
        above = maximum(impulse, self.least)
        return above if is_infinite(self.most) else minimum(above, self.most)


def is_infinite(x: Any) -> bool:
    """By structure, whatever the state is."""
    return isinstance(x, float) and math.isinf(x)


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
