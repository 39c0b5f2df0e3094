"""One step of a simulation as a traced function, and the native loop around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from types import SimpleNamespace
from typing import Any

from featherweight.algorithms import lost_pivots, pivots
from featherweight.compiler import Argument, Node, explained, interpreting, traced_array
from featherweight.compiler.runtime.loop import Loop
from featherweight.constraints.joint_limit import limits_of
from featherweight.dynamics.evaluate import LARGEST, wrenches
from featherweight.dynamics.regularity import need_regular, regularity
from featherweight.errors import SimulationError
from featherweight.forces import Kinematics, Wrenches
from featherweight.identity import identity
from featherweight.model import Model, Tree
from featherweight.model.cache import Kernels
from featherweight.scalar import logical_not, only_where, when, where
from featherweight.simulation.control import Compiled, misfit
from featherweight.simulation.loading import OUTPUT
from featherweight.simulation.options import StepOptions
from featherweight.simulation.pipeline import Memory, Parts, Records, Stepped, damped_by, step
from featherweight.simulation.status import Status

NOT_CONVERGED, DIVERGED, BAD_CONTROL, BAD_INPUT, SINGULAR = map(
    float, (Status.NOT_CONVERGED, Status.DIVERGED, Status.BAD_CONTROL, Status.BAD_INPUT, Status.SINGULAR)
)
MOST_TRACED = 16  # loops around code of others that are kept with a robot or a controller
RETURNED = 2  # parts of the carry that a step from Python gives back: q and v


def step_loop(model: Model, options: StepOptions) -> Loop:
    """The loop for a model and what moves it, made once for a structure; one around a user's controller lives as long
    as that does. One whose options cannot be fingerprinted is never kept."""
    known = options.identity
    if not known.settled or (known.foreign and interpreting()):  # it may be traced later, when it has changed
        return _make(model, options)
    key = ("loop", known)
    theirs = options.control if known.foreign else None
    loops = model.cache.kernels if theirs is None else theirs.loops.setdefault(model, Kernels())
    if known.foreign and key not in loops:
        _forget(loops)
    return loops.once(key, lambda: _make(model, options).traced(now=bool(known.foreign)))


def _forget(loops: dict[Any, Any]) -> None:
    """Drop the oldest loop around code of others, where there are many: each new function or number makes one."""
    traced = [key for key in tuple(loops) if key[0] == "loop" and key[1].foreign]
    if len(traced) >= MOST_TRACED:
        loops.pop(traced[0], None)


def carry_of(model: Model, options: StepOptions) -> list[Argument]:
    """What a step hands on to the next, by name. The clock has step number, status, and step of the failure."""
    sizes = options.parts.memory_sizes(model)
    carry = [
        Argument("q", (model.nq,), "nq", tuple(j.q.start for j in model.independent_joints)),
        Argument("v", (model.nv,), "nv", tuple(j.v.start for j in model.independent_joints)),
    ]
    control = options.control
    if control is not None:
        carry.append(Argument("x", control.state.shape[-1:], "n"))
    carry.append(Argument("clock", (3,), "3"))
    if sizes.integrator:
        carry.append(Argument("integrator", (sizes.integrator,), "n"))
    if others := sum(sizes.elements) + sizes.constraints:
        carry.append(Argument("memory", (others,), "n"))
    if options.watched:
        carry.append(Argument("passed", (2,), "2"))
    if control is not None and control.feels:
        carry.append(Argument("felt", (3 * len(model.contact_points),), "3 nc"))
    if control is not None and control.every > 1:
        carry.append(Argument("held", (1 + model.nv + control.held,), "n"))
    return carry


def constants_of(model: Model, options: StepOptions) -> list[Argument]:
    """What holds for all steps: their length, declared parameters of the model, numbers of whatever moves it."""
    constants = [Argument("dt", (), ""), *(Argument(p.name, p.shape, "") for p in model.parameters.values())]
    if options.numbers:
        constants.append(Argument("numbers", (len(options.numbers),), "n"))
    constants += [
        Argument(f"table {k}", table.shape, "n", read_by_index=True) for k, table in enumerate(options.tables)
    ]
    if options.control is not None:
        constants.append(Argument("p", options.control.parameters.shape[-1:], "m"))
    return constants


def _make(model: Model, options: StepOptions) -> Loop:
    need_regular("simulation", model)
    carry, constants = carry_of(model, options), constants_of(model, options)
    forces = [Argument("tau", (model.nv,), "nv")] if options.given else []
    if options.wrenches:
        forces.append(Argument("f_ext", (6 * model.nb + 6,), "6 (nb + 1)"))
    records = options.records(model)

    def function(scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        names = [a.name for a in (*carry, *forces, *constants)]
        x = dict(zip(names, scalars, strict=True))
        tree = model.over(lift, mark, {n: x[n] for n in model.parameters})
        tables = [x[f"table {k}"] for k, _ in enumerate(options.tables)]
        after, recorded, _ = one_step(model, tree, options.over(x.get("numbers", ()), tables), x)
        if unknown := set(recorded) - set(records):
            raise ValueError(f"records: expected names among {', '.join(records)}, got {', '.join(sorted(unknown))}")
        return [*(after[a.name] for a in carry), *(_recorded(recorded, n, shape) for n, shape in records.items())], 0

    whole = identity("step", options.identity.text, model, options.touching(model))
    fingerprint = None if options.identity.foreign else whole.everywhere
    by_user, shapes = options.control is not None, list(records.values())
    return Loop("step", carry, forces, constants, shapes, function, RETURNED, fingerprint, one_by_one=by_user)


def _recorded(records: dict[str, list[Any]], name: str, shape: tuple[int, ...]) -> list[Any]:
    """A record of a step as it is kept: zeros where nothing gave it."""
    size = prod(shape)
    if not size and name in ("solver", "convergence"):
        return []
    values = records.get(name, [0.0] * size)
    if len(values) != size:
        raise ValueError(f"records: {name}: expected {size} numbers in a step, got {len(values)}")
    return list(values)


@dataclass(frozen=True)
class Setting:
    """What a step begins with: its parts, the state, the forces that were asked for and those that actuators give, and
    what is remembered; of a controller its next state and its outputs."""

    parts: Parts
    at: Kinematics
    asked: list[Any]
    tau: list[Any]
    memory: Memory
    x: list[Any]
    outputs: list[Any]


def setting(model: Model, tree: Tree, options: StepOptions, x: dict[str, list[Any]]) -> Setting:
    """What a step begins with, from its arguments by name."""
    parts = options.parts
    asked, x_after, outputs = _forces(model, x, options)
    if options.control is not None and "tau" in x:  # beside those of the controller
        asked = [a + t for a, t in zip(asked, x["tau"], strict=True)]
    tau = asked if options.actuators is None else options.actuators.forces(model, x["v"], asked)
    if options.wrenches:
        parts = replace(parts, elements=(*parts.elements, Wrenches(tuple(wrenches(x["f_ext"]) or ()))))
    at = Kinematics(model, damped_by(parts.elements, model, tree), x["q"], x["v"])
    return Setting(parts, at, asked, tau, _memory(parts, model, x), x_after, outputs)


def one_step(
    model: Model, tree: Tree, options: StepOptions, x: dict[str, list[Any]], begin: Setting | None = None
) -> tuple[dict[str, list[Any]], dict[str, list[Any]], Stepped]:
    """The carry after a step, and records of it, by name; and the step itself. A lane that fails stands still from then
    on, with status and step of the failure."""
    (k, status, failed), (dt,) = x["clock"], x["dt"]
    going = status == 0
    begin = begin or setting(model, tree, options, x)
    asked, tau = begin.asked, begin.tau
    good_tau = abs(_sum(asked)) <= LARGEST
    with only_where(going):
        after = step(begin.parts, begin.at, tau, dt, begin.memory, going)

    total: Any = 0.0
    for _, _, joint in tree.outward():
        if joint.kind.leader is None:
            total = total + _sum(after.q[joint.q]) + _sum(after.v[joint.v])
    good_state, good_input = abs(total) <= LARGEST, _good_input(model, tree, x)
    good = going & good_input & good_tau & good_state & after.converged
    reason = where(good_tau, where(good_state, NOT_CONVERGED, DIVERGED), BAD_CONTROL)
    if watched := regularity(model).watched:
        regular = lost_pivots(pivots(tree, x["q"]), watched) == 0
        good, reason = good & regular, where(good_tau & logical_not(regular), SINGULAR, reason)
    reason = where(good_input, reason, BAD_INPUT)
    clock = [k + 1.0, where(good, status, where(going, reason, status)), where(good, failed, where(going, k, failed))]

    new = {name: tree.chosen(good, values, x[name]) for name, values in (("q", after.q), ("v", after.v))}
    still = clock[1] == 0
    if "integrator" in x:
        new["integrator"] = after.memory.integrator  # a lane at rest needs none
    if "memory" in x:
        new["memory"] = tree.chosen(still, [*chain(*after.memory.elements), *after.memory.constraints], x["memory"])
    if options.watched:
        passed = _passed(model, tree, new["q"], clock, x["passed"])
        new["passed"] = tree.chosen(still, passed, x["passed"])
    after.records.add({"tau": list(tau)})
    if options.control is not None:
        new["x"] = tree.chosen(still, begin.x, x["x"])
        _remember(options.control, x, asked, begin.outputs, after.records, new)
    return {**new, "clock": clock}, after.records, after


def _good_input(model: Model, tree: Tree, x: dict[str, list[Any]]) -> Any:
    """Is this a state of the robot, with forces and parameters that are numbers it can have?"""
    total = _sum(x["q"]) + _sum(x["v"]) + _sum(x.get("f_ext", ())[6:])
    for name in model.parameters:
        total = total + _sum(x[name])
    good = abs(total) <= LARGEST
    for _, _, joint in tree.outward():
        check = 0 if joint.kind.leader is not None else joint.kind.check(x["q"][joint.q])
        if not isinstance(check, int):  # joints whose configurations are all good say 0
            good = good & (check == 0)
    for name, parameter in model.parameters.items():
        if parameter.not_negative:
            for value in x[name]:
                good = good & (value >= 0)
    return good


def _memory(parts: Parts, model: Model, x: dict[str, list[Any]]) -> Memory:
    """What the parts of a step remember, out of the carry."""
    sizes, own = parts.memory_sizes(model), iter(x.get("memory", ()))
    elements = [[next(own) for _ in range(size)] for size in sizes.elements]
    return Memory(x.get("integrator", []), elements, list(own))


def _remember(
    control: Compiled,
    x: dict[str, list[Any]],
    asked: list[Any],
    outputs: list[Any],
    records: Records,
    new: dict[str, Any],
) -> None:
    """What a controller sees next, what is held of it, and its outputs: into the carry and the records."""
    if "felt" in x:
        new["felt"] = list(records["contact_force"])
    if "held" in x:
        (left, *_) = x["held"]
        new["held"] = [where(left <= 0, control.every - 1.0, left - 1.0), *asked, *outputs]
    of_each = iter(outputs)
    for name, shape in control.outputs.items():
        records.add({f"{OUTPUT}{name}": [next(of_each) for _ in range(prod(shape))]})


def _forces(model: Model, x: dict[str, list[Any]], options: StepOptions) -> tuple[list[Any], list[Any], list[Any]]:
    """The forces of a step, the controller's next state, and its outputs."""
    control = options.control
    if control is None:
        return x.get("tau", [options.no_force] * model.nv), [], []
    if control.every == 1:
        return _asked(model, x, control)
    left, *held = x["held"]
    waiting = held[: model.nv], x["x"], held[model.nv :]
    return when(left <= 0, lambda: _asked(model, x, control), waiting)


