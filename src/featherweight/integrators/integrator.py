"""What an integrator is: one method, from a state to the next, in two parts.

`free` is the motion without impulses; constraints act on it; `finish` is the rest of the step with the velocity that
they leave. A user's integrator writes `step` (from the acceleration alone) and gets both: it moves, and constraints act
where it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight import algorithms
from featherweight.constraints.solve.motion import FreeMotion, MotionEquation, by_impulses
from featherweight.inputs import Numbers
from featherweight.model import Tree
from featherweight.model.damping import SLOW, damped
from featherweight.spatial import Force

# acceleration(q, v): of the robot with the forces that act during the step
Acceleration = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
# external(q, v): forces on the bodies, each in its frame
External = Callable[[Sequence[Any], Sequence[Any]], list[Force]]


@dataclass(frozen=True)
class StepForces:
    """What acts on a robot in a step: forces τ at its joints, external forces on its bodies; and the speed below which
    dry friction is viscous, which is higher where something is hit (`constraints.solve.impact_speed`)."""

    tau: Sequence[Any]
    external: External | None = None
    friction_speed: Callable[[], Any] = lambda: SLOW


@dataclass(frozen=True)
class StepEquation:
    """The equations that a step solves for δ, q⁺ = q ⊕ δ: `residual(δ)` is zero, one number for each degree of freedom,
    and `end(δ)` is the state after the step. Derivatives are made of these, not of the search."""

    residual: Callable[[Sequence[Any]], list[Any]]
    end: Callable[[Sequence[Any]], tuple[list[Any], list[Any]]]


@dataclass(frozen=True)
class Advanced:
    """A step: the new state, what is carried on, and how the equations of the step were solved, if it has any."""

    q: list[Any]
    v: list[Any]
    state: list[Any]
    iterations: Any = 0.0
    residual: Any = 0.0
    converged: Any = True


class Integrator:
    """A one-step method. Frozen: what it depends on is in its fields."""

    damps_implicitly = False  # the damping of joints acts with the velocity at the end of the step
    damping_limit = math.inf  # stable while h d (M⁻¹)ᵢᵢ is less
    solves = False  # a step is the solution of equations, which may not be found
    moves_first = True  # constraints act at the end of a step, on the velocity it arrives with
    no_impulses = ""  # why impulses cannot act in its steps; empty: they can

    def over(self, numbers: Numbers) -> Integrator:
        """The same method over other scalars; the default has no number that is an input."""
        return self

    def step(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, acceleration: Acceleration
    ) -> tuple[list[Any], list[Any]]:
        """The configuration and velocity after h."""
        raise NotImplementedError

    def state_size(self, tree: Tree) -> int:
        """How many numbers are carried from step to step beside q and v; zeros at the beginning."""
        return 0

    def disturbed(self, tree: Tree, state: Sequence[Any], condition: Any) -> list[Any]:
        """What is carried on where something has changed the velocity after the step."""
        return list(state)

    def advance(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any, external: External | None,
        state: Sequence[Any],
    ) -> Advanced:  # fmt: skip
        """A step with forces τ at the joints, passive ones, and external ones."""
        solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
        solved = damped(tree, v, h) if self.damps_implicitly else tree

        def acceleration(q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
            felt = predicted(tree, v, [0] * tree.nv, h) if self.damps_implicitly else v
            passive = algorithms.passive_force(solved, q, felt)
            forces = [t + p for t, p in zip(tau, passive, strict=True)]
            return solve(solved, q, v, forces, None if external is None else external(q, v))[0]

        return Advanced(*self.step(tree, q, v, h, acceleration), [])

    def free(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], acting: StepForces, h: Any, memory: Sequence[Any]
    ) -> FreeMotion:
        """The motion without impulses: the whole step, at whose end impulses act."""
        end = self.advance(tree, q, v, acting.tau, h, acting.external, memory)
        prescribed = by_impulses(tree, end.q, end.v)
        solved = end.iterations, end.residual, end.converged
        return FreeMotion(tree, end.q, lambda: end.v, True, end.v, prescribed, end.state, *solved)

    def equation(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], acting: StepForces, h: Any
    ) -> MotionEquation | None:
        """The equation of motion that impulses enter before the robot moves; None if it has moved when they act."""
        return None

    def solved_equation(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], acting: StepForces, h: Any
    ) -> StepEquation | None:
        """The equations of a step without impulses, if it `solves` any; None: it has no derivative back."""
        return None

    def finish(
        self, tree: Tree, motion: FreeMotion, v: Sequence[Any], h: Any, recovery: Sequence[Any] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """The state after the step, once impulses have left the velocity v. `recovery` is a velocity that moves the
        robot as well and is forgotten; no block asks for it if the step has moved already."""
        return list(motion.q), list(v)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def predicted(tree: Tree, v: Sequence[Any], a: Sequence[Any], h: Any) -> list[Any]:
    """The velocity after h, in the axes of now."""
    after = list(v)
    for _, _, joint in tree.outward():
        if joint.kind.leader is None:
            after[joint.v] = joint.kind.predicted(v[joint.v], a[joint.v], h)
    return after
