"""Joint limits by an active set: joints that come to their ends are held there, in time linear in the bodies.

A joint that would pass an end within the step gets the velocity that takes it just there (back, if it is beyond), by an
impulse λ. With the slowest and fastest velocities v_low, v_high that keep it between its ends,

    v_low ≤ v⁺ ≤ v_high,    λ ≥ 0 and v⁺ = v_low,  or  λ ≤ 0 and v⁺ = v_high,  or  λ = 0.

Which joints are held is guessed: those that were in the step before. Hybrid dynamics with these joints prescribed
gives all velocities, and the impulses that this takes. Then what is wrong is changed: a joint whose impulse pulls is
released, one that would pass its end is held. In the first turns all are changed at once, later the first of them
alone, which ends for sure because M is positive definite (Murty's least-index rule). While no joint comes to an end or
leaves one, the first turn is the only one, and takes about as long as forward dynamics.

A semi-implicit step moves with v⁺. A variational one has moved already, and its velocity at the end is changed; forces
push it on its way through the next step, about as they did in this one, and that is made up for: a joint that is
pressed against its end begins each step with half of what the force takes in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.contact.contact_model import NONE, ContactModel, Outcome
from featherweight.contact.joint_rows import Limit, limits_of
from featherweight.contact.surfaces import Surface
from featherweight.integrators import SemiImplicit, Variational
from featherweight.integrators.integrator import Advanced, External, predicted
from featherweight.integrators.semi_implicit import advanced
from featherweight.model import Model, Tree
from featherweight.model.tree import SLOW
from featherweight.scalar import absolute, logical_not, maximum, minimum, repeat, when, where

ALL_AT_ONCE = 6.0  # turns in which everything that is wrong is changed
PER_LIMIT = 20  # further turns

# the velocities, and the impulse of each limit, if the joints of these bodies get the velocities that are wanted of
# them where a condition holds
Solve = Callable[[Mapping[int, Any], Sequence[Any]], tuple[list[Any], list[Any]]]


@dataclass(frozen=True)
class Stops:
    """How hard the ends of joints are: as `Impulse` has it by default."""

    tolerance: float = 1e-8  # velocity [rad/s or m/s] by which a joint may miss what is wanted
    recovery: float = 50.0  # [1/s]
    recovery_speed: float = 0.5  # [rad/s or m/s]
    slop: float = 1e-6  # [rad or m]


@dataclass(frozen=True)
class Limited:
    """A step within limits: the new state, the end at which each joint is held (1 the lower, -1 the upper, 0 none), and
    the integrator's part where it solved equations."""

    q: list[Any]
    v: list[Any]
    ends: list[Any]
    converged: Any
    free: Advanced = NONE


def takes_impulses(integrator: Any) -> bool:
    """Whether impulses can act in the steps of an integrator; not if a subclass makes steps of its own."""
    semi_implicit = isinstance(integrator, SemiImplicit) and all(
        getattr(type(integrator), name) is getattr(SemiImplicit, name) for name in ("step", "advance")
    )
    return semi_implicit or isinstance(integrator, Variational)


def limited_step(
    model: Model, tree: Tree, integrator: Any, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any,
    external: External | None, before: Sequence[Any], memory: Sequence[Any], going: Any,
) -> Limited:  # fmt: skip
    """One step of a robot whose joints stay within their limits; `before` says where they were held in the last."""
    if isinstance(integrator, Variational):
        step = integrator.advance(tree, q, v, tau, h, external, memory)
        rows = [_Row.at(limit, step.q, h, limit.pushed(q, step.q, v, h)) for limit in limits_of(model)]
        some: Any = False
        for row in rows:
            some = some | row.passes(step.v)
        some = some & going
        search = _Search(tree, rows, before, step.v, _by_impulses(tree, step.q, step.v, rows))
        found = when(some, search.run, [*step.v, *([0.0] * len(rows)), 0.0])
        step = replace(step, state=integrator.disturbed(tree, step.state, some))
        return Limited(step.q, found[: tree.nv], found[tree.nv : -1], found[-1] == 0, step)
    rows = [_Row.at(limit, q, h) for limit in limits_of(model)]
    search = _Search(tree, rows, before, v, _by_forces(tree, q, v, tau, h, external, rows))
    found = search.run()
    return Limited(*advanced(tree, q, found[: tree.nv], h), found[tree.nv : -1], found[-1] == 0)


