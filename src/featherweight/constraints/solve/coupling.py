"""How blocks act on each other in a sweep: by what they push in common, or by the Delassus matrix.

With many contacts s = Yᵀ λ is carried, one number a degree of freedom: a block reads its velocity off it and adds its
own change. With few of them it takes less to form G = J M⁻¹ Jᵀ once and to carry the velocities themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.constraints.law import LocalProblem, dot
from featherweight.model import Tree
from featherweight.scalar import maximum, when, where

Impulses = list[list[Any]]  # of each block


@dataclass(frozen=True)
class Sweep:
    """Between two sweeps: what is carried for all blocks, their impulses, the squared residual, how many were made."""

    shared: list[Any]
    impulses: Impulses
    error: Any
    turns: Any


def better(one: Sweep, other: Sweep) -> Sweep:
    """The one with the smaller residual."""
    is_one = one.error <= other.error
    flat = [where(is_one, x, y) for x, y in zip(one.shared, other.shared, strict=True)]
    impulses = [
        [where(is_one, x, y) for x, y in zip(*own, strict=True)]
        for own in zip(one.impulses, other.impulses, strict=True)
    ]
    return Sweep(flat, impulses, where(is_one, one.error, other.error), one.turns)


class Coupling:
    """The local problems of all blocks, which of them act, the degrees of freedom they push, and which roam."""

    def __init__(
        self, tree: Tree, problems: Sequence[LocalProblem], acts: Sequence[Any], dofs: Sequence[int],
        roaming: Collection[int] = (),
    ) -> None:  # fmt: skip
        self.tree, self.problems, self.acts, self.dofs, self.roaming = tree, problems, acts, dofs, roaming
        self.eases: list[Any] = [0.0] * len(problems)  # part of each first row's v* that recovers from depth
        self.contacts = [k for k, problem in enumerate(problems) if problem.law.is_contact]
        self.some_roams: Any = False
        for k in roaming:
            self.some_roams = self.some_roams | acts[k]
        self.rows = [k for k, problem in enumerate(problems) if not problem.law.is_contact]

    @staticmethod
    def only(acts: Any, body: Callable[[], Any], otherwise: Any) -> Any:
        """What `body` gives for a contact that acts; for others `otherwise`, or anything if that is None."""
        raise NotImplementedError

    def start(self, impulses: Impulses) -> list[Any]:
        """What is carried, for these impulses."""
        raise NotImplementedError

    def sweep(self, now: Sweep) -> Sweep:
        """Each block solved once more (Gauss–Seidel)."""
        raise NotImplementedError

    def pushes(self, now: Sweep) -> dict[int, Any]:
        """s by degree of freedom."""
        raise NotImplementedError

    def slip(self, now: Sweep, k: int) -> Any:
        """Speed of a contact along its surface."""
        raise NotImplementedError

    def nothing(self) -> dict[int, Any]:
        """s of no impulses."""
        return dict.fromkeys(self.dofs, 0.0)

    def _again(self, k: int, own: list[Any], s: dict[int, Any], worst: Any) -> tuple[list[Any], list[Any], Any]:
        """s by its degrees of freedom, impulses and the worst squared error after block k was solved again."""
        problem = self.problems[k]
        new = problem.solved(own, problem.error(s))
        change = [x - y for x, y in zip(new, own, strict=True)]
        error = problem.velocity(change)
        return problem.pushed(change, s), new, maximum(worst, dot(error, error))

    def _sweep_blocks(self, blocks: Sequence[int], s: dict[int, Any], impulses: Impulses, worst: Any) -> Any:
        """These blocks once, one after the other; s and the impulses are changed, the worst error is returned."""
        for k in blocks:
            self.tree.mark()
            dofs = self.problems[k].dofs
            again = partial(self._again, k, impulses[k], dict(s), worst)
            same = [s[d] for d in dofs], impulses[k], worst
            pushed, impulses[k], worst = again() if self.acts[k] is True else when(self.acts[k], again, same)
            s.update(zip(dofs, pushed, strict=True))
        return worst

    def _sweep_roaming(self, s: dict[int, Any], impulses: Impulses, worst: Any) -> Any:
        """The same for contacts that roam, all of them passed over where none acts."""
        roaming = [k for k in self.contacts if k in self.roaming]
        if not roaming:
            return worst

        def swept() -> tuple[list[Any], Impulses, Any]:
            own, new = dict(s), list(impulses)
            error = self._sweep_blocks(roaming, own, new, worst)
            return list(own.values()), [new[k] for k in roaming], error

        same = list(s.values()), [impulses[k] for k in roaming], worst
        pushed, new, worst = when(self.some_roams, swept, same)
        s.update(zip(s, pushed, strict=True))
        for k, own in zip(roaming, new, strict=True):
            impulses[k] = own
        return worst


class ByPushes(Coupling):
    """Many contacts: s is carried, and those that are open are skipped."""

    @staticmethod
    def only(acts: Any, body: Callable[[], Any], otherwise: Any) -> Any:
        never = acts is False and otherwise is None  # known while it is traced: nobody looks at what it gives
        return body() if never else when(acts, body, otherwise)

    def start(self, impulses: Impulses) -> list[Any]:
        s = self.nothing()
        for k in self.contacts:
            problem = self.problems[k]
            pushed = partial(problem.pushed, impulses[k], dict(s))
            s.update(zip(problem.dofs, when(self.acts[k], pushed, [s[d] for d in problem.dofs]), strict=True))
        for k in self.rows:
            s.update(zip(self.problems[k].dofs, self.problems[k].pushed(impulses[k], s), strict=True))
        return [s[d] for d in self.dofs]

    def sweep(self, now: Sweep) -> Sweep:
        s, impulses = dict(zip(self.dofs, now.shared, strict=True)), list(now.impulses)
        worst = self._sweep_blocks([k for k in self.contacts if k not in self.roaming], s, impulses, 0.0)
        worst = self._sweep_roaming(s, impulses, worst)
        worst = self._sweep_blocks(self.rows, s, impulses, worst)
        return Sweep([s[d] for d in self.dofs], impulses, worst, now.turns + 1.0)

    def pushes(self, now: Sweep) -> dict[int, Any]:
        return dict(zip(self.dofs, now.shared, strict=True))

    def slip(self, now: Sweep, k: int) -> Any:
        return self.problems[k].slip(self.problems[k].error(self.pushes(now)))


class ByVelocities(Coupling):
    """Few contacts: v⁺ - v* of each is carried, and the 3×3 blocks of G say how one acts on another. Single rows (stops
    of joints) act seldom: their pushes are added where some of them do."""

    def __init__(self, tree: Tree, problems: Sequence[LocalProblem], *others: Any) -> None:
        super().__init__(tree, problems, *others)
        self.G: dict[tuple[int, int], list[list[Any]]] = {}
        for n, k in enumerate(self.contacts):
            for l in self.contacts[:n]:
                tree.mark()
                a, b = problems[k], problems[l]
                common = [(a.dofs.index(d), b.dofs.index(d)) for d in a.dofs if d in b.dofs]
                block = [[dot([t[i] for i, _ in common], [y[j] for _, j in common]) for y in b.Y] for t in a.T]
                self.G[k, l], self.G[l, k] = block, [list(column) for column in zip(*block, strict=True)]
        self.some_row: Any = False
        for k in self.rows:
            self.some_row = self.some_row | self.acts[k]

    @staticmethod
    def only(acts: Any, body: Callable[[], Any], otherwise: Any) -> Any:
        values = body()  # of few contacts most act: to skip one takes longer
        return values if otherwise is None else [where(acts, a, b) for a, b in zip(values, otherwise, strict=True)]

    def start(self, impulses: Impulses) -> list[Any]:
        e = {k: list(self.problems[k].e) for k in self.contacts}
        for k in self.contacts:
            self._act(e, k, impulses[k])
        if not self.rows:
            return _flat(e)
        s = self.nothing()
        return when(self.some_row, lambda: self._moved(e, self._with_rows(s, impulses)), _flat(e))

    def _with_rows(self, s: dict[int, Any], impulses: Impulses) -> dict[int, Any]:
        """s, and what the impulses of single rows add to it."""
        for k in self.rows:
            s.update(zip(self.problems[k].dofs, self.problems[k].pushed(impulses[k], s), strict=True))
        return s

    def _moved(self, e: dict[int, list[Any]], s: dict[int, Any]) -> list[Any]:
        """Velocities with those of pushes s."""
        return [
            x + dot(row, [s[d] for d in self.problems[k].dofs])
            for k in self.contacts
            for x, row in zip(e[k], self.problems[k].T, strict=True)
        ]

    def _act(self, e: dict[int, list[Any]], k: int, change: Sequence[Any]) -> list[Any]:
        """Add what a change of the impulses of contact k does to all velocities; its own is returned."""
        own = self.problems[k].velocity(change)
        for l in self.contacts:
            by = own if l == k else [dot(row, change) for row in self.G[l, k]]
            e[l] = [x + dx for x, dx in zip(e[l], by, strict=True)]
        return own

    def sweep(self, now: Sweep) -> Sweep:
        e = self._errors(now.shared)
        impulses, worst = list(now.impulses), 0.0
        for k in self.contacts:
            self.tree.mark()
            own = impulses[k]
            new = [where(self.acts[k], x, 0.0) for x in self.problems[k].solved(own, e[k])]
            error = self._act(e, k, [x - y for x, y in zip(new, own, strict=True)])
            impulses[k], worst = new, maximum(worst, dot(error, error))
        after = Sweep(_flat(e), impulses, worst, now.turns + 1.0)
        if not self.rows:
            return after
        return when(self.some_row, lambda: self._swept_rows(e, after), after)

    def _swept_rows(self, e: dict[int, list[Any]], now: Sweep) -> Sweep:
        """The single rows once."""
        before, impulses = self.pushes(now), list(now.impulses)
        s = dict(before)
        worst = self._sweep_blocks(self.rows, s, impulses, now.error)
        return Sweep(self._moved(e, {d: s[d] - before[d] for d in s}), impulses, worst, now.turns)

    def pushes(self, now: Sweep) -> dict[int, Any]:
        s = self.nothing()
        for k in self.contacts:
            s.update(zip(self.problems[k].dofs, self.problems[k].pushed(now.impulses[k], s), strict=True))
        return self._with_rows(s, now.impulses)

    def slip(self, now: Sweep, k: int) -> Any:
        return self.problems[k].slip(self._errors(now.shared)[k])

    def _errors(self, shared: Sequence[Any]) -> dict[int, list[Any]]:
        """The velocity errors of each contact."""
        rest = iter(shared)
        return {k: [next(rest) for _ in self.problems[k].e] for k in self.contacts}


def _flat(e: dict[int, list[Any]]) -> list[Any]:
    return [x for own in e.values() for x in own]