def _asked(model: Model, x: dict[str, list[Any]], control: Compiled) -> tuple[list[Any], list[Any], list[Any]]:
    """What a controller gives in this step, checked."""
    time = x["clock"][0] * x["dt"][0]
    arrays = [traced_array(x[n]) for n in ("q", "v", "x", "p")]
    seen = [_seen(x, control)] if control.sees else []
    try:
        tau, after, outputs = control(time, *arrays, *seen)
    except Exception as error:
        what = f"the controller raised {type(error).__name__} while it was traced, before step 0, t = 0 s"
        call = misfit(control.function, "t", "q", "v", "x", "p", *(["s"] if control.sees else []))
        fix = f"{call} -> tau, x" if call else ""
        raise SimulationError(f"{what}: {explained(error)}{fix}") from error
    for name, values in (("tau", tau), ("x", after), ("outputs", outputs)):
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
    return tau, after, outputs


def _seen(x: dict[str, list[Any]], control: Compiled) -> SimpleNamespace:
    """What a controller sees beside the state, by name."""
    force = traced_array(x.get("felt", [])).reshape(-1, 3)
    touching = [where(f[0] * f[0] + f[1] * f[1] + f[2] * f[2] > 0, 1.0, 0.0) for f in force]
    known = {"contact_force": force, "touching": traced_array(touching)}
    known |= {"dt": x["dt"][0], "step": x["clock"][0]}
    return SimpleNamespace(**{name: known[name] for name in control.sees})


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST)


def _passed(model: Model, tree: Tree, q: Sequence[Any], clock: Sequence[Any], before: Sequence[Any]) -> list[Any]:
    """Number of the first step that ended beyond a limit, and which limit it was; -1 if none has."""
    step, which = before
    for k, limit in enumerate(limits_of(model)):
        first = (step < 0) & limit.over(tree.lift).is_beyond(q[limit.coordinate])
        step, which = where(first, clock[0] - 1.0, step), where(first, float(k), which)
    return [step, which]


def _sum(values: Sequence[Any]) -> Any:
    total: Any = 0.0
    for value in values:
        total = total + value
    return total
