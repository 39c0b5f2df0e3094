"""Recovery from depth: a velocity that moves bodies apart in this step and is forgotten after it.

Were it part of the velocity that contacts want, it would add energy, and two contacts that push a body against each
other would have no solution. So it has a problem of its own, from rest and without friction:

    0 ≤ λ ⟂ J v - s ≥ 0,    s = min(β (depth - slop), v_max),

with s = 0 for contacts that are no deeper than they may be, and for joints s = -w, with w = v⁺ - v* the speed by which
they could be faster towards their ends in this step. It is solved by a few sweeps
that need not converge: what is left is recovered in the next step, and opposing contacts share what room there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.constraints.constraint import Block
from featherweight.constraints.law import dot
from featherweight.constraints.solve.coupling import Coupling
from featherweight.scalar import maximum, repeat, when

SWEEPS = 10
ENOUGH = 1e-12  # squared change [(m/s)²] in a sweep at which the rest is left


@dataclass(frozen=True)
class Recovering:
    """Between two sweeps: pushes s by degree of freedom, the impulse of each row, the largest squared change."""

    pushes: list[Any]
    impulses: list[Any]
    change: Any


def recovering(
    coupling: Coupling, blocks: Sequence[Block], left: dict[int, Any], response: Callable[[dict[int, Any]], list[Any]]
) -> list[Any]:
    """Velocities of the recovery, the response to its pushes s by degree of freedom; none if no block can recover.
    `left`: the pushes that have left v⁺."""
    if all(block.recovers is None for block in blocks):
        return []
    some: Any = False
    for block in blocks:
        some = some | (False if block.recovers is None else block.acts & (block.recovers > 0))
    rows = [k for k, block in enumerate(blocks) if block.law.one_sided]
    tree = coupling.tree
    own = sorted({d for _, _, joint in tree.outward() for d in joint.dofs})  # what else is in the world stays

    def again(k: int, s: dict[int, Any], impulse: Any, worst: Any) -> tuple[list[Any], Any, Any]:
        """s by its degrees of freedom, the impulse and the largest squared change after block k was solved again."""
        part, wanted = coupling.problems[k], blocks[k].recovers
        if wanted is None:
            wanted = 0.0 if part.law.is_contact else -maximum(part.error(left)[0], 0.0)
        lacks = dot(part.T[0], [s[d] for d in part.dofs]) - wanted
        mobility = dot(part.T[0], part.Y[0])
        new = maximum(impulse - lacks / maximum(mobility, 1e-30), 0.0)
        change = new - impulse
        pushed = [s[d] + change * y for d, y in zip(part.dofs, part.Y[0], strict=True)]
        return pushed, new, maximum(worst, (change * mobility) * (change * mobility))

    def sweep(now: Recovering) -> Recovering:
        s, impulses, worst = dict(zip(coupling.dofs, now.pushes, strict=True)), list(now.impulses), 0.0
        for n, k in enumerate(rows):
            tree.mark()
            acts, dofs = blocks[k].acts, coupling.problems[k].dofs
            solved, same = partial(again, k, dict(s), impulses[n], worst), ([s[d] for d in dofs], impulses[n], worst)
            pushed, impulses[n], worst = solved() if acts is True else when(acts, solved, same)
            s.update(zip(dofs, pushed, strict=True))
        return Recovering([s[d] for d in coupling.dofs], impulses, worst)

    def found() -> list[Any]:
        start = Recovering([0.0] * len(coupling.dofs), [0.0] * len(rows), 1.0)
        last = repeat(sweep, start, until=lambda now: now.change <= ENOUGH, at_most=SWEEPS)
        tree.mark()
        moved = response(dict(zip(coupling.dofs, last.pushes, strict=True)))
        return [moved[d] for d in own]

    velocity: list[Any] = [0.0] * tree.nv
    for d, x in zip(own, when(some, found, [0.0] * len(own)), strict=True):
        velocity[d] = x
    return velocity
