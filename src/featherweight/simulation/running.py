"""`rollout` and `simulate`: many robots, or one, through time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler.arguments import as_array, batch_shape
from featherweight.dynamics.evaluate import parameter_values
from featherweight.errors import SimulationError
from featherweight.integrators import NAMES, Integrator
from featherweight.model import Model
from featherweight.simulation.control import Compiled
from featherweight.simulation.step import step_loop
from featherweight.simulation.trajectory import Status, Trajectory

Control = Callable[[float, np.ndarray, np.ndarray], Any]
MOST_STEPS = 10_000_000
REASONS = {
    Status.NOT_CONVERGED: "a solver did not converge",
    Status.DIVERGED: "the state is no longer finite",
    Status.BAD_CONTROL: "the controller gave NaN or inf",
    Status.BAD_INPUT: "q or v is not a state of this robot: NaN, inf, or a quaternion that is not unit",
}


def rollout(
    model: Model,
    q: Any,
    v: Any,
    *,
    steps: int,
    dt: float,
    tau: Any = None,
    control: Compiled | Control | None = None,
    contact: Any = None,
    integrator: str | Integrator = "semi_implicit",
    record_every: int = 1,
    parameters: Mapping[str, Any] | None = None,
) -> Trajectory:
    """A batch of simulations, compiled end to end; a lane that fails is marked and harms no other.

    Args:
        model: the robot. Damping, dry friction and springs of its joints act.
        q: configurations at the beginning, shape (…, nq).
        v: velocities at the beginning, shape (…, nv).
        steps: number of steps.
        dt: length of a step [s].
        tau: joint forces [N m or N] for each step, shape (…, steps, nv).
        control: a controller `f(t, q, v) -> tau` called from Python at each step with arrays (…, nq) and (…, nv), or
            one made by `featherweight.compiled`, which runs in the native loop.
        contact: contact model.
        integrator: "semi_implicit", "rk4", or an integrator.
        record_every: keep every so many states; divides `steps`.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        A `Trajectory` with batch axes first.
    """
    method = _checked(model, steps, dt, integrator, record_every, contact)
    q, v = as_array("q", q, (model.nq,), "nq"), as_array("v", v, (model.nv,), "nv")
    names, arrays, ranks = ["q", "v"], [q, v], [1, 1]
    if tau is not None:
        if control is not None:
            raise ValueError("tau, control: expected one of them, got both")
        names.append("tau")
        arrays.append(as_array("tau", tau, (steps, model.nv), "steps, nv"))
        ranks.append(2)
    own = control if isinstance(control, Compiled) else None
    if own is not None:
        names += ["control: state", "control: parameters"]
        arrays += [own.state, own.parameters]
        ranks += [1, 1]
    declared = list(model.parameters.values())
    values = parameter_values(model, parameters)
    names += [p.name for p in declared]
    arrays += [as_array(p.name, x, p.shape, "") for p, x in zip(declared, values, strict=True)]
    ranks += [len(p.shape) for p in declared]
    batch = batch_shape(names, arrays, ranks)
    rows = {n: _rows(a, r, batch) for n, a, r in zip(names, arrays, ranks, strict=True)}
    constants = [rows[p.name] for p in declared]
    bad = _bad_input(model, rows["q"], rows["v"])
    if control is not None and not isinstance(control, Compiled):
        flat = _by_python(model, method, rows, constants, bad, batch, steps, dt, record_every, control)
    else:
        flat = _natively(model, method, rows, constants, bad, steps, dt, record_every, own)
    return _trajectory(model, flat, bad, batch, steps, dt, record_every)


def simulate(
    model: Model,
    q: Any,
    v: Any,
    *,
    duration: float,
    dt: float,
    control: Compiled | Control | None = None,
    contact: Any = None,
    integrator: str | Integrator = "semi_implicit",
    record_every: int = 1,
    progress: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Trajectory:
    """One robot through time; raises `SimulationError`, with the trajectory so far, if it fails.

    Args:
        model: the robot.
        q: configuration at the beginning, shape (nq,).
        v: velocity at the beginning, shape (nv,).
        duration: simulated time [s], a multiple of dt.
        dt: length of a step [s].
        control: a controller `f(t, q, v) -> tau`, or one made by `featherweight.compiled`.
        contact: contact model.
        integrator: "semi_implicit", "rk4", or an integrator.
        record_every: keep every so many states.
        progress: show a bar; not there yet.
        parameters: numbers for constants that were declared when the model was built, by name.

    Returns:
        A `Trajectory`.
    """
    if progress:
        raise NotImplementedError("progress: there is no progress bar yet")
    if not isinstance(dt, (float, int)) or not 0 < dt < np.inf:
        raise ValueError(f"dt: expected a time step > 0 [s], got {dt!r}")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        raise ValueError(f"duration: expected a multiple of dt = {dt:g} s, got {duration!r}")
    steps += -steps % record_every
    trajectory = rollout(
        model, q, v, steps=steps, dt=dt, control=control, contact=contact, integrator=integrator,
        record_every=record_every, parameters=parameters,
    )  # fmt: skip
    if trajectory.status.ndim:
        raise ValueError(f"q, v: expected one state, got a batch {trajectory.status.shape}; rollout takes batches")
    status = Status(int(trajectory.status))
    if status is not Status.OK:
        step = int(trajectory.failed_step)
        reasons = {
            Status.DIVERGED: "the state is no longer finite",
            Status.BAD_CONTROL: "the controller gave NaN or inf",
        }
        reason = reasons.get(status, "q or v is not a state of this robot: NaN, inf, or a quaternion that is not unit")
        raise SimulationError(f"failed at step {step}, t = {step * dt:g} s: {reason}", trajectory)
    return trajectory


def _checked(model: Any, steps: Any, dt: Any, integrator: Any, record_every: Any, contact: Any) -> Integrator:
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    for name, value in (("steps", steps), ("record_every", record_every)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 1 <= value <= MOST_STEPS:
            raise ValueError(f"{name}: expected a whole number from 1 to {MOST_STEPS}, got {value!r}")
    if steps % record_every:
        raise ValueError(f"record_every: expected a divisor of steps = {steps}, got {record_every}")
    if not isinstance(dt, (float, int, np.floating)) or isinstance(dt, bool) or not 0 < dt < np.inf:
        raise ValueError(f"dt: expected a time step > 0 [s], got {dt!r}")
    if contact is not None:
        raise NotImplementedError("contact: contact models are not there yet")
    if isinstance(integrator, str):
        if integrator not in NAMES:
            raise ValueError(f"integrator: expected one of {', '.join(map(repr, NAMES))}, got {integrator!r}")
        return NAMES[integrator]()
    if not isinstance(integrator, Integrator):
        raise TypeError(f"integrator: expected a name or an integrator, got {type(integrator).__name__}")
    return integrator


def _rows(array: np.ndarray, rank: int, batch: tuple[int, ...]) -> np.ndarray:
    """(rows, …) contiguous, or one row for all."""
    leading = array.shape[: array.ndim - rank]
    inner = array.shape[array.ndim - rank :]
    if all(n == 1 for n in leading):
        return np.ascontiguousarray(array.reshape(1, *inner), dtype=float)
    return np.ascontiguousarray(np.broadcast_to(array, batch + inner).reshape(-1, *inner), dtype=float)


def _bad_input(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Which rows are not states of this robot."""
    with np.errstate(all="ignore"):
        bad = ~(np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1))
        for joint in model.independent_joints:
            own = q[:, joint.q]
            check = joint.kind.check([own[:, k] for k in range(own.shape[1])])
            bad = bad | (np.broadcast_to(check, bad.shape) != 0)
    return bad


