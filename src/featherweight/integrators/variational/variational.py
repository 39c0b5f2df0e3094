"""The variational integrator: steps that make the discrete action stationary, in time linear in the bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.inputs import Numbers, with_fields
from featherweight.integrators.integrator import Advanced, External, Integrator, StepEquation, StepForces
from featherweight.integrators.variational.drnea import Place
from featherweight.integrators.variational.equation import step_equation
from featherweight.integrators.variational.floating import floating_start, forgotten, kept, kept_size
from featherweight.integrators.variational.forces import Acting, Braked
from featherweight.integrators.variational.guesses import GUESSES, extrapolated, memory_size, remembered
from featherweight.integrators.variational.legendre import start
from featherweight.integrators.variational.solve import Search
from featherweight.integrators.variational.step import Step
from featherweight.model import Tree
from featherweight.scalar import maximum, sqrt, where

SOLVERS = ("riqn", "newton", "broyden")
NEAR = 0.1  # |e| of a first δ that steps before this one suggest, over the largest impulse
FINE = 1e-2  # part of the tolerance, for a δ that is not corrected once more
ROUNDING = 2**-51  # times depth^1.5: what rounding leaves of |e| over the largest impulse, measured on chains
TINY = 1e-60  # of |e|²: what is not to be told from rest


@dataclass(frozen=True)
class Variational(Integrator):
    """Order 2, symplectic; momentum about the world's origin is kept, and the energy does not drift.

    Args:
        solver: "riqn", quasi-Newton steps; "newton"; or "broyden". Where it fails, Newton steps begin anew from h v.
        guess: where the search begins. "rest": δ = 0; "velocity": h v; "dynamics": h v + ½ h² q̈; "extrapolated": h v
            and what the steps before this one let expect.
        tolerance: largest `|e|` over the largest impulse of a joint. Quasi-Newton steps take one more correction then,
            which leaves about a hundredth of it in short steps; Newton and Broyden steps, and those of floating robots
            without damping, go on to a hundredth themselves if they can. What rounding leaves, 4e-16 times the depth of
            the tree to the power of 1.5, is the least.
        absolute: largest `|e|` [N m s or N s], in place of `tolerance`.
        iterations: most quasi-Newton steps, and most Newton steps.
    """

    solver: str = "riqn"
    guess: str = "extrapolated"
    tolerance: float = 1e-10
    absolute: float | None = None
    iterations: int = 30

    solves = True

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver: expected one of {', '.join(map(repr, SOLVERS))}, got {self.solver!r}")
        if self.guess not in GUESSES:
            raise ValueError(f"guess: expected one of {', '.join(map(repr, GUESSES))}, got {self.guess!r}")
        for name in ("tolerance", "absolute"):
            value = getattr(self, name)
            if value is None and name == "absolute":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise ValueError(f"{name}: expected a number > 0, got {value!r}")
        if isinstance(self.iterations, bool) or not isinstance(self.iterations, int) or self.iterations < 1:
            raise ValueError(f"iterations: expected a whole number of 1 or more, got {self.iterations!r}")

    def over(self, numbers: Numbers) -> Variational:
        tolerances = numbers.number(self.tolerance), numbers.optional(self.absolute)
        return with_fields(self, tolerance=tolerances[0], absolute=tolerances[1])

    def state_size(self, tree: Tree) -> int:
        return kept_size(tree) + (memory_size(tree.nv) if self.guess == "extrapolated" else 0)

    def disturbed(self, tree: Tree, state: Sequence[Any], condition: Any) -> list[Any]:
        return forgotten(tree, state, condition)

    def advance(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any, external: External | None,
        state: Sequence[Any],
    ) -> Advanced:  # fmt: skip
        # where the step begins: momentum, and half of the impulses
        acting, braked = Acting(tree, v, tau, h, external), Braked.of(tree, q, v, h)
        pushed, forces = acting.on_bodies(q, v), acting.on_joints(tree, q)
        together = braked.begin.fused_passes()
        own, memory = state[: kept_size(tree)], state[kept_size(tree) :]  # of what floats, and of guesses
        if memory:
            first, memory = extrapolated(together, v, h, memory)
        else:
            first = self._guess(tree, q, v, forces, h, pushed)
        begin = start(replace(together, joints=tree.joints), q, v, h, forces, pushed)
        place = Place.at(together, q, begin)
        largest: Any = 0.0
        for _, _, joint in together.inward():
            for p in begin[joint.v]:
                largest = maximum(largest, abs(p))
        begin = floating_start(together, q, begin, own if external is None else [], h, forces)
        step = Step(tree, q, h, begin, acting, braked)

        # the step
        small, fine = (self._square(tree, x, largest, h) for x in (self.tolerance, FINE * self.tolerance))
        aim = fine if step.shares and own else small  # nearer, where v⁺ is found before the last correction
        search = Search(place, small, fine, aim, step.end if step.shares else None)
        found = getattr(search, self.solver)(first, self.iterations)
        if (self.solver, self.guess) != ("newton", "velocity"):
            near = (NEAR * largest) * (NEAR * largest) if self.guess == "extrapolated" else math.inf
            found = search.rescued(found, near, lambda: self._scaled(tree, v, h), self.iterations)

        # where it ends: momentum again, with the other half of the impulses
        last = tree.fused_passes()
        arrival = step.arrival(found, search, last)
        if memory:
            memory = remembered(last, v, h, memory, arrival.delta)
        carried = [*kept(arrival.momenta), *memory]
        error = sqrt(found.trial.square) / where(largest > 0, largest, 1.0)
        return Advanced(arrival.q, arrival.v, carried, found.iterations, error, search.good(found.trial))

    def solved_equation(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], acting: StepForces, h: Any
    ) -> StepEquation | None:
        return step_equation(tree, q, v, acting.tau, h, acting.external)

    def _square(self, tree: Tree, tolerance: Any, largest: Any, h: Any) -> Any:
        """The |e|² of a tolerance."""
        relative = maximum(tolerance, ROUNDING * tree.depth**1.5)
        size = relative * largest if self.absolute is None else self.absolute * h
        return size * size + TINY

    def _guess(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], forces: Sequence[Any], h: Any, external: Any
    ) -> list[Any]:
        if self.guess == "rest":
            return [where(x < 0, 0.0, 0.0) for x in v]  # a zero that is not known while tracing
        delta = self._scaled(tree, v, h)
        if self.guess == "dynamics":
            solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
            damped = [f - d * x for f, d, x in zip(forces, _damping(tree), v, strict=True)]
            a, _ = solve(tree, q, v, damped, external)
            return [d + (0.5 * h * h) * x for d, x in zip(delta, a, strict=True)]
        return delta

    @staticmethod
    def _scaled(tree: Tree, v: Sequence[Any], h: Any) -> list[Any]:
        """h v."""
        delta: list[Any] = [0] * tree.nv
        for k in tree.coordinates():
            delta[k] = h * v[k]
        return delta


def _damping(tree: Tree) -> list[Any]:
    total: list[Any] = [0] * tree.nv
    for _, _, joint in tree.outward():
        for k, d in zip(range(joint.v.start, joint.v.stop), joint.damping, strict=True):
            total[k] = total[k] + d
    return total
