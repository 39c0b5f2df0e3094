"""The search for impulses where sweeps take too long: trials of Newton steps, each from a place of its own.

The first trial goes on where sweeps ended. Where limbs are light and many contacts and stops act on each other, Newton
steps go round between the sides of the laws. Other trials begin where turns of operator splitting come (`splitting`),
with another weight each.

**Jams.** Corners of a face lie in one plane but for rounding: by 1e-8 m/s they want velocities that no motion has. They
push against each other until one of them lets go or slides. Small weights take a million turns for that; large ones
move impulses as far as it takes, but lose their way where many stops act. So a round of trials has both, and splitting
goes on from where the last small one came. No two rounds have the same weights: what one of them misses, the next one
may find.

**Wedges.** A ball between two bodies may stick with thirty times the impulses with which it would slide; from there it
is a long way. So one trial of each round comes from the other side: a large weight and no impulses to begin with, which
first of all holds whatever touches.

**Recovery.** Points between two surfaces, or stops of joints and the ground, may want velocities that no motion has.
After some trials what recovers from depth is left out, so that v* ≤ 0, which can be fulfilled, and splitting begins
anew. A point on the seam of two boxes, inside of one of them, hardly has any room then, and the impulses of its two
contacts grow without end: in every second trial it gets a little, and more each time, but never more than a millimetre
a second. Where nothing recovers from depth there is none: a residual below the tolerance says that all laws hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from featherweight.constraints.solve.coupling import Coupling, Impulses
from featherweight.constraints.solve.newton import FAR, Iterate, newton_step
from featherweight.constraints.solve.splitting import TURNS, Split, split
from featherweight.constraints.solve.system import AllBlocks
from featherweight.scalar import logical_not, maximum, minimum, mod, repeat, when, where

STEPS, LONGER = 20.0, 40.0  # of the first trial, and of others
TRIALS = 3.0  # after which nothing has to recover from depth: two contacts may want what is not possible
ROOM, WIDER, MOST_ROOM = 1e-5, 10.0, 1e-3  # velocity [m/s] by which it may become deeper: at first, times, at most
WEIGHTS = 1.0, 4.0, 0.25, 16.0, 1e3, 1e6, 4e6  # of splitting, a round of trials
SMALL = 4.0  # of the weights: splitting goes on from there
HOLDS = 4.0  # the place of the weight that begins with no impulses
VARIED = 2.0  # a trial's weight is up to 1 + VARIED times that of its place,
GOLDEN = 0.6180339887498949  # by the fraction of GOLDEN times its number, which never comes again
CLOSER = 0.25  # than the tolerance, and again if that is not enough: what is cut off impulses in the end makes an error
LATER = 0.7  # the same of later trials, which seldom come as close


@dataclass(frozen=True)
class Trial:
    """Where a trial begins: an iterate, and what splitting goes on from, unless this trial only goes on with a smaller
    `enough` (`again`: 1 or 0), the squared error that it is to reach; the best impulses of earlier trials; its number;
    the room of what is eased, and the widest so far."""

    start: Iterate
    split: Split
    again: Any
    enough: Any
    best: Iterate
    number: Any
    room: Any
    widest: Any


def search(coupling: Coupling, begin: Iterate, tolerance: Any, most: int) -> Iterate:
    """Impulses after about `most` turns, or as soon as their error is below the tolerance [m/s]."""
    blocks, square = AllBlocks(coupling), tolerance * tolerance
    nothing = blocks.nothing()
    still = Split(nothing, nothing)
    recovers: Any = False
    for ease in coupling.eases:
        recovers = recovers | (ease > 0)

    def trial(now: Trial) -> Trial:
        first = now.number == 0
        eased = blocks.eased(now.number >= TRIALS, now.room)
        splits = logical_not(first | (now.again > 0))
        start, own = when(splits, partial(_splitting, eased, now, still), (now.start.impulses, now.split))
        turns = now.start.turns + where(splits, float(TURNS), 0.0)

        end = turns + where(first, STEPS, LONGER)
        ends = lambda c: (c.error <= now.enough) | (c.turns >= end) | (c.stays > 0)  # noqa: E731
        step = partial(newton_step, eased, first=first, near=where(first, 0.0, square))
        last = repeat(step, Iterate(start, FAR, turns), until=ends, at_most=int(LONGER))
        found, ended = last.error <= now.enough, eased.inside(last.impulses)
        best = _better(Iterate(ended, eased.error(ended), last.turns), now.best)

        number = where(found, now.number, now.number + 1.0)
        wider = where(now.widest > 0, minimum(WIDER * now.widest, MOST_ROOM), ROOM)
        lacks = recovers & (number > TRIALS) & (now.room == 0)
        room = where(found, now.room, where(lacks, wider, 0.0))
        enough = where(found, CLOSER * CLOSER * now.enough, LATER * LATER * square)
        return Trial(
            replace(last, error=FAR, stays=0.0), own, where(found, 1.0, 0.0), enough, best, number, room,
            maximum(now.widest, room),
        )  # fmt: skip

    none = Iterate(nothing, FAR, 0.0)
    start = Trial(begin, still, 0.0, CLOSER * CLOSER * square, none, 0.0, 0.0, 0.0)
    ends = lambda c: (c.best.error <= square) | (c.start.turns >= begin.turns + float(most))  # noqa: E731
    end = repeat(trial, start, until=ends, at_most=-(-most // int(STEPS)))
    return replace(end.best, turns=end.start.turns)


def _splitting(blocks: AllBlocks, now: Trial, still: Split) -> tuple[Impulses, Split]:
    """The impulses of some turns, and what the next ones go on from."""
    anew = now.number == TRIALS  # impulses that tried what is not possible are of no use
    place = mod(now.number - where(now.number < TRIALS, 1.0, TRIALS), float(len(WEIGHTS)))
    weight = _weight(place) * (1.0 + VARIED * mod(GOLDEN * now.number, 1.0))
    own = split(blocks, _either(anew | (place == HOLDS), still, now.split), weight)
    return own.impulses, _either(place < SMALL, own, now.split)


def _weight(place: Any) -> Any:
    """Of splitting, by its place in a round."""
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
