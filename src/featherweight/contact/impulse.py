"""Contact by impulses: Signorini's law and Coulomb's cone, solved for the velocity at the end of each step.

The free step gives v⁻ = v + h q̈. Where a point touches, an impulse λ (normal λ_n, along the surface λ_t) changes the
velocity there to v⁺ = v⁻ + J M⁻¹ Jᵀ λ so that

    0 ≤ λ_n ⟂ v_n⁺ - v* ≥ 0,    |λ_t| ≤ μ λ_n,    v_t⁺ = 0 or λ_t = -μ λ_n v_t⁺ / |v_t⁺|,

with v* = max(-e v_n, min(-β z, v_max)), which bounces (by the velocity v_n before the step) and recovers from depth.

Joints have rows of their own in the same problem. One that comes to its end gets an impulse 0 ≤ λ ⟂ v⁺ - v* ≥ 0. Dry
friction f, if asked for as rows, is an impulse

    |λ| ≤ f h,    v⁺ = -R (λ - λ₀)  or  λ = -f h sgn v⁺,

of each degree of freedom for itself. λ₀ is the impulse of the step before: a joint that is held yields to a change of
its load by R = ε M⁻¹, once, and then stands still. With ε = 0 it is rigid.

A semi-implicit step then moves with v⁺. A variational step has moved already: its momentum p⁻ gives v⁻ = M⁻¹ p⁻ at its
end, points touch there, and p⁺ = p⁻ + Jᵀ λ. What bounces does so by v⁻ instead of v_n, if v_n says that it does. A
robot that stands is then at the depth from which v* lifts it by what gravity takes in half a step, h g / 2β.

M is never formed. A unit impulse is carried towards the root (see `algorithms.contact_inertia`) and pushes the joints
on its way with t. With D = L diag(d) Lᵀ of a joint, T = L⁻¹ t and Y = T / d give J M⁻¹ Jᵀ = T Yᵀ, and s = Yᵀ λ is all
that the contacts know of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from featherweight import algorithms
from featherweight.contact.contact_model import NONE, ContactModel, Meeting, Outcome, meetings, per_point
from featherweight.contact.joint_rows import DryFriction, Limit, Row, dry_friction_of, limits_of
from featherweight.contact.limits import takes_impulses
from featherweight.contact.solver import Solver, dofs_of
from featherweight.integrators import SemiImplicit, Variational
from featherweight.integrators.integrator import Advanced, predicted
from featherweight.integrators.semi_implicit import advanced
from featherweight.model import Model, Tree, joined
from featherweight.model.tree import SLOW
from featherweight.scalar import maximum, sqrt, when, where
from featherweight.spatial import Vector


@dataclass(frozen=True)
class Impulse(ContactModel):
    """Hard contact.

    Args:
        tolerance: largest velocity [m/s] by which any contact may miss its laws.
        iterations: sweeps over the contacts and Newton steps after which a step is given up as not converged.
        recovery: β [1/s], by which depth beyond `slop` is recovered.
        recovery_speed: v_max [m/s], most that recovery adds.
        slop: depth [m] that is left, so that a resting point keeps touching.
        bounce_speed: v_min [m/s], below which nothing bounces.
        dry_friction: of joints. "damping": implicit damping, f over speed, cheap; a joint that is held creeps. "rows":
            part of the contact problem (see the top of this file), for semi-implicit steps.
        presliding: ε of "rows": how much a joint that is held yields to a change of its load, as a part of what it
            would without friction; once, and then it stands still. With 0 it is rigid, and fewer steps are solved.
    """

    tolerance: float = 1e-8
    iterations: int = 1000
    recovery: float = 50.0
    recovery_speed: float = 0.5
    slop: float = 1e-6
    bounce_speed: float = 0.01
    dry_friction: str = "damping"
    presliding: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.tolerance, (int, float)) or not 0 < self.tolerance < math.inf:
            raise ValueError(f"tolerance: expected a number > 0 [m/s], got {self.tolerance!r}")
        for name in ("recovery", "recovery_speed", "slop", "bounce_speed", "presliding"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
                raise ValueError(f"{name}: expected a number of 0 or more, got {value!r}")
        if isinstance(self.iterations, bool) or not isinstance(self.iterations, int) or self.iterations < 1:
            raise ValueError(f"iterations: expected a whole number of 1 or more, got {self.iterations!r}")
        if self.dry_friction not in ("damping", "rows"):
            raise ValueError(f"dry_friction: expected 'damping' or 'rows', got {self.dry_friction!r}")

    def check(self, model: Model, integrator: Any) -> None:
        super().check(model, integrator)
        limits_of(model)  # limits that contradict each other are refused
        if not takes_impulses(integrator):
            own = isinstance(integrator, SemiImplicit)
            raise ValueError(
                "integrator: impulses act at the end of a semi-implicit step or of a variational one, got "
                f"{integrator!r}{', whose own step would be ignored' if own else ''}"
            )
        if self.dry_friction == "rows" and not isinstance(integrator, SemiImplicit):
            raise ValueError(
                "dry_friction: as rows it needs a semi-implicit step (a variational one moves before they act), got "
                f"{integrator!r}; leave it as damping there"
            )

    def state_size(self, model: Model, limits: bool) -> int:
        return 3 * len(model.contact_points) * len(self.surfaces) + len(self._rows(model, limits))

    def _rows(self, model: Model, limits: bool) -> list[Limit | DryFriction]:
        """Limits of coordinates, and then dry friction of degrees of freedom."""
        own = limits_of(model) if limits else ()
        return [*own, *(dry_friction_of(model) if self.dry_friction == "rows" else ())]

    def step(
        self, model: Model, tree: Tree, integrator: Any, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any,
        state: Sequence[Any], memory: Sequence[Any] = (), going: Any = True, limits: bool = True,
    ) -> Outcome:  # fmt: skip
        step: Advanced | None = None
        now, pushes = v, [0.0] * len(self._rows(model, limits))
        if isinstance(integrator, Variational):  # the step first: impulses act where it ends
            step = integrator.advance(tree, q, v, tau, h, None, memory)
            pushes = [limit.pushed(q, step.q, v, h) for limit in self._rows(model, limits) if isinstance(limit, Limit)]
            q, now = step.q, step.v
        met = meetings(self, model, tree, algorithms.forward_kinematics(tree, q))
        rows = [
            row.at(self, tree, q, now, h, push) for row, push in zip(self._rows(model, limits), pushes, strict=True)
        ]
        touching = [m.z <= 0 if dofs_of(tree, m.body) else False for m in met]
        if step is not None:
            solved, free = tree, step.v
        else:
            solved = self._damped(tree, q, v, h, met, touching, rows)
            passive = algorithms.passive_force(solved, q, predicted(tree, v, [0] * tree.nv, h))
            forces = [t + p for t, p in zip(tau, passive, strict=True)]
            dynamics = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
            a, _ = dynamics(solved, q, v, forces, None)
            free = predicted(tree, v, a, h)
        some: Any = False
        for one in (*touching, *(row.needed(free) for row in rows)):
            some = some | one
        some = some & going  # a lane that has failed must not cost sweeps
        n, nc = len(state), len(met)

        def solve() -> list[Any]:
            moved = step is not None
            return Solver(self, joined(solved), q, v, free, met, touching, rows, moved=moved).solve(state)

        tree.mark()
        after = when(some, solve, [*free, *([0.0] * (n + nc + 2))])
        moved, impulses, slips = after[: tree.nv], after[tree.nv : tree.nv + n], after[tree.nv + n : -2]
        residual, turns = after[-2:]
        tree.mark()
        new_q, new_v = advanced(tree, q, moved, h) if step is None else (list(q), moved)
        per_h = 1.0 / h
        world = [m.frame.transposed_times(Vector(*impulses[3 * k : 3 * k + 3])) * per_h for k, m in enumerate(met)]
        if step is not None:
            step = replace(step, state=integrator.disturbed(tree, step.state, some))
        points = self.points(model)
        return Outcome(
            new_q, new_v, list(impulses),
            per_point(points, met, world, Vector.zero(), lambda x, y: x + y),
            per_point(points, met, slips, 0.0, maximum),
            per_point(points, met, [maximum(-m.z, 0.0) for m in met], 0.0, maximum),
            turns, sqrt(residual), residual <= self.tolerance * self.tolerance,
            NONE if step is None else step,
        )  # fmt: skip

    def _damped(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any,
        met: Sequence[Meeting], touching: Sequence[Any], rows: Sequence[Row],
    ) -> Tree:  # fmt: skip
        """The tree with damping at the end of the step.

        Dry friction as damping holds a joint that is at rest by more than f if it is hit. So below the speed of what
        hits something in this step, the fastest of it, friction is viscous: about f at most.
        """
        if self.dry_friction == "rows":
            return tree.without_dry_friction().damped(v, h)
        if not tree.rubs:
            return tree.damped(v, h)
        fastest: Any = SLOW
        for m, touches in zip(met, touching, strict=True):
            tree.mark()
            (fastest,) = when(touches, partial(_faster, fastest, m, tree, q, v), [fastest])
        for row in rows:
            fastest = where(row.needed(v), maximum(fastest, -row.sign * v[row.dof]), fastest)
        return tree.damped(v, h, fastest)


def _faster(speed: Any, m: Meeting, tree: Tree, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """The larger one of a speed and that of a point towards a surface."""
    _, V, _ = algorithms.body_motion(tree, m.body, q, v, [0] * tree.nv)
    return [maximum(speed, -V.dot(m.force(m.frame[0])))]
