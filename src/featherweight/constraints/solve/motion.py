"""The motion of a step before constraints act: what an integrator gives, and constraints change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight import algorithms
from featherweight.cached import cached_property
from featherweight.forces import Push
from featherweight.model import Tree
from featherweight.spatial import Force

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


@dataclass(frozen=True, eq=False)
class MotionEquation:
    """The equation of motion that impulses λ enter, linear in the acceleration a:

        ID(q, v, a) = forces + Jᵀ f_ext + Jᵀ λ / h,    and v⁺ = velocity(a).

    Of a step that has moved already it is M a = Jᵀ λ with a = v⁺ - v: at rest, without gravity, and with h = 1.
    """

    tree: Tree
    q: Sequence[Any]
    v: Sequence[Any]
    forces: Sequence[Any]
    f_ext: Sequence[Force] | None
    per_h: Any
    velocity: Callable[[Sequence[Any]], list[Any]]

    @staticmethod
    def moved(tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> MotionEquation:
        """Of impulses that act at the end of a step."""
        nothing: list[Any] = [0.0] * tree.nv
        return MotionEquation(tree.without_gravity(), q, nothing, nothing, None, 1.0, lambda a: _sum(v, a))

    def residual(self, a: Sequence[Any], pushes: Sequence[Push], impulses: Sequence[Any]) -> list[Any]:
        """What is left of the equation, with these impulses of rows that push so."""
        f_ext, forces = self.pushed(pushes, impulses)
        needed, _ = algorithms.inverse_dynamics(self.tree, self.q, self.v, a, f_ext)
        return [x - y for x, y in zip(needed, forces, strict=True)]

    def pushed(self, pushes: Sequence[Push], impulses: Sequence[Any]) -> tuple[list[Force], list[Any]]:
        """The forces on bodies, each in its frame, and at joints, with these impulses of rows that push so."""
        f_ext, forces = list(self.f_ext or [Force.zero()] * len(self.tree.parent)), list(self.forces)
        for push, impulse in zip(pushes, impulses, strict=True):
            share = impulse * self.per_h
            for body, force in push.bodies.items():
                f_ext[body] = f_ext[body] + force * share
            for d, number in push.joints.items():
                forces[d] = forces[d] + number * share
        return f_ext, forces


def _sum(x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
    return [a + b for a, b in zip(x, y, strict=True)]


def by_impulses(tree: Tree, q: list[Any], v: list[Any]) -> Prescribed:
    """Of a step that has moved: M (v⁺ - v) = Σ λ, where a held joint gets the velocity that is wanted."""
    resting, nothing = tree.without_gravity(), [0.0] * tree.nv

    def prescribed(held: Mapping[int, Any], wanted: Mapping[int, Any]) -> tuple[list[Any], dict[int, Any]]:
        given: list[Any] = list(nothing)
        for d, velocity in wanted.items():
            given[d] = velocity - v[d]
        needed, change = hybrid(resting, q, nothing, nothing, given, held, None)
        return _sum(v, change), {d: needed[d] for d in wanted}

    return prescribed


def hybrid(tree: Tree, *arguments: Any) -> tuple[list[Any], list[Any]]:
    """Hybrid dynamics of any tree: forces and accelerations."""
    solve = algorithms.coupled_hybrid_dynamics if tree.coupled else algorithms.hybrid_dynamics
    return solve(tree, *arguments)[:2]
