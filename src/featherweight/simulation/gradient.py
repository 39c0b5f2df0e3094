"""`rollout_gradient`: the gradient of a cost over a whole rollout, by adjoint steps from its end to its beginning.

A rollout keeps its states (`kept_steps.py`); then each step is visited once, the last one first, and hands the
cotangents of the state after it on to the state before it, to forces and parameters (`adjoint_loop.py`, `adjoint.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler import interpreting
from featherweight.compiler.runtime.arguments import first_not_finite
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.dynamics.checks import checked_model
from featherweight.errors import SimulationError
from featherweight.forces import ForceElement
from featherweight.functions import Function, configuration, function, vjp
from featherweight.functions.configuration import Input
from featherweight.identity import identity
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.model.cache import Kernels
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.adjoint_loop import WEIGHTED, AdjointLoop
from featherweight.simulation.control import Compiled
from featherweight.simulation.kept_steps import KeptSteps, Segment
from featherweight.simulation.linearization import width
from featherweight.simulation.options import StepOptions
from featherweight.simulation.problem import Problem, problem, step_options, whole_number
from featherweight.simulation.step import constants_of
from featherweight.simulation.step_equations import SMOOTHING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_RECENT = 16  # pairs of costs that are kept with a model


def rollout_gradient(
    cost: Callable[..., Any] | None, model: Model, q: ArrayLike, v: ArrayLike, *, steps: int, dt: float,
    final: Callable[..., Any] | None = None, tau: ArrayLike | None = None, control: Compiled | None = None,
    contact: ContactModel | None = None, integrator: str | Integrator = "semi_implicit",
    actuators: Actuators | None = None, limits: bool = True, forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (), parameters: Mapping[str, ArrayLike] | None = None,
    wrt: Sequence[str] = ("tau",), memory: int = 1 << 30,
    smoothing: float | None = None,
) -> tuple[Any, dict[str, np.ndarray]]:  # fmt: skip
    """A cost of a rollout and its gradient::

        value = Σ_k cost(t_k, q_k, v_k, τ_k, x_k) + final(q_N, v_N, x_N).

    Contacts, limits and dry friction are differentiated as by `linearize`, on the sides that the steps took.

    Args:
        cost: a function of scalars and arrays of one state, as for `fw.function`, which returns a number; None: none.
            τ are the forces that act, x is the state of a compiled controller (of size 0 without one).
        model, q, v, steps, dt, tau, contact, integrator, actuators, limits, forces, constraints, parameters: as for
            `rollout`; leading axes are a batch.
        control: a controller made by `featherweight.compiled`.
        final: a function of the state at the end.
        wrt: what the gradient is with respect to: "q" and "v" at the beginning, "tau", "x" at the beginning, "p" the
            controller's parameters, or names of declared parameters of the model.
        memory: bytes for what is kept of steps: states, impulses, forces, gradients of the cost, less than 1 kB a step
            for a quadruped on four feet. Where all steps do not fit, every so many states are kept (checkpoints), and
            the steps between them made once more on the way back. Results are the same to the bit.
        smoothing: width ε [m/s] over which laws of impulses are softened, as for `linearize`; None: not at all.

    Returns:
        The value, shape (…), and gradients by name: (…, nv) for "q", along q ⊕ δ, and "v"; (…, steps, nv) for "tau";
        (…, n) for "x" and "p"; as declared for parameters, leading axes first.

    Raises:
        SimulationError: if a step fails.
        ValueError: for what has no gradient back: controllers that wait or see contact, shapes that share slots,
            integrators of others that solve equations and do not say which.
    """
    checked_model(model)
    names = _names(model, control, tau, wrt)
    moving = {
        "control": control, "contact": contact, "integrator": integrator, "actuators": actuators, "limits": limits,
        "forces": forces, "constraints": constraints,
    }  # fmt: skip
    options = step_options(model, control is None, False, **moving)
    _check(model, options)
    whole_number("steps", steps)
    if control is None and tau is None:
        tau = np.zeros((steps, model.nv))
    what = problem(model, q, v, steps, dt, 1, parameters, tau, None, "first", moving)
    costs = _costs(model, 0 if control is None else control.state.shape[-1], cost, final)
    try:
        return _gradient(what, options, names, costs, whole_number("memory", memory), width(smoothing))
    except SimulationError:
        given = {name: np.asarray(x, dtype=float) for name, x in {"q": q, "v": v, "tau": tau}.items() if x is not None}
        start = Input("q", (model.nq,), (model.nv,), model)
        if reason := first_not_finite(list(given), list(given.values())) or start.explain(given["q"]):
            raise ValueError(f"rollout_gradient: {reason}") from None
        raise


def _gradient(
    what: Problem, options: StepOptions, names: Sequence[str], costs: _Costs, memory: int, smoothing: Any
) -> tuple[Any, dict[str, np.ndarray]]:
    model, count, steps = what.model, what.count, what.steps
    loop = _loop(model, options, names, smoothing is not None)
    constants = dict(zip((a.name for a in constants_of(model, options)), what.constants, strict=True))
    if smoothing is not None:
        constants[SMOOTHING] = smoothing.reshape(1, 1)
    each, of_tau = np.zeros((count, steps)), np.empty((count, steps, model.nv)) if "tau" in names else None
    value, carry = np.zeros(count), None
    for segment in KeptSteps(what, memory, loop.weights).backwards():
        first, last, states = segment.first, segment.last, segment.states
        if carry is None:
            value, ending = costs.at_end(states)
            carry = loop.begin(ending, count)
        each[:, first:last], weights = costs.along(segment, what.dt)
        tau = what.given[0][:, first:last] if what.given else None
        carry = loop.run(carry, segment, weights, tau, constants, of_tau)
    found = loop.gradients(carry or [])
    if of_tau is not None:
        found["tau"] = of_tau
    shapes = {name: p.shape for name, p in model.parameters.items()}
    value = value + each.sum(axis=-1)
    return value.reshape(what.batch)[()], {
        name: found[name].reshape((*what.batch, *shapes.get(name, found[name].shape[1:]))) for name in names
    }


def _loop(model: Model, options: StepOptions, names: Sequence[str], smooth: bool) -> AdjointLoop:
    """The loop for this structure, made once."""
    known = options.identity
    if not known.settled or (known.foreign and interpreting()):
        return AdjointLoop(model, options, names, smooth)
    control = options.control
    kernels = model.cache.kernels
    if known.foreign and control is not None:
        kernels = control.loops.setdefault(model, Kernels())
    key = ("rollout_gradient", known, tuple(table.tobytes() for table in options.tables), tuple(names), smooth)
    return kernels.once(key, lambda: AdjointLoop(model, options, names, smooth))


def _costs(model: Model, size: int, cost: Any, final: Any) -> _Costs:
    """The compiled costs, made once for the same functions."""
    known = identity("costs", cost, final, size)
    if not known.settled:
        return _Costs(model, size, cost, final)
    recent = model.cache.facts.setdefault("costs", {})
    if known not in recent:
        while len(recent) >= MOST_RECENT:
            recent.pop(next(iter(recent)), None)
        recent[known] = _Costs(model, size, cost, final)
    return recent[known]


class _Costs:
    """Running and final cost over a rollout, and their gradients."""

    def __init__(self, model: Model, size: int, cost: Any, final: Any) -> None:
        if cost is None and final is None:
            raise ValueError("cost, final: expected a function, got none of them")
        for name, given in (("cost", cost), ("final", final)):
            if given is not None and not callable(given):
                raise TypeError(f"{name}: expected a function of one state, got {type(given).__name__}")
        n = model.nv
        q = configuration(model)
        self.sizes = dict(zip(WEIGHTED, (n, n, n, size), strict=True))
        self.cost = cost and function(cost, inputs={"t": (), "q": q, "v": n, "tau": n, "x": size})
        self.final = final and function(final, inputs={"q": q, "v": n, "x": size})
        self._of_cost = self.cost and vjp(self.cost, *WEIGHTED)
        self._of_final = self.final and vjp(self.final)

    def at_end(self, states: Mapping[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The final cost of each robot, and its gradient."""
        names, count = ("q", "v", "x"), len(states["q"])
        last = [states[name][:, -1] if name in states else np.zeros((count, 0)) for name in names]
        if not self.final:
            return np.zeros(count), {name: np.zeros((count, self.sizes[name])) for name in names}
        value = _number("final", self.final)(*last)
        found = self._of_final(*last, np.ones(value.shape))
        return value, dict(zip(names, found, strict=True))

    def along(self, segment: Segment, dt: float) -> tuple[Any, dict[str, np.ndarray]]:
        """The running cost of each robot and step, and its gradients."""
        states, count, steps = segment.states, len(segment.tau), segment.last - segment.first
        if not self.cost:
            return 0.0, {name: np.zeros((count, steps, size)) for name, size in self.sizes.items()}
        time = np.tile(dt * np.arange(segment.first, segment.last), count)
        arguments = [time]  # one row for each robot and step
        for values in (states["q"][:, :-1], states["v"][:, :-1], segment.tau):
            arguments.append(values.reshape(count * steps, values.shape[-1]))
        x = states["x"][:, :-1] if "x" in states else np.zeros((count, steps, 0))
        arguments.append(x.reshape(count * steps, x.shape[-1]))
        each = _number("cost", self.cost)(*arguments)
        found = self._of_cost(*arguments, np.ones(each.shape))
        named = zip(WEIGHTED, found, strict=True)
        rows = {name: own.reshape(count, steps, own.shape[-1]) for name, own in named if own.shape[-1]}
        return each.reshape(count, steps), rows


