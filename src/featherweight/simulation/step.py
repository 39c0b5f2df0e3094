"""One step of a simulation as a traced function, and the native loop around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.compiler import Argument, compiling
from featherweight.compiler.loop import Loop
from featherweight.dynamics.evaluate import LARGEST
from featherweight.errors import SimulationError
from featherweight.integrators import Integrator
from featherweight.model import Model, Tree
from featherweight.scalar import where
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled

DIVERGED, BAD_CONTROL = 2.0, 3.0  # of trajectory.Status
RECORDED = 2  # parts of the carry whose history is kept: q and v


def step_loop(
    model: Model, integrator: Integrator, given: bool, control: Compiled | None, actuators: Actuators | None
) -> Loop:
    """The loop for a model and a method, with forces given for each step, computed by a controller, or none."""
    key = ("loop", repr(integrator), given, control, repr(actuators))
    loop = model._kernels.get(key)
    if loop is None:
        with compiling:
            loop = model._kernels.get(key)
            if loop is None:
                loop = model._kernels[key] = _make(model, integrator, given, control, actuators)
    return loop


def _make(
    model: Model, integrator: Integrator, given: bool, control: Compiled | None, actuators: Actuators | None
) -> Loop:
    carry = [
        Argument("q", (model.nq,), "nq", tuple(j.q.start for j in model.independent_joints)),
        Argument("v", (model.nv,), "nv", tuple(j.v.start for j in model.independent_joints)),
        Argument("clock", (3,), "3"),
    ]
    constants = [Argument("dt", (), ""), *(Argument(p.name, p.shape, "") for p in model.parameters.values())]
    forces = [Argument("tau", (model.nv,), "nv")] if given else []
    if control is not None:
        carry.append(Argument("x", control.state.shape[-1:], "n"))
        constants.append(Argument("p", control.parameters.shape[-1:], "m"))

    def function(scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        names = [a.name for a in (*carry, *forces, *constants)]
        x = dict(zip(names, scalars, strict=True))
        tree = model.over(lift, mark, {n: x[n] for n in model.parameters})
        asked, after = _forces(model, x, control)
        tau = asked if actuators is None else actuators.forces(model, x["v"], asked)
        results = _step(tree, integrator, x, tau, abs(_sum(asked)) <= LARGEST)
        if control is not None:
            results.append([where(results[2][1] == 0, new, old) for new, old in zip(after, x["x"], strict=True)])
        return [*results, tau], 0

    fingerprint = None
    if control is None and model.fingerprint is not None:
        fingerprint = f"step {integrator!r} {given} {actuators!r} {model.fingerprint}"
    return Loop("step", carry, forces, constants, [(model.nv,)], function, RECORDED, fingerprint)


def _forces(model: Model, x: dict[str, list[Any]], control: Compiled | None) -> tuple[list[Any], list[Any]]:
    """The forces of a step, and the controller's next state."""
    if control is None:
        return x.get("tau", [0.0] * model.nv), []
    time = x["clock"][0] * x["dt"][0]
    arrays = [np.array(x[n], dtype=object) for n in ("q", "v", "x", "p")]
    try:
        tau, after = control(time, *arrays)
    except Exception as error:
        raise SimulationError(
            f"the controller raised {type(error).__name__} while it was traced, before step 0, t = 0 s: {error}"
        ) from error
    if len(tau) != model.nv or len(after) != len(x["x"]):
        raise SimulationError(
            f"the controller returned tau of {len(tau)} and a state of {len(after)} numbers, before step 0, t = 0 s; "
            f"expected {model.nv} and {len(x['x'])}"
        )
    return tau, after


def _step(
    tree: Tree, integrator: Integrator, x: dict[str, list[Any]], tau: Sequence[Any], good_tau: Any
) -> list[list[Any]]:
    """q, v and clock after a step; a lane that fails stands still from then on, with status and step of the failure."""
    q, v, (k, status, failed), (dt,) = x["q"], x["v"], x["clock"], x["dt"]
    solve = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
    solved = tree.damped(dt) if integrator.damps_implicitly else tree

    def acceleration(q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        passive = algorithms.passive_force(tree, q, v)
        return solve(solved, q, v, [t + p for t, p in zip(tau, passive, strict=True)], None)[0]

    new_q, new_v = integrator.step(tree, q, v, dt, acceleration)
    going = status == 0
    good_state = abs(_sum(new_q) + _sum(new_v)) <= LARGEST
    good = going & good_tau & good_state
    new_status = where(good, status, where(going, where(good_tau, DIVERGED, BAD_CONTROL), status))
    new_failed = where(good, failed, where(going, k, failed))
    return [
        [where(good, new, old) for new, old in zip(new_q, q, strict=True)],
        [where(good, new, old) for new, old in zip(new_v, v, strict=True)],
        [k + 1.0, new_status, new_failed],
    ]


def _sum(values: Sequence[Any]) -> Any:
    total: Any = 0.0
    for value in values:
        total = total + value
    return total
