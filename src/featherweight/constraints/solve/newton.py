"""Newton steps for all blocks at once, for where sweeps over one after the other go in circles or creep.

Near impulses as they are, each law says Δλ = a - H Δw (`law.Linearised`). What a change of pushes Δs does to the
velocities is Δw = T Δs, and Δs = Yᵀ Δλ, so that a step solves

    (1 + Σ Yᵀ H T) Δs = Σ Yᵀ a,

one row for each degree of freedom, and no more fill-in than the tree has. Where a whole step makes the worst error
larger, a part of it is taken: to where the first contact comes to the edge of its cone. Two contacts of a rigid body
that cannot both have the velocity they want push against each other, more with every sweep, until one of them gives
way; such a step is the way there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.constraints.law import Linearised, LocalProblem, dot
from featherweight.constraints.solve.coupling import Coupling, Impulses
from featherweight.constraints.solve.roaming import Roaming, WhereItActs
from featherweight.scalar import absolute, cos, logical_not, maximum, minimum, repeat, sqrt, when, where

STEPS = 20  # of a trial
SWEEPS = 1.0, 5.0  # between trials, in turns: always the same may lead to the same place
TURN, SIZE = 1.7, 10.0  # of the impulses a trial begins with: angle between trials, times what stops a contact
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error
BEYOND = 1.001  # past the edge of a cone, so that another law holds there

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

    def search(self, begin: Iterate, again: Impulses, tolerance: Any, most: int, settle: Settle) -> Iterate:
        """Impulses after about `most` turns, or as soon as their error is below the tolerance [m/s]. Steps that lead
        nowhere begin again: with the impulses `again`, and then elsewhere, once that has settled."""
        square = tolerance * tolerance

        def trial(now: NewtonTrial) -> NewtonTrial:
            last = repeat(self.step, now.start, until=lambda c: c.error <= now.enough, at_most=STEPS)
            ended = self._inside(last.impulses)
            found, left = last.error <= now.enough, self._error(ended)
            best = _better(Iterate(ended, left, last.turns), now.best)

            def elsewhere() -> Impulses:
                others = settle(self._elsewhere(now.number), now.sweeps)
                return [
                    [where(now.number > 0, x, y) for x, y in zip(one, other, strict=True)]
                    for one, other in zip(others, again, strict=True)
                ]

            impulses = when(logical_not(found | (left <= square)), elsewhere, last.impulses)
            enough = CLOSER * CLOSER * where(found, now.enough, square)
            number = where(found, now.number, now.number + 1.0)
            sweeps = where(found, now.sweeps, sum(SWEEPS) - now.sweeps)
            return NewtonTrial(Iterate(impulses, FAR, last.turns), enough, best, number, sweeps)

        nothing = Iterate([[0.0] * len(own) for own in begin.impulses], FAR, 0.0)
        start = NewtonTrial(begin, CLOSER * CLOSER * square, nothing, 0.0, SWEEPS[1])
        end = repeat(trial, start, until=lambda c: c.best.error <= square, at_most=-(-most // STEPS))
        return replace(end.best, turns=end.start.turns)

    def step(self, now: Iterate) -> Iterate:
        """One turn."""
        s = self._pushes(now.impulses)

        # the laws as they are here, and what they say of all pushes together
        system, laws, error = _System(self.coupling), [], 0.0
        for (part, own), stays in zip(self._each(now.impulses), self._stays, strict=True):
            w = part.error(s)
            law = part.linearised(own, w)
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

    def _elsewhere(self, number: Any) -> Impulses:
        """Impulses, each time others: cos kθ of the k-th."""
        angle = TURN * number
        before, now, twice = 1.0, cos(angle), 2.0 * cos(angle)
        impulses: Impulses = []
        for part in self.parts:
            size = SIZE * part.mass * sqrt(dot(part.e, part.e))
            impulses.append([])
            for k, _ in enumerate(part.e):
                impulses[-1].append(size * (absolute(now) if k == 0 else now))
                before, now = now, twice * now - before
        return impulses

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
