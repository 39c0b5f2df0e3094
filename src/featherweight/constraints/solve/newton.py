"""Newton steps for all blocks at once, for where sweeps over one after the other go in circles or creep.

Near impulses as they are, each law says Δλ = a - H Δw (`law.Linearised`). What a change of pushes Δs does to the
velocities is Δw = T Δs, and Δs = Yᵀ Δλ, so that a step solves

    (1 + Σ Yᵀ H T) Δs = Σ Yᵀ a,

one row for each degree of freedom, and no more fill-in than the tree has. Where a whole step makes the worst error
larger, a part of it is taken: to where the first contact comes to the edge of its cone. Two contacts of a rigid body
that cannot both have the velocity they want push against each other, more with every sweep, until one of them gives
way; such a step is the way there.

**Regularisation.** Faces touch in more points than it takes to hold them (a hyperstatic problem): which of them carries
how much is in the null space of J M⁻¹ Jᵀ, where a step moves impulses by what is left of w over the regularisation of
the laws alone. A constant one creeps there, and a small one jumps about in the beginning. So that of later trials is
proportional to the residual: the first trial has 1e-6, others 0.1 of the residual over the largest velocity error.

**Recovery.** Points between two surfaces, or stops of joints and the ground, may want velocities that no motion has.
After some trials what recovers from depth is left out, so that v* ≤ 0, which can be fulfilled.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from featherweight.constraints.law import SOFT, TINY, Linearised, LocalProblem, dot
from featherweight.constraints.solve.coupling import Coupling, Impulses
from featherweight.constraints.solve.roaming import Roaming, WhereItActs
from featherweight.inputs import absent
from featherweight.scalar import absolute, cos, logical_not, maximum, minimum, repeat, sqrt, when, where

STEPS, LONGER = 20.0, 60.0  # of the first trial, and of others
SWEEPS = 1.0, 5.0  # between trials, in turns: always the same may lead to the same place
TURN, SIZE = 1.7, 2.0  # of the impulses a trial begins with: angle between trials, times sweeps and what stops contacts
NEAR, AROUND = 1e-5, 0.1  # a trial begins around the best impulses if their error is so small a part of the largest one
TRIALS = 4.0  # after which nothing has to recover from depth: two contacts may want what is not possible
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error
BEYOND = 1.001  # past the edge of a cone, so that another law holds there
SOFTER, LEAST, MOST = 0.1, 1e-10, 1e-4  # regularisation of later trials: times the error over the largest one; bounds

FAR = 1e300  # an error that is not known yet

Settle = Callable[[Impulses, Any], Impulses]  # impulses after so many sweeps


@dataclass(frozen=True)
class Iterate:
    """Impulses, the square of their worst error, and the number of Newton steps so far."""

    impulses: Impulses
    error: Any
    turns: Any


@dataclass(frozen=True)
class NewtonTrial:
    """Where a trial begins: an iterate, the squared error it is to reach, the best impulses that earlier ones left, its
    number, and how many sweeps settle the impulses another one begins with."""

    start: Iterate
    enough: Any
    best: Iterate
    number: Any
    sweeps: Any


class Newton:
    """Newton steps for the impulses of all blocks, as `coupling` has them."""

    def __init__(self, coupling: Coupling) -> None:
        self.coupling = coupling
        self.parts: list[LocalProblem] = []
        for k, (part, acts) in enumerate(zip(coupling.problems, coupling.acts, strict=True)):
            coupling.tree.mark()
            own = part.only_if(acts)
            self.parts.append(WhereItActs(own, acts) if k in coupling.roaming else own)
        self._stays = [k not in coupling.roaming for k, _ in enumerate(self.parts)]
        roaming = [part for part in self.parts if isinstance(part, WhereItActs)]
        self._roaming = Roaming(roaming, coupling.dofs) if roaming else None
        self.largest: Any = TINY
        for part in self.parts:
            self.largest = maximum(self.largest, dot(part.e, part.e))

    def search(self, begin: Iterate, tolerance: Any, most: int, settle: Settle) -> Iterate:
        """Impulses after about `most` turns, or as soon as their error is below the tolerance [m/s]. Steps that lead
        nowhere begin again: without impulses, and then around the best that was found, or elsewhere, once that has
        settled."""
        square = tolerance * tolerance

        def trial(now: NewtonTrial) -> NewtonTrial:
            first = now.number == 0
            end = now.start.turns + where(first, STEPS, LONGER)
            eased = self._eased(now.number >= TRIALS)
            step = partial(eased.step, first=first)
            ends = lambda c: (c.error <= now.enough) | (c.turns >= end)  # noqa: E731
            last = repeat(step, now.start, until=ends, at_most=int(LONGER))
            ended = self._inside(last.impulses)
            found, left = last.error <= now.enough, eased._error(ended)
            best = _better(Iterate(ended, left, last.turns), now.best)

            def elsewhere() -> Impulses:
                is_near = best.error <= NEAR * NEAR * self.largest
                others = settle(self._elsewhere(now.number, SIZE * now.sweeps), now.sweeps)
                around = self._around(best.impulses, now.number)
                return [
                    [where(first, 0.0, where(is_near, x, y)) for x, y in zip(*own, strict=True)]
                    for own in zip(around, others, strict=True)
                ]

            impulses = when(logical_not(found | (left <= square)), elsewhere, last.impulses)
            enough = CLOSER * CLOSER * where(found, now.enough, square)
            number = where(found, now.number, now.number + 1.0)
            sweeps = where(found, now.sweeps, sum(SWEEPS) - now.sweeps)
            return NewtonTrial(Iterate(impulses, FAR, last.turns), enough, best, number, sweeps)

        nothing = Iterate([[0.0] * len(own) for own in begin.impulses], FAR, 0.0)
        start = NewtonTrial(begin, CLOSER * CLOSER * square, nothing, 0.0, SWEEPS[1])
        ends = lambda c: (c.best.error <= square) | (c.start.turns >= begin.turns + float(most))  # noqa: E731
        end = repeat(trial, start, until=ends, at_most=-(-most // int(STEPS)))
        return replace(end.best, turns=end.start.turns)

    def step(self, now: Iterate, first: Any) -> Iterate:
        """One turn; `first`: of the first trial."""
        s = self._pushes(now.impulses)
        soft = where(first, SOFT, minimum(maximum(SOFTER * sqrt(now.error / self.largest), LEAST), MOST))

        # the laws as they are here, and what they say of all pushes together
        system, laws, error = _System(self.coupling), [], 0.0
        for (part, own), stays in zip(self._each(now.impulses), self._stays, strict=True):
            w = part.error(s)
            law = part.linearised(own, w, soft)
            self.coupling.tree.mark()
            if stays:
                system.add(part, law)
            laws.append((own, w, law))
            error = maximum(error, law.error)
        factors = system.factors()
        change = factors.solve(system.r)
        if self._roaming is not None:
            others = [law for (_, _, law), stays in zip(laws, self._stays, strict=True) if not stays]
            change = self._roaming.corrected(change, factors, others)

        # a whole step, or a part
        moves, whole, reach = [], 0.0, 1.0
        for part, (own, w, law) in zip(self.parts, laws, strict=True):
            self.coupling.tree.mark()
            dw = [dot(row, [change[d] for d in part.dofs]) for row in part.T]
            dl = [a - dot(row, dw) for a, row in zip(law.a, law.H, strict=True)]
            moves.append((own, dl, w, dw))
            whole = maximum(whole, part.linearised(_sum(own, dl), _sum(w, dw)).error)
            reach = minimum(reach, part.reach(own, dl))
        share = where(whole < error, 1.0, BEYOND * reach)

        new, error = [], 0.0
        for part, (own, dl, w, dw) in zip(self.parts, moves, strict=True):
            self.coupling.tree.mark()
            new.append(_sum(own, dl, share))
            error = maximum(error, part.linearised(new[-1], _sum(w, dw, share)).error)
        return Iterate(new, error, now.turns + 1.0)

    def _eased(self, now: Any) -> Newton:
        """The same problem, where `now` says so without the velocities that recover from depth."""
        new = copy.copy(self)
        new.parts = [
            part if absent(ease) else part.with_error([part.e[0] + where(now, ease, 0.0), *part.e[1:]])
            for part, ease in zip(self.parts, self.coupling.eases, strict=True)
        ]
        return new

    def _elsewhere(self, number: Any, scale: Any) -> Impulses:
        """Impulses, each time others."""
        impulses: Impulses = []
        for part, (first, *others) in zip(self.parts, self._waves(number), strict=True):
            size = scale * part.mass * sqrt(dot(part.e, part.e))
            impulses.append([size * absolute(first), *(size * x for x in others)])
        return impulses

    def _around(self, impulses: Impulses, number: Any) -> Impulses:
        """Impulses near these, each time others."""
        each = zip(impulses, self._waves(number), strict=True)
        return [[x + AROUND * x * wave for x, wave in zip(*own, strict=True)] for own in each]

    def _waves(self, number: Any) -> Impulses:
        """cos kθ for the k-th impulse, with another θ each time."""
        angle = TURN * number
        before, now, twice = 1.0, cos(angle), 2.0 * cos(angle)
        waves: Impulses = []
        for part in self.parts:
            waves.append([])
            for _ in part.e:
                waves[-1].append(now)
                before, now = now, twice * now - before
        return waves

    def _inside(self, impulses: Impulses) -> Impulses:
        """The impulses, no more than their cones and bounds allow."""
        return [part.inside(own) for part, own in self._each(impulses)]

    def _error(self, impulses: Impulses) -> Any:
        """The square of their worst error."""
        s, worst = self._pushes(impulses), 0.0
        for part, own in self._each(impulses):
            worst = maximum(worst, part.linearised(own, part.error(s)).error)
        return worst

    def _pushes(self, impulses: Impulses) -> dict[int, Any]:
        """s = Yᵀ λ."""
        s = self.coupling.nothing()
        for part, own in self._each(impulses):
            s.update(zip(part.dofs, part.pushed(own, s), strict=True))
        return s

    def _each(self, impulses: Impulses) -> Iterator[tuple[LocalProblem, list[Any]]]:
        """Each block with its impulses."""
        for part, own in zip(self.parts, impulses, strict=True):
            self.coupling.tree.mark()
            yield part, own


class _System:
    """K Δs = r, one row for a degree of freedom: K = 1 + Σ Yᵀ H T, r = Σ Yᵀ a."""

    def __init__(self, coupling: Coupling) -> None:
        self.mark = coupling.tree.mark
        self.K: dict[int, dict[int, Any]] = {d: {d: 1.0} for d in sorted(coupling.dofs)}
        self.r: dict[int, Any] = dict.fromkeys(self.K, 0.0)

    def add(self, part: LocalProblem, law: Linearised) -> None:
        HT = [[dot(h, column) for column in zip(*part.T, strict=True)] for h in law.H]
        for i, y in zip(part.dofs, zip(*part.Y, strict=True), strict=True):
            self.r[i] = self.r[i] + dot(y, law.a)
            for j, column in zip(part.dofs, zip(*HT, strict=True), strict=True):
                self.K[i][j] = self.K[i].get(j, 0.0) + dot(y, column)

    def factors(self) -> _Factors:
        """Eliminate the tips first: then there is no fill-in."""
        K = {i: dict(row) for i, row in self.K.items()}
        pivots: dict[int, Any] = {}
        below: dict[int, dict[int, Any]] = {}
        for k in reversed(K):
            self.mark()
            pivots[k] = 1.0 / K[k].pop(k)
            K[k] = {j: x * pivots[k] for j, x in K[k].items()}
            below[k] = {i: K[i].pop(k) for i in K if i < k and k in K[i]}
            for i, factor in below[k].items():
                for j, x in K[k].items():
                    K[i][j] = K[i].get(j, 0.0) - factor * x
        return _Factors(pivots, below, K, self.mark)


@dataclass(frozen=True)
class _Factors:
    """K after elimination: one over its pivots, what is below them, and the rest of each row over its pivot."""

    pivots: dict[int, Any]
    below: dict[int, dict[int, Any]]
    above: dict[int, dict[int, Any]]
    mark: Callable[[], None]

    def solve(self, right: dict[int, Any]) -> dict[int, Any]:
        """K⁻¹ r."""
        r = dict(right)
        for k, pivot in self.pivots.items():
            self.mark()
            r[k] = r[k] * pivot
            for i, factor in self.below[k].items():
                r[i] = r[i] - factor * r[k]
        for k, row in self.above.items():
            for j, x in row.items():
                r[k] = r[k] - x * r[j]
        return r


def _better(one: Iterate, other: Iterate) -> Iterate:
    """The one with the smaller error."""
    is_one = one.error < other.error
    impulses = [
        [where(is_one, x, y) for x, y in zip(*own, strict=True)]
        for own in zip(one.impulses, other.impulses, strict=True)
    ]
    return Iterate(impulses, where(is_one, one.error, other.error), one.turns)


def _sum(x: Sequence[Any], dx: Sequence[Any], share: Any = 1.0) -> list[Any]:
    return [a + share * b for a, b in zip(x, dx, strict=True)]
