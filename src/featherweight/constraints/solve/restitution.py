"""Restitution that adds no energy.

Newton's law v⁺ = -e v together with friction may add energy: the impulse that turns the normal velocity around does
work along the surface, too. So impulses λ_b that bounce are kept only while their work

    W = ½ λ·(u⁻ + u⁺) ≤ 0,    u⁻ the velocities of the rows without impulses, u⁺ with them.

Else the problem is solved once more without restitution, which takes energy (W_c ≤ 0), and the impulses are taken on
the way from there, λ = λ_c + s (λ_b - λ_c), as far as W ≤ 0. Cones and v_n ≥ 0 are convex, so both laws hold there.
Work of what recovers from depth, ½ λ_n v*, is not counted.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.constraints.law import LocalProblem, dot
from featherweight.constraints.solve.coupling import Coupling, Impulses, Sweep
from featherweight.scalar import maximum, minimum, repeat, sqrt, where

ROUNDING = 1e-13  # of the energy that is turned around: work that is none

Search = Callable[[Coupling, Impulses], Sweep]


@dataclass(frozen=True)
class Rows:
    """Of one block: velocities of its rows without impulses, the wanted ones if nothing bounces, and what part of the
    first row's recovers from depth."""

    free: list[Any]
    inelastic: list[Any]
    recovers: Any = 0.0


@dataclass(frozen=True)
class Phases:
    """Impulses that bounce, then those of the other problem, with the work of each; how often a problem was solved."""

    bouncing: Impulses
    last: Impulses
    work: Any
    last_work: Any
    size: Any
    error: Any
    turns: Any
    number: Any


def capped(coupling: Coupling, rows: Sequence[Rows], warm: Impulses, search: Search) -> tuple[Sweep, Any]:
    """Impulses with restitution, as far as they add no energy; and whether some were taken back (1 or 0)."""

    def solve(now: Phases) -> Phases:
        first = now.number == 0
        errors = [
            [where(first, e, u - c) for e, u, c in zip(part.e, own.free, own.inelastic, strict=True)]
            for part, own in zip(coupling.problems, rows, strict=True)
        ]
        found = search(_with_errors(coupling, errors), now.last)
        work, size = _work(coupling, rows, found.impulses)
        bouncing = [
            [where(first, x, y) for x, y in zip(*own, strict=True)]
            for own in zip(found.impulses, now.bouncing, strict=True)
        ]
        kept = where(first, work, now.work)
        error, turns = maximum(now.error, found.error), now.turns + found.turns
        return Phases(bouncing, found.impulses, kept, work, where(first, size, now.size), error, turns, now.number + 1)

    nothing = [[0.0] * len(own) for own in warm]
    start = Phases(nothing, warm, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    enough = repeat(solve, start, until=lambda c: (c.number > 0) & (c.work <= ROUNDING * c.size), at_most=2)
    share = _share(coupling, enough)
    impulses = [
        [y + share * (x - y) for x, y in zip(*own, strict=True)]
        for own in zip(enough.bouncing, enough.last, strict=True)
    ]
    taken_back = where(share < 1.0, 1.0, 0.0)
    return Sweep(coupling.start(impulses), impulses, enough.error, enough.turns), taken_back


def _share(coupling: Coupling, found: Phases) -> Any:
    """s of λ_c + s (λ_b - λ_c): the largest up to 1 with W_c + β s + γ s² ≤ 0; 1 where the first problem was enough."""
    change = [[x - y for x, y in zip(*own, strict=True)] for own in zip(found.bouncing, found.last, strict=True)]
    s = _pushes(coupling, change)
    gamma: Any = 0.0
    for k, (part, own) in enumerate(zip(coupling.problems, change, strict=True)):
        (gamma,) = _if_it_acts(coupling, k, partial(_quadratic, part, own, s, gamma), [gamma])
    least = minimum(found.last_work, 0.0)
    beta = found.work - found.last_work - gamma
    root = sqrt(maximum(beta * beta - 4.0 * least * gamma, 0.0))
    below = beta + root  # s = -2 W_c / (β + root): the form of the root in which nothing cancels
    share = where(below > 0, -2.0 * least / where(below > 0, below, 1.0), 1.0)
    return where(found.number > 1, maximum(minimum(share, 1.0), 0.0), 1.0)


def _work(coupling: Coupling, rows: Sequence[Rows], impulses: Impulses) -> tuple[Any, Any]:
    """½ λ·(u⁻ + u⁺) of all blocks, without that of recovery; and the size of what it is the sum of."""
    s = _pushes(coupling, impulses)
    found: list[Any] = [0.0, 0.0]
    for k, (part, own, impulse) in enumerate(zip(coupling.problems, rows, impulses, strict=True)):
        coupling.tree.mark()
        found = _if_it_acts(coupling, k, partial(_with_block, part, own, impulse, s, *found), found)
    return found[0], found[1]


def _with_block(
    part: LocalProblem, own: Rows, impulse: list[Any], s: dict[int, Any], work: Any, size: Any
) -> list[Any]:
    """Work and size with those of one block."""
    for k, (u, x) in enumerate(zip(own.free, impulse, strict=True)):
        change = dot(part.T[k], [s[d] for d in part.dofs])
        given = maximum(own.inelastic[k], 0.0) if k == 0 else 0.0
        work = work + x * (u + 0.5 * change - 0.5 * given)
        size = size + abs(x * u)
    return [work, size]


def _quadratic(part: LocalProblem, own: list[Any], s: dict[int, Any], gamma: Any) -> list[Any]:
    """γ with that of one block."""
    return [gamma + 0.5 * dot(own, [dot(row, [s[d] for d in part.dofs]) for row in part.T])]


def _if_it_acts(coupling: Coupling, k: int, body: Callable[[], list[Any]], otherwise: list[Any]) -> list[Any]:
    """What `body` gives if block k acts: of one that does not, rows and velocities are undefined."""
    acts = coupling.acts[k]
    return body() if acts is True else coupling.only(acts, body, otherwise)


def _pushes(coupling: Coupling, impulses: Impulses) -> dict[int, Any]:
    """s = Yᵀ λ."""
    s = coupling.nothing()
    for k, (part, own) in enumerate(zip(coupling.problems, impulses, strict=True)):
        coupling.tree.mark()
        pushed = partial(part.pushed, own, dict(s))
        s.update(zip(part.dofs, _if_it_acts(coupling, k, pushed, [s[d] for d in part.dofs]), strict=True))
    return s


def _with_errors(coupling: Coupling, errors: Sequence[list[Any]]) -> Coupling:
    """The same problems with other velocity errors without impulses."""
    new = copy.copy(coupling)
    new.problems = [part.with_error(own) for part, own in zip(coupling.problems, errors, strict=True)]
    return new
