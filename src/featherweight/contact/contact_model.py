"""What a contact model is: surfaces, coefficients, and what it adds to a step: force elements or constraints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from featherweight.constraints import Constraint, JointLimit
from featherweight.constraints.solve.solver import SolverOptions
from featherweight.contact.candidates import Ground
from featherweight.contact.surfaces import Plane, Surface, check_friction, check_restitution
from featherweight.forces import ForceElement
from featherweight.inputs import Numbers, with_fields
from featherweight.model import Model
from featherweight.model.parameters import GROUND_FRICTION


@dataclass(frozen=True)
class ContactModel:
    """Points of the robot against surfaces. Frozen: what it depends on is in its fields.

    Args:
        ground: a surface, or several.
        friction: coefficient μ where the surface has none; a parameter "ground.friction" of the robot takes its place.
        restitution: e where the surface has none.
    """

    ground: Surface | Sequence[Surface] = field(default_factory=Plane)
    friction: float = GROUND_FRICTION
    restitution: float = 0.0

    def __post_init__(self) -> None:
        ground = self.ground if isinstance(self.ground, Iterable) else (self.ground,)
        ground = tuple(ground)
        if not ground or not all(isinstance(s, Surface) for s in ground):
            raise TypeError(f"ground: expected a surface of featherweight.contact or several, got {self.ground!r}")
        object.__setattr__(self, "ground", ground)
        check_friction("friction", self.friction)
        check_restitution("restitution", self.restitution)

    def over(self, numbers: Numbers) -> ContactModel:
        """The same model over other scalars."""
        return with_fields(
            self,
            ground=tuple(surface.over(numbers) for surface in self.surfaces),
            friction=numbers.optional(self.friction),
            restitution=numbers.optional(self.restitution),
        )

    def check(self, model: Model) -> None:
        """Raise ValueError if this cannot be used with the robot."""
        if not model.contact_points:
            raise ValueError(
                f"contact: {model.name!r} has no contact points; add some with "
                'Builder.add_contact_point, or name the links of a file that touch: fw.load(…, contact=("foot", …))'
            )

    def elements(self) -> tuple[ForceElement, ...]:
        """The force elements it adds to a step."""
        return ()

    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints of contact that it adds to a step."""
        return ()

    def joint_limit(self) -> JointLimit:
        """The constraint by which joints are held within their limits."""
        return JointLimit()

    def joint_constraints(self) -> tuple[Constraint, ...]:
        """Further constraints of joints."""
        return ()

    @property
    def solver(self) -> SolverOptions:
        """When constraints count as solved."""
        return SolverOptions()

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        return self.ground  # type: ignore[return-value]

    def _ground(self) -> Ground:
        return Ground(self.surfaces, self.friction, self.restitution)

    def longest_step(self, model: Model, q: ArrayLike) -> float:
        """The longest step [s] that is stable, of a robot that ran before from where it began then; infinite if any
        is."""
        return math.inf

    def warn_if_stiff(self, model: Model, q: ArrayLike, dt: float) -> None:
        """Tell the user if steps of dt [s] from q are too long for this contact model."""
