"""All blocks together: what a change of all pushes does, with the laws as they are near some impulses.

There each law says Δλ = a - H Δw (`law.Linearised`). A change of pushes Δs changes velocities by Δw = T Δs, and
Δs = Yᵀ Δλ, so that it solves

    (1 + Σ Yᵀ H T) Δs = Σ Yᵀ a,

one row for each degree of freedom, and no more fill-in than the tree has.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.constraints.law import TINY, Linearised, LocalProblem, dot
from featherweight.constraints.solve.coupling import Coupling, Impulses
from featherweight.constraints.solve.roaming import Roaming, WhereItActs
from featherweight.scalar import by_itself, maximum, where


class AllBlocks:
    """The local problems of all blocks, as `coupling` has them."""

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
        self.largest: Any = TINY  # the square of the largest velocity error without impulses
        for part in self.parts:
            self.largest = maximum(self.largest, dot(part.e, part.e))

    def eased(self, now: Any, room: Any) -> AllBlocks:
        """The same problem, where `now` says so without the velocities that recover from depth, and with room."""
        new = copy.copy(self)
        new.parts = [
            part.with_error([part.e[0] + where(now, ease + room, 0.0), *part.e[1:]]) if part.law.one_sided else part
            for part, ease in zip(self.parts, self.coupling.eases, strict=True)
        ]
        return new

    def each(self, *values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Each block with its impulses, or whatever there is one of for each."""
        for own in zip(self.parts, *values, strict=True):
            self.coupling.tree.mark()
            yield own

    def nothing(self) -> Impulses:
        """No impulses."""
        return [[0.0] * len(part.e) for part in self.parts]

    def inside(self, impulses: Impulses) -> Impulses:
        """The impulses, no more than their cones and bounds allow."""
        return [part.inside(own) for part, own in self.each(impulses)]

    def error(self, impulses: Impulses) -> Any:
        """The square of their worst error."""
        s, worst = self.pushes(impulses), 0.0
        for part, own in self.each(impulses):
            worst = maximum(worst, part.linearised(own, part.error(s)).error)
        return worst

    def pushes(self, impulses: Impulses) -> dict[int, Any]:
        """s = Yᵀ λ."""
        s = self.coupling.nothing()
        for part, own in self.each(impulses):
            s.update(zip(part.dofs, part.pushed(own, s), strict=True))
        return s

    def factors(self, laws: Sequence[Linearised], often: bool = False) -> Factors:
        """1 + Σ Yᵀ H T by Gaussian elimination, the tips first: then there is no fill-in. Of blocks that roam only if
        the same H is used often."""
        K: dict[int, dict[int, Any]] = {d: {d: 1.0} for d in sorted(self.coupling.dofs)}
        for (part, law), stays in zip(self.each(laws), self._stays, strict=True):
            if not stays:
                continue
            HT = [[dot(h, column) for column in zip(*part.T, strict=True)] for h in law.H]
            for i, y in zip(part.dofs, zip(*part.Y, strict=True), strict=True):
                for j, column in zip(part.dofs, zip(*HT, strict=True), strict=True):
                    K[i][j] = K[i].get(j, 0.0) + dot(y, column)
        pivots: dict[int, Any] = {}
        below: dict[int, dict[int, Any]] = {}
        for k in reversed(K):
            self.coupling.tree.mark()
            pivots[k] = 1.0 / K[k].pop(k)
            K[k] = {j: x * pivots[k] for j, x in K[k].items()}
            below[k] = {i: K[i].pop(k) for i in K if i < k and k in K[i]}
            for i, factor in below[k].items():
                for j, x in K[k].items():
                    K[i][j] = K[i].get(j, 0.0) - factor * x
        found = Factors(pivots, below, K, self.coupling.tree.mark, often)
        return (
            replace(found, roaming=self._roaming.inverted(found, self._others(laws)))
            if often and self._roaming
            else found
        )

    def _others(self, laws: Sequence[Linearised]) -> list[Linearised]:
        """The laws of blocks that roam."""
        return [law for law, stays in zip(laws, self._stays, strict=True) if not stays]

    def change(self, factors: Factors, laws: Sequence[Linearised]) -> list[tuple[list[Any], list[Any]]]:
        """Δλ and Δw of each block."""
        r: dict[int, Any] = dict.fromkeys(factors.above, 0.0)
        for (part, law), stays in zip(self.each(laws), self._stays, strict=True):
            if stays:
                r |= {i: r[i] + dot(y, law.a) for i, y in zip(part.dofs, zip(*part.Y, strict=True), strict=True)}
        ds = factors.solve(r)
        if factors.often:
            # blocks that roam put a choice in between: else what follows would be rounded in another way without them
            ds = {d: by_itself(x) for d, x in ds.items()}
        if self._roaming is not None:
            others = self._others(laws)
            if factors.roaming is None:
                ds = self._roaming.corrected(ds, factors, others)
            else:
                ds = self._roaming.corrected_by(factors.roaming, ds, others)
        changes = []
        for part, law in self.each(laws):
            dw = [dot(row, [ds[d] for d in part.dofs]) for row in part.T]
            changes.append(([a - dot(row, dw) for a, row in zip(law.a, law.H, strict=True)], dw))
        return changes


@dataclass(frozen=True)
class Factors:
    """A matrix after elimination: one over its pivots, what is below them, and the rest of each row over its pivot.
    Whether the same factors are used often; then also what `Roaming.inverted` gave."""

    pivots: dict[int, Any]
    below: dict[int, dict[int, Any]]
    above: dict[int, dict[int, Any]]
    mark: Callable[[], None]
    often: bool = False
    roaming: tuple[Any, Any] | None = None

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
