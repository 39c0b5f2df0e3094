"""The search for δ with e(δ) = 0: quasi-Newton steps, and Newton steps with a line search where those fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.integrators.variational.broyden import Steps
from featherweight.integrators.variational.carry import SQUARE, TrialCarry
from featherweight.integrators.variational.drnea import Place, Trial, drnea
from featherweight.integrators.variational.logarithm import LEAST_W
from featherweight.integrators.variational.newton import newton_step
from featherweight.integrators.variational.riqn import MassSolver
from featherweight.integrators.variational.step_end import StepEnd
from featherweight.model import Tree
from featherweight.scalar import logical_not, repeat, when, where

PATIENCE = 5  # quasi-Newton steps more that are worth waiting for, at the rate of the last one
SHORTEST = 1e-6  # part of a Newton step
NEVER = 1e300


@dataclass(frozen=True)
class QuasiNewton:
    """Between two quasi-Newton steps: the numbers of the last trial, how many were tried after the first, and |e|² of
    the one before."""

    trial: list[Any]
    count: Any
    before: Any


@dataclass(frozen=True)
class Broyden:
    """Between two of Broyden's steps: the numbers of the last trial, the steps so far, and how many were tried."""

    trial: list[Any]
    steps: Steps
    count: Any


@dataclass(frozen=True)
class LineSearch:
    """Between two trials of Newton steps: the numbers of the best one with the direction from there, the part of the
    step to try next, |e|² of the first trial, and how many were tried after it."""

    trial: list[Any]
    alpha: Any
    first: Any
    count: Any


@dataclass(frozen=True)
class Found:
    """The last step that was tried, how many were tried after the first, |e|² of the first; and, where they are to be
    had, the first half of M⁻¹ e, y, where the first one ends, and whether the last one is the first one."""

    trial: Trial
    iterations: Any
    first: Any
    y: list[Any] | None = None
    ended: StepEnd | None = None
    same: Any = False

    def corrected(self, answers: MassSolver | None, tree: Tree) -> list[Any]:
        """δ after one more quasi-Newton step, as a pass of this tree; where Newton steps found it, δ itself."""
        if answers is None or self.y is None:
            return self.trial.delta
        return less(tree, self.trial.delta, answers.outward(self.y, tree))


def less(tree: Tree, x: Sequence[Any], y: Sequence[Any], part: Any = 1.0) -> list[Any]:
    """x - part y, joint by joint."""
    z = list(x)
    for _, _, joint in tree.outward():
        if joint.kind.leader is None:
            z[joint.v] = [a - part * b for a, b in zip(x[joint.v], y[joint.v], strict=True)]
    return z


