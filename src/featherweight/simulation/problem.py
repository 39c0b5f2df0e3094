"""What is to be simulated: the arguments of `rollout`, checked and laid out in rows."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler.runtime.arguments import as_array, batch_shape
from featherweight.compiler.runtime.loop import Loop
from featherweight.constraints import Constraint
from featherweight.constraints.joint_limit import limits_of
from featherweight.contact import ContactModel, Surface
from featherweight.contact.pair import Pairs
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.evaluate import parameter_values
from featherweight.forces import ForceElement
from featherweight.integrators import NAMES, Integrator
from featherweight.model import Model
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled
from featherweight.simulation.loading import STATES
from featherweight.simulation.options import StepOptions, same_as_before
from featherweight.simulation.status import Status
from featherweight.simulation.traced_step import TracedStep
from featherweight.simulation.warning import warn

Control = Callable[[float, np.ndarray, np.ndarray], Any]
MOST_STEPS = 10_000_000_000
_NAMED = {name: method() for name, method in NAMES.items()}
RECORDED = ("first", "last", "mean")  # of the steps in an interval
LONGEST = 1e100  # [s]; squares of it, and of 1 / LONGEST, are still numbers


@dataclass(frozen=True, eq=False)
class Problem:
    """A batch of robots and what moves them; rows are robots."""

    model: Model
    dt: float
    steps: int
    every: int
    batch: tuple[int, ...]
    loop: Loop
    records: dict[str, tuple[int, ...]]  # shapes of what is recorded in a step, by name
    control: Control | None  # called from Python
    carry: tuple[np.ndarray, ...]  # at the beginning: q, v, a controller's state, clock, …; (count, n); not ours
    given: tuple[np.ndarray, ...]  # for each step: forces (count, steps, nv), wrenches (count, steps, 6 (nb + 1))
    constants: tuple[np.ndarray, ...]  # (count or 1, n)
    ground: tuple[Surface, ...]  # the surfaces that are there
    pairs: Pairs  # which shapes may touch which
    parameters: dict[str, np.ndarray]  # constants that were given, by name, (…, *shape)
    record: str = "first"  # which step of an interval is recorded: "first", "last", or the "mean" of all
    began: np.ndarray | None = None  # steps that each robot had made before, (count,)
    options: StepOptions | None = None  # what moves it

    @property
    def count(self) -> int:
        """Number of robots."""
        return prod(self.batch)

    @property
    def states(self) -> tuple[str, ...]:
        """Parts of the carry whose history is kept: its first ones."""
        return tuple(a.name for a in self.loop.carry if a.name in STATES)

    @property
    def samples(self) -> int:
        """Number of states that are kept, without the first."""
        return self.steps // self.every

    def time(self, k: int) -> Any:
        """When step k begins [s]; of each robot, where their clocks differ."""
        if self.began is None:
            return k * self.dt
        steps = self.began + k
        return float(steps[0]) * self.dt if (steps == steps[:1]).all() else steps.reshape(self.batch) * self.dt

    def facts(self) -> dict[str, Any]:
        """What a run must have in common with another to go on with it."""
        digest = hashlib.sha256(self.loop.program().encode())
        for array in (*self.carry, *self.given, *self.constants):
            digest.update(repr(array.shape).encode())
            digest.update(array.tobytes())
        return {
            "model": self.model.name,
            "batch": list(self.batch),
            "steps": self.steps,
            "dt": self.dt,
            "record_every": self.every,
            "record": self.record,
            "inputs": digest.hexdigest(),
        }


def problem(
    model: Any, q: Any, v: Any, steps: Any, dt: Any, every: Any, parameters: Mapping[str, Any] | None, tau: Any,
    f_ext: Any, record: Any, step_arguments: Mapping[str, Any],
) -> Problem:  # fmt: skip
    """Check everything; ValueError or TypeError that names the argument. `step_arguments`: those of `rollout` that
    say what moves the robot."""
    check_steps(model, steps, dt, every)
    check_record(record)
    if tau is not None and step_arguments["control"] is not None:
        raise ValueError("tau, control: expected one of them, got both")
    options = step_options(model, tau is not None, f_ext is not None, **step_arguments)
    step = TracedStep.of(model, options)
    what = laid_out(step, q, v, int(steps), float(dt), int(every), parameters, tau, f_ext, record)
    warn(model, options, dt, what.carry[0], parameters, step_arguments["limits"])
    called = None if options.control is not None else step_arguments["control"]
    return replace(what, options=options, control=called)


def laid_out(
    step: TracedStep, q: Any, v: Any, steps: int, dt: float, every: int, parameters: Mapping[str, Any] | None,
    tau: Any = None, f_ext: Any = None, record: str = "first", control_parameters: Any = None,
) -> Problem:  # fmt: skip
    """States and all that is given, checked, in rows, one a robot."""
    model = step.model
    arrays = {"q": (as_array("q", q, (model.nq,), "nq"), 1), "v": (as_array("v", v, (model.nv,), "nv"), 1)}
    if tau is not None:
        arrays["tau"] = as_array("tau", tau, (steps, model.nv), "steps, nv"), 2
    if f_ext is not None:
        arrays["f_ext"] = _wrenches(model, steps, f_ext), 2
    if step.state is not None and step.control_parameters is not None:
        p = step.control_parameters if control_parameters is None else control_parameters
        arrays |= {"control: state": (step.state, 1), "control: parameters": (p, 1)}
    declared, values = list(model.parameters.values()), parameter_values(model, parameters)
    arrays |= {p.name: (value, len(p.shape)) for p, value in zip(declared, values, strict=True)}
    batch = batch_shape(list(arrays), [a for a, _ in arrays.values()], [rank for _, rank in arrays.values()])
    rows = {name: _rows(array, rank, batch) for name, (array, rank) in arrays.items()}
    count = prod(batch)

    def all_rows(name: str) -> np.ndarray:
        own = rows[name]
        return own if len(own) == count else np.ascontiguousarray(np.broadcast_to(own, (count, *own.shape[1:])))

    state = None if step.state is None else all_rows("control: state")
    carry = first_carry(model, step.loop, all_rows("q"), all_rows("v"), state)
    constants = constants_for(step, dt, [rows[p.name] for p in declared], rows.get("control: parameters"))
    return Problem(
        model, dt, steps, every, batch, step.loop, step.records, None, tuple(carry),
        tuple(all_rows(name) for name in ("tau", "f_ext") if name in rows), tuple(constants), step.ground, step.pairs,
        {p.name: np.array(x) for p, x in zip(declared, values, strict=True) if p.name in (parameters or {})},
        record,
    )  # fmt: skip


def first_carry(model: Model, loop: Loop, q: np.ndarray, v: np.ndarray, x: np.ndarray | None) -> list[np.ndarray]:
    """What the first step is handed, rows of robots: q, v, a controller's state x, clock, memories."""
    count, others = len(q), [a for a in loop.carry if a.name not in ("q", "v", "clock", "x")]
    memories = [np.full((count, *a.shape), -1.0 if a.name == "passed" else 0.0) for a in others]
    q, v, clock = _begin(model, q, v)
    return [q, v, *([] if x is None else [x]), clock, *memories]


