"""One step of a simulation as a traced function, and the native loop around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.algorithms import lost_pivots, pivots
from featherweight.compiler import Argument, Node, compiling
from featherweight.compiler.runtime.loop import Loop
from featherweight.contact import ContactModel
from featherweight.contact.joint_rows import limits_of
from featherweight.dynamics.evaluate import LARGEST
from featherweight.dynamics.regularity import need_regular, regularity
from featherweight.errors import SimulationError
from featherweight.identity import Identity, identity
from featherweight.integrators import Integrator
from featherweight.model import Model, Tree
from featherweight.scalar import logical_not, only_where, where
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled

NOT_CONVERGED, DIVERGED, BAD_CONTROL, SINGULAR = 1.0, 2.0, 3.0, 5.0  # of trajectory.Status
MOST_TRACED = 16  # loops around code of others that are kept with a robot or a controller
RECORDED = 2  # parts of the carry whose history is kept: q and v


@dataclass(frozen=True)
class Means:
    """What moves a robot: the method, forces that are given, a controller, actuators, contact."""

    integrator: Integrator
    given: bool = False
    control: Compiled | None = None
    actuators: Actuators | None = None
    contact: ContactModel | None = None
    limits: bool = False  # of joints act
    watched: bool = False  # limits of joints do not act, but it is written down when one is passed

    @property
    def identity(self) -> Identity:
        """What shapes the step, by its fields; a controller by its function and how many numbers it takes."""
        control = self.control
        traced = control and (control.function, control.state.shape[-1:], control.parameters.shape[-1:])
        return identity(self.given, self.integrator, self.actuators, self.contact, self.limits, self.watched, traced)

    def records(self, model: Model) -> list[tuple[int, ...]]:
        """Shapes of what is recorded in a step: forces; of contact, force, slip, depth, and (sweeps, residual); of an
        integrator that solves equations, (iterations, residual)."""
        points = self.contact.points(model) if self.contact is not None else 0
        solved = 2 if self.integrator.solves else 0
        return [(model.nv,), (points, 3), (points,), (points,), (2 if points else 0,), (solved,)]


def step_loop(model: Model, means: Means) -> Loop:
    """The loop for a model and what moves it, made once; one with a controller lives as long as the controller. One
    that depends on what may change unseen is made anew each time."""
    known = means.identity
    if not known.settled:
        return _make(model, means)
    key = ("loop", known)
    loops = model._kernels if means.control is None else means.control.loops.setdefault(model, {})
    loop = loops.get(key)
    if loop is None:
        with compiling:
            loop = loops.get(key)
            if loop is None:
                loop = loops[key] = _make(model, means)
                _forget(loops)
    return loop


def _forget(loops: dict[Any, Any]) -> None:
    """Drop the oldest loop around code of others, where there are many: each new function or number makes one."""
    traced = [key for key in loops if key[0] == "loop" and key[1].foreign]
    if len(traced) > MOST_TRACED:
        del loops[traced[0]]


def _make(model: Model, means: Means) -> Loop:
    need_regular("simulation", model)
    control, contact = means.control, means.contact
    carry = [
        Argument("q", (model.nq,), "nq", tuple(j.q.start for j in model.independent_joints)),
        Argument("v", (model.nv,), "nv", tuple(j.v.start for j in model.independent_joints)),
        Argument("clock", (3,), "3"),
    ]
    constants = [Argument("dt", (), ""), *(Argument(p.name, p.shape, "") for p in model.parameters.values())]
    forces = [Argument("tau", (model.nv,), "nv")] if means.given else []
    if memory := means.integrator.state_size(model.over_floats):
        carry.append(Argument("memory", (memory,), "n"))
    if contact is not None:
        carry.append(Argument("contact", (contact.state_size(model, means.limits),), "n"))
    if means.watched:
        carry.append(Argument("passed", (2,), "2"))
    if control is not None:
        carry.append(Argument("x", control.state.shape[-1:], "n"))
        constants.append(Argument("p", control.parameters.shape[-1:], "m"))

    def function(scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        names = [a.name for a in (*carry, *forces, *constants)]
        x = dict(zip(names, scalars, strict=True))
        tree = model.over(lift, mark, {n: x[n] for n in model.parameters})
        asked, x_after = _forces(model, x, control)
        tau = asked if means.actuators is None else means.actuators.forces(model, x["v"], asked)
        (q, v, clock), extra, records = _step(model, tree, means, x, tau, abs(_sum(asked)) <= LARGEST)
        going = clock[1] == 0
        passed = [_passed(model, q, clock, x["passed"])] if means.watched else []
        kept = [*extra, *passed, *([x_after] if control is not None else [])]
        rest = [
            after if own.name == "memory" else tree.chosen(going, after, x[own.name])  # a lane at rest needs no memory
            for own, after in zip(carry[3:], kept, strict=True)
        ]
        return [q, v, clock, *rest, list(tau), *records], 0

    whole = identity("step", means.identity.text, model)
    fingerprint = None if means.identity.foreign else whole.everywhere
    records, by_user = means.records(model), control is not None
    return Loop("step", carry, forces, constants, records, function, RECORDED, fingerprint, one_by_one=by_user)


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
    for name, values in (("tau", tau), ("x", after)):
        for value in values:
            if not isinstance(value, Node) and not _is_number(value):
                raise SimulationError(
                    f"the controller returned {value!r} ({type(value).__name__}) in {name}, before step 0, t = 0 s; "
                    "expected numbers"
                )
    if len(tau) != model.nv or len(after) != len(x["x"]):
        raise SimulationError(
            f"the controller returned tau of {len(tau)} and a state of {len(after)} numbers, before step 0, t = 0 s; "
            f"expected {model.nv} and {len(x['x'])}"
        )
    return tau, after


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST)


def _step(
    model: Model, tree: Tree, means: Means, x: dict[str, list[Any]], tau: Sequence[Any], good_tau: Any
) -> tuple[list[list[Any]], list[list[Any]], list[list[Any]]]:
    """q, v and clock after a step, what contact carries on, and records of it. A lane that fails stands still from then
    on, with status and step of the failure."""
    q, v, (k, status, failed), (dt,) = x["q"], x["v"], x["clock"], x["dt"]
    converged: Any = True
    extra: list[list[Any]] = []
    records: list[list[Any]] = [[], [], [], []]
    memory = x.get("memory", [])
    going = status == 0
    if means.contact is None:
        with only_where(going):
            free = means.integrator.advance(tree, q, v, tau, dt, None, memory)
        new_q, new_v = free.q, free.v
    else:
        with only_where(going):
            outcome = means.contact.step(
                model, tree, means.integrator, q, v, tau, dt, x["contact"], memory, going, means.limits
            )
        new_q, new_v, converged, free = outcome.q, outcome.v, outcome.converged, outcome.free
        extra = [outcome.state]
        force = [number for vector in outcome.force for number in vector]
        solved = [outcome.iterations, outcome.residual] if means.contact.points(model) else []
        records = [force, outcome.slip, outcome.depth, solved]
    if means.integrator.solves:
        converged = converged & free.converged
        records.append([free.iterations, free.residual])
        extra = [*([free.state] if memory else []), *extra]
    else:
        records.append([])
    total: Any = 0.0
    for _, _, joint in tree.outward():
        if joint.joint.leader is None:
            total = total + _sum(new_q[joint.q]) + _sum(new_v[joint.v])
    good_state = abs(total) <= LARGEST
    good = going & good_tau & good_state & converged
    reason = where(good_tau, where(good_state, NOT_CONVERGED, DIVERGED), BAD_CONTROL)
    if watched := regularity(model).watched:
        regular = lost_pivots(pivots(tree, q), watched) == 0
        good, reason = good & regular, where(good_tau & logical_not(regular), SINGULAR, reason)
    clock = [k + 1.0, where(good, status, where(going, reason, status)), where(good, failed, where(going, k, failed))]
    state = [tree.chosen(good, new, old) for new, old in ((new_q, q), (new_v, v))]
    return [*state, clock], extra, records


def _passed(model: Model, q: Sequence[Any], clock: Sequence[Any], before: Sequence[Any]) -> list[Any]:
    """Number of the first step that ended beyond a limit, and which limit it was; -1 if none has."""
    step, which = before
    for k, limit in enumerate(limits_of(model)):
        first = (step < 0) & limit.is_beyond(q[limit.coordinate])
        step, which = where(first, clock[0] - 1.0, step), where(first, float(k), which)
    return [step, which]


def _sum(values: Sequence[Any]) -> Any:
    total: Any = 0.0
    for value in values:
        total = total + value
    return total
