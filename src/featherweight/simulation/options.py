"""What moves a robot in a simulation, and which of its numbers are inputs of the compiled step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.cached import cached_property
from featherweight.constraints import Constraint, JointLimit
from featherweight.contact import ContactModel
from featherweight.contact.slots import Arrangement
from featherweight.forces import ForceElement
from featherweight.identity import Fields, Identity, identity
from featherweight.inputs import Numbers
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled
from featherweight.simulation.loading import OUTPUT
from featherweight.simulation.pipeline import Parts

MOST_RECENT = 16  # options that are remembered


@dataclass(frozen=True)
class StepOptions:
    """What moves a robot: the method, forces that are given, a controller, actuators, contact, force elements and
    constraints of the user."""

    integrator: Integrator
    given: bool = False
    control: Compiled | None = None
    actuators: Actuators | None = None
    contact: ContactModel | None = None
    limits: bool = False  # of joints act
    watched: bool = False  # limits of joints do not act, but it is written down when one is passed
    forces: tuple[ForceElement, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    wrenches: bool = False  # on bodies are given, too
    no_force: Any = 0.0  # on joints, where neither forces are given nor a controller

    def over(self, scalars: Iterable[Any], tables: Iterable[Any] = ()) -> StepOptions:
        """The same over other scalars, in place of the numbers and tables that are inputs."""
        numbers = Numbers(scalars, tables)
        new = self._over(numbers)
        numbers.end()
        return new

    @property
    def numbers(self) -> list[float]:
        """The numbers that are inputs."""
        return self._structure[1].values

    @property
    def tables(self) -> list[np.ndarray]:
        """The tables of numbers that are inputs, each of shape (n,)."""
        return self._structure[1].tables

    @cached_property
    def _structure(self) -> tuple[StepOptions, Numbers]:
        numbers = Numbers()
        return self._over(numbers), numbers

    def _over(self, numbers: Numbers) -> StepOptions:
        nothing = self.no_force  # an input all the same: a run without forces has the bits of one with forces of zero
        if not self.given and self.control is None:
            nothing = numbers.number(0.0)
        return StepOptions(
            self.integrator.over(numbers), self.given, self.control,
            None if self.actuators is None else self.actuators.over(numbers),
            None if self.contact is None else self.contact.over(numbers),
            self.limits, self.watched,
            tuple(_over(element, ForceElement, numbers) for element in self.forces),
            tuple(_over(constraint, Constraint, numbers) for constraint in self.constraints),
            self.wrenches, nothing,
        )  # fmt: skip

    @cached_property
    def parts(self) -> Parts:
        """What the step is composed of."""
        contact = self.contact
        if contact is None:
            limit = (JointLimit(),) if self.limits else ()
            return Parts(self.integrator, self.forces, (*limit, *self.constraints))
        limit = (contact.joint_limit(),) if self.limits else ()
        constraints = (*contact.constraints(), *limit, *contact.joint_constraints(), *self.constraints)
        return Parts(self.integrator, (*contact.elements(), *self.forces), constraints, contact.solver)

    @cached_property
    def identity(self) -> Identity:
        """What shapes the step, by its fields without the numbers that are inputs; a controller by its function and how
        many numbers it takes."""
        shape, control = self._structure[0], self.control
        traced = control and (
            control.function, control.state.shape[-1:], control.parameters.shape[-1:], control.every, control.sees,
            tuple(control.outputs.items()),
        )  # fmt: skip
        parts = shape.integrator, shape.actuators, shape.contact, shape.forces, shape.constraints
        return identity(self.given, *parts, self.limits, self.watched, self.wrenches, traced, len(self.numbers))

    def touching(self, model: Model) -> Arrangement | None:
        """The shapes that may touch: with hulls of meshes, whose files are no part of the model."""
        return None if self.contact is None else self.contact.arranged(model)

    @cached_property
    def fields(self) -> Fields:
        """Fields of the objects it is made of, to see whether they are still the same; without a controller's."""
        return Fields((self.integrator, self.actuators, self.contact, *self.forces, *self.constraints))

    def records(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Shapes of what is recorded in a step, by name: forces; of contact, force, slip, depth, and (turns, residual)
        of the solver; of an integrator that solves equations, (iterations, residual); outputs of a controller."""
        points = len(model.contact_points) if self.contact is not None else 0
        own = self.touching(model)
        touches = 0 if own is None else sum(pair.count for pair in own.direct)
        slots = 0 if own is None else own.slots
        solver = 2 if points or touches or slots or self.constraints else 0
        outputs = {} if self.control is None else {f"{OUTPUT}{n}": s for n, s in self.control.outputs.items()}
        return {
            "tau": (model.nv,), "contact_force": (points, 3), "contact_slip": (points,), "penetration": (points,),
            **({"pair_force": (touches, 3)} if touches else {}),
            **({"slots": (slots, 4), "missed": (1,)} if slots else {}),
            "solver": (solver,), "convergence": (2 if self.integrator.solves else 0,),
            **outputs,
        }  # fmt: skip


_recent: dict[tuple[Any, ...], StepOptions] = {}  # of objects that are all ours


def same_as_before(options: StepOptions) -> StepOptions:
    """The options of an earlier call, if these are made of the very same objects: what they are is known already."""
    if options.control is not None:  # it may hold a robot
        return options
    objects = (options.integrator, options.actuators, options.contact, *options.forces, *options.constraints)
    flags = options.given, options.limits, options.watched, options.wrenches, len(options.forces)
    key = (*flags, *map(id, objects))  # which are in use as long as they are kept here
    known = _recent.get(key)
    if known is not None and known.fields.unchanged():
        return known
    if options.fields.fixed and options.identity.settled and not options.identity.foreign:
        while len(_recent) >= MOST_RECENT:
            _recent.pop(next(iter(tuple(_recent)), None), None)  # type: ignore[arg-type]
        _recent[key] = options
    return options


def _over(thing: Any, kind: Any, numbers: Numbers) -> Any:
    """A user's object over other scalars: of the same kind, or TypeError."""
    try:
        new = thing.over(numbers)
    except TypeError as error:
        raise TypeError(f"{type(thing).__name__}.over: {error}") from None
    if not isinstance(new, kind):
        raise TypeError(f"{type(thing).__name__}.over: expected a {kind.__name__}, got {type(new).__name__}")
    return new