@dataclass(frozen=True)
class _Row:
    """A limit in a step: the velocities that keep the joint of a body between its ends."""

    dof: int
    body: int
    low: Any
    high: Any

    @staticmethod
    def at(limit: Limit, q: Sequence[Any], h: Any, pushed: Any = 0.0) -> _Row:
        """Of a step that moves with v⁺; or that is `pushed` on its way by as much as the one before."""
        x, stops, per_h = q[limit.coordinate], Stops(), 1.0 / h

        def least(gap: Any) -> Any:
            """Towards an end that is so far away: there within the step; back, if it is beyond."""
            recovery = minimum(maximum(stops.recovery * (-gap - stops.slop), 0.0), stops.recovery_speed)
            return minimum(-gap * per_h, recovery)

        low = -math.inf if limit.lower == -math.inf else least(x - limit.lower) + maximum(pushed, 0.0)
        high = math.inf if limit.upper == math.inf else -least(limit.upper - x) + minimum(pushed, 0.0)
        return _Row(limit.dof, limit.body, low, high)

    def passes(self, v: Sequence[Any]) -> Any:
        """Whether it would pass an end with this velocity."""
        return (v[self.dof] < self.low) | (v[self.dof] > self.high)

    def end(self, v: Sequence[Any], miss: float, otherwise: Any) -> Any:
        """The end that it would pass with this velocity: 1 the lower, -1 the upper."""
        x = v[self.dof]
        return where(x < self.low - miss, 1.0, where(x > self.high + miss, -1.0, otherwise))

    def room(self, v: Sequence[Any]) -> Any:
        """How far this velocity is from passing an end."""
        x = v[self.dof]
        return minimum(x - self.low, self.high - x)