def _begin(model: Model, rows: dict[str, np.ndarray], bad: np.ndarray, count: int) -> list[np.ndarray]:
    """The carry at the beginning: q, v, and the clock (step, status, failed step); bad rows stand still."""
    q = np.array(np.broadcast_to(rows["q"], (count, model.nq)))
    v = np.array(np.broadcast_to(rows["v"], (count, model.nv)))
    bad = np.broadcast_to(bad, (count,))
    q[bad], v[bad] = model.neutral(), 0.0
    clock = np.zeros((count, 3))
    clock[:, 1], clock[:, 2] = np.where(bad, float(Status.BAD_INPUT), 0.0), np.where(bad, 0.0, -1.0)
    return [q, v, clock]


def _natively(
    model: Model,
    method: Integrator,
    rows: dict[str, np.ndarray],
    constants: list[np.ndarray],
    bad: np.ndarray,
    steps: int,
    dt: float,
    every: int,
    control: Compiled | None,
) -> list[np.ndarray]:
    """The whole loop in native code."""
    count = max(len(a) for a in rows.values()) if rows else 1
    carry = _begin(model, rows, bad, count)
    step = [np.full((1, 1), float(dt)), *(c.reshape(len(c), -1) for c in constants)]
    given = []
    if control is not None:
        carry.append(np.array(np.broadcast_to(rows["control: state"], (count, control.state.shape[-1]))))
        step.append(rows["control: parameters"])
    elif "tau" in rows:
        tau = rows["tau"]
        given.append(np.ascontiguousarray(np.broadcast_to(tau, (count, *tau.shape[1:]))))
    loop = step_loop(model, method, "tau" in rows, control)
    states, records = loop.run(carry, given, step, steps, every)
    return [*states[:3], records[0]]


