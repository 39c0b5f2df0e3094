"""Newton steps for all blocks at once, for where sweeps over one after the other go in circles or creep.

Near impulses as they are, each law says Δλ = a - H Δw (`law.Linearised`). What a change of pushes Δs does to the
velocities is Δw = T Δs, and Δs = Yᵀ Δλ, so that a step solves

    (1 + Σ Yᵀ H T) Δs = Σ Yᵀ a,

one row for each degree of freedom, and no more fill-in than the tree has. There are two kinds of trials.

**Exact laws.** Where a whole step makes the worst error larger, a part of it is taken: to where the first contact comes
to the edge of its cone. Two contacts of a rigid body that cannot both have the velocity they want push against each
other, more with every sweep, until one of them gives way; such a step is the way there. The first trial is of this
kind. Where limbs are light and many contacts and stops act on each other, steps go round between sides of the laws.

**Smoothed laws.** The sides of each law pass into each other over a width ε [m/s], so wide at first that all rows
push and none is at an edge. Steps with a backtracking line search on the sum of squares follow the solution while ε
shrinks to nothing. Every second trial is of this kind, and begins anew, each time elsewhere; the one after it, with the
exact laws, goes on from its end if that is near a solution.

**Regularisation.** Faces touch in more points than it takes to hold them (a hyperstatic problem): which of them carries
how much is in the null space of J M⁻¹ Jᵀ, where a step moves impulses by what is left of w over the regularisation of
the laws alone. A constant one creeps there, and a small one jumps about in the beginning. So that of later trials with
exact laws is proportional to the residual: the first trial has 1e-6, others 0.1 of the residual over the largest
velocity error.

**Recovery.** Points between two surfaces, or stops of joints and the ground, may want velocities that no motion has.
After some trials what recovers from depth is left out, so that v* ≤ 0, which can be fulfilled. A point on the seam of
two boxes, inside of both by rounding, has no room at all then, and the impulses of its two contacts grow without end:
in every second pair of trials it gets a little.
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
from featherweight.scalar import absolute, cos, logical_not, maximum, minimum, repeat, sqrt, when, where

STEPS, LONGER = 20.0, 60.0  # of the first trial, and of others
TRIALS = 3.0  # after which nothing has to recover from depth: two contacts may want what is not possible
ROOM = 1e-5  # velocity [m/s] by which it may become deeper then: in a step of 0.1 s no more than `slop`
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error
BEYOND = 1.001  # past the edge of a cone, so that another law holds there
SOFTER, LEAST, MOST = 0.1, 1e-10, 1e-4  # regularisation of later trials: times the error over the largest one; bounds
STIFF = 1e-9  # regularisation of smoothed laws
TURN, ALONG = 1.7, 0.3  # where a smoothed trial begins: angle between trials; impulses along surfaces over normal ones
SHRINKS = 0.2, 0.5  # the width of smoothed laws, in the first such trial and in others, …
NEAR = 0.3, 0.1  # … as soon as the root of the mean square is so small a part of it
SHARP = 1e-12  # the least width [m/s]
CLOSE = 1e-4  # to the solution, as a part of the largest error, is the end of a smoothed trial from which one goes on
HALVINGS = 8.0  # of a step with smoothed laws

FAR = 1e300  # an error that is not known yet


@dataclass(frozen=True)
class Iterate:
    """Impulses, the square of their worst error, the number of Newton steps so far; the width over which laws are
    smoothed [m/s], 0 in other trials."""

    impulses: Impulses
    error: Any
    turns: Any
    width: Any = 0.0


@dataclass(frozen=True)
class NewtonTrial:
    """Where a trial begins: an iterate, the squared error it is to reach, the best impulses that earlier ones left, its
    number, whether (1 or 0) its laws are smoothed, and whether what is eased gets some room."""

    start: Iterate
    enough: Any
    best: Iterate
    number: Any
    smooth: Any
    room: Any


@dataclass(frozen=True)
class Attempt:
    """A part of a Newton step: its share, the square of the worst error there, and what it is to make smaller; the
    number of attempts."""

    share: Any
    error: Any
    merit: Any
    number: Any


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
        self.rows: Any = 0.0  # that act
        for part, acts in zip(self.parts, coupling.acts, strict=True):
            self.largest = maximum(self.largest, dot(part.e, part.e))
            self.rows = self.rows + where(acts, float(len(part.e)), 0.0)

    def search(self, begin: Iterate, tolerance: Any, most: int) -> Iterate:
        """Impulses after about `most` turns, or as soon as their error is below the tolerance [m/s]."""
        square = tolerance * tolerance

        def trial(now: NewtonTrial) -> NewtonTrial:
            first, smooth = now.number == 0, now.smooth > 0
            end = now.start.turns + where(first, STEPS, LONGER)
            eased = self._eased(now.number >= TRIALS, now.room * ROOM)
            step = partial(eased.step, first=first, smooth=smooth, again=now.number > 1)
            ends = lambda c: (c.error <= now.enough) | (c.turns >= end)  # noqa: E731
            last = repeat(step, now.start, until=ends, at_most=int(LONGER))
            ended = self._inside(last.impulses)
            found, left = last.error <= now.enough, eased._error(ended)
            best = _better(Iterate(ended, left, last.turns), now.best)

            # an exact trial goes on where a smoothed one ended, if that is near; a smoothed one begins elsewhere
            other = where(found, now.smooth, 1.0 - now.smooth)
            anew = logical_not(found) & ((other > 0) | (left > CLOSE * CLOSE * self.largest))
            size = sqrt(self.largest) * cos(now.number) * cos(now.number)
            impulses = when(anew, partial(self._elsewhere, now.number, size), last.impulses)
            width = where(other > 0, where(found, last.width, size), 0.0)
            room = where(anew & (other > 0), 1.0 - now.room, now.room)
            enough = CLOSER * CLOSER * where(found, now.enough, square)
            number = where(found, now.number, now.number + 1.0)
            return NewtonTrial(Iterate(impulses, FAR, last.turns, width), enough, best, number, other, room)

        nothing = Iterate([[0.0] * len(own) for own in begin.impulses], FAR, 0.0)
        start = NewtonTrial(begin, CLOSER * CLOSER * square, nothing, 0.0, 0.0, 0.0)
        ends = lambda c: (c.best.error <= square) | (c.start.turns >= begin.turns + float(most))  # noqa: E731
        end = repeat(trial, start, until=ends, at_most=-(-most // int(STEPS)))
        return replace(end.best, turns=end.start.turns)

    def step(self, now: Iterate, first: Any, smooth: Any = False, again: Any = False) -> Iterate:
        """One turn; `first`: of the first trial, `smooth`: of one with smoothed laws, `again`: not the first such."""
        s = self._pushes(now.impulses)
        soft = where(first, SOFT, minimum(maximum(SOFTER * sqrt(now.error / self.largest), LEAST), MOST))

        # the laws as they are here, and what they say of all pushes together
        system, laws, before = _System(self.coupling), [], 0.0
        for k, ((part, own), stays) in enumerate(zip(self._each(now.impulses), self._stays, strict=True)):
            w = part.error(s)
            sharp = part.linearised(own, w, soft)
            law = self._where(smooth, k, partial(part.smoothed, own, w, now.width, STIFF), sharp)
            self.coupling.tree.mark()
            if stays:
                system.add(part, law)
            laws.append((own, w, law))
            before = where(smooth, before + law.error, maximum(before, law.error))
        factors = system.factors()
        change = factors.solve(system.r)
        if self._roaming is not None:
            others = [law for (_, _, law), stays in zip(laws, self._stays, strict=True) if not stays]
            change = self._roaming.corrected(change, factors, others)

        # what a whole step changes
        moves: list[list[Any]] = []
        reach: Any = 1.0
        for part, (own, w, law) in zip(self.parts, laws, strict=True):
            self.coupling.tree.mark()
            dw = [dot(row, [change[d] for d in part.dofs]) for row in part.T]
            dl = [a - dot(row, dw) for a, row in zip(law.a, law.H, strict=True)]
            moves.append([own, dl, w, dw])
            reach = minimum(reach, part.reach(own, dl))

        # a whole step, or a part: with exact laws to the edge, with smoothed ones as long as it takes
        def attempt(last: Attempt) -> Attempt:
            share = where(last.number == 0, 1.0, where(smooth, 0.5 * last.share, BEYOND * reach))
            error, merit = 0.0, 0.0
            for k, (part, (own, dl, w, dw)) in enumerate(zip(self.parts, moves, strict=True)):
                self.coupling.tree.mark()
                x, u = _sum(own, dl, share), _sum(w, dw, share)
                worst = part.linearised(x, u).error
                error = maximum(error, worst)
                merit = merit + self._where(smooth, k, partial(_lack, part, x, u, now.width), worst)
            return Attempt(share, error, where(smooth, merit, error), last.number + 1.0)

        most = where(smooth, HALVINGS, 2.0)
        ends = lambda c: (c.merit < before) | (c.number >= most)  # noqa: E731
        last = repeat(attempt, Attempt(1.0, FAR, FAR, 0.0), until=ends, at_most=int(HALVINGS))
        new = [_sum(own, dl, last.share) for own, dl, _, _ in moves]
        close, shrinks = (where(again, later, early) * now.width for early, later in (NEAR, SHRINKS))
        width = where(smooth & (last.merit < self.rows * close * close), maximum(shrinks, SHARP), now.width)
        return Iterate(new, last.error, now.turns + 1.0, width)

    def _where(self, smooth: Any, k: int, body: Callable[[], Any], otherwise: Any) -> Any:
        """What `body` gives where laws are smoothed and block k acts."""
        return when(smooth & self.coupling.acts[k], body, otherwise)

    def _eased(self, now: Any, room: Any) -> Newton:
        """The same problem, where `now` says so without the velocities that recover from depth, and with room."""
        new = copy.copy(self)
        new.parts = [
            part.with_error([part.e[0] + where(now, ease + room, 0.0), *part.e[1:]]) if part.law.one_sided else part
            for part, ease in zip(self.parts, self.coupling.eases, strict=True)
        ]
        return new

    def _elsewhere(self, number: Any, size: Any) -> Impulses:
        """Impulses at which a smoothed trial of this width begins, each time others: at first what touching contacts
        have and stops would have by themselves."""
        impulses: Impulses = []
        along = where(number == 0, 0.0, ALONG)
        each = zip(self.parts, self.coupling.acts, self._waves(number), strict=True)
        for part, acts, (first, *others) in each:
            scale = where(acts, size * part.mass, 0.0)
            impulses.append([0.5 * scale * absolute(first), *(along * scale * x for x in others)])
        return impulses

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


def _lack(part: LocalProblem, own: Sequence[Any], w: Sequence[Any], width: Any) -> Any:
    """By how much a smoothed law is missed, squared."""
    return part.smoothed(own, w, width, STIFF).error


def _sum(x: Sequence[Any], dx: Sequence[Any], share: Any = 1.0) -> list[Any]:
    return [a + share * b for a, b in zip(x, dx, strict=True)]
