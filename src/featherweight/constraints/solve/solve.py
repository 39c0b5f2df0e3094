"""From blocks of constraints to impulses and the velocity they leave: which method solves them, and where it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from featherweight.constraints.constraint import Block, Reaction, Situation
from featherweight.constraints.solve.active_set import ActiveSet
from featherweight.constraints.solve.motion import FreeMotion
from featherweight.constraints.solve.solver import Solution, Solver, SolverOptions
from featherweight.model import Tree, aggregated
from featherweight.scalar import maximum, sqrt, when


@dataclass(frozen=True)
class Solved:
    """The velocity that impulses leave, the reaction of each block, what is remembered of each for the next step, where
    anything was to be solved at all, and how well it was."""

    v: list[Any]
    reactions: list[Reaction] = field(default_factory=list)
    memory: list[Any] = field(default_factory=list)
    disturbed: Any = False
    converged: Any = True
    turns: Any = 0.0
    residual: Any = 0.0


def solve(
    options: SolverOptions,
    at: Situation,
    motion: FreeMotion,
    blocks: Sequence[Block],
    memory: Sequence[Any],
    going: Any,
) -> Solved:
    """Impulses that fulfil the laws of all blocks. Stops of joints alone are found by an active set, in linear time;
    anything else by sweeps and Newton steps. Lanes that are not `going` cost nothing."""
    if not blocks:
        return Solved(motion.v)
    if prescribed_joints(blocks):
        held, searched = ActiveSet.of(at.tree, motion, blocks, memory).solve(going)
        return Solved(held.v, [Reaction([0.0]) for _ in blocks], held.ends, searched, held.wrong == 0)
    rest = iter(memory)
    warm = [[next(rest) for _ in range(block.law.size)] for block in blocks]
    free, tree = motion.v, at.tree
    some: Any = False
    for block in blocks:
        some = some | block.is_needed(free)
    some = some & going

    def impulses() -> Solution:
        return Solver(aggregated(motion.tree), motion.q, at.start.v, free, blocks, options).solve(warm)

    tree.mark()
    contacts = sum(block.law.is_contact for block in blocks)
    nothing = Solution(list(free), [[0.0] * len(own) for own in warm], [0.0] * contacts)
    found = when(some, impulses, nothing)
    tree.mark()
    slips = iter(found.slips)
    reactions = [
        Reaction(own, next(slips) if block.law.is_contact else 0.0)
        for block, own in zip(blocks, found.impulses, strict=True)
    ]
    converged = found.error <= options.tolerance * options.tolerance
    flat = [x for own in found.impulses for x in own]
    return Solved(found.v, reactions, flat, some, converged, found.turns, sqrt(found.error))


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
