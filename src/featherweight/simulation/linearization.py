"""`linearize`: a step of a simulation and its matrices A and B, compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from featherweight.cached import cached_property
from featherweight.compiler import Argument, Graph, Kernel, interpreting
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.evaluate import parameter_values
from featherweight.dynamics.regularity import need_regular
from featherweight.forces import ForceElement
from featherweight.functions.configuration import Input
from featherweight.functions.native import Native, Returned
from featherweight.identity import identity
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.model.cache import Kernels
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled
from featherweight.simulation.implicit import ImplicitStep
from featherweight.simulation.options import StepOptions
from featherweight.simulation.problem import seconds, step_options
from featherweight.simulation.step_program import StepProgram

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_RECENT = 16  # calls whose options are remembered with a model
STATE = ("x", "step", "memory", "integrator", "felt", "held")  # what a step begins with beside q and v
UNSOLVED = (
    "the step cannot be made from there: the equations of its impulses or of its integrator were not solved, or its "
    "end is not finite; rollout says which"
)


class Linearized(NamedTuple):
    """The state after a step, A = ∂(q⁺, v⁺)/∂(q, v) and B = ∂(q⁺, v⁺)/∂τ, in the tangent space of configurations."""

    q: np.ndarray
    v: np.ndarray
    A: np.ndarray
    B: np.ndarray


def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    dt: float,
    contact: ContactModel | None = None,
    integrator: str | Integrator = "semi_implicit",
    control: Compiled | None = None,
    state: Mapping[str, ArrayLike] | None = None,
    f_ext: ArrayLike | None = None,
    actuators: Actuators | None = None,
    limits: bool = True,
    forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Linearized:
    """One step of `rollout`, and how its end depends on its beginning::

        δ(q⁺, v⁺) = A δ(q, v) + B δτ.

    Configurations move along q ⊕ δ: nv directions, each joint in its own frame, linear first. Impulses of contacts,
    limits and dry friction are differentiated by the implicit function theorem, on the side of each law that the step
    took: open, sticking, sliding; at an end or not. Where a contact just begins or ends, or begins to slip, this is the
    derivative from that side.

    Args:
        model: the robot.
        q: configurations, shape (…, nq).
        v: velocities, shape (…, nv).
        tau: joint forces [N m or N], shape (…, nv); 0 by default. With `control`, forces beside the controller's.
        dt: length of the step [s].
        contact: contact model.
        integrator: "semi_implicit", "rk4", "variational", or an integrator.
        control: a controller made by `featherweight.compiled`: A is that of the closed loop.
        state: what else a step begins with, arrays by name, zeros where they are not given: "x", the controller's state
            (its own by default); "step", the number of the step, whose time it sees; "memory", deflections of springs
            in contact and impulses of the step before. All are held fixed: A is without them.
        f_ext, actuators, limits, forces, constraints, parameters: as for `rollout`; f_ext of shape (…, nb+1, 6).

    Returns: a named tuple (q, v, A, B): the state after the step, A (…, 2nv, 2nv) and B (…, 2nv, nv).

    Raises:
        ValueError: if there is a state among them that the step cannot be made from.

    >>> import featherweight as fw
    >>> cart = fw.Builder("cart")
    >>> _ = cart.add_body("cart", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(2.0))
    >>> fw.linearize(cart.build(), [0.0], [1.0], dt=0.5).A
    array([[1. , 0.5],
           [0. , 1. ]])
    """
    checked_model(model)
    step_arguments = (control, contact, integrator, actuators, limits, forces, constraints)
    found = _found(model, f_ext is not None, step_arguments)
    return found.code(*found.arguments(q, v, tau, dt, f_ext, state, parameters))


class Found(NamedTuple):
    """Compiled code for what moves a robot, and the numbers that it takes from there."""

    code: Linearization
    defaults: dict[str, Any]  # of all its arguments, in order
    steps: dict[float, np.ndarray]  # lengths of steps that were asked for, as arrays
    kept: tuple[Any, ...]  # whose ids stay theirs as long as they are here

    def arguments(self, q: Any, v: Any, tau: Any, dt: Any, f_ext: Any, state: Any, parameters: Any) -> list[Any]:
        """The arguments of the code, in order."""
        if type(dt) is not float or dt not in self.steps:
            dt = seconds("dt", "time step", dt)
            self.steps[dt] = np.array(dt)
        values: dict[str, Any] = {**self.defaults, "q": q, "v": v, "dt": self.steps[float(dt)]}
        if tau is not None:
            values["tau"] = tau
        if f_ext is not None:
            values["f_ext"] = f_ext
        if parameters:
            model = self.code.model
            values |= dict(zip(model.parameters, parameter_values(model, parameters), strict=True))
        if state is not None:
            values |= self.code.checked_state(state)
        return list(values.values())


def _found(model: Model, wrenches: bool, step_arguments: tuple[Any, ...]) -> Found:
    """The code for these arguments, made once for a structure; for the very same objects without a further look."""
    recent, quick = model.cache.facts.setdefault("linearize", {}), (wrenches, *map(id, step_arguments))
    if quick in recent:
        return recent[quick]
    control = step_arguments[0]
    if control is not None and not isinstance(control, Compiled):
        raise TypeError(
            "control: expected a controller made by featherweight.compiled, which can be differentiated, got "
            f"{type(control).__name__}"
        )
    options = step_options(model, True, wrenches, *step_arguments)
    need_regular("linearize", model)
    known = options.identity
    if not known.settled or (known.foreign and interpreting()):  # it may be traced later, when it has changed
        code = Linearization(model, options)
    else:
        kernels = model.cache.kernels
        if known.foreign and control is not None:
            kernels = control.loops.setdefault(model, Kernels())
        tables = tuple(table.tobytes() for table in options.tables)
        code = kernels.once(("linearize", known, tables), lambda: Linearization(model, options))
    found = Found(code, code.defaults(options), {}, step_arguments)
    if known.settled and not known.foreign and control is None:
        while len(recent) >= MOST_RECENT:
            recent.pop(next(iter(recent)), None)
        recent[quick] = found
    return found


class Linearization(Native):
    """A step and its matrices, compiled for a structure of a step."""

    name = "linearize"

    def __init__(self, model: Model, options: StepOptions) -> None:
        self.model, self.options = model, options
        self.program = StepProgram(model, options)
        n = model.nv
        self.returned = Returned(((model.nq,), (n,), (2 * n, 2 * n), (2 * n, n)), Linearized._make)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        n, found = self.model.nv, []
        for a in self.program.arguments:
            shape = (self.model.nb + 1, 6) if a.name == "f_ext" else a.shape
            is_q = a.name == "q"
            found.append(Input(a.name, shape, (n,) if is_q else shape, self.model if is_q else None))
        return tuple(found)

    @cached_property
    def kernel(self) -> Kernel:
        known = self.options.identity
        tables = [table.tobytes().hex() for table in self.options.tables]
        whole = identity("linearize", known.text, tables, self.model, self.options.touching(self.model))
        each = zip(self.program.arguments, self.inputs, strict=True)
        arguments = [Argument(a.name, x.shape, a.symbols, a.parts) for a, x in each]
        fingerprint = None if known.foreign else whole.everywhere
        return Kernel(self.name, arguments, self.returned.shapes, self._scalars, self._explain, fingerprint=fingerprint)

    def defaults(self, options: StepOptions) -> dict[str, Any]:
        """Arguments that are not given: numbers of what moves the robot, its declared parameters, zeros."""
        known = {p.name: np.array(p.default, dtype=float) for p in self.model.parameters.values()}
        known["numbers"] = np.array(options.numbers, dtype=float)
        if options.control is not None:
            known |= {"x": options.control.state, "p": options.control.parameters}
        return {x.name: known.get(x.name, np.zeros(x.shape)) for x in self.inputs}

    def checked_state(self, state: Any) -> dict[str, Any]:
        """What else a step begins with, by names of the code's inputs."""
        known = [x.name for x in self.inputs if x.name in STATE]
        if not isinstance(state, Mapping):
            raise TypeError(f"state: expected a dictionary of arrays by name, got {type(state).__name__}")
        for name in state:
            if name not in known:
                raise ValueError(f"state: this step has no {name!r}; expected names among {', '.join(known)}")
        return {name: state[name] for name in known if name in state}

    def write(self, flat: list[Any]) -> list[Any]:
        return self._written(flat)[0]

    def _scalars(self, scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        flat = [x for own in scalars for x in own]
        if Graph.tracing() is None:
            return self._parts(self._on_numbers(flat)), 0
        results, status = self._written(flat)
        return self._parts(results), status

    def _written(self, flat: list[Any]) -> tuple[list[Any], Any]:
        """Results of one state, and zero where the step could be made."""
        values, at = {}, 0
        for x in self.inputs:
            values[x.name] = flat[at : at + x.size]
            at += x.size
        step = ImplicitStep(self.program, values)
        q, v = step.after
        step.locate(step.velocity, step.found)
        n = self.model.nv
        moved = step.end_tangents(
            {name: [{k * n + d: 1.0} for d in range(n)] for k, name in enumerate(("q", "v", "tau"))}
        )
        A = [row.get(d, 0.0) for row in moved for d in range(2 * n)]
        B = [row.get(d, 0.0) for row in moved for d in range(2 * n, 3 * n)]
        return [*q, *v, *A, *B], step.status

    def _explain(self, arrays: dict[str, np.ndarray]) -> str:
        for x in self.inputs:
            reason = x.explain(arrays[x.name])
            if reason is not None:
                return reason
        return UNSOLVED