def constants_for(
    options: StepOptions | TracedStep, dt: float, parameters: Sequence[np.ndarray], p: np.ndarray | None
) -> list[np.ndarray]:
    """What holds for all steps, as rows, one for all robots or one for each: see `constants_of`."""
    constants = [np.full((1, 1), float(dt)), *(values.reshape(len(values), -1) for values in parameters)]
    if options.numbers:
        constants.append(np.array([options.numbers], dtype=float))
    constants += [table[None] for table in options.tables]
    return constants if p is None else [*constants, p]


def _wrenches(model: Model, steps: int, f_ext: Any) -> np.ndarray:
    """(…, steps, 6 (nb + 1)) of wrenches on the bodies: (nb + 1, 6) for all steps, or (…, steps, nb + 1, 6)."""
    array = as_array("f_ext", f_ext, (model.nb + 1, 6), "nb + 1, 6")
    if array.ndim > 2:
        array = as_array("f_ext", array, (steps, model.nb + 1, 6), "steps, nb + 1, 6")
    flat = array.reshape(*array.shape[:-2], 6 * model.nb + 6)
    return np.broadcast_to(flat, (steps, flat.shape[-1])) if array.ndim == 2 else flat


def _kind(given: Any, example: str) -> str:
    """What was given, and what to write: an object of a class."""
    if isinstance(given, type):
        return f"the class {given.__name__}; write {given.__name__}()"
    return f"{type(given).__name__}; write {example}(), for example"


def step_options(
    model: Model, given: bool, wrenches: bool, control: Any, contact: Any, integrator: Any, actuators: Any,
    limits: Any, forces: Any, constraints: Any,
) -> StepOptions:  # fmt: skip
    """What moves the robot, checked."""
    model.need_numbers("simulation")
    method = _method(integrator)
    if actuators is not None:
        if not isinstance(actuators, Actuators):
            raise TypeError(f"actuators: expected one of fw.actuators, got {_kind(actuators, 'EffortLimits')}")
        actuators.check(model)
    if contact is not None:
        if isinstance(contact, Surface):
            name = type(contact).__name__
            raise TypeError(
                f"contact: expected a contact model, got the surface {name}; write Impulse(ground={name}(…))"
            )
        if not isinstance(contact, ContactModel):
            raise TypeError(f"contact: expected one of featherweight.contact, got {_kind(contact, 'Impulse')}")
        contact.check(model)
    if not isinstance(limits, bool):
        raise TypeError(f"limits: expected True or False, got {limits!r}")
    own = control if isinstance(control, Compiled) else None
    if control is not None and own is None and not callable(control):
        raise TypeError(f"control: expected a function f(t, q, v) -> tau, got {type(control).__name__}")
    elements = _each("forces", forces, ForceElement, model)
    others = _each("constraints", constraints, Constraint, model)
    limited = limits and bool(limits_of(model))
    acts = limited and not method.no_impulses
    given = given or (control is not None and own is None)
    options = StepOptions(
        method, given, own, actuators, contact, acts, limited and not acts, elements, others, wrenches
    )
    _check_impulses(options)
    if own is not None and own.feels and contact is None:
        raise ValueError("control: sees contact, and there is none; give contact=")
    return same_as_before(options)


