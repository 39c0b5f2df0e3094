"""The search for impulses where sweeps take too long: trials of Newton steps, each from a place of its own.

The first trial goes on where sweeps ended. Where limbs are light and many contacts and stops act on each other, Newton
steps go round between the sides of the laws. Other trials begin where turns of operator splitting come (`splitting`),
which go on where those of the trial before ended, with another weight.

**Recovery.** Points between two surfaces, or stops of joints and the ground, may want velocities that no motion has.
After some trials what recovers from depth is left out, so that v* ≤ 0, which can be fulfilled. A point on the seam of
two boxes, inside of both by rounding, has no room at all then, and the impulses of its two contacts grow without end:
it gets a little, and more in each trial, but never more than a millimetre a second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from featherweight.constraints.solve.coupling import Coupling
from featherweight.constraints.solve.newton import FAR, Iterate, newton_step
from featherweight.constraints.solve.splitting import TURNS, Split, split
from featherweight.constraints.solve.system import AllBlocks
from featherweight.scalar import logical_not, minimum, repeat, when, where

STEPS, LONGER = 20.0, 40.0  # of the first trial, and of others
TRIALS = 3.0  # after which nothing has to recover from depth: two contacts may want what is not possible
ROOM, WIDER, MOST_ROOM = 1e-5, 10.0, 1e-3  # velocity [m/s] by which it may become deeper: at first, times, at most
WEIGHTS = 16.0, 4.0, 64.0  # of splitting, in turns
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error


@dataclass(frozen=True)
class Trial:
    """Where a trial begins: an iterate, and impulses that splitting goes on from, unless this trial only goes on with
    a smaller `enough` (`again`: 1 or 0), the squared error that it is to reach; the best impulses of earlier trials;
    its number; the weight of splitting, and the room of what is eased."""

    start: Iterate
    split: Split
    again: Any
    enough: Any
    best: Iterate
    number: Any
    weight: Any
    room: Any


def search(coupling: Coupling, begin: Iterate, tolerance: Any, most: int) -> Iterate:
    """Impulses after about `most` turns, or as soon as their error is below the tolerance [m/s]."""
    blocks, square = AllBlocks(coupling), tolerance * tolerance
    enough = CLOSER * CLOSER * square
    nothing = blocks.nothing()

    def trial(now: Trial) -> Trial:
        first = now.number == 0
        eased = blocks.eased(now.number >= TRIALS, now.room)
        splits = logical_not(first | (now.again > 0))
        own = when(splits, partial(split, eased, now.split, now.weight), now.split)
        start = _chosen(splits, own.impulses, now.start.impulses)
        turns = now.start.turns + where(splits, float(TURNS), 0.0)

        end = turns + where(first, STEPS, LONGER)
        ends = lambda c: (c.error <= now.enough) | (c.turns >= end)  # noqa: E731
        step = partial(newton_step, eased, first=first)
        last = repeat(step, Iterate(start, FAR, turns), until=ends, at_most=int(LONGER))
        found, ended = last.error <= now.enough, eased.inside(last.impulses)
        best = _better(Iterate(ended, eased.error(ended), last.turns), now.best)

        number = where(found, now.number, now.number + 1.0)
        one, two, three = WEIGHTS
        weight = where(now.weight == one, two, where(now.weight == two, three, one))
        room = where(now.room > 0, minimum(WIDER * now.room, MOST_ROOM), ROOM)
        return Trial(
            replace(last, error=FAR), own, where(found, 1.0, 0.0), where(found, CLOSER * CLOSER * now.enough, enough),
            best, number, where(splits, weight, now.weight), where(number > TRIALS, room, 0.0),
        )  # fmt: skip

    start = Trial(begin, Split(nothing, nothing), 0.0, enough, Iterate(nothing, FAR, 0.0), 0.0, WEIGHTS[0], 0.0)
    ends = lambda c: (c.best.error <= square) | (c.start.turns >= begin.turns + float(most))  # noqa: E731
    end = repeat(trial, start, until=ends, at_most=-(-most // int(STEPS)))
    return replace(end.best, turns=end.start.turns)


def _better(one: Iterate, other: Iterate) -> Iterate:
    """The one with the smaller error."""
    is_one = one.error < other.error
    impulses = _chosen(is_one, one.impulses, other.impulses)
    return Iterate(impulses, where(is_one, one.error, other.error), one.turns)


def _chosen(is_one: Any, one: list[list[Any]], other: list[list[Any]]) -> list[list[Any]]:
    return [[where(is_one, x, y) for x, y in zip(*own, strict=True)] for own in zip(one, other, strict=True)]
