"""Newton steps for all contacts at once, for where sweeps over one after the other go in circles or creep.

Near impulses as they are, each law says Δλ = a - H Δw (`local.Law`). What a change of pushes Δs does to the velocities
is Δw = T Δs, and Δs = Yᵀ Δλ, so that a step solves

    (1 + Σ Yᵀ H T) Δs = Σ Yᵀ a,

one row for each degree of freedom, and no more fill-in than the tree has. Where a whole step makes the worst error
larger, a part of it is taken: to where the first contact comes to the edge of its cone. Two contacts of a rigid body
that cannot both have the velocity they want push against each other, more with every sweep, until one of them gives
way; such a step is the way there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from featherweight.contact.coupling import Coupling
from featherweight.contact.local import Contact, JointRow, Law, dot
from featherweight.scalar import absolute, cos, logical_not, maximum, minimum, repeat, sqrt, when, where

STEPS = 20  # of a trial
SWEEPS = 1.0, 5.0  # between trials, in turns: always the same may lead to the same place
TURN, SIZE = 1.7, 10.0  # of the impulses a trial begins with: angle between trials, times what stops a contact
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error
BEYOND = 1.001  # past the edge of a cone, so that another law holds there

FAR = 1e300  # an error that is not known yet

Part = Contact | JointRow
Settle = Callable[[list[Any], Any], list[Any]]  # impulses after so many sweeps


class Newton:
    """Steps for the impulses of contacts and rows of joints, as `coupling` has them."""

    def __init__(self, coupling: Coupling) -> None:
        self.coupling = coupling
        contacts = zip(coupling.contacts, coupling.touching, strict=True)
        joints = ((joint, row.acts) for joint, row in zip(coupling.joints, coupling.rows, strict=True))
        self.parts: list[Part] = []
        parts: list[tuple[Part, Any]] = [*contacts, *joints]
        for part, acts in parts:
            coupling.tree.mark()
            self.parts.append(part.only_if(acts))

    def search(
        self, carry: Sequence[Any], again: Sequence[Any], tolerance: float, most: int, settle: Settle
    ) -> list[Any]:
        """Impulses, the square of their worst error and the number of turns, after about `most` turns or as soon as the
        error is below the tolerance [m/s]. Steps that lead nowhere begin again: with the impulses `again`, and then
        elsewhere, once that has settled."""
        square = tolerance * tolerance

        def trial(carry: list[Any]) -> list[Any]:
            *start, enough, _, number, sweeps = carry
            *impulses, error, turns = repeat(self.step, start, until=lambda c: c[-2] <= enough, at_most=STEPS)
            found, left = error <= enough, self._error(self._inside(impulses))

            def elsewhere() -> list[Any]:
                others = settle(self._elsewhere(number), sweeps)
                return [where(number > 0, x, y) for x, y in zip(others, again, strict=True)]

            impulses = when(logical_not(found | (left <= square)), elsewhere, impulses)
            enough = CLOSER * CLOSER * where(found, enough, square)
            after = where(found, number, number + 1.0), where(found, sweeps, sum(SWEEPS) - sweeps)
            return [*impulses, FAR, turns, enough, left, *after]

        start = [*carry, CLOSER * CLOSER * square, FAR, 0.0, SWEEPS[1]]
        end = repeat(trial, start, until=lambda c: c[-3] <= square, at_most=-(-most // STEPS))
        *impulses, _, turns, _, left, _, _ = end
        return [*self._inside(impulses), left, turns]

    def step(self, carry: Sequence[Any]) -> list[Any]:
        """Impulses, the square of their worst error and the number of turns, one turn later."""
        *impulses, _, turns = carry
        s = self._pushes(impulses)

        # the laws as they are here, and what they say of all pushes together
        system, laws, error = _System(self.coupling), [], 0.0
        for part, own in self._each(impulses):
            w = part.error(s)
            law = part.law(own, w)
            self.coupling.tree.mark()
            system.add(part, law)
            laws.append((own, w, law))
            error = maximum(error, law.error)
        change = system.solve()

        # a whole step, or a part
        moves, whole, reach = [], 0.0, 1.0
        for part, (own, w, law) in zip(self.parts, laws, strict=True):
            self.coupling.tree.mark()
            dw = [dot(row, [change[d] for d in part.dofs]) for row in part.T]
            dl = [a - dot(row, dw) for a, row in zip(law.a, law.H, strict=True)]
            moves.append((own, dl, w, dw))
            whole = maximum(whole, part.law(_sum(own, dl), _sum(w, dw)).error)
            reach = minimum(reach, part.reach(own, dl))
        share = where(whole < error, 1.0, BEYOND * reach)

        new, error = [], 0.0
        for part, (own, dl, w, dw) in zip(self.parts, moves, strict=True):
            self.coupling.tree.mark()
            own = _sum(own, dl, share)
            new += own
            error = maximum(error, part.law(own, _sum(w, dw, share)).error)
        return [*new, error, turns + 1.0]

    def _elsewhere(self, number: Any) -> list[Any]:
        """Impulses, each time others: cos kθ of the k-th."""
        angle = TURN * number
        before, now, twice = 1.0, cos(angle), 2.0 * cos(angle)
        impulses: list[Any] = []
        for part in self.parts:
            size = SIZE * part.mass * sqrt(dot(part.e, part.e))
            for k, _ in enumerate(part.e):
                impulses.append(size * (absolute(now) if k == 0 else now))
                before, now = now, twice * now - before
        return impulses

    def _inside(self, impulses: Sequence[Any]) -> list[Any]:
        """The impulses, no more than their cones and bounds allow."""
        return [x for part, own in self._each(impulses) for x in part.inside(own)]

    def _error(self, impulses: Sequence[Any]) -> Any:
        """The square of their worst error."""
        s, worst = self._pushes(impulses), 0.0
        for part, own in self._each(impulses):
            worst = maximum(worst, part.law(own, part.error(s)).error)
        return worst

    def _pushes(self, impulses: Sequence[Any]) -> dict[int, Any]:
        """s = Yᵀ λ."""
        s: dict[int, Any] = dict.fromkeys(self.coupling.dofs, 0.0)
        for part, own in self._each(impulses):
            s.update(zip(part.dofs, part.pushed(own, s), strict=True))
        return s

    def _each(self, impulses: Sequence[Any]) -> Iterator[tuple[Part, list[Any]]]:
        """Each contact and row with its impulses."""
        rest = iter(impulses)
        for part in self.parts:
            self.coupling.tree.mark()
            yield part, [next(rest) for _ in part.e]


class _System:
    """K Δs = r, one row for a degree of freedom: K = 1 + Σ Yᵀ H T, r = Σ Yᵀ a."""

    def __init__(self, coupling: Coupling) -> None:
        self.mark = coupling.tree.mark
        self.K: dict[int, dict[int, Any]] = {d: {d: 1.0} for d in sorted(coupling.dofs)}
        self.r: dict[int, Any] = dict.fromkeys(self.K, 0.0)

    def add(self, part: Part, law: Law) -> None:
        HT = [[dot(h, column) for column in zip(*part.T, strict=True)] for h in law.H]
        for i, y in zip(part.dofs, zip(*part.Y, strict=True), strict=True):
            self.r[i] = self.r[i] + dot(y, law.a)
            for j, column in zip(part.dofs, zip(*HT, strict=True), strict=True):
                self.K[i][j] = self.K[i].get(j, 0.0) + dot(y, column)

    def solve(self) -> dict[int, Any]:
        """Eliminate the tips first: then there is no fill-in."""
        K, r = {i: dict(row) for i, row in self.K.items()}, dict(self.r)
        for k in reversed(K):
            self.mark()
            pivot = 1.0 / K[k].pop(k)
            K[k] = {j: x * pivot for j, x in K[k].items()}
            r[k] = r[k] * pivot
            for i in [i for i in K if i < k and k in K[i]]:
                factor = K[i].pop(k)
                r[i] = r[i] - factor * r[k]
                for j, x in K[k].items():
                    K[i][j] = K[i].get(j, 0.0) - factor * x
        for k, row in K.items():
            for j, x in row.items():
                r[k] = r[k] - x * r[j]
        return r


def _sum(x: Sequence[Any], dx: Sequence[Any], share: Any = 1.0) -> list[Any]:
    return [a + share * b for a, b in zip(x, dx, strict=True)]
