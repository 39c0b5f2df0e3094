"""From blocks of constraints to impulses and the velocity they leave: which method solves them, and where it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from featherweight.constraints.constraint import Block, Reaction, Situation
from featherweight.constraints.solve.active_set import ActiveSet
from featherweight.constraints.solve.islands import Island, islands
from featherweight.constraints.solve.motion import FreeMotion
from featherweight.constraints.solve.solver import Solution, Solver, SolverOptions
from featherweight.inputs import absent
from featherweight.model import Tree, aggregated
from featherweight.scalar import maximum, sqrt, when


@dataclass(frozen=True)
class Solved:
    """The velocity that impulses leave, the reaction of each block, what was found (impulses of all rows; of stops
    alone, the ends where joints are held) and what is remembered of that for the next step; where anything was to be
    solved at all, and how well it was, and whether bounces were taken back so that they add no energy (1 or 0).
    `recovery` is a velocity that moves the robot out of depths and is forgotten; None: there is none."""

    v: list[Any]
    reactions: list[Reaction] = field(default_factory=list)
    found: list[Any] = field(default_factory=list)
    memory: list[Any] = field(default_factory=list)
    recovery: list[Any] | None = None
    disturbed: Any = False
    converged: Any = True
    turns: Any = 0.0
    residual: Any = 0.0
    taken_back: Any = 0.0


def solve(
    options: SolverOptions,
    at: Situation,
    motion: FreeMotion,
    blocks: Sequence[Block],
    memory: Sequence[Any],
    going: Any,
) -> Solved:
    """Impulses that fulfil the laws of all blocks. Stops of joints alone are found by an active set, in linear time;
    anything else by sweeps and Newton steps, island by island. Lanes that are not `going` cost nothing."""
    if not blocks:
        return Solved(motion.v)
    if prescribed_joints(blocks):
        held, searched = ActiveSet.of(at.tree, motion, blocks, memory).solve(going)
        nothing = [Reaction([0.0]) for _ in blocks]
        return Solved(held.v, nothing, held.ends, held.ends, disturbed=searched, converged=held.wrong == 0)
    rest = iter(memory)
    kept = [[next(rest) for _ in range(block.law.size)] for block in blocks]
    tree = aggregated(motion.tree)
    parts = [_part(options, at, motion, island, tree, blocks, kept, going) for island in islands(tree, blocks)]
    return _joined(motion.v, blocks, parts, options)


@dataclass(frozen=True)
class _Part:
    """What was found for one island, where it was solved at all, and what each of its blocks remembers."""

    island: Island
    found: Solution
    solved: Any
    memory: list[list[Any]]


def _part(
    options: SolverOptions, at: Situation, motion: FreeMotion, island: Island, tree: Tree, blocks: Sequence[Block],
    kept: Sequence[list[Any]], going: Any,
) -> _Part:  # fmt: skip
    """Impulses of an island, and the velocities they leave of its degrees of freedom. `kept`: what each block
    remembers."""
    tree.mark()  # nothing of another island stands in a region of this one: then each is worked through by itself
    free, own = motion.v, [blocks[k] for k in island.blocks]
    start = [blocks[k].recalled(kept[k]) for k in island.blocks]
    some: Any = False
    for block in own:
        some = some | block.is_needed(free)
    some = some & going

    def impulses() -> Solution:
        found = Solver(tree.within(island.bodies), motion.q, at.start.v, free, own, options).solve(start)
        recovery = [found.recovery[d] for d in island.dofs] if found.recovery else []
        return replace(found, v=[found.v[d] for d in island.dofs], recovery=recovery)

    tree.mark()
    contacts = sum(block.law.is_contact for block in own)
    still = [0.0] * len(island.dofs) if any(block.recovers is not None for block in own) else []
    nothing = Solution([free[d] for d in island.dofs], [[0.0] * len(x) for x in start], [0.0] * contacts, still)
    found = when(some, impulses, nothing)
    tree.mark()
    each = zip(own, found.impulses, strict=True)
    return _Part(island, found, some, [block.remembered(impulses) for block, impulses in each])


def _joined(free: Sequence[Any], blocks: Sequence[Block], parts: Sequence[_Part], options: SolverOptions) -> Solved:
    """The islands together."""
    v, reactions = list(free), [Reaction([0.0] * block.law.size) for block in blocks]
    recovery: list[Any] = [0.0] * len(v)
    solved: Any = False
    error: Any = 0.0
    turns: Any = 0.0
    taken_back: Any = 0.0
    kept: list[list[Any]] = [[] for _ in blocks]
    for part in parts:
        slips = iter(part.found.slips)
        for d, x in zip(part.island.dofs, part.found.v, strict=True):
            v[d] = x
        for d, x in zip(part.island.dofs, part.found.recovery, strict=False):
            recovery[d] = x
        for k, impulses, own in zip(part.island.blocks, part.found.impulses, part.memory, strict=True):
            reactions[k] = Reaction(impulses, next(slips) if blocks[k].law.is_contact else 0.0)
            kept[k] = own
        solved = solved | part.solved
        answer = part.found
        each = ((error, answer.error), (turns, answer.turns), (taken_back, answer.taken_back))
        error, turns, taken_back = (_larger(x, y) for x, y in each)
    found = [x for reaction in reactions for x in reaction.impulses]
    memory = [x for own in kept for x in own]
    converged = True if options.keep_best else error <= options.tolerance * options.tolerance
    moves = recovery if any(part.found.recovery for part in parts) else None
    return Solved(v, reactions, found, memory, moves, solved, converged, turns, sqrt(error), taken_back)


def _larger(x: Any, y: Any) -> Any:
    return y if absent(x) else maximum(x, y)


def prescribed_joints(blocks: Sequence[Block]) -> bool:
    """Does each block prescribe the velocity of a joint of its own? Then an active set can solve them."""
    bodies = [block.bodies for block in blocks]
    return all(block.law.prescribes for block in blocks) and len(set(bodies)) == len(bodies)


def impact_speed(tree: Tree, blocks: Sequence[Block], v: Sequence[Any], least: Any) -> Any:
    """The speed of the fastest of what is stopped in this step, and `least` at least.

    Dry friction as damping holds a joint that is at rest by more than f if it is hit. So below this speed friction is
    viscous: about f at most.
    """
    if blocks and prescribed_joints(blocks):
        return ActiveSet.impact_speed(blocks, v, least)
    fastest = least
    for block in blocks:
        if block.approach is not None and block.law.is_contact:
            tree.mark()
            fastest = when(block.acts, partial(_faster, fastest, block, v), fastest)
        elif block.approach is not None:
            fastest = maximum(fastest, block.approach(v))
    return fastest


def _faster(speed: Any, block: Block, v: Sequence[Any]) -> Any:
    return maximum(speed, block.approach(v)) if block.approach is not None else speed
