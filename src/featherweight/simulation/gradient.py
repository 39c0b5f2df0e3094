"""`rollout_gradient`: the gradient of a cost over a whole rollout, by adjoint steps from its end to its beginning.

A rollout keeps its states; then each step is visited once, the last one first, and hands the cotangents of the state
after it on to the state before it, to forces and parameters (`implicit.py`). Memory is that of the states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler import Argument, Graph, interpreting
from featherweight.compiler.runtime.arguments import first_not_finite
from featherweight.compiler.runtime.loop import Call, Loop
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.differentiation import replayed, traced
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
from featherweight.simulation.control import Compiled
from featherweight.simulation.implicit import ImplicitStep
from featherweight.simulation.linearization import Linearization
from featherweight.simulation.options import StepOptions
from featherweight.simulation.problem import step_options, whole_number
from featherweight.simulation.running import rollout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ON = "weights on "
WEIGHTS = (f"{ON}q", f"{ON}v", f"{ON}tau", f"{ON}x")
MEMORY = "memory"  # impulses of the step before
MOST_RECENT = 16  # pairs of costs that are kept with a model


def rollout_gradient(
    cost: Callable[..., Any] | None, model: Model, q: ArrayLike, v: ArrayLike, *, steps: int, dt: float,
    final: Callable[..., Any] | None = None, tau: ArrayLike | None = None, control: Compiled | None = None,
    contact: ContactModel | None = None, integrator: str | Integrator = "semi_implicit",
    actuators: Actuators | None = None, limits: bool = True, forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (), parameters: Mapping[str, ArrayLike] | None = None,
    wrt: Sequence[str] = ("tau",),
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

    Returns:
        The value, shape (…), and gradients by name: (…, nv) for "q", along q ⊕ δ, and "v"; (…, steps, nv) for "tau";
        (…, n) for "x" and "p"; as declared for parameters, leading axes first.

    Raises:
        SimulationError: if a step fails.
        ValueError: for what has no gradient back: springs and dampers in contact and other force elements that
            remember, dry friction that yields (`presliding`), variational steps, controllers that wait or see contact.
    """
    checked_model(model)
    names = _names(model, control, tau, wrt)
    arguments = (control, contact, integrator, actuators, limits, forces, constraints)
    options = step_options(model, control is None, False, *arguments)
    _check(model, options)
    whole_number("steps", steps)
    if control is None and tau is None:
        tau = np.zeros((steps, model.nv))
    run = rollout(
        model, q, v, steps=steps, dt=dt, tau=tau, control=control, contact=contact, integrator=integrator,
        actuators=actuators, limits=limits, forces=forces, constraints=constraints, parameters=parameters,
    )  # fmt: skip
    if (np.asarray(run.status) != 0).any():
        given = {name: np.asarray(x, dtype=float) for name, x in {"q": q, "v": v, "tau": tau}.items() if x is not None}
        start = Input("q", (model.nq,), (model.nv,), model)
        if reason := first_not_finite(list(given), list(given.values())) or start.explain(given["q"]):
            raise ValueError(f"rollout_gradient: {reason}")
        raise SimulationError("rollout_gradient: a step of this rollout fails; rollout says which, and why")
    size = 0 if control is None else control.state.shape[-1]
    x = run.x if control is not None else np.zeros((*run.q.shape[:-1], 0))
    value, weights, ending = _costs(model, size, cost, final).of(run, x, steps, dt)
    known = {"q": run.q[..., :-1, :], "v": run.v[..., :-1, :], "x": x[..., :-1, :], "tau": tau}
    known |= {"dt": np.array(float(dt)), "step": np.arange(float(steps))[:, None], **(parameters or {})}
    known |= dict(zip(WEIGHTS, weights, strict=True))
    loop, batch = _loop(model, options, names), run.q.shape[:-2]
    return value, loop.run({**loop.defaults(options), **known}, ending, batch, steps, names)


