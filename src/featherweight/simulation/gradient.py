"""`rollout_gradient`: the gradient of a cost over a whole rollout, by adjoint steps from its end to its beginning.

A rollout keeps its states; then each step is visited once, the last one first, and hands the cotangents of the state
after it on to the state before it, to forces and parameters (`implicit.py`). Memory is that of the states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.cached import cached_property
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.dynamics.checks import checked_model
from featherweight.errors import SimulationError
from featherweight.forces import ForceElement
from featherweight.functions import configuration, function, vjp
from featherweight.functions.configuration import Input
from featherweight.functions.native import Native, Returned
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled
from featherweight.simulation.implicit import ImplicitStep
from featherweight.simulation.linearization import Linearization
from featherweight.simulation.options import StepOptions
from featherweight.simulation.problem import step_options
from featherweight.simulation.running import rollout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ALWAYS = ("q", "v", "tau", "x", "p")


def rollout_gradient(
    cost: Callable[..., Any] | None,
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    steps: int,
    dt: float,
    final: Callable[..., Any] | None = None,
    tau: ArrayLike | None = None,
    control: Compiled | None = None,
    contact: ContactModel | None = None,
    integrator: str | Integrator = "semi_implicit",
    actuators: Actuators | None = None,
    limits: bool = True,
    forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    wrt: Sequence[str] = ("tau",),
) -> tuple[Any, dict[str, np.ndarray]]:
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
    if control is None and tau is None:
        tau = np.zeros((steps, model.nv))
    run = rollout(
        model, q, v, steps=steps, dt=dt, tau=tau, control=control, contact=contact, integrator=integrator,
        actuators=actuators, limits=limits, forces=forces, constraints=constraints, parameters=parameters,
    )  # fmt: skip
    if (np.asarray(run.status) != 0).any():
        raise SimulationError("rollout_gradient: a step of this rollout fails; rollout says which, and why")
    costs = _Costs(model, 0 if control is None else control.state.shape[-1], cost, final)
    x = run.x if control is not None else np.zeros((*run.q.shape[:-1], 0))
    value, weights, ending = costs.of(run, x, steps, dt)
    back = AdjointStep(model, options, names)
    given = {name: np.asarray(values, dtype=float) for name, values in (parameters or {}).items()}
    return value, _backwards(back, run, x, steps, dt, tau, given, weights, ending, names)


def _backwards(
    back: AdjointStep, run: Any, x: np.ndarray, steps: int, dt: float, tau: Any, parameters: Mapping[str, Any],
    weights: Sequence[np.ndarray], ending: Sequence[np.ndarray], names: Sequence[str],
) -> dict[str, np.ndarray]:  # fmt: skip
    """From the end to the beginning."""
    known = {**back.defaults, "dt": np.array(float(dt)), **parameters}
    of_q, of_v, of_x = ending
    total: dict[str, Any] = {}
    forces = []
    for k in reversed(range(steps)):
        known |= {"q": run.q[..., k, :], "v": run.v[..., k, :], "step": np.array(float(k))}
        if "x" in known:
            known["x"] = x[..., k, :]
        if tau is not None:
            known["tau"] = np.asarray(tau, dtype=float)[..., k, :]
        known |= {"weights on q": of_q, "weights on v": of_v, "weights on x": of_x}
        known["weights on tau"] = weights[2][..., k, :]
        found = dict(zip(back.wanted, back(*(known[x.name] for x in back.inputs)), strict=True))
        of_q, of_v = found["q"] + weights[0][..., k, :], found["v"] + weights[1][..., k, :]
        of_x = (found["x"] if "x" in found else of_x) + weights[3][..., k, :]
        if "tau" in names:
            forces.append(found["tau"])
        for name in set(names) - {"q", "v", "x", "tau"}:
            total[name] = total.get(name, 0.0) + found[name]
    total |= {"q": of_q, "v": of_v, "x": of_x}
    if "tau" in names:
        total["tau"] = np.stack(forces[::-1], axis=-2)
    return {name: total[name] for name in names}


class AdjointStep(Native):
    """Cotangents of what a step depends on, from weights on the state after it and on its forces; compiled."""

    name = "rollout_gradient"

    def __init__(self, model: Model, options: StepOptions, names: Sequence[str]) -> None:
        self.model, self.step = model, Linearization(model, options)
        own = [x.name for x in self.step.inputs]
        self.wanted = [name for name in own if name in ("q", "v", "x") or name in names]
        self.defaults = self.step.defaults(options)
        by_name = {x.name: x for x in self.step.inputs}
        self.returned = Returned(tuple(by_name[name].directions for name in self.wanted), tuple)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:  # type: ignore[override]
        n, size = (self.model.nv,), next((x.shape for x in self.step.inputs if x.name == "x"), (0,))
        shapes = {"q": n, "v": n, "x": size, "tau": n}
        return (*self.step.inputs, *(Input(f"weights on {name}", s, s) for name, s in shapes.items()))

    def write(self, flat: list[Any]) -> list[Any]:
        values, at = {}, 0
        for x in self.inputs:
            values[x.name] = flat[at : at + x.size]
            at += x.size
        weights = {name: values.pop(f"weights on {name}") for name in ("q", "v", "x", "tau")}
        step = ImplicitStep(self.step.program, values)
        step.locate(step.velocity, step.found)
        found = step.pulled(weights["q"], weights["v"], self.wanted)
        names = ["tau", "controller"] if weights["x"] else ["tau"]
        more = step.at.pulled(names, [weights["tau"], weights["x"]][: len(names)], self.wanted)
        results: list[Any] = []
        for x in (y for y in self.step.inputs if y.name in self.wanted):
            total = [a + b for a, b in zip(found[x.name], more[x.name], strict=True)]
            results += x.cotangents(values[x.name], total)
        return results


class _Costs:
    """Running and final cost over a rollout, and their gradients."""

    def __init__(self, model: Model, size: int, cost: Any, final: Any) -> None:
        if cost is None and final is None:
            raise ValueError("cost, final: expected a function, got none of them")
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
            each = _number("cost", self.cost(*states))
            value = value + each.sum(axis=-1)
            weights = list(vjp(self.cost, "q", "v", "tau", "x")(*states, np.ones(each.shape)))
        if self.final:
            last = _number("final", self.final(run.q[..., -1, :], run.v[..., -1, :], x[..., -1, :]))
            value = value + last
            ending = list(vjp(self.final)(run.q[..., -1, :], run.v[..., -1, :], x[..., -1, :], np.ones(last.shape)))
        return value, weights, ending


def _number(name: str, values: Any) -> np.ndarray:
    if not isinstance(values, np.ndarray):
        raise TypeError(f"{name}: expected it to return a number, got {type(values).__name__}")
    return values


def _names(model: Model, control: Any, tau: Any, wrt: Any) -> list[str]:
    if control is not None and not isinstance(control, Compiled):
        raise TypeError(
            "control: expected a controller made by featherweight.compiled, which can be differentiated, got "
            f"{type(control).__name__}"
        )
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    known = ["q", "v", *(["tau"] if control is None else ["x", "p"]), *model.parameters]
    for name in names:
        if name not in known:
            raise ValueError(f"wrt: expected names among {', '.join(known)}, got {name!r}")
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
            f"integrator: steps of {method!r} have no gradient back; use 'semi_implicit', 'rk4', or products of linearize"
        )
    if any(getattr(constraint, "presliding", 0.0) for constraint in options.parts.constraints):
        raise ValueError("contact: dry friction that yields has no gradient back; use Impulse(presliding=0.0)")
    if control is not None and (control.every > 1 or control.feels):
        raise ValueError("control: a controller that waits (every) or sees contact has no gradient back")