class Search:
    """From a first δ to one with |e|² ≤ small, and no body turned too far.

    Quasi-Newton steps leave one more correction, M⁻¹ e, to be made without another look at e; they go on to |e|² ≤ aim,
    which may be less than small. The other methods have no correction, and go on to |e|² ≤ fine.
    `end` is given if M is the same for e and for the velocity where the step ends: then its factors are made there.
    """

    def __init__(
        self,
        place: Place,
        small: Any,
        fine: Any,
        aim: Any = None,
        end: Callable[[Trial, MassSolver], StepEnd] | None = None,
    ) -> None:
        self.place, self.small, self.fine, self.aim, self.end = place, small, fine, small if aim is None else aim, end
        self.answers: MassSolver | None = None

    def good(self, trial: Trial) -> Any:
        """Is it a step?"""
        return (trial.square <= self.small) & (trial.upright >= LEAST_W)

    def riqn(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - M⁻¹ e, until e is small, or, where Newton steps can take over, would not be soon."""
        first, ended = drnea(self.place, delta), None
        if self.end is None:
            answers = MassSolver.at(self.place.tree, self.place.q)
        else:
            answers = MassSolver.after(self.place.tree, self.place.q, delta)
            ended = self.end(first, answers)
        y = answers.inward(first.e)
        row = TrialCarry(self.place.tree, first, y)

        def turn(now: QuasiNewton) -> QuasiNewton:
            before, y = row.trial(now.trial)
            after = drnea(self.place, less(self.place.tree, before.delta, answers.outward(y, self.place.tree)))
            return QuasiNewton(row.of_trial(after, answers.inward(after.e)), now.count + 1.0, before.square)

        def ends(now: QuasiNewton) -> Any:
            square = now.trial[SQUARE]
            soon, enough = square, self.aim  # square (square / before)^PATIENCE ≤ aim
            for _ in range(PATIENCE):
                soon, enough = soon * square, enough * now.before
            hopeless = logical_not(soon <= enough)
            return (square <= self.aim) | hopeless

        last = repeat(turn, QuasiNewton(row.of_trial(first, y), 0.0, NEVER), until=ends, at_most=at_most)
        trial, y = row.trial(last.trial)
        self.answers = answers
        return Found(trial, last.count, first.square, y, ended, last.count <= 0)

    def broyden(self, delta: Sequence[Any], at_most: int) -> Found:
        """Quasi-Newton steps that learn from each other."""
        first, answers = drnea(self.place, delta), MassSolver.at(self.place.tree, self.place.q)
        row = TrialCarry(self.place.tree, first)
        tree = self.place.tree.separate_passes()

        def turn(now: Broyden) -> Broyden:
            before, _ = row.trial(now.trial)
            z = [-x for x in answers(before.e)]
            tree.mark()
            step, steps = now.steps.next(z)
            after = drnea(self.place, [x + dx for x, dx in zip(before.delta, step, strict=True)])
            return Broyden(row.of_trial(after), steps, now.count + 1.0)

        def ends(now: Broyden) -> Any:
            square = now.trial[SQUARE]
            return (square <= self.fine) | logical_not(square < NEVER)

        begin = Broyden(row.of_trial(first), Steps.none(len(delta)), 0.0)
        last = repeat(turn, begin, until=ends, at_most=at_most)
        return Found(row.trial(last.trial)[0], last.count, first.square)

    def newton(self, delta: Sequence[Any], at_most: int) -> Found:
        """δ ← δ - α (∂e/∂δ)⁻¹ e, with α = 1, or halved until it makes |e| smaller. The first turn tries δ itself."""
        row = TrialCarry(self.place.tree, self._unknown(), [None] * len(delta))
        begin = [NEVER, *row.of_trial(self._unknown(delta), [0.0] * len(delta))[1:]]

        def turn(now: LineSearch) -> LineSearch:
            best, direction = row.trial(now.trial)
            trial = drnea(self.place, less(self.place.tree, best.delta, direction, now.alpha))
            better = trial.square < best.square
            self.place.tree.mark()
            large = logical_not(trial.square <= self.fine)
            direction = when(better & large, lambda: self._direction(trial), direction)
            kept = self.place.tree.chosen(better, row.of_trial(trial, direction), row.of_trial(best, direction))
            first = where(now.count < 0, trial.square, now.first)
            return LineSearch(kept, where(better, 1.0, 0.5 * now.alpha), first, now.count + 1.0)

        def ends(now: LineSearch) -> Any:
            square = now.trial[SQUARE]
            done = (square <= self.fine) | logical_not(square < NEVER) | (now.alpha < SHORTEST)
            return (now.count >= 0) & done

        last = repeat(turn, LineSearch(begin, 1.0, 0.0, -1.0), until=ends, at_most=at_most + 1)
        return Found(row.trial(last.trial)[0], last.count, last.first)

    def rescued(self, found: Found, near: Any, other: Callable[[], Sequence[Any]], at_most: int) -> Found:
        """What was found; or, if it is no step, or |e|² was more than `near` where it began, what Newton steps find.

        They go on from what was found if that was near and is upright, else they begin with `other()`: the equations
        may have several solutions, and the one that is meant is near where the robot is.
        """
        row = TrialCarry(self.place.tree, found.trial, found.y)
        rest = None if found.y is None else [0.0] * len(found.y)

        def again(now: tuple[list[Any], Any]) -> tuple[list[Any], Any]:
            trial, _ = row.trial(now[0])
            useful = (found.first <= near) & (trial.square <= found.first) & (trial.upright >= LEAST_W)
            begin = [where(useful, a, b) for a, b in zip(trial.delta, other(), strict=True)]
            newton = self.newton(begin, at_most)
            return row.of_trial(newton.trial, rest), now[1] + newton.iterations

        self.place.tree.mark()
        fine = self.good(found.trial) & (found.first <= near)
        begin = row.of_trial(found.trial, found.y), found.iterations
        numbers, iterations = repeat(again, begin, until=lambda _: fine, at_most=1)
        trial, y = row.trial(numbers)
        same = fine & found.same
        return replace(found, trial=trial, iterations=iterations, y=None if found.y is None else y, same=same)

    def answer_after(self, trial: Trial) -> MassSolver:
        """By M where the trial ends, in passes of its own."""
        return MassSolver.after(self.place.tree.fused_passes(), self.place.q, trial.delta)

    def _direction(self, trial: Trial) -> list[Any]:
        """The Newton step, in the coordinates of δ."""
        tree = self.place.tree.separate_passes()
        place = replace(self.place, tree=tree)
        step = newton_step(place, algorithms.integrate(tree, place.q, trial.delta), trial)
        for _, _, joint in tree.outward():
            step[joint.v] = joint.kind.rate(trial.delta[joint.v], step[joint.v])
        return step

    def _unknown(self, delta: Sequence[Any] | None = None) -> Trial:
        """A trial before there is any; None for what is not known yet, or zeros to begin with."""
        nothing: Any = None if delta is None else 0.0
        e = [nothing] * self.place.tree.nv
        return Trial(e if delta is None else list(delta), e, e, nothing, nothing, [], [])
