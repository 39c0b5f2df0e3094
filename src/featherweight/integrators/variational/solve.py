"""The search for δ with e(δ) = 0: quasi-Newton steps, and Newton steps with a line search where those fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from featherweight import algorithms
from featherweight.integrators.variational.broyden import Steps
from featherweight.integrators.variational.drnea import Place, Trial, drnea
from featherweight.integrators.variational.logarithm import LEAST_W
from featherweight.integrators.variational.newton import newton_step
from featherweight.integrators.variational.riqn import Answer
from featherweight.model import Tree
from featherweight.scalar import known, logical_not, repeat, when, where
from featherweight.spatial import Force, Vector

PATIENCE = 5  # quasi-Newton steps more that are worth waiting for, at the rate of the last one
SHORTEST = 1e-6  # part of a Newton step
NEVER = 1e300


@dataclass(frozen=True)
class Found:
    """The last step that was tried, how many were tried after the first, |e|² of the first; and the first half of
    M⁻¹ e, y, where it is to be had."""

    trial: Trial
    iterations: Any
    first: Any
    y: list[Any] | None = None


class Search:
    """From a first δ to one with |e|² ≤ small, and no body turned too far."""

    def __init__(self, place: Place, small: Any) -> None:
        self.place, self.small = place, small
        self.answers: Answer | None = None

    def good(self, trial: Trial) -> Any:
        """Is it a step?"""
        return (trial.square <= self.small) & (trial.upright >= LEAST_W)

    def riqn(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - M(q)⁻¹ e, until e is small, or, where Newton steps can take over, would not be soon."""
        first, answers = drnea(self.place, delta), Answer(self.place)
        row = Row(self.place.tree, first)

        def turn(carry: list[Any]) -> list[Any]:
            before, y = row.trial(carry[:-2])
            after = drnea(self.place, self._less(before.delta, answers.outward(y, self.place.tree)))
            return [*row.of(after, answers.inward(after.e)), carry[-2] + 1.0, before.square]

        def ends(carry: list[Any]) -> Any:
            square, before = carry[0], carry[-1]
            soon, enough = square, self.small  # square (square / before)^PATIENCE ≤ small
            for _ in range(PATIENCE):
                soon, enough = soon * square, enough * before
            hopeless = logical_not(soon <= enough)
            return (square <= self.small) | hopeless

        last = repeat(turn, [*row.of(first, answers.inward(first.e)), 0.0, NEVER], until=ends, at_most=at_most)
        trial, y = row.trial(last[:-2])
        self.answers = answers
        return Found(trial, last[-2], first.square, y)

    def broyden(self, delta: Sequence[Any], at_most: int) -> Found:
        """Quasi-Newton steps that learn from each other."""
        first, answers = drnea(self.place, delta), Answer(self.place)
        row = Row(self.place.tree, first)
        begin = row.of(first)
        own, tree = len(begin), self.place.tree.apart()

        def turn(carry: list[Any]) -> list[Any]:
            before, _ = row.trial(carry[:own])
            z = [-x for x in answers(before.e)]
            tree.mark()
            step, steps = Steps(len(delta), carry[own:-1]).next(z)
            after = drnea(self.place, [x + dx for x, dx in zip(before.delta, step, strict=True)])
            return [*row.of(after), *steps.flat(), carry[-1] + 1.0]

        def ends(carry: list[Any]) -> Any:
            return (carry[0] <= self.small) | logical_not(carry[0] < NEVER)

        last = repeat(turn, [*begin, *Steps(len(delta)).flat(), 0.0], until=ends, at_most=at_most)
        return Found(row.trial(last[:own])[0], last[-1], first.square)

    def newton(self, delta: Sequence[Any], at_most: int, like: Trial | None = None) -> Found:
        """δ ← δ - α (∂e/∂δ)⁻¹ e, with α = 1, or halved until it makes |e| smaller. The first turn tries δ itself."""
        row = Row(self.place.tree, like or self._unknown())
        begin = [NEVER, *row.of(self._unknown(delta), [0.0] * len(delta))[1:]]

        def turn(carry: list[Any]) -> list[Any]:
            (best, direction), (alpha, first, count) = row.trial(carry[:-3]), carry[-3:]
            trial = drnea(self.place, self._less(best.delta, direction, alpha))
            better = trial.square < best.square
            self.place.tree.mark()
            direction = when(better & self._large(trial.square), lambda: self._direction(trial), direction)
            kept = self.place.tree.chosen(better, row.of(trial, direction), row.of(best, direction))
            first = where(count < 0, trial.square, first)
            return [*kept, where(better, 1.0, 0.5 * alpha), first, count + 1.0]

        def ends(carry: list[Any]) -> Any:
            square, alpha, count = carry[0], carry[-3], carry[-1]
            return (count >= 0) & ((square <= self.small) | logical_not(square < NEVER) | (alpha < SHORTEST))

        last = repeat(turn, [*begin, 1.0, 0.0, -1.0], until=ends, at_most=at_most + 1)
        return Found(row.trial(last[:-3])[0], last[-1], last[-2])

    def rescued(self, found: Found, near: Any, other: Callable[[], Sequence[Any]], at_most: int) -> Found:
        """What was found; or, if it is no step, or |e|² was more than `near` where it began, what Newton steps find.

        They go on from what was found if that was near and is upright, else they begin with `other()`: the equations
        may have several solutions, and the one that is meant is near where the robot is.
        """
        row = Row(self.place.tree, found.trial)

        def again(carry: list[Any]) -> list[Any]:
            trial, y = row.trial(carry[:-1])
            useful = (found.first <= near) & (trial.square <= found.first) & (trial.upright >= LEAST_W)
            begin = [where(useful, a, b) for a, b in zip(trial.delta, other(), strict=True)]
            newton = self.newton(begin, at_most, trial)
            return [*row.of(newton.trial, [0.0] * len(y) if y else None), carry[-1] + newton.iterations]

        self.place.tree.mark()
        fine = self.good(found.trial) & (found.first <= near)
        values = repeat(again, [*row.of(found.trial, found.y), found.iterations], until=lambda _: fine, at_most=1)
        trial, y = row.trial(values[:-1])
        return Found(trial, values[-1], found.first, y or None)

    def rest(self, found: Found, tree: Tree) -> list[Any]:
        """What one more quasi-Newton step would take from δ, as a pass of this tree; nothing where Newton steps found
        it."""
        return [0] * tree.nv if self.answers is None or found.y is None else self.answers.outward(found.y, tree)

    def _large(self, square: Any) -> Any:
        return logical_not(square <= self.small)

    def _direction(self, trial: Trial) -> list[Any]:
        """The Newton step, in the coordinates of δ."""
        tree = self.place.tree.apart()
        place = replace(self.place, tree=tree)
        step = newton_step(place, algorithms.integrate(tree, place.q, trial.delta), trial)
        for _, _, joint in tree.outward():
            step[joint.v] = joint.joint.rate(trial.delta[joint.v], step[joint.v])
        return step

    def _less(self, x: Sequence[Any], y: Sequence[Any], part: Any = 1.0) -> list[Any]:
        """x - part y, joint by joint."""
        z = list(x)
        for _, _, joint in self.place.tree.outward():
            if joint.joint.leader is None:
                z[joint.v] = [a - part * b for a, b in zip(x[joint.v], y[joint.v], strict=True)]
        return z

    def _unknown(self, delta: Sequence[Any] | None = None) -> Trial:
        """A trial before there is any; None for what is not known yet, or zeros to begin with."""
        nothing: Any = None if delta is None else 0.0
        nv, bodies = self.place.tree.nv, len(self.place.tree.parent)
        zero = Vector(nothing, nothing, nothing)
        e = [nothing] * nv
        after = [Force.zero(), *([Force(zero, zero)] * (bodies - 1))]
        return Trial(e if delta is None else list(delta), e, nothing, nothing, after, e, [], [])


