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

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from featherweight.contact.coupling import Coupling
from featherweight.contact.local import Contact, JointRow, dot
from featherweight.scalar import absolute, cos, maximum, minimum, repeat, sqrt, where

STEPS = 12  # of a trial
TURN = 1.7  # angle between trials
CLOSER = 0.25  # than the tolerance: what is cut off impulses in the end makes an error too
BEYOND = 1.001  # past the edge of a cone, so that another law holds there

Part = Contact | JointRow


class Newton:
    """Steps for the impulses of contacts and rows of joints, as `coupling` has them."""

    def __init__(self, coupling: Coupling) -> None:
        self.coupling = coupling
        self.parts: list[tuple[Part, Any]] = [*zip(coupling.contacts, coupling.touching, strict=True)]
        self.parts += [(joint, row.acts) for joint, row in zip(coupling.joints, coupling.rows, strict=True)]

    def search(self, carry: Sequence[Any], tolerance: float, most: int) -> list[Any]:
        """Impulses, the square of their worst error and the number of turns, after about `most` turns or as soon as the
        error is below the tolerance [m/s]. Steps that lead nowhere begin again elsewhere."""
        enough = (CLOSER * tolerance) ** 2

        def trial(carry: list[Any]) -> list[Any]:
            *impulses, error, turns = repeat(self.step, carry[:-1], until=lambda c: c[-2] <= enough, at_most=STEPS)
            number = carry[-1] + 1.0
            others = [where(error <= enough, x, y) for x, y in zip(impulses, self._elsewhere(number), strict=True)]
            return [*others, error, turns, number]

        start = [*carry, 0.0]
        *impulses, _, turns, _ = repeat(trial, start, until=lambda c: c[-3] <= enough, at_most=-(-most // STEPS))
        impulses = self._inside(impulses)
        return [*impulses, self._error(impulses), turns]

    def _inside(self, impulses: Sequence[Any]) -> list[Any]:
        """Impulses no longer than their cones allow."""
        inside = []
        for (part, acts), own in zip(self.parts, self._owns(impulses), strict=True):
            inside += self._only(acts, partial(part.inside, own), own)
        return inside

    def _error(self, impulses: Sequence[Any]) -> Any:
        """The square of their worst error."""
        s, worst = self._pushes(impulses), 0.0
        for (part, acts), own in zip(self.parts, self._owns(impulses), strict=True):
            (worst,) = self._only(acts, partial(_worse, part, own, s, worst), [worst])
        return worst

    def _pushes(self, impulses: Sequence[Any]) -> dict[int, Any]:
        return self.coupling.pushes(self.coupling.start(impulses), impulses)

    def _elsewhere(self, number: Any) -> list[Any]:
        """Impulses of the size that stops a contact for itself, each time others: cos kθ of the k-th."""
        angle = TURN * number
        before, now, twice = 1.0, cos(angle), 2.0 * cos(angle)
        impulses: list[Any] = []
        for part, acts in self.parts:
            shares = []
            for _ in part.T:
                shares.append(now)
                before, now = now, twice * now - before
            impulses += self._only(acts, partial(_elsewhere, part, shares), [0.0] * len(shares))
        return impulses

    def step(self, carry: Sequence[Any]) -> list[Any]:
        """Impulses, the square of their worst error and the number of turns, one turn later."""
        *impulses, _, turns = carry
        coupling, owns, s = self.coupling, self._owns(impulses), self._pushes(impulses)

        # the laws as they are here, and what they say of all pushes together
        system, laws, error = _System(coupling.dofs), [], 0.0
        for (part, acts), own in zip(self.parts, owns, strict=True):
            known, none = [*system.of(part.dofs), error], [0.0] * (len(own) * (len(own) + 2))
            values = self._only(acts, partial(_linearised, part, own, s, known), [*none, *known])
            laws.append(values[: len(none)])
            system.put(part.dofs, values[len(none) : -1])
            error = values[-1]
        coupling.tree.mark()
        change = system.solve()

        # a whole step, or a part
        moves, whole, reach = [], 0.0, 1.0
        for (part, acts), own, law in zip(self.parts, owns, laws, strict=True):
            none = [0.0] * (2 * len(own))
            values = self._only(acts, partial(_moved, part, own, law, change, whole, reach), [*none, whole, reach])
            moves.append(values[:-2])
            whole, reach = values[-2:]
        share = where(whole < error, 1.0, BEYOND * reach)

        new, error = [], 0.0
        for (part, acts), own, law, move in zip(self.parts, owns, laws, moves, strict=True):
            values = self._only(acts, partial(_taken, part, own, law, move, share, error), [*own, error])
            new += values[:-1]
            error = values[-1]
        return [*new, error, turns + 1.0]

    def _owns(self, impulses: Sequence[Any]) -> list[list[Any]]:
        """The impulses of each contact and row."""
        rest = iter(impulses)
        return [[next(rest) for _ in part.T] for part, _ in self.parts]

    def _only(self, acts: Any, body: Callable[[], list[Any]], otherwise: Sequence[Any]) -> list[Any]:
        self.coupling.tree.mark()
        return self.coupling.only(acts, body, otherwise)


class _System:
    """K Δs = r, one row for a degree of freedom; K begins as the identity."""

    def __init__(self, dofs: Sequence[int]) -> None:
        self.K: dict[int, dict[int, Any]] = {d: {d: 1.0} for d in sorted(dofs)}
        self.r: dict[int, Any] = dict.fromkeys(self.K, 0.0)

    def of(self, dofs: Sequence[int]) -> list[Any]:
        """Entries that belong to some degrees of freedom, those of r last."""
        return [self.K[i].get(j, 0.0) for i in dofs for j in dofs] + [self.r[i] for i in dofs]

    def put(self, dofs: Sequence[int], entries: Sequence[Any]) -> None:
        rest = iter(entries)
        for i in dofs:
            self.K[i].update({j: next(rest) for j in dofs})
        self.r.update({i: next(rest) for i in dofs})

    def solve(self) -> dict[int, Any]:
        """Eliminate the tips first: then there is no fill-in."""
        K, r = {i: dict(row) for i, row in self.K.items()}, dict(self.r)
        for k in reversed(K):
            pivot = 1.0 / K[k][k]
            row = {j: x * pivot for j, x in K[k].items() if j != k}
            r[k] = r[k] * pivot
            K[k] = row
            for i in K:
                if i < k and k in K[i]:
                    factor = K[i].pop(k)
                    r[i] = r[i] - factor * r[k]
                    for j, x in row.items():
                        K[i][j] = K[i].get(j, 0.0) - factor * x
        for k, row in K.items():
            for j, x in row.items():
                r[k] = r[k] - x * r[j]
        return r


def _velocity(part: Part, s: dict[int, Any]) -> list[Any]:
    """w of the impulses whose pushes are s."""
    return [e + dot(row, [s[d] for d in part.dofs]) for e, row in zip(part.e, part.T, strict=True)]


def _worse(part: Part, own: Sequence[Any], s: dict[int, Any], worst: Any) -> list[Any]:
    return [maximum(worst, part.law(own, _velocity(part, s)).error)]


def _elsewhere(part: Part, shares: Sequence[Any]) -> list[Any]:
    size = part.mass * sqrt(dot(part.e, part.e))
    return [size * absolute(shares[0]), *(size * x for x in shares[1:])]


def _linearised(part: Part, own: Sequence[Any], s: dict[int, Any], known: Sequence[Any]) -> list[Any]:
    """a, H and w of a contact or row, the entries of the system with its own, and the worst error."""
    n, m = len(own), len(part.dofs)
    w = _velocity(part, s)
    law = part.law(own, w)
    HT = [[dot(h, column) for column in zip(*part.T, strict=True)] for h in law.H]
    K = [
        known[m * i + j] + dot([part.Y[k][i] for k in range(n)], [HT[k][j] for k in range(n)])
        for i in range(m)
        for j in range(m)
    ]
    r = [known[m * m + i] + dot([part.Y[k][i] for k in range(n)], law.a) for i in range(m)]
    return [*law.a, *(h for row in law.H for h in row), *w, *K, *r, maximum(known[-1], law.error)]


def _moved(
    part: Part, own: Sequence[Any], law: Sequence[Any], change: dict[int, Any], worst: Any, reach: Any
) -> list[Any]:
    """Δλ and Δw of a whole step, the worst error after it, and the part of it that all cones allow."""
    n = len(own)
    a, H, w = law[:n], [law[n + n * k : 2 * n + n * k] for k in range(n)], law[-n:]
    dw = [dot(row, [change[d] for d in part.dofs]) for row in part.T]
    dl = [x - dot(row, dw) for x, row in zip(a, H, strict=True)]
    error = part.law(_sum(own, dl), _sum(w, dw)).error
    return [*dl, *dw, maximum(worst, error), minimum(reach, part.reach(own, dl))]


def _taken(
    part: Part, own: Sequence[Any], law: Sequence[Any], move: Sequence[Any], share: Any, worst: Any
) -> list[Any]:
    """Impulse after a share of a step, and the worst error."""
    n = len(own)
    new, w = _sum(own, move[:n], share), _sum(law[-n:], move[n:], share)
    return [*new, maximum(worst, part.law(new, w).error)]


def _sum(x: Sequence[Any], dx: Sequence[Any], share: Any = 1.0) -> list[Any]:
    return [a + share * b for a, b in zip(x, dx, strict=True)]
