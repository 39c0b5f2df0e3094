"""`rollout` and `simulate`: many robots, or one, through time."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from featherweight.compiler.runtime.loop import Loop
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.endings import RUN, check_ending
from featherweight.errors import ConvergenceError, SimulationError
from featherweight.forces import ForceElement
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.checkpoint import Checkpoint
from featherweight.simulation.control import Compiled
from featherweight.simulation.failure_text import failure_text
from featherweight.simulation.limits import warn_if_passed
from featherweight.simulation.prepared import Request
from featherweight.simulation.problem import MOST_STEPS, Control, Problem, problem, seconds
from featherweight.simulation.progress import Progress
from featherweight.simulation.python_run import run_of
from featherweight.simulation.run import Run
from featherweight.simulation.status import Status
from featherweight.simulation.trajectory import Trajectory
from featherweight.simulation.warning import warn_if_missed
from featherweight.simulation.watching import Watch, Watcher

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CHUNK_SECONDS = 0.1  # how long native code runs before it is asked whether to go on
FIRST_CHUNK = 2e9  # operations of a batch in about that time; one robot alone takes six times as long for them
_log = logging.getLogger("featherweight")


def rollout(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    steps: int,
    dt: float,
    tau: ArrayLike | None = None,
    f_ext: ArrayLike | None = None,
    control: Compiled | Control | None = None,
    contact: ContactModel | None = None,
    integrator: str | Integrator = "semi_implicit",
    actuators: Actuators | None = None,
    limits: bool = True,
    forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (),
    record_every: int = 1,
    record: str = "first",
    parameters: Mapping[str, ArrayLike] | None = None,
    progress: bool = False,
    file: str | os.PathLike[str] | None = None,
) -> Trajectory:
    """A batch of simulations, compiled end to end; a lane that fails is marked and harms no other. Ctrl-C ends it: the
    trajectory has what was computed up to the last chunk, and `complete` is False.

    Args:
        model: the robot. Damping, dry friction and springs of its joints act.
        q: configurations at the beginning, shape (…, nq).
        v: velocities at the beginning, shape (…, nv).
        steps: number of steps.
        dt: length of a step [s].
        tau: joint forces [N m or N] for each step, shape (…, steps, nv).
        f_ext: wrenches on the bodies as for `forward_dynamics`, (…, steps, nb+1, 6), or (nb+1, 6) for all.
        control: a controller `f(t, q, v) -> tau` called from Python at each step with arrays (…, nq) and (…, nv), or
            one made by `featherweight.compiled`, which runs in the native loop.
        contact: contact model.
        integrator: "semi_implicit", "rk4", "variational", or an integrator.
        actuators: one of `featherweight.actuators`, which limits the forces; None: they act as they are asked for.
        limits: joints stay within their limits of position; Runge-Kutta steps, where none can act, warn of the first
            step beyond one. Limits of velocity never act, those of effort by `actuators`.
        forces: force elements that act, kinds of your own (`featherweight.forces.ForceElement`).
        constraints: constraints that are kept, those of `featherweight.constraints` or kinds of your own.
        record_every: keep every so many states; divides `steps`.
        record: which step of an interval forces and contact are kept of: "first", "last", the "mean" (of slots: first).
        parameters: arrays (…) for constants that were declared when the model was built, by name.
        progress: show a bar.
        file: also write the run there, chunk by chunk. If a kill has ended the same run, it goes on where the file
            ends, to the same bits; `Trajectory.load` reads it at any time.

    Returns: a `Trajectory` with batch axes first.
    """
    moving = {
        "control": control, "contact": contact, "integrator": integrator, "actuators": actuators, "limits": limits,
        "forces": forces, "constraints": constraints,
    }  # fmt: skip
    asked = Request(model, (q, v, tau, f_ext), (steps, dt, record_every, record), moving, parameters, (file, progress))
    if (made := asked.again()) is None:
        what = problem(model, q, v, steps, dt, record_every, parameters, tau, f_ext, record, moving)
        made, _ = _run(asked, what, progress, file)
    return made


def simulate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    duration: float,
    dt: float,
    f_ext: ArrayLike | None = None,
    control: Compiled | Control | None = None,
    contact: ContactModel | None = None,
    integrator: str | Integrator = "semi_implicit",
    actuators: Actuators | None = None,
    limits: bool = True,
    forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (),
    record_every: int = 1,
    record: str = "first",
    progress: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    file: str | os.PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Trajectory:
    """One robot through time; raises `SimulationError`, with the trajectory so far, if it fails; `ConvergenceError`
    if a solver did. Ctrl-C ends it early, as in `rollout`.

    Args:
        model: the robot.
        q: configuration at the beginning, shape (nq,).
        v: velocity at the beginning, shape (nv,).
        duration: simulated time [s], a multiple of dt.
        dt: length of a step [s].
        watch: a function `f(t, q, contact_force)` that is called about 30 times for each simulated second, like
            `featherweight.viewer.Live`. If it raises, it is not called again, and the run goes on.

    The others are those of `rollout`: `f_ext`, `control`, `contact`, `integrator`, `actuators`, `limits`, `forces`,
    `constraints`, `record_every`, `record`, `progress`, `parameters` and `file`.

    Returns:
        A `Trajectory`.
    """
    steps, dt = steps_in(duration, dt)
    moving = {
        "control": control, "contact": contact, "integrator": integrator, "actuators": actuators, "limits": limits,
        "forces": forces, "constraints": constraints,
    }  # fmt: skip
    others = file, progress, watch
    asked = Request(model, (q, v, None, f_ext), (steps, dt, record_every, record), moving, parameters, others)
    if (made := asked.again()) is not None and made.q.ndim == 2:
        return made
    what = problem(model, q, v, steps, dt, record_every, parameters, None, f_ext, record, moving)
    if what.batch:
        raise ValueError(f"q, v: expected one state, got a batch {what.batch}; rollout takes batches")
    trajectory, run = _run(asked, what, progress, file, None if watch is None else Watcher(watch, what))
    status = Status(int(trajectory.status))
    if run is not None and status is not Status.OK:
        step, last = int(trajectory.failed_step), run.last_states()
        message = f"failed at step {step}, t = {step * dt:g} s: {failure_text(what, last, status)}"
        failure = ConvergenceError if status is Status.NOT_CONVERGED else SimulationError
        raise failure(message, trajectory, last)
    return trajectory


def steps_in(duration: Any, dt: Any) -> tuple[int, float]:
    """How many steps a time takes, and their length [s]."""
    dt, duration = seconds("dt", "time step", dt), seconds("duration", "time", duration)
    if duration / dt > MOST_STEPS:
        raise ValueError(f"duration: expected at most {MOST_STEPS:g} steps of dt = {dt:g} s, got {duration!r}")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        raise ValueError(f"duration: expected a multiple of dt = {dt:g} s, got {duration!r}")
    return steps, dt


def _run(
    asked: Request, what: Problem, progress: bool, file: Any, watcher: Watcher | None = None
) -> tuple[Trajectory, Run | None]:
    """The trajectory, and the run that it was made by, if it is not one that can be repeated."""
    if (made := asked.prepared(what, chunk_of)) is not None:
        return made, None
    run = run_of(what)
    drive(run, progress, file, watcher, stopped=asked.stopped)
    _warn(run)
    return run.trajectory(), run


def _warn(run: Run) -> None:
    names = [a.name for a in run.problem.loop.kernel.inputs]
    if "passed" in names:
        p = run.problem
        warn_if_passed(p.model, p.carry[0], run.now[names.index("passed")], p.dt)
    warn_if_missed(run.records.get("missed"))


def chunk_of(loop: Loop, count: int) -> int:
    """So many steps take about a tenth of a second."""
    return max(1, int(FIRST_CHUNK / (loop.cost(count) * (count if count > 1 else 6))))


def drive(
    run: Run,
    progress: bool,
    file: str | os.PathLike[str] | None,
    watcher: Watcher | None = None,
    *,
    stopped: bool = False,
) -> None:
    """Chunk after chunk of about a tenth of a second, until the end, Ctrl-C, or no robot is left. `stopped`: Ctrl-C has
    come already."""
    what = run.problem
    if file is not None:
        check_ending("file", file, RUN)
    bar = Progress(what.steps, what.dt, shown=progress)
    if not what.count:
        return
    chunk = chunk_of(what.loop, what.count)
    with Checkpoint(run, file) as keeper:
        try:
            if stopped:
                raise KeyboardInterrupt
            with bar:
                written = time.perf_counter()
                while run.done < what.samples and not run.failed:
                    began = time.perf_counter()
                    run.advance(chunk if watcher is None or watcher.tired else watcher.steps)
                    bar.show(run.k)
                    now = time.perf_counter()
                    if watcher is not None:
                        watcher.look(run)
                    chunk = max(1, int(chunk * min(2.0, max(0.5, CHUNK_SECONDS / max(now - began, 1e-9)))))
                    if keeper.due(now - written):
                        keeper.write()
                        written = now
        except KeyboardInterrupt:
            t, end = run.done * what.every * what.dt, what.steps * what.dt
            _log.warning("interrupted at t = %g s of %g s; the trajectory ends there", t, end)
