"""Coulomb's cone: a normal impulse that only pushes, and friction along the surface within μ of it.

With w = v⁺ - v*, y = λ - ρ w and any ρ > 0, the law is (Alart and Curnier, 1991)

    open      y_n ≤ 0               λ = 0
    sticking  |y_t| ≤ μ y_n         w = 0
    sliding   otherwise             w_n = 0,  λ_t = μ y_n d,  d = y_t / |y_t|.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.constraints.law import LEAST, SOFT, TINY, Law, Linearised, LocalProblem, Rows, dot
from featherweight.scalar import logical_not, maximum, minimum, sqrt, structural, when, where

TURNS = 2  # Newton steps for the direction of sliding
COMPLIANCE = 1e-10  # of a contact, as a part of its mobility


@dataclass(frozen=True)
class Cone(Law):
    """`|λ_t| ≤ μ λ_n`; rows: the normal, and two directions along the surface."""

    friction: Any
    size = 3
    is_contact = True
    one_sided = True

    def problem(self, dofs: tuple[int, ...], T: Rows, Y: Rows, e: list[Any], before: Sequence[Any]) -> ConeProblem:
        nn, n1, n2, o11, o12, o22 = (dot(T[r], Y[c]) for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        # a point may not be free to move in all directions: a trace of compliance keeps the inverse finite
        soft = COMPLIANCE * (nn + o11 + o22) + LEAST
        inverse = inverted(nn + soft, n1, n2, o11 + soft, o12, o22 + soft)
        return ConeProblem(T, Y, [nn + soft, n1, n2, o11 + soft, o12, o22 + soft], inverse, soft, e, dofs, self)

    def equations(
        self, own: Sequence[Any], w: Sequence[Any], before: Sequence[Any], mobility: Callable[[int], Any]
    ) -> list[Any]:
        """Open: λ = 0. Sticking: w = 0. Sliding: w_n = 0 and λ_t = -μ λ_n w_t / |w_t|. The side is the one of the law
        above, with ρ = λ_n over 1 m/s."""
        n, x, y = own
        most = self.friction * n * (1.0 - w[0])
        held_1, held_2 = x - n * w[1], y - n * w[2]
        sticks = held_1 * held_1 + held_2 * held_2 < most * most
        square = w[1] * w[1] + w[2] * w[2]
        per = self.friction * n / sqrt(where(square > 0, square, 1.0))
        along = [where(sticks, u, l + per * u) for l, u in ((x, w[1]), (y, w[2]))]
        return [where(n > 0, e, l) for e, l in zip((w[0], *along), own, strict=True)]


@dataclass(frozen=True)
class ConeProblem(LocalProblem):
    """A touching point: G = T Yᵀ with `soft` of compliance on its diagonal, and the inverse of that, by entries nn, n1,
    n2, 11, 12, 22."""

    T: Rows
    Y: Rows
    G: list[Any]
    inverse: list[Any]
    soft: Any
    e: list[Any]
    dofs: tuple[int, ...] = structural()
    law: Cone = structural()

    @property
    def mass(self) -> Any:
        return 3.0 / (self.G[0] + self.G[3] + self.G[5])

    def only_if(self, acts: Any) -> ConeProblem:
        T, Y = ([[where(acts, x, 0.0) for x in row] for row in rows] for rows in (self.T, self.Y))
        e, G = [where(acts, x, 0.0) for x in self.e], [where(acts, x, 1.0) for x in self.G]
        return replace(self, T=T, Y=Y, e=e, G=G)

    def velocity(self, change: Sequence[Any]) -> list[Any]:
        nn, n1, n2, o11, o12, o22 = self.G
        n, x, y = change
        w = nn * n + n1 * x + n2 * y, n1 * n + o11 * x + o12 * y, n2 * n + o12 * x + o22 * y
        return [v - self.soft * own for v, own in zip(w, change, strict=True)]

    def slip(self, w: Sequence[Any]) -> Any:
        return sqrt(w[1] * w[1] + w[2] * w[2])

    def solved(self, own: Sequence[Any], e: Sequence[Any]) -> list[Any]:
        mu = self.law.friction
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
        per = 1.0 / maximum(nn - self.law.friction * (n1 * x + n2 * y), 0.05 * nn)
        return -b_n * per, per

    def linearised(self, own: Sequence[Any], w: Sequence[Any], soft: Any = SOFT) -> Linearised:
        rho, mu = self.mass, self.law.friction
        stiff = rho / soft
        y_n, y_1, y_2 = (l - rho * x for l, x in zip(own, w, strict=True))
        size = sqrt(maximum(y_1 * y_1 + y_2 * y_2, TINY))
        x, y = y_1 / size, y_2 / size  # d; p is (-y, x)
        opens, sticks = y_n <= 0, size <= mu * y_n
        along, across = x * own[1] + y * own[2], x * own[2] - y * own[1]

        # sliding: λ_t is μ λ_n along d, and turns with the velocity across it
        ratio = maximum(minimum(mu * y_n / size, 1.0), 0.0)
        turning = 1.0 / (1.0 - (1.0 - soft) * ratio)
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
        return Linearised(
            [where(opens, -l, z) for l, z in zip(own, a, strict=True)],
            [[where(opens, 0.0, h) for h in row] for row in H],
            error,
        )

    def reach(self, own: Sequence[Any], change: Sequence[Any]) -> Any:
        bound = self.law.friction * self.law.friction
        (n, x, y), (dn, dx, dy) = own, change
        to_nothing = where((n > 0) & (n + dn < 0), n / maximum(-dn, TINY), 1.0)
        a, b = dx * dx + dy * dy - bound * dn * dn, x * dx + y * dy - bound * n * dn
        c = bound * n * n - (x * x + y * y)
        inside, crosses = c > 1e-9 * bound * n * n, a + 2.0 * b - c > 0
        to_edge = c / maximum(b + sqrt(maximum(b * b + a * c, 0.0)), TINY)
        return minimum(to_nothing, where(inside & crosses, minimum(to_edge, 1.0), 1.0))

    def inside(self, own: Sequence[Any]) -> list[Any]:
        n = maximum(own[0], 0.0)
        part = minimum(self.law.friction * n / sqrt(maximum(own[1] * own[1] + own[2] * own[2], TINY)), 1.0)
        return [n, part * own[1], part * own[2]]


def inverted(nn: Any, n1: Any, n2: Any, o11: Any, o12: Any, o22: Any) -> list[Any]:
    """The inverse of a symmetric, positive definite 3×3 matrix by its factors L D Lᵀ, by entries like its own.

    Cofactors over the determinant would be rounding alone where a point moves along one line: compliance is 1e-20 of
    the determinant there, but 1e-10 of each pivot.
    """
    d_n = 1.0 / nn
    p, q = n1 * d_n, n2 * d_n
    d_1, k = 1.0 / (o11 - p * n1), o12 - p * n2
    r = k * d_1
    d_2 = 1.0 / (o22 - q * n2 - r * k)
    t = r * p - q  # the last row of L⁻¹ is (t, -r, 1)
    pd, td, rd = p * d_1, t * d_2, r * d_2
    return [d_n + p * pd + t * td, -pd - r * td, td, d_1 + r * rd, -rd, d_2]