class Row:
    """Trials as lists of numbers, |e|² first, for loops; with a further number for each coordinate, if there is one.

    What is known of a trial while tracing is known of all. Body after body: equal bodies can then be equal code.
    """

    def __init__(self, tree: Tree, like: Trial) -> None:
        self.bodies = [joint.v if joint.joint.leader is None else slice(0, 0) for joint in tree.joints[1:]]
        self.nv = tree.nv
        self.known = [x if x is not None and known(x) else None for x in self._numbers(like, [None] * self.nv)]

    def of(self, trial: Trial, further: Sequence[Any] | None = None) -> list[Any]:
        numbers = zip(self._numbers(trial, further), self._fixed(further is not None), strict=True)
        return [x for x, fixed in numbers if fixed is None]

    def trial(self, values: Sequence[Any]) -> tuple[Trial, list[Any]]:
        """The trial of a list, without what only a Newton step needs; and what was given further."""
        given = iter(values)
        further_too = len(values) == self.known.count(None)
        numbers = iter([next(given) if fixed is None else fixed for fixed in self._fixed(further_too)])
        square, upright = islice(numbers, 2)
        lists: list[list[Any]] = [[0] * self.nv for _ in range(4 if further_too else 3)]  # δ, e, spun
        after = [Force.zero()]
        for v in self.bodies:
            for own in lists:
                own[v] = islice(numbers, v.stop - v.start)
            after.append(Force(Vector(*islice(numbers, 3)), Vector(*islice(numbers, 3))))
        delta, e, spun, *further = lists
        return Trial(delta, e, square, upright, after, spun, [], []), further[0] if further else []

    def _numbers(self, trial: Trial, further: Sequence[Any] | None) -> list[Any]:
        numbers = [trial.square, trial.upright]
        lists = [trial.delta, trial.e, trial.spun, *([] if further is None else [further])]
        for v, force in zip(self.bodies, trial.after[1:], strict=True):
            numbers += [x for own in lists for x in own[v]]
            numbers += [*force.moment, *force.force]
        return numbers

    def _fixed(self, further: bool) -> list[Any]:
        """What is known of each number; without the further ones if there are none."""
        if further:
            return self.known
        kept, k = self.known[:2], 2
        for v in self.bodies:
            n = v.stop - v.start
            kept += self.known[k : k + 3 * n] + self.known[k + 4 * n : k + 4 * n + 6]
            k += 4 * n + 6
        return kept
