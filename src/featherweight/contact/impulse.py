"""Contact by impulses: Signorini's law and Coulomb's cone, solved for the velocity at the end of each step.

The free motion gives v⁻ = v + h q̈. Where a point touches, an impulse λ changes the velocity there to
v⁺ = v⁻ + J M⁻¹ Jᵀ λ so that the laws of `point_on_surface` hold. Joints have rows of their own in the same problem:
one that comes to its end gets an impulse 0 ≤ λ ⟂ v⁺ - v* ≥ 0 (`constraints.joint_limit`), and dry friction, if asked
for as rows, one of |λ| ≤ f h (`constraints.dry_friction`).

A semi-implicit step then moves with v⁺. A variational step, or one of a user's integrator, has moved already: v⁻ is the
velocity at its end, points touch there, and M (v⁺ - v⁻) = Jᵀ λ. A robot that stands is then at the depth from which v*
lifts it by what gravity takes in half a step, slop + h g / 2β.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from featherweight.constraints import Constraint, DryFriction, JointLimit
from featherweight.constraints.joint_limit import limits_of
from featherweight.constraints.solve.solver import SolverOptions
from featherweight.contact.contact_model import ContactModel
from featherweight.contact.point_on_surface import PointOnSurface
from featherweight.contact.shapes_touch import ShapesTouch
from featherweight.contact.slots import Arrangement, arranged
from featherweight.inputs import Numbers, with_fields
from featherweight.model import Model


@dataclass(frozen=True)
class Impulse(ContactModel):
    """Hard contact; `ground`, `friction`, `restitution` and `pairs` are those of any `ContactModel`.

    Args:
        tolerance: largest velocity [m/s] by which any contact may miss its laws.
        iterations: sweeps over the contacts and Newton steps after which a step is given up as not converged; a trial
            that has begun by then, of up to 70 turns, is made to its end.
        recovery: β [1/s], by which depth beyond `slop` is recovered.
        recovery_speed: v_max [m/s], most that recovery adds.
        slop: depth [m] that is left, so that a resting point keeps touching.
        bounce_speed: v_min [m/s], below which nothing bounces.
        keep_best: what becomes of a step that is not solved to the tolerance: False, the robot stands still from there
            on with status NOT_CONVERGED; True, it goes on with the best impulses that were found, and `solver` of the
            trajectory has their residual.
        slots: how many contacts between shapes there are at most: those of all pairs that will be nearest at the end
            of a step share them, and `missed` of the trajectory counts those that touch then and found none. 0: each
            contact point of each pair has code of its own. None: slots where there are many pairs.
        dry_friction: of joints. "damping": implicit damping, f over speed, cheap; a joint that is held creeps. "rows":
            rows of the contact problem, |λ| ≤ f h, for steps that move after impulses have acted.
        presliding: ε of "rows": how much a joint that is held yields to a change of its load, as a part of what it
            would without friction; once, and then it stands still. With 0 it is rigid, and fewer steps are solved.
    """

    tolerance: float = 1e-8
    iterations: int = 10_000
    recovery: float = 50.0
    recovery_speed: float = 0.5
    slop: float = 1e-6
    bounce_speed: float = 0.01
    keep_best: bool = field(default=False, kw_only=True)
    slots: int | None = field(default=None, kw_only=True)
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
        if not isinstance(self.keep_best, bool):
            raise TypeError(f"keep_best: expected True or False, got {self.keep_best!r}")
        if self.slots is not None and (
            isinstance(self.slots, bool) or not isinstance(self.slots, int) or self.slots < 0
        ):
            raise ValueError(f"slots: expected a whole number of 0 or more, or None, got {self.slots!r}")
        if self.dry_friction not in ("damping", "rows"):
            raise ValueError(f"dry_friction: expected 'damping' or 'rows', got {self.dry_friction!r}")

    def over(self, numbers: Numbers) -> Impulse:
        names = ("tolerance", "recovery", "recovery_speed", "slop", "bounce_speed")
        own = {name: numbers.number(getattr(self, name)) for name in names}
        return with_fields(super().over(numbers), **own, presliding=numbers.optional(self.presliding))  # type: ignore

    def check(self, model: Model) -> None:
        super().check(model)
        limits_of(model)  # limits that contradict each other are refused

    def constraints(self) -> tuple[Constraint, ...]:
        own = self.recovery, self.recovery_speed, self.slop, self.bounce_speed
        return PointOnSurface(self._ground(), *own), ShapesTouch(self._ground(), self.allowed, *own, self.slots)

    def arranged(self, model: Model) -> Arrangement:
        return arranged(model, self.allowed, len(self.surfaces), self.slots)

    def joint_limit(self) -> JointLimit:
        return JointLimit(self.recovery, self.recovery_speed, self.slop)

    def joint_constraints(self) -> tuple[Constraint, ...]:
        return (DryFriction(self.presliding),) if self.dry_friction == "rows" else ()

    @property
    def solver(self) -> SolverOptions:
        return SolverOptions(self.tolerance, self.iterations, self.keep_best)
