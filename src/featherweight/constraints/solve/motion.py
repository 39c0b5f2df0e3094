"""The motion of a step before constraints act: what an integrator gives, and constraints change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from featherweight import algorithms
from featherweight.cached import cached_property
from featherweight.model import Tree

# (joints held: body -> where, velocities wanted there: degree of freedom -> number)
#   -> all velocities, and the impulses that this takes, by degree of freedom
Prescribed = Callable[[Mapping[int, Any], Mapping[int, Any]], tuple[list[Any], dict[int, Any]]]


@dataclass(frozen=True, eq=False)
class FreeMotion:
    """A step without impulses.

    Args:
        tree: the tree whose mass matrix answers impulses: M, or M + h D where damping is implicit.
        q: where constraints act; it is the end of the step if it has `moved`, else its beginning.
        velocity: gives v, the velocity there that the step has without impulses; asked only where it is needed.
        moved: impulses act at the end of the step, or before the robot moves.
        guess: velocities for the first guess of the active set.
        prescribed: the same step with the velocities of some joints given.
        memory: what the integrator carries on.
        iterations, residual, converged: how the equations of the step were solved, if it has any.
    """

    tree: Tree
    q: list[Any]
    velocity: Callable[[], list[Any]]
    moved: bool
    guess: list[Any]
    prescribed: Prescribed
    memory: list[Any]
    iterations: Any = 0.0
    residual: Any = 0.0
    converged: Any = True

    @cached_property
    def v(self) -> list[Any]:
        """The velocity without impulses."""
        return self.velocity()


def by_impulses(tree: Tree, q: list[Any], v: list[Any]) -> Prescribed:
    """Of a step that has moved: M (v⁺ - v) = Σ λ, where a held joint gets the velocity that is wanted."""
    resting, nothing = tree.without_gravity(), [0.0] * tree.nv

    def prescribed(held: Mapping[int, Any], wanted: Mapping[int, Any]) -> tuple[list[Any], dict[int, Any]]:
        given: list[Any] = list(nothing)
        for d, velocity in wanted.items():
            given[d] = velocity - v[d]
        needed, change = hybrid(resting, q, nothing, nothing, given, held, None)
        return [x + dx for x, dx in zip(v, change, strict=True)], {d: needed[d] for d in wanted}

    return prescribed


def hybrid(tree: Tree, *arguments: Any) -> tuple[list[Any], list[Any]]:
    """Hybrid dynamics of any tree: forces and accelerations."""
    solve = algorithms.coupled_hybrid_dynamics if tree.coupled else algorithms.hybrid_dynamics
    return solve(tree, *arguments)[:2]
