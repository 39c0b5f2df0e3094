"""Semi-implicit (symplectic) Euler: the new velocity moves the configuration. Order 1, cheap, robust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight import algorithms
from featherweight.constraints.solve.motion import FreeMotion, MotionEquation, hybrid
from featherweight.integrators.integrator import Acceleration, Integrator, StepForces, predicted
from featherweight.model import Tree
from featherweight.model.damping import damped
from featherweight.spatial import Force

GYROSCOPIC = ("midpoint", "explicit", "two_stage")


@dataclass(frozen=True, repr=False)
class SemiImplicit(Integrator):
    """v⁺ = v + h q̈(q, v_m), q⁺ = q ⊕ h v⁺; free bodies in axes that do not turn during the step.

    Damping acts with v⁺, so that no damping is too stiff: (M + h D) q̈ = τ - D v - … Impulses act on v⁺ before the
    robot moves with it.

    Args:
        gyroscopic: which velocity v_m gyroscopic, centrifugal and Coriolis forces are taken at. "midpoint": bodies on
            free and ball joints turn with ω_m, by the implicit midpoint rule for each of them alone; else v_m = v. A
            body in flight then keeps its energy, however fast it spins. "explicit": v_m = v. "two_stage": from there,
            v_m = v + ½ h q̈ with one more evaluation of the dynamics, for trees whose limbs spin fast.
    """

    gyroscopic: str = "midpoint"

    damps_implicitly = True

    def __post_init__(self) -> None:
        if self.gyroscopic not in GYROSCOPIC:
            raise ValueError(f"gyroscopic: expected one of {', '.join(map(repr, GYROSCOPIC))}, got {self.gyroscopic!r}")

    @property
    def moves_first(self) -> bool:  # type: ignore[override]
        """Only a subclass with a step of its own does."""
        own = ("step", "advance")
        return any(getattr(type(self), name) is not getattr(SemiImplicit, name) for name in own)

    def step(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, acceleration: Acceleration
    ) -> tuple[list[Any], list[Any]]:
        return advanced(tree, q, predicted(tree, v, acceleration(q, v), h), h)

    def free(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], acting: StepForces, h: Any, memory: Sequence[Any]
    ) -> FreeMotion:
        """v + h q̈ at q; with the velocities of some joints given, by hybrid dynamics in place of forward dynamics."""
        equation = self.equation(tree, q, v, acting, h)
        if equation is None:
            return super().free(tree, q, v, acting, h, memory)
        solved, forces, f_ext, per_h = equation.tree, equation.forces, equation.f_ext, equation.per_h

        def velocity() -> list[Any]:
            return equation.velocity(acceleration(solved, q, equation.v, forces, f_ext))

        def prescribed(held: Mapping[int, Any], wanted: Mapping[int, Any]) -> tuple[list[Any], dict[int, Any]]:
            given: list[Any] = [0] * tree.nv
            for d, target in wanted.items():
                given[d] = (target - v[d]) * per_h
            needed, a = hybrid(solved, q, equation.v, forces, given, held, f_ext)
            return equation.velocity(a), {d: h * (needed[d] - forces[d]) for d in wanted}

        return FreeMotion(solved, list(q), velocity, False, list(v), prescribed, [])

    def equation(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], acting: StepForces, h: Any
    ) -> MotionEquation | None:
        """Damping acts with v⁺: it adds h D to the mass matrix, and the velocity without acceleration to the forces.
        Other forces that depend on velocity are those at v_m."""
        if self.moves_first:
            return None
        solved = damped(tree, v, h, acting.friction_speed())
        passive = algorithms.passive_force(solved, q, predicted(tree, v, [0] * tree.nv, h))
        forces = [t + p for t, p in zip(acting.tau, passive, strict=True)]
        f_ext = None if acting.external is None else acting.external(q, v)

        # v_m, and with the acceleration there v⁺: both in the axes of now
        change = {} if self.gyroscopic == "explicit" else algorithms.change_to_midpoint(tree, q, v, h)
        if self.gyroscopic == "two_stage":
            a = acceleration(solved, q, changed(tree, v, change), forces, f_ext)
            change = {d: (0.5 * h) * a[d] for d in tree.coordinates()}
        middle, back = changed(tree, v, change), {d: -x for d, x in change.items()}
        return MotionEquation(
            solved, q, middle, forces, f_ext, 1.0 / h, lambda a: changed(tree, predicted(tree, middle, a, h), back)
        )

    def finish(
        self, tree: Tree, motion: FreeMotion, v: Sequence[Any], h: Any, recovery: Sequence[Any] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """The robot moves with the velocity that impulses have left."""
        if motion.moved:
            return super().finish(tree, motion, v, h, recovery)
        return advanced(tree, motion.q, v, h, recovery)

    def __repr__(self) -> str:
        return "SemiImplicit()" if self.gyroscopic == "midpoint" else f"SemiImplicit(gyroscopic={self.gyroscopic!r})"


def acceleration(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], forces: Sequence[Any], f_ext: Sequence[Force] | None
) -> list[Any]:
    """Forward dynamics of any tree."""
    solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
    return solve(tree, q, v, forces, f_ext)[0]


def changed(tree: Tree, v: Sequence[Any], change: Mapping[int, Any]) -> list[Any]:
    """v + change, joint by joint: bodies that know nothing of each other do not wait for each other."""
    after = list(v)
    for d in tree.coordinates():
        if d in change:
            after[d] = v[d] + change[d]
    return after


def advanced(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, recovery: Sequence[Any] | None = None
) -> tuple[list[Any], list[Any]]:
    """Where a velocity in the axes of now leads to in h, and the same velocity in the axes of then; `recovery` moves it
    further and is left out of the velocity."""
    new_q, new_v = list(q), list(v)
    for _, _, joint in tree.outward():
        if joint.kind.leader is None:
            more = () if recovery is None else (recovery[joint.v],)
            new_q[joint.q], new_v[joint.v] = joint.kind.advance(q[joint.q], v[joint.v], h, *more)
    return new_q, new_v
