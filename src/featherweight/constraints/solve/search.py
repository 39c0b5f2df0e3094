"""The search for impulses where sweeps take too long: trials of Newton steps, each from a place of its own.

The first trial goes on where sweeps ended. Where limbs are light and many contacts and stops act on each other, Newton
steps go round between the sides of the laws. Other trials begin where turns of operator splitting come (`splitting`),
which go on where those of the trial before ended, with another weight.

**Jams.** Corners of a face lie in one plane but for rounding: by 1e-8 m/s they want velocities that no motion has. They
push against each other until one of them lets go or slides. Small weights take a million turns for that; large
ones move impulses as far as it takes, but lose their way where many stops act. So a round of trials has both, and the
next round goes on from where the small weights came.

**Recovery.** Points between two surfaces, or stops of joints and the ground, may want velocities that no motion has.
After some trials what recovers from depth is left out, so that v* ≤ 0, which can be fulfilled, and splitting begins
anew. A point on the seam of two boxes, inside of both by rounding, has no room at all then, and the impulses of its two
contacts grow without end: in every second trial it gets a little, and more each time, but never more than a millimetre
a second. Other problems are harder with room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from featherweight.constraints.solve.coupling import Coupling, Impulses
from featherweight.constraints.solve.newton import FAR, Iterate, newton_step
from featherweight.constraints.solve.splitting import TURNS, Split, split
from featherweight.constraints.solve.system import AllBlocks
from featherweight.scalar import logical_not, maximum, minimum, repeat, when, where

STEPS, LONGER = 20.0, 40.0  # of the first trial, and of others
TRIALS = 3.0  # after which nothing has to recover from depth: two contacts may want what is not possible
ROOM, WIDER, MOST_ROOM = 1e-5, 10.0, 1e-3  # velocity [m/s] by which it may become deeper: at first, times, at most
WEIGHTS = 4.0, 16.0, 64.0, 1e6, 4e6  # of splitting, a round of trials
SMALL = 3.0  # of the weights: the next round goes on from there
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error


@dataclass(frozen=True)
class Trial:
    """Where a trial begins: an iterate, and impulses that splitting goes on from, unless this trial only goes on with
    a smaller `enough` (`again`: 1 or 0), the squared error that it is to reach; where small weights came (`settled`);
    the best impulses of earlier trials; its number, and its place in the round of weights; the room of what is eased,
    and the widest so far."""

    start: Iterate
    split: Split
    settled: Split
    again: Any
    enough: Any
    best: Iterate
    number: Any
    place: Any
    room: Any
    widest: Any


def search(coupling: Coupling, begin: Iterate, tolerance: Any, most: int) -> Iterate:
    """Impulses after about `most` turns, or as soon as their error is below the tolerance [m/s]."""
    blocks, square = AllBlocks(coupling), tolerance * tolerance
    enough = CLOSER * CLOSER * square
    nothing = blocks.nothing()
    still = Split(nothing, nothing)

    def trial(now: Trial) -> Trial:
        first = now.number == 0
        eased = blocks.eased(now.number >= TRIALS, now.room)
        splits = logical_not(first | (now.again > 0))
        same = now.start.impulses, now.split, now.settled, now.place
        start, own, settled, place = when(splits, partial(_splitting, eased, now, still), same)
        turns = now.start.turns + where(splits, float(TURNS), 0.0)

        end = turns + where(first, STEPS, LONGER)
        ends = lambda c: (c.error <= now.enough) | (c.turns >= end) | (c.stays > 0)  # noqa: E731
        step = partial(newton_step, eased, first=first, near=where(first, 0.0, square))
        last = repeat(step, Iterate(start, FAR, turns), until=ends, at_most=int(LONGER))
        found, ended = last.error <= now.enough, eased.inside(last.impulses)
        best = _better(Iterate(ended, eased.error(ended), last.turns), now.best)

        number = where(found, now.number, now.number + 1.0)
        wider = where(now.widest > 0, minimum(WIDER * now.widest, MOST_ROOM), ROOM)
        room = where(found, now.room, where((number > TRIALS) & (now.room == 0), wider, 0.0))
        return Trial(
            replace(last, error=FAR, stays=0.0), own, settled, where(found, 1.0, 0.0),
            where(found, CLOSER * CLOSER * now.enough, enough), best, number, place, room, maximum(now.widest, room),
        )  # fmt: skip

    none = Iterate(nothing, FAR, 0.0)
    start = Trial(begin, still, still, 0.0, enough, none, 0.0, 0.0, 0.0, 0.0)
    ends = lambda c: (c.best.error <= square) | (c.start.turns >= begin.turns + float(most))  # noqa: E731
    end = repeat(trial, start, until=ends, at_most=-(-most // int(STEPS)))
    return replace(end.best, turns=end.start.turns)


def _splitting(blocks: AllBlocks, now: Trial, still: Split) -> tuple[Impulses, Split, Split, Any]:
    """The impulses of some turns; what the next ones go on from, where small weights came, and the next place."""
    anew = now.number == TRIALS  # impulses that tried what is not possible are of no use
    place = where(anew, 0.0, now.place)
    own = split(blocks, _either(anew, still, now.split), _weight(place))
    settled = _either(place < SMALL, own, now.settled)
    after = where(place == len(WEIGHTS) - 1.0, 0.0, place + 1.0)
    return own.impulses, _either(after == 0, settled, own), settled, after


def _weight(place: Any) -> Any:
    """Of splitting, by its place in the round."""
    weight: Any = WEIGHTS[-1]
    for k, other in enumerate(WEIGHTS[:-1]):
        weight = where(place == float(k), other, weight)
    return weight


def _better(one: Iterate, other: Iterate) -> Iterate:
    """The one with the smaller error."""
    is_one = one.error < other.error
    impulses = _chosen(is_one, one.impulses, other.impulses)
    return Iterate(impulses, where(is_one, one.error, other.error), one.turns)


def _chosen(is_one: Any, one: Impulses, other: Impulses) -> Impulses:
    return [[where(is_one, x, y) for x, y in zip(*own, strict=True)] for own in zip(one, other, strict=True)]


def _either(is_one: Any, one: Split, other: Split) -> Split:
    return Split(_chosen(is_one, one.impulses, other.impulses), _chosen(is_one, one.errors, other.errors))
