"""Stops of joints by an active set: joints that come to their ends are held there, in time linear in the bodies.

A joint that would pass an end within the step gets the velocity that takes it just there (back, if it is beyond), by an
impulse λ. With the slowest and fastest velocities v_low, v_high that keep it between its ends,

    v_low ≤ v⁺ ≤ v_high,    λ ≥ 0 and v⁺ = v_low,  or  λ ≤ 0 and v⁺ = v_high,  or  λ = 0.

Which joints are held is guessed: those that were in the step before. Hybrid dynamics with these joints prescribed
gives all velocities, and the impulses that this takes. Then what is wrong is changed: a joint whose impulse pulls is
released, one that would pass its end is held. In the first turns all are changed at once, later the first of them
alone, which ends for sure because M is positive definite (Murty's least-index rule). While no joint comes to an end or
leaves one, the first turn is the only one, and takes about as long as forward dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.constraints.constraint import Block
from featherweight.constraints.interval import Stop
from featherweight.constraints.solve.motion import FreeMotion
from featherweight.model import Tree
from featherweight.scalar import absolute, logical_not, maximum, repeat, when, where

ALL_AT_ONCE = 6.0  # turns in which everything that is wrong is changed
PER_LIMIT = 20  # further turns
TOLERANCE = 1e-8  # velocity [rad/s or m/s] by which a joint may miss what is wanted


@dataclass(frozen=True)
class Held:
    """The end at which each joint is held (1 the lower, -1 the upper, 0 none), the velocities, whether that is wrong
    (1) or right (0), and the number of turns."""

    ends: list[Any]
    v: list[Any]
    wrong: Any
    turns: Any = 0.0


@dataclass(frozen=True)
class ActiveSet:
    """The search for the joints that are to be held at their ends.

    It begins with those that were held `before`, and those that would pass their ends with the velocities of the free
    motion.
    """

    tree: Tree
    motion: FreeMotion
    stops: Sequence[Stop]
    dofs: Sequence[int]
    bodies: Sequence[int]
    before: Sequence[Any]

    @staticmethod
    def of(tree: Tree, motion: FreeMotion, blocks: Sequence[Block], before: Sequence[Any]) -> ActiveSet:
        """For blocks whose laws prescribe the velocity of one joint each."""
        stops: list[Any] = [block.law for block in blocks]
        return ActiveSet(tree, motion, stops, _dofs(blocks), [block.bodies[0] for block in blocks], before)

    @staticmethod
    def impact_speed(blocks: Sequence[Block], v: Sequence[Any], least: Any) -> Any:
        """The speed of the fastest joint that would pass an end, and `least` at least."""
        fastest = least
        for block, d in zip(blocks, _dofs(blocks), strict=True):
            stop: Any = block.law
            fastest = where(stop.passes(v[d]), maximum(fastest, absolute(v[d])), fastest)
        return fastest

    def solve(self, going: Any) -> tuple[Held, Any]:
        """The joints that are held, and where the search was needed at all. A motion that has not moved yet is found by
        the first turn: it takes the place of forward dynamics."""
        if not self.motion.moved:
            return self._search(), True
        some: Any = False
        for stop, d in zip(self.stops, self.dofs, strict=True):
            some = some | stop.passes(self.motion.v[d])
        some = some & going
        return when(some, self._search, Held([0.0] * len(self.stops), list(self.motion.v), 0.0)), some

    def _search(self) -> Held:
        v = self.motion.guess
        each = zip(self.stops, self.dofs, self.before, strict=True)
        ends = [stop.end(v[d], 0.0, before) for stop, d, before in each]
        start = Held(ends, [0.0] * self.tree.nv, 1.0)
        at_most = int(ALL_AT_ONCE) + PER_LIMIT * len(ends)
        return repeat(self._turn, start, until=lambda held: held.wrong == 0, at_most=at_most)

    def _turn(self, now: Held) -> Held:
        held = [logical_not(end == 0) for end in now.ends]
        wanted = [where(end > 0, stop.low, stop.high) for stop, end in zip(self.stops, now.ends, strict=True)]
        v, impulses = self.motion.prescribed(
            dict(zip(self.bodies, held, strict=True)), dict(zip(self.dofs, wanted, strict=True))
        )
        wrong: Any = False
        for stop, d, end, is_held in zip(self.stops, self.dofs, now.ends, held, strict=True):
            self.tree.mark()
            wrong = wrong | (where(is_held, end * impulses[d], stop.room(v[d]) + TOLERANCE) < 0)
        after = when(wrong, lambda: self._changed(now, held, v, impulses), now.ends)  # seldom
        return Held(after, v, where(wrong, 1.0, 0.0), now.turns + 1.0)

    def _changed(self, now: Held, held: Sequence[Any], v: Sequence[Any], impulses: dict[int, Any]) -> list[Any]:
        """Where the joints are to be held instead: all that were wrong, or in later turns the first of them."""
        after: list[Any] = []
        some: Any = False
        for stop, d, end, is_held in zip(self.stops, self.dofs, now.ends, held, strict=True):
            self.tree.mark()
            right = where(is_held, where(end * impulses[d] < 0, 0.0, end), stop.end(v[d], TOLERANCE, 0.0))
            off = logical_not(right == end)
            after.append(where(off & ((now.turns < ALL_AT_ONCE) | logical_not(some)), right, end))
            some = some | off
        return after


def _dofs(blocks: Sequence[Block]) -> list[int]:
    """The degree of freedom that each block prescribes."""
    return [next(iter(block.pushes()[0].joints)) for block in blocks]