def _by_forces(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any, external: External | None,
    rows: Sequence[_Row],
) -> Solve:  # fmt: skip
    """Semi-implicit: v⁺ = v + h q̈, where a held joint accelerates to the velocity that is wanted."""
    slow: Any = SLOW
    if tree.rubs:  # joints at rest give way to what comes to its end: see Impulse
        for row in rows:
            slow = where(row.passes(v), maximum(slow, absolute(v[row.dof])), slow)
    solved, per_h = tree.damped(v, h, slow), 1.0 / h
    passive = algorithms.passive_force(solved, q, predicted(tree, v, [0] * tree.nv, h))
    forces = [t + p for t, p in zip(tau, passive, strict=True)]
    f_ext = None if external is None else external(q, v)

    def solve(held: Mapping[int, Any], wanted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        given: list[Any] = [0] * tree.nv
        for row, velocity in zip(rows, wanted, strict=True):
            given[row.dof] = (velocity - v[row.dof]) * per_h
        needed, a = _dynamics(solved, q, v, forces, given, held, f_ext)
        return predicted(tree, v, a, h), [h * (needed[row.dof] - forces[row.dof]) for row in rows]

    return solve


def _by_impulses(tree: Tree, q: Sequence[Any], v: Sequence[Any], rows: Sequence[_Row]) -> Solve:
    """Of a step that has moved: M (v⁺ - v) = Σ λ, where a held joint gets the velocity that is wanted."""
    resting, nothing = tree.without_gravity(), [0.0] * tree.nv

    def solve(held: Mapping[int, Any], wanted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        given: list[Any] = list(nothing)
        for row, velocity in zip(rows, wanted, strict=True):
            given[row.dof] = velocity - v[row.dof]
        needed, change = _dynamics(resting, q, nothing, nothing, given, held, None)
        return [x + dx for x, dx in zip(v, change, strict=True)], [needed[row.dof] for row in rows]

    return solve


def _dynamics(tree: Tree, *arguments: Any) -> tuple[list[Any], list[Any]]:
    hybrid = algorithms.coupled_hybrid_dynamics if tree.coupled else algorithms.hybrid_dynamics
    return hybrid(tree, *arguments)[:2]


@dataclass(frozen=True)
class _Search:
    """For the joints that are to be held, at their lower ends (1), at their upper ends (-1) or not at all (0).

    It begins with those that were held before, and those that would pass their ends with the velocities v.
    """

    tree: Tree
    rows: Sequence[_Row]
    before: Sequence[Any]  # where the joints were held in the step before
    v: Sequence[Any]
    solve: Solve

    def run(self) -> list[Any]:
        """Velocities, where the joints are held, and 0 if that is right."""
        n = len(self.rows)
        guess = [row.end(self.v, 0.0, before) for row, before in zip(self.rows, self.before, strict=True)]
        start = [*guess, *([0.0] * self.tree.nv), 1.0, 0.0]
        at_most = int(ALL_AT_ONCE) + PER_LIMIT * n
        found = repeat(self._turn, start, until=lambda carry: carry[-2] == 0, at_most=at_most)
        return [*found[n:-2], *found[:n], found[-2]]

    def _turn(self, carry: list[Any]) -> list[Any]:
        ends, turns = carry[: len(self.rows)], carry[-1]
        held = [logical_not(end == 0) for end in ends]
        wanted = [where(end > 0, row.low, row.high) for row, end in zip(self.rows, ends, strict=True)]
        v, impulses = self.solve({row.body: is_held for row, is_held in zip(self.rows, held, strict=True)}, wanted)
        wrong: Any = False
        for row, end, is_held, impulse in zip(self.rows, ends, held, impulses, strict=True):
            self.tree.mark()
            wrong = wrong | (where(is_held, end * impulse, row.room(v) + Stops.tolerance) < 0)
        after = when(wrong, lambda: self._changed(ends, held, v, impulses, turns), ends)  # seldom
        return [*after, *v, where(wrong, 1.0, 0.0), turns + 1.0]

    def _changed(
        self, ends: Sequence[Any], held: Sequence[Any], v: Sequence[Any], impulses: Sequence[Any], turns: Any
    ) -> list[Any]:
        """Where the joints are to be held instead: all that were wrong, or in later turns the first of them."""
        after: list[Any] = []
        some: Any = False
        for row, end, is_held, impulse in zip(self.rows, ends, held, impulses, strict=True):
            self.tree.mark()
            right = where(is_held, where(end * impulse < 0, 0.0, end), row.end(v, Stops.tolerance, 0.0))
            off = logical_not(right == end)
            after.append(where(off & ((turns < ALL_AT_ONCE) | logical_not(some)), right, end))
            some = some | off
        return after


@dataclass(frozen=True)
class JointLimits(ContactModel):
    """No contact: the ends of joints are all that is hit."""

    ground: Surface | Sequence[Surface] = ()

    def __post_init__(self) -> None:
        """There is nothing to check: users do not make these."""

    def points(self, model: Model) -> int:
        return 0

    def state_size(self, model: Model, limits: bool) -> int:
        return len(limits_of(model))

    def step(
        self, model: Model, tree: Tree, integrator: Any, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any,
        state: Sequence[Any], memory: Sequence[Any] = (), going: Any = True, limits: bool = True,
    ) -> Outcome:  # fmt: skip
        after = limited_step(model, tree, integrator, q, v, tau, h, None, state, memory, going)
        return Outcome(after.q, after.v, after.ends, [], [], [], 0.0, 0.0, after.converged, after.free)