class AdjointLoop:
    """The loop over the steps of a rollout, backwards: its carry are cotangents of the state, and sums of those of what
    holds for all steps."""

    def __init__(self, model: Model, options: StepOptions, names: Sequence[str]) -> None:
        self.step = Linearization(model, options)
        self.defaults = self.step.defaults
        own = {x.name: x for x in self.step.inputs}
        changing = ["q", "v", "x", "tau", "step", MEMORY]
        n, size = model.nv, own["x"].size if "x" in own else 0
        sizes = dict(zip(WEIGHTS, (n, n, n, size), strict=True))
        self.summed = [name for name in own if name in names and name not in changing]
        self.wanted = [name for name in own if name in ("q", "v", "x", *names)]
        self.inputs = [x for x in self.step.inputs if x.name in changing and x.name != MEMORY]
        kept = [w for w in (WEIGHTS[0], WEIGHTS[1], WEIGHTS[3]) if sizes[w]]
        self.carry = [Argument(w, (sizes[w],), "n") for w in kept]
        self.carry += [Argument(name, (own[name].size,), "n") for name in self.summed]
        if MEMORY in own:  # the search of a step begins with the impulses of the one after it
            self.carry.append(Argument(MEMORY, own[MEMORY].shape, "n"))
        self.given = [Argument(x.name, (x.size,), "n") for x in self.inputs]
        self.given += [Argument(w, (k,), "n") for w, k in sizes.items() if k]
        others = [x for x in self.step.inputs if x.name not in changing]
        self.constants = [(x.name, len(x.shape)) for x in others]
        self._names, self._record, self._kept = [x.name for x in others], "tau" in names, kept
        known = options.identity
        tables = [table.tobytes().hex() for table in options.tables]
        whole = identity("rollout_gradient", known.text, list(names), tables, model, options.touching(model))
        self.code = Loop(
            "rollout_gradient", self.carry, [Argument(f"given {a.name}", a.shape, a.symbols) for a in self.given],
            [Argument(f"constant {x.name}", (x.size,), "n") for x in others], [(n,)] if self._record else [],
            self._function, len(self.carry), None if known.foreign else whole.everywhere, one_by_one=True,
        )  # fmt: skip

    def run(
        self, known: dict[str, Any], ending: Sequence[Any], batch: tuple[int, ...], steps: int, names: Sequence[str]
    ) -> dict[str, np.ndarray]:
        """Gradients by name: from what steps depend on, by name, and the weights on the state at the end."""
        count, model = prod(batch), self.step.model

        def rows(array: Any, axes: int) -> np.ndarray:
            """One row for each robot, of what may be the same for several."""
            array = np.asarray(array, dtype=float)
            inner = array.shape[array.ndim - axes :]
            return np.ascontiguousarray(np.broadcast_to(array, (*batch, *inner)).reshape(count, *inner))

        begin = dict(zip((WEIGHTS[0], WEIGHTS[1], WEIGHTS[3]), ending, strict=True))
        carry = [rows(begin[a.name], 1) if a.name in begin else np.zeros((count, *a.shape)) for a in self.carry]
        given = [np.ascontiguousarray(rows(known[a.name], 2)[:, ::-1]) for a in self.given]
        every = [rows(known[name], axes) for name, axes in self.constants]
        constants = [values.reshape(count, prod(values.shape[1:])) for values in every]
        records = [np.empty((count, steps, model.nv))] if self._record else []
        states = [np.empty_like(c) for c in carry]
        self.code.run(Call(carry, given, constants, states, records, steps, 1 if records else steps))
        found = {a.name.removeprefix(ON): c for a, c in zip(self.carry, states, strict=True)}
        if records:
            found["tau"] = records[0][:, ::-1]
        shapes = {name: p.shape for name, p in model.parameters.items()}
        return {name: found[name].reshape((*batch, *shapes.get(name, found[name].shape[1:]))) for name in names}

    def _function(self, scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        sizes = [len(own) for own in scalars]
        flat = [x for own in scalars for x in own]

        def write(flat: Sequence[Any]) -> list[Any]:
            rest = iter(flat)
            return self._written([[next(rest) for _ in range(size)] for size in sizes])

        if Graph.tracing() is None:  # interpreted: what is written in a trace, run on numbers
            results = iter(replayed(traced(write, flat, [True] * len(flat)), flat))
        else:
            results = iter(write(flat))
        shapes = [a.shape[0] for a in self.carry] + ([self.step.model.nv] if self._record else [])
        return [[next(results) for _ in range(k)] for k in shapes], 0

    def _written(self, scalars: list[list[Any]]) -> list[Any]:
        """One step backwards: the next carry, and the gradient with respect to its forces."""
        n, m = len(self.carry), len(self.given)
        carry = {a.name: own for a, own in zip(self.carry, scalars[:n], strict=True)}
        given = {a.name: own for a, own in zip(self.given, scalars[n : n + m], strict=True)}
        values = {x.name: given[x.name] for x in self.inputs} | dict(zip(self._names, scalars[n + m :], strict=True))
        if MEMORY in carry:
            values[MEMORY] = carry[MEMORY]
        step = ImplicitStep(self.step.program, {x.name: values[x.name] for x in self.step.inputs})
        step.locate(step.velocity, step.found)
        found = step.pulled(carry[WEIGHTS[0]], carry[WEIGHTS[1]], self.wanted)
        names, weights = ["tau"], [given[WEIGHTS[2]]]
        if WEIGHTS[3] in carry:
            names, weights = [*names, "controller"], [*weights, carry[WEIGHTS[3]]]
        more = step.at.pulled(names, weights, self.wanted)
        total = {}
        for x in self.step.inputs:
            if x.name in self.wanted:
                own = [a + b for a, b in zip(found[x.name], more[x.name], strict=True)]
                total[x.name] = x.cotangents(values[x.name], own)
        results: list[Any] = []
        for w in self._kept:
            results += [a + b for a, b in zip(total[w.removeprefix(ON)], given[w], strict=True)]
        for name in self.summed:
            results += [a + b for a, b in zip(carry[name], total[name], strict=True)]
        if MEMORY in carry:
            results += step.found
        return [*results, *total["tau"]] if self._record else results


def _loop(model: Model, options: StepOptions, names: Sequence[str]) -> AdjointLoop:
    """The loop for this structure, made once."""
    known = options.identity
    if not known.settled or (known.foreign and interpreting()):
        return AdjointLoop(model, options, names)
    control = options.control
    kernels = model.cache.kernels
    if known.foreign and control is not None:
        kernels = control.loops.setdefault(model, Kernels())
    key = ("rollout_gradient", known, tuple(table.tobytes() for table in options.tables), tuple(names))
    return kernels.once(key, lambda: AdjointLoop(model, options, names))


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
        self.sizes = (n, n, n, size)
        self.cost = cost and function(cost, inputs={"t": (), "q": q, "v": n, "tau": n, "x": size})
        self.final = final and function(final, inputs={"q": q, "v": n, "x": size})

    def of(self, run: Any, x: np.ndarray, steps: int, dt: float) -> tuple[Any, list[Any], list[Any]]:
        """The value, gradients along the states of all steps, and at the end."""
        batch = run.q.shape[:-2]
        value: Any = np.zeros(batch)
        weights = [np.zeros((*batch, steps, size)) for size in self.sizes]
        ending = [np.zeros((*batch, size)) for size in (*self.sizes[:2], self.sizes[3])]
        if self.cost:
            states = (dt * np.arange(steps), run.q[..., :-1, :], run.v[..., :-1, :], run.tau, x[..., :-1, :])
            each = _number("cost", self.cost)(*states)
            value = value + each.sum(axis=-1)
            weights = list(vjp(self.cost, "q", "v", "tau", "x")(*states, np.ones(each.shape)))
        if self.final:
            last = _number("final", self.final)(run.q[..., -1, :], run.v[..., -1, :], x[..., -1, :])
            value = value + last
            ending = list(vjp(self.final)(run.q[..., -1, :], run.v[..., -1, :], x[..., -1, :], np.ones(last.shape)))
        return value, weights, ending


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
            raise ValueError(f"wrt: expected names among {', '.join(known)}, got {name!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"wrt: expected each name once, got {', '.join(names)}")
    if tau is not None and control is not None:
        raise ValueError("tau, control: expected one of them, got both")
    return names


def _check(model: Model, options: StepOptions) -> None:
    """ValueError for what has no gradient back."""
    sizes, control, method = options.parts.memory_sizes(model), options.control, options.integrator
    if sum(sizes.elements):
        raise ValueError(
            "contact, forces: what remembers from step to step (springs and dampers in contact) has no gradient back; "
            "use contact.Impulse, or products of linearize"
        )
    if method.solves or (method.moves_first and options.parts.constraints):
        raise ValueError(
            f"integrator: steps of {method!r} have no gradient back; use 'semi_implicit' or 'rk4', or products of "
            "linearize"
        )
    if any(getattr(constraint, "presliding", 0.0) for constraint in options.parts.constraints):
        raise ValueError("contact: dry friction that yields has no gradient back; use Impulse(presliding=0.0)")
    if control is not None and (control.every > 1 or control.feels):
        raise ValueError("control: a controller that waits (every) or sees contact has no gradient back")
