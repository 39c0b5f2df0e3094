"""One step of a simulation, as a pipeline: every integrator, force element and constraint goes through it.

kinematics → force elements → the integrator's free motion → constraint blocks → solve
           → the integrator's end of the step → records by name
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from featherweight.constraints import Block, Constraint, Situation
from featherweight.constraints.solve import SolverOptions, impact_speed, solve
from featherweight.forces import Advance, ForceElement, Kinematics, Push, with_damping
from featherweight.integrators.integrator import Integrator, StepForces
from featherweight.model import Model, Tree
from featherweight.model.damping import SLOW, has_dry_friction, without_dry_friction
from featherweight.simulation.asking import asking
from featherweight.spatial import Force


@dataclass(frozen=True)
class Parts:
    """What a step is composed of."""

    integrator: Integrator
    elements: tuple[ForceElement, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    solver: SolverOptions = field(default_factory=SolverOptions)

    def memory_sizes(self, model: Model) -> Memory:
        """How many numbers each part remembers from step to step; zeros at the beginning."""
        return Memory(
            self.integrator.state_size(model.over_floats),
            [element.memory_size(model) for element in self.elements],
            sum(sum(constraint.block_sizes(model)) for constraint in self.constraints),
        )


@dataclass(frozen=True)
class Memory:
    """What the parts of a step remember: the integrator, each force element, and all constraints (warm start)."""

    integrator: Any
    elements: Sequence[Any]
    constraints: Any


class Records(dict[str, list[Any]]):
    """What is recorded of a step, as flat lists by name."""

    def add(self, others: Mapping[str, list[Any]]) -> None:
        """Further ones; a name that is there already is refused."""
        for name in others:
            if name in self:
                raise ValueError(f"records: {name!r} is recorded already in this step; give it another name, or none")
        self.update(others)


@dataclass(frozen=True)
class Stepped:
    """The state after a step, the velocity that impulses have left, before the robot moves with it if it has not yet;
    the impulses of all rows (`Solved.found`), what is remembered, whether every equation was solved, and records by
    name; whether bounces were taken back (`Solved.taken_back`)."""

    q: list[Any]
    v: list[Any]
    velocity: list[Any]
    found: list[Any]
    memory: Memory
    converged: Any
    records: Records
    taken_back: Any = 0.0


def step(parts: Parts, at: Kinematics, tau: Sequence[Any], h: Any, memory: Memory, going: Any) -> Stepped:
    """One step of h [s] with joint forces τ, over any scalar. `going`: lanes that have not failed; the
    result of others is discarded."""
    tree = at.tree
    start = at.once(("started", id(parts)), partial(started, parts, at, tau, h, memory))
    with asking("integrator"):
        motion = parts.integrator.free(start.tree, at.q, at.v, start.acting, h, memory.integrator)

    # constraint blocks where they act, and the impulses that fulfil their laws
    end = Situation(at.model, tree, motion.q, motion.v, h, True, at) if motion.moved else start.begin
    with asking("constraints"):
        blocks = [blocks_at(end, constraint) for constraint in parts.constraints]
        solved = solve(parts.solver, end, motion, list(chain(*blocks)), memory.constraints, going)

    # the integrator's end of the step
    recovery = () if solved.recovery is None else (solved.recovery,)
    new_q, new_v = parts.integrator.finish(tree, motion, solved.v, h, *recovery)
    carried = parts.integrator.disturbed(tree, motion.memory, solved.disturbed) if blocks else motion.memory
    kept = Memory(carried, [element.memory for element in start.elements], solved.memory)

    # records by name
    records = Records({"solver": [solved.turns, solved.residual], "convergence": [motion.iterations, motion.residual]})
    for element in start.elements:
        records.add(element.records)
    found = iter(solved.reactions)
    for constraint, own in zip(parts.constraints, blocks, strict=True):
        records.add(constraint.records(end, [next(found) for _ in own]))
    converged = solved.converged & motion.converged
    return Stepped(new_q, new_v, solved.v, solved.found, kept, converged, records, solved.taken_back)


@dataclass(frozen=True)
class Started:
    """A step before anything moves: its force elements, what acts, the tree that moves without impulses, and where
    constraints act if it has not moved when they do."""

    elements: list[Advance]
    acting: StepForces
    tree: Tree
    begin: Situation


def started(parts: Parts, at: Kinematics, tau: Sequence[Any], h: Any, memory: Memory) -> Started:
    """What acts in a step of h with joint forces τ."""
    model, tree, q, v = at.model, at.tree, at.q, at.v

    # force elements: what they remember moves on, and they push wherever the integrator asks
    with asking("forces"):
        elements = [
            _advanced(element, at, h, own) for element, own in zip(parts.elements, memory.elements, strict=True)
        ]
        pushing = _Pushing(parts.elements, at, [element.memory for element in elements])

    # dry friction that is a constraint is left to that
    begin = Situation(model, tree, q, v, h, False, at)
    constrained = any(constraint.takes_dry_friction for constraint in parts.constraints)
    friction_speed = partial(_friction_speed, () if constrained else parts.constraints, begin)
    acting = StepForces(pushing.on_joints(tau), pushing.on_bodies if parts.elements else None, friction_speed)
    return Started(elements, acting, without_dry_friction(tree) if constrained else tree, begin)


def blocks_at(at: Situation, constraint: Constraint) -> list[Block]:
    """The blocks of a constraint in a situation, made once."""
    return at.once(("blocks", id(constraint)), partial(_blocks, constraint, at))


def _blocks(constraint: Constraint, at: Situation) -> list[Block]:
    """The blocks of a constraint, as many and as large as it said before."""
    blocks, sizes = list(constraint.blocks(at)), list(constraint.block_sizes(at.model))
    if not all(isinstance(block, Block) for block in blocks):
        raise TypeError(f"{type(constraint).__name__}.blocks: expected a list of Block, got {blocks!r}")
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
        self._first = [_push(element, begin, own) for element, own in zip(elements, memory, strict=True)]

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
            pushes = [_push(element, at, own) for element, own in zip(self._elements, self._memory, strict=True)]
        total = [Force.zero() for _ in begin.tree.parent]
        for push in pushes:
            for body, force in push.bodies.items():
                total[body] = total[body] + force
        return total


def _advanced(element: ForceElement, at: Kinematics, h: Any, memory: Sequence[Any]) -> Advance:
    """What an element remembers after the step, as many numbers as it said."""
    after, name = element.advance(at, h, memory), type(element).__name__
    if len(after.memory) != len(memory):
        raise ValueError(f"forces: {name}.advance: expected {len(memory)} numbers to remember, got {len(after.memory)}")
    return after


def _push(element: ForceElement, at: Kinematics, memory: Sequence[Any]) -> Push:
    """What an element pushes with, checked."""
    push, name = element.forces(at, memory), type(element).__name__
    if not isinstance(push, Push):
        raise TypeError(f"{name}.forces: expected a Push, got {type(push).__name__}")
    bodies, dofs = range(len(at.tree.parent)), range(at.tree.nv)
    if wrong := [f for f in push.bodies.values() if not isinstance(f, Force)]:
        raise TypeError(f"{name}.forces: expected a spatial Force on each body (at.force_at), got {wrong[0]!r}")
    if not (set(push.bodies) <= set(bodies) and set(push.joints) <= set(dofs)):
        raise ValueError(
            f"forces: {name} pushes bodies {sorted(push.bodies)} and degrees of freedom {sorted(push.joints)}; "
            f"expected numbers of bodies, at.model.body(name).index, 0 to {len(bodies) - 1}, and of degrees of "
            f"freedom, at.model.joint(name).v.start, 0 to {len(dofs) - 1}"
        )
    return push


def _friction_speed(constraints: Sequence[Constraint], begin: Situation) -> Any:
    """The speed below which dry friction of joints is regularised as viscous."""
    if not has_dry_friction(begin.tree):
        return SLOW
    blocks: list[Block] = [block for constraint in constraints for block in blocks_at(begin, constraint)]
    return impact_speed(begin.tree, blocks, begin.v, SLOW)
