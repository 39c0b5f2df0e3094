"""One step of a simulation, as a pipeline: every integrator, force element and constraint goes through it.

kinematics → force elements → the integrator's free motion → constraint blocks → solve
           → the integrator's end of the step → records by name
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from featherweight.constraints import Block, Constraint, Situation
from featherweight.constraints.solve import SolverOptions, impact_speed, solve
from featherweight.forces import ForceElement, Kinematics, with_damping
from featherweight.integrators.integrator import Integrator, StepForces
from featherweight.model import Model, Tree
from featherweight.model.damping import SLOW, has_dry_friction, without_dry_friction
from featherweight.spatial import Force


@dataclass(frozen=True)
class Parts:
    """What a step is composed of."""

    integrator: Integrator
    elements: tuple[ForceElement, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    options: SolverOptions = field(default_factory=SolverOptions)

    def memory_sizes(self, model: Model) -> Memory:
        """How many numbers each part remembers from step to step; zeros at the beginning."""
        return Memory(
            self.integrator.state_size(model.over_floats),
            [element.memory_size(model) for element in self.elements],
            sum(sum(constraint.laws(model)) for constraint in self.constraints),
        )


@dataclass(frozen=True)
class Memory:
    """What the parts of a step remember: the integrator, each force element, and all constraints (warm start)."""

    integrator: Any
    elements: Sequence[Any]
    constraints: Any


@dataclass(frozen=True)
class Stepped:
    """The state after a step, what is remembered, whether every equation was solved, and records by name."""

    q: list[Any]
    v: list[Any]
    memory: Memory
    converged: Any
    records: dict[str, list[Any]]


def step(parts: Parts, at: Kinematics, tau: Sequence[Any], h: Any, memory: Memory, going: Any) -> Stepped:
    """One step of h [s] with joint forces τ, over any scalar. Where it is not `going`, nobody looks at the result."""
    model, tree, q, v = at.model, at.tree, at.q, at.v

    # force elements: what they remember moves on, and they push wherever the integrator asks
    elements = [element.step(at, h, own) for element, own in zip(parts.elements, memory.elements, strict=True)]
    pushing = _Pushing(parts.elements, at, [element.memory for element in elements])

    # the integrator's motion without impulses
    begin = Situation(model, tree, q, v, h, False, at)
    rows = any(constraint.takes_dry_friction for constraint in parts.constraints)
    slow = partial(_slow, () if rows else parts.constraints, begin)
    acting = StepForces(pushing.on_joints(tau), pushing.on_bodies if parts.elements else None, slow)
    seen = without_dry_friction(tree) if rows else tree
    motion = parts.integrator.free(seen, q, v, acting, h, memory.integrator)

    # constraint blocks where they act, and the impulses that fulfil their laws
    end = Situation(model, tree, motion.q, motion.v, h, True, at) if motion.moved else begin
    blocks = [_blocks(constraint, end) for constraint in parts.constraints]
    solved = solve(parts.options, end, motion, list(chain(*blocks)), memory.constraints, going)

    # the integrator's end of the step
    new_q, new_v = parts.integrator.finish(tree, motion, solved.v, h)
    carried = parts.integrator.disturbed(tree, motion.memory, solved.disturbed) if blocks else motion.memory
    kept = Memory(carried, [element.memory for element in elements], solved.memory)

    # records by name
    records = {"solver": [solved.turns, solved.residual], "convergence": [motion.iterations, motion.residual]}
    for element in elements:
        records |= element.records
    found = iter(solved.reactions)
    for constraint, own in zip(parts.constraints, blocks, strict=True):
        records |= constraint.records(end, [next(found) for _ in own])
    return Stepped(new_q, new_v, kept, solved.converged & motion.converged, records)


def _blocks(constraint: Constraint, at: Situation) -> list[Block]:
    """The blocks of a constraint, as many and as large as it said before."""
    blocks, sizes = constraint.blocks(at), constraint.laws(at.model)
    found = [block.law.size for block in blocks]
    if found != sizes:
        raise ValueError(f"constraints: {constraint!r} said blocks of {sizes} impulses, and gave blocks of {found}")
    return blocks


def damped_by(elements: Sequence[ForceElement], model: Model, tree: Tree) -> Tree:
    """The tree with the implicit parts of force elements."""
    for element in elements:
        tree = with_damping(tree, element.joint_damping(model))
    return tree


class _Pushing:
    """All force elements in one step, with what they remember."""

    def __init__(self, elements: Sequence[ForceElement], begin: Kinematics, memory: Sequence[Sequence[Any]]) -> None:
        self._elements, self._begin, self._memory = elements, begin, memory
        self._first = [element.forces(begin, own) for element, own in zip(elements, memory, strict=True)]

    def on_joints(self, tau: Sequence[Any]) -> list[Any]:
        """τ with their forces on joints, as they are at the beginning of the step."""
        total = list(tau)
        for push in self._first:
            for d, force in push.joints.items():
                total[d] = total[d] + force
        return total

    def on_bodies(self, q: Sequence[Any], v: Sequence[Any]) -> list[Force]:
        """The sum of their forces on each body, in its frame, at any state within the step."""
        begin, pushes = self._begin, self._first
        if q is not begin.q or v is not begin.v:
            at = Kinematics(begin.model, begin.tree, q, v)
            pushes = [element.forces(at, own) for element, own in zip(self._elements, self._memory, strict=True)]
        total = [Force.zero() for _ in begin.tree.parent]
        for push in pushes:
            for body, force in push.bodies.items():
                total[body] = total[body] + force
        return total


def _slow(constraints: Sequence[Constraint], begin: Situation) -> Any:
    """The speed below which dry friction of joints is viscous."""
    if not has_dry_friction(begin.tree):
        return SLOW
    blocks: list[Block] = [block for constraint in constraints for block in _blocks(constraint, begin)]
    return impact_speed(begin.tree, blocks, begin.v, SLOW)