def _number(name: str, f: Function) -> Function:
    """A function that returns a number for each state; TypeError if it does not."""
    if not f.returned.alone or f.returned.shapes[0]:
        shapes = " and ".join(map(str, f.returned.shapes))
        raise TypeError(f"{name}: expected it to return a number, got what has the shape {shapes}")
    return f


def _names(model: Model, control: Any, tau: Any, wrt: Any) -> list[str]:
    if control is not None and not isinstance(control, Compiled):
        raise TypeError(
            "control: expected a controller made by featherweight.compiled, which can be differentiated, got "
            f"{type(control).__name__}"
        )
    names = [wrt] if isinstance(wrt, str) else list(wrt) if isinstance(wrt, Iterable) else [wrt]
    known = ["q", "v", *(["tau"] if control is None else ["x", "p"]), *model.parameters]
    for name in names:
        if name not in known:
            fix = "; forces are the controller's here, so say what else: wrt=('p',)" if name == "tau" else ""
            raise ValueError(f"wrt: expected names among {', '.join(known)}, got {name!r}{fix}")
    if len(set(names)) < len(names):
        raise ValueError(f"wrt: expected each name once, got {', '.join(names)}")
    if tau is not None and control is not None:
        raise ValueError("tau, control: expected one of them, got both")
    return names


def _check(model: Model, options: StepOptions) -> None:
    """ValueError for what has no gradient back."""
    if options.contact is not None and options.contact.arranged(model).slots:
        raise ValueError(
            "contact: shapes share slots, which have no gradient back; give slots=0, or take linearize of each step, "
            "and the product of its matrices"
        )
    control = options.control
    if control is not None and (control.every > 1 or control.feels):
        raise ValueError("control: a controller that waits (every) or sees contact has no gradient back")
