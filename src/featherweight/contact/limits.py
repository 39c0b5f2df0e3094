"""Joint limits by an active set: joints that come to their ends are held there, in time linear in the bodies.

A joint that would pass its end within the step gets the velocity v* that takes it just there (back, if it is beyond),
by an impulse λ with

    0 ≤ λ ⟂ v⁺ - v* ≥ 0.

Which joints are held is guessed: those that were in the step before. Hybrid dynamics with these joints prescribed
gives all velocities, and the impulses that this takes. Then what is wrong is changed: a joint whose impulse pulls is
released, one that would pass its end is held. In the first turns all are changed at once, later the first of them
alone, which ends for sure because M is positive definite (Murty's least-index rule). While no joint comes to an end or
leaves one, the first turn is the only one, and takes about as long as forward dynamics.

A semi-implicit step moves with v⁺. A variational one has moved already, and its velocity at the end is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.contact.contact_model import NONE, ContactModel, Outcome
from featherweight.contact.joint_rows import Row, limits_of
from featherweight.contact.surfaces import Surface
from featherweight.integrators import SemiImplicit, Variational
from featherweight.integrators.integrator import Advanced, External, predicted
from featherweight.integrators.semi_implicit import advanced
from featherweight.model import Model, Tree
from featherweight.model.tree import SLOW
from featherweight.scalar import logical_not, maximum, repeat, when, where

ALL_AT_ONCE = 6.0  # turns in which everything that is wrong is changed
PER_LIMIT = 4  # further turns

# the velocities, and the impulse of each row, if the joints of these bodies are held where a condition says so
Solve = Callable[[Mapping[int, Any]], tuple[list[Any], list[Any]]]


@dataclass(frozen=True)
class Stops:
    """How hard the ends of joints are: as `Impulse` has it by default."""

    tolerance: float = 1e-8  # velocity [rad/s or m/s] by which a joint may miss v*
    recovery: float = 50.0  # [1/s]
    recovery_speed: float = 0.5  # [rad/s or m/s]
    slop: float = 1e-6  # [rad or m]


@dataclass(frozen=True)
class Limited:
    """A step within limits: the new state, the impulse of each limit, and the integrator's part where it solved
    equations."""

    q: list[Any]
    v: list[Any]
    impulses: list[Any]
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
    """One step of a robot whose joints stay within their limits; `before` are the impulses of the step before."""
    stops = Stops()
    if isinstance(integrator, Variational):
        step = integrator.advance(tree, q, v, tau, h, external, memory)
        rows = [limit.at(stops, tree, step.q, h) for limit in limits_of(model)]
        some: Any = False
        for row in rows:
            some = some | row.needed(step.v)
        some = some & going
        search = _Search(tree, rows, before, step.v, stops.tolerance, _by_impulses(tree, step.q, step.v, rows))
        found = when(some, search.run, [*step.v, *([0.0] * len(rows)), 0.0])
        step = replace(step, state=integrator.disturbed(tree, step.state, some))
        return Limited(step.q, found[: tree.nv], found[tree.nv : -1], found[-1] == 0, step)
    rows = [limit.at(stops, tree, q, h) for limit in limits_of(model)]
    search = _Search(tree, rows, before, v, stops.tolerance, _by_forces(tree, q, v, tau, h, external, rows))
    found = search.run()
    return Limited(*advanced(tree, q, found[: tree.nv], h), found[tree.nv : -1], found[-1] == 0)


def _by_forces(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any, external: External | None,
    rows: Sequence[Row],
) -> Solve:  # fmt: skip
    """Semi-implicit: v⁺ = v + h q̈, where a held joint accelerates to v*."""
    slow: Any = SLOW
    if tree.rubs:  # joints at rest give way to what comes to its end: see Impulse
        for row in rows:
            slow = where(row.acts, maximum(slow, -row.sign * v[row.dof]), slow)
    solved = tree.damped(v, h, slow)
    passive = algorithms.passive_force(solved, q, predicted(tree, v, [0] * tree.nv, h))
    forces = [t + p for t, p in zip(tau, passive, strict=True)]
    f_ext = None if external is None else external(q, v)
    wanted: list[Any] = [0] * tree.nv
    for row in rows:
        wanted[row.dof] = (row.sign * row.wanted - v[row.dof]) * (1.0 / h)

    def solve(held: Mapping[int, Any]) -> tuple[list[Any], list[Any]]:
        needed, a = _dynamics(solved, q, v, forces, wanted, held, f_ext)
        return predicted(tree, v, a, h), [row.sign * h * (needed[row.dof] - forces[row.dof]) for row in rows]

    return solve


def _by_impulses(tree: Tree, q: Sequence[Any], v: Sequence[Any], rows: Sequence[Row]) -> Solve:
    """Of a step that has moved: M (v⁺ - v) = Σ λ, where a held joint gets v*."""
    resting, nothing = tree.without_gravity(), [0.0] * tree.nv
    wanted: list[Any] = list(nothing)
    for row in rows:
        wanted[row.dof] = row.sign * row.wanted - v[row.dof]

    def solve(held: Mapping[int, Any]) -> tuple[list[Any], list[Any]]:
        needed, change = _dynamics(resting, q, nothing, nothing, wanted, held, None)
        return [x + dx for x, dx in zip(v, change, strict=True)], [row.sign * needed[row.dof] for row in rows]

    return solve


def _dynamics(tree: Tree, *arguments: Any) -> tuple[list[Any], list[Any]]:
    hybrid = algorithms.coupled_hybrid_dynamics if tree.coupled else algorithms.hybrid_dynamics
    return hybrid(tree, *arguments)[:2]


@dataclass(frozen=True)
class _Search:
    """For the joints that are to be held. It begins with those that were held before, and those that would pass their
    ends with the velocities v."""

    tree: Tree
    rows: Sequence[Row]
    before: Sequence[Any]  # impulses of the step before
    v: Sequence[Any]
    tolerance: float
    solve: Solve

    def run(self) -> list[Any]:
        """Velocities, impulses, and 0 if they are right."""
        n = len(self.rows)
        guess = [
            where((x > 0) | (row.sign * self.v[row.dof] < row.wanted), 1.0, 0.0)
            for row, x in zip(self.rows, self.before, strict=True)
        ]
        start = [*guess, *([0.0] * (self.tree.nv + n)), 1.0, 0.0]
        at_most = int(ALL_AT_ONCE) + PER_LIMIT * n
        return repeat(self._turn, start, until=lambda carry: carry[-2] == 0, at_most=at_most)[n:-1]

    def _turn(self, carry: list[Any]) -> list[Any]:
        n = len(self.rows)
        held, turns = [flag > 0 for flag in carry[:n]], carry[-1]
        v, impulses = self.solve({row.body: is_held for row, is_held in zip(self.rows, held, strict=True)})
        flags: list[Any] = []
        wrong: Any = False
        for row, is_held, flag, impulse in zip(self.rows, held, carry, impulses, strict=False):
            self.tree.mark()
            lacks = row.sign * v[row.dof] - row.wanted + self.tolerance
            off = where(is_held, impulse, lacks) < 0
            changed = off & ((turns < ALL_AT_ONCE) | logical_not(wrong))
            flags.append(where(changed, 1.0 - flag, flag))
            wrong = wrong | off
        impulses = [where(is_held, impulse, 0.0) for is_held, impulse in zip(held, impulses, strict=True)]
        return [*flags, *v, *impulses, where(wrong, 1.0, 0.0), turns + 1.0]


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
        return Outcome(after.q, after.v, after.impulses, [], [], [], 0.0, 0.0, after.converged, after.free)