def _each(name: str, values: Any, kind: Any, model: Model) -> tuple[Any, ...]:
    """Force elements or constraints, checked; one alone is taken, too."""
    each = (values,) if isinstance(values, kind) else values
    if not isinstance(each, Sequence) or not all(isinstance(one, kind) for one in each):
        raise TypeError(f"{name}: expected a {kind.__name__} of featherweight.{name} or several, got {values!r}")
    for one in each:
        one.check(model)
    return tuple(each)


def _check_impulses(options: StepOptions) -> None:
    """Can constraints act in the steps of this integrator?"""
    method, constraints = options.integrator, options.parts.constraints
    if constraints and method.no_impulses:
        raise ValueError(
            "integrator: impulses act in steps that are semi-implicit, variational or a user's, not in those of "
            f"{method!r}: {method.no_impulses}"
        )
    if method.moves_first and any(constraint.takes_dry_friction for constraint in constraints):
        raise ValueError(
            "dry friction as a constraint (Impulse(dry_friction='rows'), DryFriction) needs a semi-implicit step, got "
            f"{method!r}, which moves before impulses act; leave it as damping there"
        )


def check_steps(model: Any, steps: Any, dt: Any, every: Any) -> None:
    """ValueError or TypeError for what is no run of this many steps."""
    checked_model(model)
    whole_number("steps", steps)
    whole_number("record_every", every)
    if steps % every:
        raise ValueError(f"record_every: expected a divisor of steps = {steps}, got {every}")
    seconds("dt", "time step", dt)


def whole_number(name: str, value: Any) -> int:
    """A number of steps or robots."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not 1 <= int(value) <= MOST_STEPS:
        raise ValueError(f"{name}: expected a whole number from 1 to {MOST_STEPS}, got {value!r}")
    return int(value)


def check_record(record: Any) -> None:
    """ValueError for what cannot be recorded of an interval."""
    if record not in RECORDED:
        raise ValueError(f"record: expected one of {', '.join(map(repr, RECORDED))}, got {record!r}")


def _method(integrator: Any) -> Integrator:
    if isinstance(integrator, str):
        if integrator not in NAMES:
            raise ValueError(f"integrator: expected one of {', '.join(map(repr, NAMES))}, got {integrator!r}")
        return _NAMED[integrator]
    if not isinstance(integrator, Integrator):
        raise TypeError(f"integrator: expected a name or an integrator, got {type(integrator).__name__}")
    return integrator


def seconds(name: str, meaning: str, value: Any) -> float:
    """A time [s], neither nothing nor endless, nor near the ends of what numbers can hold."""
    try:
        time = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    except OverflowError:  # of an int or a fraction
        time = 2 * LONGEST
    if not 0 < time < np.inf:
        raise ValueError(f"{name}: expected a {meaning} > 0 [s], got {value!r}")
    if not 1 / LONGEST <= time <= LONGEST:
        much = f"{time:g}" if time < LONGEST else "more"
        raise ValueError(f"{name}: expected a {meaning} from 1e-100 to 1e100 s, got {much}")
    return time


def _rows(array: np.ndarray, rank: int, batch: tuple[int, ...]) -> np.ndarray:
    """(rows, …) contiguous, or one row for all."""
    leading = array.shape[: array.ndim - rank]
    inner = array.shape[array.ndim - rank :]
    if all(n == 1 for n in leading):
        return np.ascontiguousarray(array.reshape(1, *inner), dtype=float)
    return np.ascontiguousarray(np.broadcast_to(array, batch + inner).reshape(prod(batch), *inner), dtype=float)


def _begin(model: Model, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """q, v and the clock (step, status, failed step); rows that are not states of this robot stand still."""
    clock = np.zeros((len(q), 3))
    clock[:, 2] = -1.0
    with np.errstate(all="ignore"):
        bad = ~(_finite(q) & _finite(v))
        columns = list(q.T)
        for joint in model.independent_joints:
            check = joint.kind.check(columns[joint.q])
            if not isinstance(check, int):  # joints whose configurations are all good say 0
                bad |= check != 0
    if bad.any():
        q, v = np.array(q), np.array(v)
        q[bad], v[bad] = model.neutral(), 0.0
        clock[bad, 1:] = float(Status.BAD_INPUT), 0.0
    return [q, v, clock]


def _finite(rows: np.ndarray) -> np.ndarray:
    """Which rows have neither NaN nor infinities."""
    if np.isfinite(rows.sum()):  # as a rule, and ten times faster
        return np.ones(len(rows), dtype=bool)
    return np.isfinite(rows).all(axis=-1)
