"""The search for δ with e(δ) = 0: quasi-Newton steps, and Newton steps with a line search where those fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.integrators.variational.drnea import Place, Trial, drnea
from featherweight.integrators.variational.newton import newton_step
from featherweight.integrators.variational.riqn import answers
from featherweight.scalar import known, logical_not, repeat, when, where
from featherweight.spatial import Force, Vector

WORST_RATE = 0.25  # of |e|², beyond which quasi-Newton steps are given up
SHORTEST = 1e-6  # part of a Newton step
NEVER = 1e300


@dataclass(frozen=True)
class Found:
    """The last step that was tried, and how many were tried after the first."""

    trial: Trial
    iterations: Any


class Search:
    """From a first δ to one with |e|² ≤ small."""

    def __init__(self, place: Place, small: Any) -> None:
        self.place, self.small = place, small

    def riqn(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - M(q)⁻¹ e, until e is small, or does not become much smaller."""
        first = drnea(self.place, delta)
        answer = answers(self.place, self._large(first.square))

        def turn(carry: list[Any]) -> list[Any]:
            before = _unpacked(first, carry[:-2])
            step = answer(before.e)
            after = drnea(self.place, _less(before.delta, step))
            return [*_flat(first, after), before.square, carry[-1] + 1.0]

        def ends(carry: list[Any]) -> Any:
            square, before = carry[0], carry[-2]
            return (square <= self.small) | logical_not(square <= WORST_RATE * before)

        last = repeat(turn, [*_flat(first, first), NEVER, 0.0], until=ends, at_most=at_most)
        return Found(_unpacked(first, last[:-2]), last[-1])

    def newton(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - α (∂e/∂δ)⁻¹ e, with α = 1, or halved until it makes |e| smaller."""
        nv = len(delta)
        first = drnea(self.place, delta)
        self.place.tree.mark()
        begin = when(self._large(first.square), lambda: self._direction(first), [0.0] * nv)

        def turn(carry: list[Any]) -> list[Any]:
            best, direction, (alpha, count) = _unpacked(first, carry[: -2 - nv]), carry[-2 - nv : -2], carry[-2:]
            trial = drnea(self.place, _less(best.delta, [alpha * x for x in direction]))
            better = trial.square < best.square
            self.place.tree.mark()
            direction = when(better & self._large(trial.square), lambda: self._direction(trial), direction)
            kept = [where(better, a, b) for a, b in zip(_flat(first, trial), carry, strict=False)]
            return [*kept, *direction, where(better, 1.0, 0.5 * alpha), count + 1.0]

        def ends(carry: list[Any]) -> Any:
            return (carry[0] <= self.small) | logical_not(carry[0] < NEVER) | (carry[-2] < SHORTEST)

        last = repeat(turn, [*_flat(first, first), *begin, 1.0, 0.0], until=ends, at_most=at_most)
        return Found(_unpacked(first, last[: -2 - nv]), last[-1])

    def rescued(self, found: Found, at_most: int) -> Found:
        """What was found, or what Newton steps make of it where it is not small enough."""

        def again() -> list[Any]:
            newton = self.newton(found.trial.delta, at_most)
            return [*_flat(found.trial, newton.trial), found.iterations + newton.iterations]

        self.place.tree.mark()
        kept = [*_flat(found.trial, found.trial), found.iterations]
        values = when(self._large(found.trial.square), again, kept)
        return Found(_unpacked(found.trial, values[:-1]), values[-1])

    def _large(self, square: Any) -> Any:
        return logical_not(square <= self.small)

    def _direction(self, trial: Trial) -> list[Any]:
        """The Newton step, in the coordinates of δ."""
        tree = self.place.tree
        step = newton_step(self.place, algorithms.integrate(tree, self.place.q, trial.delta), trial)
        for _, _, joint in tree.outward():
            step[joint.v] = joint.joint.rate(trial.delta[joint.v], step[joint.v])
        return step


def _less(x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
    return [a - b for a, b in zip(x, y, strict=True)]


# ---- a trial as a list of numbers, for loops; what is known of the first one while tracing is known of all


def _numbers(trial: Trial) -> list[Any]:
    after = [x for force in trial.after[1:] for vector in force for x in vector]
    return [trial.square, trial.upright, *trial.delta, *trial.e, *trial.spun, *after]


def _flat(like: Trial, trial: Trial) -> list[Any]:
    return [x for x, first in zip(_numbers(trial), _numbers(like), strict=True) if not known(first)]


def _unpacked(like: Trial, values: Sequence[Any]) -> Trial:
    given = iter(values)
    numbers: Iterator[Any] = iter([first if known(first) else next(given) for first in _numbers(like)])

    def take(n: int) -> list[Any]:
        return [next(numbers) for _ in range(n)]

    square, upright = take(2)
    delta, e, spun = take(len(like.delta)), take(len(like.e)), take(len(like.spun))
    after = [like.after[0], *(Force(Vector(*take(3)), Vector(*take(3))) for _ in like.after[1:])]
    return replace(like, square=square, upright=upright, delta=delta, e=e, spun=spun, after=after)
