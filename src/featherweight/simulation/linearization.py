"""`linearize`: a step of a simulation and its matrices A and B, compiled."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler import interpreting
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.evaluate import parameter_values
from featherweight.dynamics.fast_path import NO_FAST_PATH
from featherweight.dynamics.regularity import need_regular
from featherweight.forces import ForceElement
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.model.cache import Kernels
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled
from featherweight.simulation.linearized_step import OFTEN_GIVEN, Linearization, Linearized
from featherweight.simulation.problem import seconds, step_options
from featherweight.simulation.step_equations import SMOOTHING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_RECENT = 16  # calls whose options are remembered with a model


def linearize(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, *, dt: float,
    contact: ContactModel | None = None, integrator: str | Integrator = "semi_implicit",
    control: Compiled | None = None, state: Mapping[str, ArrayLike] | None = None, f_ext: ArrayLike | None = None,
    actuators: Actuators | None = None, limits: bool = True, forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (), parameters: Mapping[str, ArrayLike] | None = None,
    smoothing: float | None = None, whole: bool = False,
) -> Linearized:  # fmt: skip
    """One step of `rollout`, and how its end depends on its beginning::

        δ(q⁺, v⁺) = A δ(q, v) + B δτ.

    Configurations move along q ⊕ δ: nv directions, each joint in its own frame, linear first. Impulses of contacts,
    limits and dry friction are differentiated by the implicit function theorem, on the side of each law that the step
    took; at a kink from one side. Steps in which a bounce was taken back so that it adds no energy are refused.

    Args:
        model, q, v: the robot; configurations, shape (…, nq); velocities, shape (…, nv).
        tau: joint forces [N m or N], shape (…, nv); 0 by default. With `control`, forces beside the controller's.
        dt: length of the step [s].
        contact, integrator: contact model; "semi_implicit", "rk4", "variational", or an integrator.
        control: a controller made by `featherweight.compiled`: A is that of the closed loop.
        state: what else a step begins with, arrays by name, zeros where they are not given: "x", the controller's state
            (its own by default); "step", the number of the step, whose time it sees; "memory", deflections of springs
            in contact and impulses of the step before. All are held fixed, unless `whole`: A is without them.
        f_ext, actuators, limits, forces, constraints, parameters: as for `rollout`; f_ext of shape (…, nb+1, 6).
        smoothing: width ε > 0 [m/s or rad/s]: A and B are those of laws whose sides pass into each other near changes
            of contact, for optimisers; the step itself stays as it is. In the projections that laws are made of,
            max(x, 0) becomes (x + √(x² + ε²)) / 2, with impulses times mobility as velocities. Points that are above
            the ground stay open. None: the laws as they are.
        whole: A is that of all that a step hands on: (q, v, x, m), with x the controller's state and m of "memory" what
            a next step depends on: deflections of springs in contact, and all impulses where dry friction yields.

    Returns: a named tuple (q, v, A, B): the state after the step, A (…, 2nv, 2nv) and B (…, 2nv, nv). If `whole`,
        A (…, N, N) and B (…, N, nv) with N = 2nv + size of x + size of m, and it has `x` and `memory` after the step,
        too, as `state` takes them.

    Raises ValueError if there is a state among them that the step cannot be made from.

    >>> import featherweight as fw
    >>> cart = fw.Builder("cart")
    >>> _ = cart.add_body("cart", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(2.0))
    >>> fw.linearize(cart.build(), [0.0], [1.0], dt=0.5).A
    array([[1. , 0.5],
           [0. , 1. ]])
    """
    if f_ext is state is parameters is smoothing is None and whole is False and type(dt) is float:
        try:
            last: Found = model.cache.facts["linearize"]
            a, b, c, d, e, f, g = last.kept
            same = contact is a and control is b and integrator is c and actuators is d and limits is e
            if same and forces is f and constraints is g:  # as in the call before: straight to native code
                for entry in last.entries:
                    if (found := entry(q, v, last.no_force if tau is None else tau, last.steps[dt])) is not None:
                        return found
        except NO_FAST_PATH:
            pass
    step_arguments = (contact, control, integrator, actuators, limits, forces, constraints)
    code = _found(checked_model(model), (f_ext is not None, smoothing is not None, whole), step_arguments)
    return code.called(code.arguments(q, v, tau, dt, f_ext, state, parameters, smoothing))


def width(smoothing: Any) -> np.ndarray | None:
    """The width of softened laws, checked."""
    if smoothing is None:
        return None
    number = isinstance(smoothing, numbers.Real) and not isinstance(smoothing, bool)
    if not number or not 0 < float(smoothing) < math.inf:
        raise ValueError(f"smoothing: expected a velocity > 0 [m/s], or None, got {smoothing!r}")
    return np.array(float(smoothing))


@dataclass(slots=True)
class Found:
    """Compiled code for what moves a robot, and the numbers that it takes from there."""

    code: Linearization
    defaults: list[Any]  # of all its arguments
    flags: tuple[bool, bool, bool]  # wrenches are given, laws are softened, the state is whole
    kept: tuple[Any, ...]  # what it was found for
    places: dict[str, int] = field(init=False)  # of its arguments
    steps: dict[float, np.ndarray] = field(default_factory=dict)  # lengths of steps that were asked for, as arrays
    entries: tuple[Any, ...] = ()  # native entry points, with all defaults but of (q, v, tau, dt)

    def __post_init__(self) -> None:
        self.places = {x.name: k for k, x in enumerate(self.code.inputs)}

    @property
    def no_force(self) -> np.ndarray:
        return self.defaults[self.places["tau"]]

    def called(self, arguments: list[Any]) -> Linearized:
        """The results for these arguments."""
        result = self.code(*arguments)
        if len(self.entries) < len(self.code.entries) and not any(self.flags):
            others = self.defaults[: -len(OFTEN_GIVEN)]
            self.entries = tuple(partial(entry, *others) for entry in self.code.entries)
        return result

    def arguments(
        self, q: Any, v: Any, tau: Any, dt: Any, f_ext: Any, state: Any, parameters: Any, smoothing: Any
    ) -> list[Any]:
        """The arguments of the code, in order."""
        if type(dt) is not float or dt not in self.steps:
            dt = seconds("dt", "time step", dt)
            self.steps[dt] = np.array(dt)
        values, places = self.defaults.copy(), self.places
        values[places["q"]], values[places["v"]], values[places["dt"]] = q, v, self.steps[float(dt)]
        if tau is not None:
            values[places["tau"]] = tau
        if smoothing is not None:
            values[places[SMOOTHING]] = width(smoothing)
        more = {} if f_ext is None else {"f_ext": f_ext}
        if parameters:
            model = self.code.model
            more |= dict(zip(model.parameters, parameter_values(model, parameters), strict=True))
        if state is not None:
            more |= self.code.checked_state(state)
        for name, value in more.items():
            values[places[name]] = value
        return values


def _found(model: Model, flags: tuple[bool, bool, bool], step_arguments: tuple[Any, ...]) -> Found:
    """The code for these arguments, made once for a structure; for the very same objects without a further look."""
    recent, key = model.cache.facts.setdefault("linearize before", {}), (flags, *map(id, step_arguments))
    if key in recent:
        model.cache.facts["linearize"] = recent[key]
        return recent[key]
    if not isinstance(flags[2], bool):
        raise TypeError(f"whole: expected True or False, got {flags[2]!r}")
    contact, control, *others = step_arguments
    if control is not None and not isinstance(control, Compiled):
        raise TypeError(
            "control: expected a controller made by featherweight.compiled, which can be differentiated, got "
            f"{type(control).__name__}"
        )
    options = step_options(model, True, flags[0], control, contact, *others)
    need_regular("linearize", model)
    known = options.identity
    if not known.settled or (known.foreign and interpreting()):  # it may be traced later, when it has changed
        code = Linearization(model, options, *flags[1:])
    else:
        kernels = model.cache.kernels
        if known.foreign and control is not None:
            kernels = control.loops.setdefault(model, Kernels())
        tables = tuple(table.tobytes() for table in options.tables)
        code = kernels.once(("linearize", known, tables, flags), lambda: Linearization(model, options, *flags[1:]))
    found = Found(code, list(code.defaults(options).values()), flags, step_arguments)
    if known.settled and not known.foreign and control is None and not any(isinstance(x, list) for x in step_arguments):
        recent[key] = model.cache.facts["linearize"] = found  # what is in a list may change
        while len(recent) > MOST_RECENT:
            recent.pop(next(iter(recent)), None)
    return found
