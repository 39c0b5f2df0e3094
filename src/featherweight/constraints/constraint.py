"""Constraints: what keeps velocities within laws, by impulses. One kind a file, like joints.

A kind is a frozen dataclass that gives *blocks*: rows of impulses under one law. The solver knows blocks only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.constraints.law import Law
from featherweight.forces import Kinematics, Push
from featherweight.inputs import Numbers
from featherweight.model import Model
from featherweight.spatial import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Situation(Kinematics):
    """The robot where constraints act in a step of h: at its beginning, before it moves with the new velocity; or, if
    it has `moved`, at its end, where impulses change the velocity it arrives with. (q, v) is the state there, `start`
    the one in which the step began."""

    h: Any
    moved: bool
    start: Kinematics


def zero_velocity(before: Sequence[Any], free: Sequence[Any]) -> list[Any]:
    """The target velocity 0 of each row."""
    return [0.0] * len(free)


@dataclass(frozen=True)
class Block:
    """Rows of a constraint that one law joins.

    Args:
        law: which impulses go with which velocities (`Cone`, `Interval`, `Equality`).
        bodies: numbers of the bodies that are pushed, or whose joint is; they are structure.
        acts: whether it may need an impulse in this step, before the free velocity is known; True if it always does.
        pushes: what a unit impulse of each row pushes with; asked only where the block may act.
        wanted: (velocities of the rows before the step, and free ones) -> target velocity v* of each row.
        needed: free joint velocities v -> whether it does need an impulse; None: wherever it acts.
        approach: joint velocities v -> speed of what is about to be stopped, 0 where nothing is; None: not known.
        inelastic: the same as `wanted` if nothing bounces; None: nothing does. Where bouncing would add energy, which
            friction makes possible, the impulses are taken back towards these (`solve.restitution`).
        recovers: the speed [m/s] of the first row by which the robot moves out of a depth in this step, without keeping
            that speed; None: it does not.
        axes: of the rows of a contact in the world; its impulses are then remembered in the world's axes, so that a
            warm start is right although the rows turn. None: they are remembered by row.
        roams: which of its bodies it pushes differs from state to state, and mostly it does not act.
    """

    law: Law
    bodies: tuple[int, ...]
    acts: Any
    pushes: Callable[[], Sequence[Push]]
    wanted: Callable[[Sequence[Any], Sequence[Any]], list[Any]] = zero_velocity
    needed: Callable[[Sequence[Any]], Any] | None = None
    approach: Callable[[Sequence[Any]], Any] | None = None
    inelastic: Callable[[Sequence[Any], Sequence[Any]], list[Any]] | None = None
    recovers: Any = None
    axes: Matrix | None = None
    roams: bool = False

    def recalled(self, memory: Sequence[Any]) -> list[Any]:
        """Impulses of its rows, from what is remembered of the step before."""
        return list(memory) if self.axes is None else [*(self.axes @ Vector(*memory))]

    def remembered(self, impulses: Sequence[Any]) -> list[Any]:
        """What is remembered of impulses."""
        return list(impulses) if self.axes is None else [*self.axes.transposed_times(Vector(*impulses))]

    def is_needed(self, v: Sequence[Any]) -> Any:
        """Does it take an impulse if the velocities are v without one?"""
        return self.acts if self.needed is None else self.needed(v)


@dataclass(frozen=True)
class Reaction:
    """What the solver found for one block: impulses of its rows, and for a cone the speed of slip [m/s]."""

    impulses: list[Any]
    slip: Any = 0.0


class Constraint:
    """One kind of constraint. Frozen: what it depends on is in its fields."""

    takes_dry_friction = False  # it takes care of the dry friction of joints: the free motion leaves that out

    def over(self, numbers: Numbers) -> Constraint:
        """The same constraint over other scalars; the default has no number that is an input."""
        return self

    def check(self, model: Model) -> None:
        """Raise ValueError if the robot cannot be constrained by it."""

    def block_sizes(self, model: Model) -> list[int]:
        """How many impulses each of its blocks has: this is known before anything is traced."""
        raise NotImplementedError

    def blocks(self, at: Situation) -> list[Block]:
        """Its blocks in this situation, over any scalar."""
        raise NotImplementedError

    def records(self, at: Situation, found: Sequence[Reaction]) -> dict[str, list[Any]]:
        """What is recorded of a step, by name, as flat lists."""
        return {}
