"""What a contact model is: surfaces, coefficients, and what it adds to a step: force elements or constraints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from featherweight.constraints import Constraint, JointLimit
from featherweight.constraints.solve.solver import SolverOptions
from featherweight.contact.candidates import Ground
from featherweight.contact.pair import Pair, Pairs, checked_pairs
from featherweight.contact.slots import Arrangement, arranged
from featherweight.contact.surfaces import Plane, Surface, check_friction, check_restitution
from featherweight.contact.touching import TouchingPair
from featherweight.forces import ForceElement
from featherweight.inputs import Numbers, with_fields
from featherweight.model import Model
from featherweight.model.parameters import GROUND_FRICTION

MOST_CONTACTS = 1000  # contact points of shapes with code of their own: about 0.1 s of compiling each


@dataclass(frozen=True)
class ContactModel:
    """Points and shapes of robots against surfaces and against each other. Frozen: what it depends on is in its fields.

    Args:
        ground: a surface, or several.
        friction: coefficient μ where the surface has none; a parameter "ground.friction" of the robot takes its place.
        restitution: e where the surface has none.
        pairs: which shapes may touch which: "ground", the ground alone; "auto", the ground and each other, as
            `model.collision_pairs()` tells; "none", contact points alone touch the ground; or names of shapes or links
            that may touch beside the ground, as tuples of two or as `Pair` with coefficients of its own. None: "auto"
            where models were added by `Builder.add_model`, else "ground".
    """

    ground: Surface | Sequence[Surface] = field(default_factory=Plane)
    friction: float = GROUND_FRICTION
    restitution: float = 0.0
    pairs: str | Sequence[tuple[str, str] | Pair] | None = None

    def __post_init__(self) -> None:
        ground = self.ground if isinstance(self.ground, Iterable) else (self.ground,)
        ground = tuple(ground)
        if not ground or not all(isinstance(s, Surface) for s in ground):
            fix = "" if ground else "; what nothing shall touch may be far below: Plane(point=(0, 0, -1000))"
            raise TypeError(f"ground: expected a surface of featherweight.contact or several, got {self.ground!r}{fix}")
        object.__setattr__(self, "ground", ground)
        check_friction("friction", self.friction)
        check_restitution("restitution", self.restitution)
        object.__setattr__(self, "pairs", checked_pairs(self.pairs))

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
        if not model.contact_points and not self.touching(model):
            raise ValueError(
                f"contact: {model.name!r} has no contact points, and no shapes that may touch; add some with "
                "Builder.add_contact_point or add_geometry, or name the links of a file that touch: "
                'fw.load(…, contact=("foot", …))'
            )
        contacts = sum(pair.count for pair in self.arranged(model).direct)
        if contacts > MOST_CONTACTS:
            raise ValueError(
                f"contact: {model.name!r} has {contacts} contact points of shapes, and code is made for each: more "
                f"than {MOST_CONTACTS} would take minutes to compile. Name the pairs that matter (pairs=[…]), let them "
                "share slots (slots=32), or simulate fewer bodies in one model"
            )

    def touching(self, model: Model) -> list[TouchingPair]:
        """The shapes of a robot that may touch the ground or each other."""
        return arranged(model, self.allowed, len(self.surfaces), 0).direct

    def arranged(self, model: Model) -> Arrangement:
        """Which of these have rows or springs of their own, and which share slots."""
        return Arrangement(self.touching(model), [], 0)

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
    def allowed(self) -> Pairs:
        """Which shapes may touch which, as it was checked."""
        return self.pairs  # type: ignore[return-value]

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        return self.ground  # type: ignore[return-value]

    def _ground(self) -> Ground:
        return Ground(self.surfaces, self.friction, self.restitution)

    def longest_step(self, model: Model, q: ArrayLike) -> float:
        """The longest step [s] that is stable, of a robot that ran before from where it began then; infinite if any
        is."""
        return math.inf

    def warn_if_ignored(self, model: Model) -> None:
        """Tell the user which coefficients of the robot's shapes do not act with this contact model."""

    def warn_if_stiff(self, model: Model, q: ArrayLike, dt: float) -> None:
        """Tell the user if steps of dt [s] from q are too long for this contact model."""