def _by_python(
    model: Model,
    method: Integrator,
    rows: dict[str, np.ndarray],
    constants: list[np.ndarray],
    bad: np.ndarray,
    batch: tuple[int, ...],
    steps: int,
    dt: float,
    every: int,
    control: Control,
) -> list[np.ndarray]:
    """Step by step, with an ordinary Python function in between."""
    count = prod(batch)
    carry = _begin(model, rows, bad, count)
    loop = step_loop(model, method, True, None)
    step = [np.full((1, 1), float(dt)), *(c.reshape(len(c), -1) for c in constants)]
    samples = steps // every
    q, v = np.empty((count, samples + 1, model.nq)), np.empty((count, samples + 1, model.nv))
    clock, tau = np.empty((count, samples + 1, 3)), np.empty((count, samples, model.nv))
    for k in range(steps + 1):
        if k % every == 0:
            q[:, k // every], v[:, k // every], clock[:, k // every] = carry
        if k == steps:
            break
        forces = _called(control, k, dt, carry, batch, model)
        if k % every == 0:
            tau[:, k // every] = forces
        states, _ = loop.run(carry, [forces.reshape(count, 1, model.nv)], step, 1, 1)
        carry = [np.ascontiguousarray(state[:, 1]) for state in states]
    return [q, v, clock, tau]


def _called(
    control: Control, k: int, dt: float, carry: list[np.ndarray], batch: tuple[int, ...], model: Model
) -> np.ndarray:
    """The controller's forces (count, nv); it gets copies, so it cannot change the state."""
    q, v = carry[0].reshape(*batch, model.nq).copy(), carry[1].reshape(*batch, model.nv).copy()
    try:
        forces = np.asarray(control(k * dt, q, v), dtype=float)
    except Exception as error:
        raise SimulationError(
            f"the controller raised {type(error).__name__} at step {k}, t = {k * dt:g} s: {error}"
        ) from error
    try:
        return np.ascontiguousarray(np.broadcast_to(forces, (*batch, model.nv)).reshape(-1, model.nv))
    except ValueError:
        expected = (*batch, model.nv)
        raise SimulationError(
            f"the controller returned shape {forces.shape} at step {k}, t = {k * dt:g} s; expected {expected}"
        ) from None


def _trajectory(
    model: Model, flat: list[np.ndarray], bad: np.ndarray, batch: tuple[int, ...], steps: int, dt: float, every: int
) -> Trajectory:
    """Arrays with their batch axes; rows of failed lanes from the failed step on are NaN."""
    q, v, clock, tau = flat
    status, failed = clock[:, -1, 1], clock[:, -1, 2].astype(int)
    samples = np.arange(0, steps + 1, every)
    lost = (status != 0)[:, None] & (samples[None] >= failed[:, None])
    lost[:, 0] &= status == Status.BAD_INPUT
    for array in (q, v):
        array[lost] = np.nan
    tau[lost[:, :-1]] = np.nan
    samples_count = len(samples)
    return Trajectory(
        model,
        samples * dt,
        q.reshape(*batch, samples_count, model.nq),
        v.reshape(*batch, samples_count, model.nv),
        tau.reshape(*batch, samples_count - 1, model.nv),
        np.zeros((*batch, samples_count - 1, 0, 3)),
        status.astype(np.uint8).reshape(batch),
        failed.reshape(batch),
    )
