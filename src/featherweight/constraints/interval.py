"""Impulses between two bounds: dry friction, stops of joints, and equalities, whose impulses have no bounds.

With u = w + R (λ - λ₀), where R is how much the row yields to a change of its impulse, and y = λ - ρ u,

    y ≤ least    λ = least
    y ≥ most     λ = most
    otherwise    u = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.constraints.law import LEAST, SOFT, TINY, Law, Linearised, LocalProblem, Rows, dot
from featherweight.inputs import absent
from featherweight.scalar import maximum, minimum, structural, where


@dataclass(frozen=True)
class Interval(Law):
    """λ from `least` to `most`; the velocity is the wanted one unless λ is at a bound: then it may be more at the
    least, and less at the most. `yields`: how much the row yields to a change of its impulse, over its mobility."""

    least: Any = 0.0
    most: Any = math.inf
    yields: Any = 0.0
    size = 1

    def problem(self, dofs: tuple[int, ...], T: Rows, Y: Rows, e: list[Any], before: Sequence[Any]) -> IntervalProblem:
        G = dot(T[0], Y[0]) + LEAST  # a row may move nothing
        yields = 0.0 if absent(self.yields) else self.yields * G
        return IntervalProblem(T, Y, G, e, yields, before[0], dofs, self)

    def equations(
        self, own: Sequence[Any], w: Sequence[Any], before: Sequence[Any], mobility: Callable[[int], Any]
    ) -> list[Any]:
        """At a bound: λ is that. Between them: w + R (λ - λ₀) = 0."""
        (impulse,) = own
        equation = w[0] if absent(self.yields) else w[0] + self.yields * mobility(0) * (impulse - before[0])
        if not is_infinite(self.least):
            equation = where(impulse <= self.least, impulse - self.least, equation)
        if not is_infinite(self.most):
            equation = where(impulse >= self.most, impulse - self.most, equation)
        return [equation]


@dataclass(frozen=True)
class Stop(Interval):
    """A joint between two ends: low ≤ v⁺ ≤ high, with λ ≥ 0 at `low`, λ ≤ 0 at `high`, and λ = 0 between.

    Its row is that of the nearer end, signed so that λ ≥ 0. Where nothing but stops acts, the velocities themselves
    are what an active-set method needs.
    """

    low: Any = -math.inf
    high: Any = math.inf
    one_sided = True
    prescribes = True

    def passes(self, v: Any) -> Any:
        """Would a joint with this velocity pass an end?"""
        return (v < self.low) | (v > self.high)

    def end(self, v: Any, miss: float, otherwise: Any) -> Any:
        """The end that it would pass with this velocity: 1 the lower, -1 the upper."""
        return where(v < self.low - miss, 1.0, where(v > self.high + miss, -1.0, otherwise))

    def velocity_at(self, end: Any) -> Any:
        """The velocity that takes the joint to an end (1 the lower, -1 the upper); at 0 that of any end there is."""
        if is_infinite(self.low) or is_infinite(self.high):
            return self.high if is_infinite(self.low) else self.low
        return where(end > 0, self.low, self.high)

    def room(self, v: Any) -> Any:
        """How far this velocity is from passing an end."""
        return minimum(v - self.low, self.high - v)


class Equality(Interval):
    """The velocity is the wanted one, whatever impulse that takes."""

    def __init__(self) -> None:
        super().__init__(-math.inf, math.inf)


@dataclass(frozen=True)
class IntervalProblem(LocalProblem):
    """One row: its mobility G = T Yᵀ, how much it yields R, and the impulse of the step before λ₀."""

    T: Rows
    Y: Rows
    G: Any
    e: list[Any]
    yields: Any
    before: Any
    dofs: tuple[int, ...] = structural()
    law: Interval = structural()

    @property
    def mass(self) -> Any:
        return 1.0 / (self.G + self.yields)

    def only_if(self, acts: Any) -> IntervalProblem:
        T, Y, e = ([[where(acts, x, 0.0) for x in row] for row in rows] for rows in (self.T, self.Y, [self.e]))
        return replace(self, T=T, Y=Y, e=e[0])

    def velocity(self, change: Sequence[Any]) -> list[Any]:
        return [change[0] * (self.G + self.yields)]

    def solved(self, own: Sequence[Any], w: Sequence[Any]) -> list[Any]:
        return [self._bounded(own[0] - self.mass * self._lacks(own[0], w))]

    def linearised(self, own: Sequence[Any], w: Sequence[Any], soft: Any = SOFT) -> Linearised:
        u = self._lacks(own[0], w)
        y = own[0] - self.mass * u
        bound = self._bounded(y)
        inside, stiff = y == bound, 1.0 / (soft * self.G + self.yields)
        a, left = bound - own[0], (bound - own[0]) * (self.G + self.yields)
        return Linearised([where(inside, -stiff * u, a)], [[where(inside, stiff, 0.0)]], left * left)

    def held(self, own: Sequence[Any], w: Sequence[Any], mass: Any) -> Linearised:
        per = mass / (1.0 + mass * self.yields)
        return Linearised([-per * self._lacks(own[0], w)], [[per]], 0.0)

    def _lacks(self, own: Any, w: Sequence[Any]) -> Any:
        return w[0] + self.yields * (own - self.before)

    def reach(self, own: Sequence[Any], change: Sequence[Any]) -> Any:
        (x,), (dx,), law = own, change, self.law
        part: Any = 1.0
        if not is_infinite(law.least):
            part = where((x > law.least) & (x + dx < law.least), (x - law.least) / maximum(-dx, TINY), 1.0)
        if is_infinite(law.most):
            return part
        return where((x < law.most) & (x + dx > law.most), (law.most - x) / maximum(dx, TINY), part)

    def inside(self, own: Sequence[Any]) -> list[Any]:
        return [self._bounded(own[0])]

    def _bounded(self, impulse: Any) -> Any:
        above = impulse if is_infinite(self.law.least) else maximum(impulse, self.law.least)
        return above if is_infinite(self.law.most) else minimum(above, self.law.most)


def is_infinite(x: Any) -> bool:
    """By structure, whatever the state is."""
    return isinstance(x, float) and math.isinf(x)
