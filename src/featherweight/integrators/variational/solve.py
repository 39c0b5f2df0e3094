"""The search for δ with e(δ) = 0: quasi-Newton steps, and Newton steps with a line search where those fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.integrators.variational.broyden import Steps
from featherweight.integrators.variational.drnea import Place, Trial, drnea
from featherweight.integrators.variational.ending import Ended
from featherweight.integrators.variational.logarithm import LEAST_W
from featherweight.integrators.variational.newton import newton_step
from featherweight.integrators.variational.riqn import Answer
from featherweight.integrators.variational.rows import TrialRow
from featherweight.model import Tree
from featherweight.scalar import logical_not, repeat, when, where

PATIENCE = 5  # quasi-Newton steps more that are worth waiting for, at the rate of the last one
SHORTEST = 1e-6  # part of a Newton step
NEVER = 1e300


@dataclass(frozen=True)
class Found:
    """The last step that was tried, how many were tried after the first, |e|² of the first; and, where they are to be
    had, the first half of M⁻¹ e, y, where the first one ends, and whether the last one is the first one."""

    trial: Trial
    iterations: Any
    first: Any
    y: list[Any] | None = None
    ended: Ended | None = None
    same: Any = False

    def corrected(self, answers: Answer | None, tree: Tree) -> list[Any]:
        """δ after one more quasi-Newton step, as a pass of this tree; where Newton steps found it, δ itself."""
        if answers is None or self.y is None:
            return self.trial.delta
        return less(tree, self.trial.delta, answers.outward(self.y, tree))


def less(tree: Tree, x: Sequence[Any], y: Sequence[Any], part: Any = 1.0) -> list[Any]:
    """x - part y, joint by joint."""
    z = list(x)
    for _, _, joint in tree.outward():
        if joint.joint.leader is None:
            z[joint.v] = [a - part * b for a, b in zip(x[joint.v], y[joint.v], strict=True)]
    return z


class Search:
    """From a first δ to one with |e|² ≤ small, and no body turned too far.

    Quasi-Newton steps leave one more correction, M⁻¹ e, to be made without another look at e; they go on to |e|² ≤ aim,
    which may be less than small. The other methods have no correction, and go on to |e|² ≤ fine.
    `end` is given if M is the same for e and for the velocity where the step ends: then its factors are made there.
    """

    def __init__(
        self, place: Place, small: Any, fine: Any, aim: Any = None, end: Callable[[Trial, Answer], Ended] | None = None
    ) -> None:
        self.place, self.small, self.fine, self.aim, self.end = place, small, fine, small if aim is None else aim, end
        self.answers: Answer | None = None

    def good(self, trial: Trial) -> Any:
        """Is it a step?"""
        return (trial.square <= self.small) & (trial.upright >= LEAST_W)

    def riqn(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - M⁻¹ e, until e is small, or, where Newton steps can take over, would not be soon."""
        first, ended = drnea(self.place, delta), None
        if self.end is None:
            answers = Answer.at(self.place.tree, self.place.q)
        else:
            answers = Answer.after(self.place.tree, self.place.q, delta)
            ended = self.end(first, answers)
        y = answers.inward(first.e)
        row = TrialRow(self.place.tree, first, y)

        def turn(carry: list[Any]) -> list[Any]:
            before, y = row.trial(carry[:-2])
            after = drnea(self.place, less(self.place.tree, before.delta, answers.outward(y, self.place.tree)))
            return [*row.of_trial(after, answers.inward(after.e)), carry[-2] + 1.0, before.square]

        def ends(carry: list[Any]) -> Any:
            square, before = carry[0], carry[-1]
            soon, enough = square, self.aim  # square (square / before)^PATIENCE ≤ aim
            for _ in range(PATIENCE):
                soon, enough = soon * square, enough * before
            hopeless = logical_not(soon <= enough)
            return (square <= self.aim) | hopeless

        last = repeat(turn, [*row.of_trial(first, y), 0.0, NEVER], until=ends, at_most=at_most)
        trial, y = row.trial(last[:-2])
        self.answers = answers
        return Found(trial, last[-2], first.square, y, ended, last[-2] <= 0)

    def broyden(self, delta: Sequence[Any], at_most: int) -> Found:
        """Quasi-Newton steps that learn from each other."""
        first, answers = drnea(self.place, delta), Answer.at(self.place.tree, self.place.q)
        row = TrialRow(self.place.tree, first)
        begin = row.of_trial(first)
        own, tree = len(begin), self.place.tree.apart()

        def turn(carry: list[Any]) -> list[Any]:
            before, _ = row.trial(carry[:own])
            z = [-x for x in answers(before.e)]
            tree.mark()
            step, steps = Steps(len(delta), carry[own:-1]).next(z)
            after = drnea(self.place, [x + dx for x, dx in zip(before.delta, step, strict=True)])
            return [*row.of_trial(after), *steps.flat(), carry[-1] + 1.0]

        def ends(carry: list[Any]) -> Any:
            return (carry[0] <= self.fine) | logical_not(carry[0] < NEVER)

        last = repeat(turn, [*begin, *Steps(len(delta)).flat(), 0.0], until=ends, at_most=at_most)
        return Found(row.trial(last[:own])[0], last[-1], first.square)

    def newton(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - α (∂e/∂δ)⁻¹ e, with α = 1, or halved until it makes |e| smaller. The first turn tries δ itself."""
        row = TrialRow(self.place.tree, self._unknown(), [None] * len(delta))
        begin = [NEVER, *row.of_trial(self._unknown(delta), [0.0] * len(delta))[1:]]

        def turn(carry: list[Any]) -> list[Any]:
            (best, direction), (alpha, first, count) = row.trial(carry[:-3]), carry[-3:]
            trial = drnea(self.place, less(self.place.tree, best.delta, direction, alpha))
            better = trial.square < best.square
            self.place.tree.mark()
            large = logical_not(trial.square <= self.fine)
            direction = when(better & large, lambda: self._direction(trial), direction)
            kept = self.place.tree.chosen(better, row.of_trial(trial, direction), row.of_trial(best, direction))
            first = where(count < 0, trial.square, first)
            return [*kept, where(better, 1.0, 0.5 * alpha), first, count + 1.0]

        def ends(carry: list[Any]) -> Any:
            square, alpha, count = carry[0], carry[-3], carry[-1]
            return (count >= 0) & ((square <= self.fine) | logical_not(square < NEVER) | (alpha < SHORTEST))

        last = repeat(turn, [*begin, 1.0, 0.0, -1.0], until=ends, at_most=at_most + 1)
        return Found(row.trial(last[:-3])[0], last[-1], last[-2])

    def rescued(self, found: Found, near: Any, other: Callable[[], Sequence[Any]], at_most: int) -> Found:
        """What was found; or, if it is no step, or |e|² was more than `near` where it began, what Newton steps find.

        They go on from what was found if that was near and is upright, else they begin with `other()`: the equations
        may have several solutions, and the one that is meant is near where the robot is.
        """
        row = TrialRow(self.place.tree, found.trial, found.y)
        rest = None if found.y is None else [0.0] * len(found.y)

        def again(carry: list[Any]) -> list[Any]:
            trial, _ = row.trial(carry[:-1])
            useful = (found.first <= near) & (trial.square <= found.first) & (trial.upright >= LEAST_W)
            begin = [where(useful, a, b) for a, b in zip(trial.delta, other(), strict=True)]
            newton = self.newton(begin, at_most)
            return [*row.of_trial(newton.trial, rest), carry[-1] + newton.iterations]

        self.place.tree.mark()
        fine = self.good(found.trial) & (found.first <= near)
        begin = [*row.of_trial(found.trial, found.y), found.iterations]
        values = repeat(again, begin, until=lambda _: fine, at_most=1)
        trial, y = row.trial(values[:-1])
        same = fine & found.same
        return replace(found, trial=trial, iterations=values[-1], y=None if found.y is None else y, same=same)

    def answer_after(self, trial: Trial) -> Answer:
        """By M where the trial ends, in passes of its own."""
        return Answer.after(self.place.tree.woven(), self.place.q, trial.delta)

    def _direction(self, trial: Trial) -> list[Any]:
        """The Newton step, in the coordinates of δ."""
        tree = self.place.tree.apart()
        place = replace(self.place, tree=tree)
        step = newton_step(place, algorithms.integrate(tree, place.q, trial.delta), trial)
        for _, _, joint in tree.outward():
            step[joint.v] = joint.joint.rate(trial.delta[joint.v], step[joint.v])
        return step

    def _unknown(self, delta: Sequence[Any] | None = None) -> Trial:
        """A trial before there is any; None for what is not known yet, or zeros to begin with."""
        nothing: Any = None if delta is None else 0.0
        e = [nothing] * self.place.tree.nv
        return Trial(e if delta is None else list(delta), e, e, nothing, nothing, [], [])
