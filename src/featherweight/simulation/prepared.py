"""Short rollouts that are asked for again: everything but their numbers is ready.

A step of one robot takes less time than the checks around it. So what a short rollout needs (its loop, constants,
memory for inputs and results) stays with the model, under the arguments it was asked with: numbers and shapes by value,
objects by themselves as long as their fields are the same, a compiled controller by its function as long as that is
the same, with all it refers to. One like it copies its states, forces, parameters and a controller's numbers into that
memory, runs, and takes a copy of the results. Whatever is unusual is handed back, to be run and explained in
`running.py`: a robot that fails or begins beyond its limits, numbers that are not in plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler import interpreting
from featherweight.compiler.runtime.arguments import address_of
from featherweight.compiler.runtime.loop import Loop
from featherweight.constraints.joint_limit import without_limits
from featherweight.identity import identity
from featherweight.simulation.control import Compiled
from featherweight.simulation.limits import within
from featherweight.simulation.problem import Problem
from featherweight.simulation.run import Run
from featherweight.simulation.trajectory import FIELDS, Trajectory
from featherweight.simulation.warning import damping_of

MOST_NUMBERS = 8192  # of inputs and results: copies of more take longer than what is saved
MOST_KEPT = 32  # prepared rollouts of a model
FLOAT = np.dtype(float)


class Request:
    """What a rollout is asked for: the arrays q, v, tau, f_ext, or None; numbers that say how it is cut into steps and
    samples; what moves the robot, by name; constants of the model, by name; and others, None or False where nothing
    else is asked for."""

    __slots__ = ("_arrays", "_control", "_key", "_model", "_moving", "_parameters", "stopped")

    def __init__(
        self, model: Any, arrays: Sequence[Any], numbers: Sequence[Any], moving: dict[str, Any], parameters: Any,
        others: Sequence[Any],
    ) -> None:  # fmt: skip
        self._model, self._arrays, self._moving = model, arrays, moving
        self._key: Any = None
        self._parameters: dict[str, np.ndarray] = {}
        self._control: Compiled | None = None
        self.stopped = False  # has Ctrl-C come?
        if any(x is not None and x is not False for x in others) or interpreting():
            return
        key: list[Any] = [*numbers, *map(type, numbers)]
        for x in arrays:
            if x is None:
                key.append(None)
            elif type(x) is np.ndarray and x.dtype is FLOAT:
                key.append(x.shape)
            else:
                return
        for x in moving.values():
            key.append(tuple(map(id, x)) if type(x) is tuple or type(x) is list else id(x))
        if parameters is not None and not self._take_parameters(parameters, key):
            return
        if moving["control"] is not None and not self._take_control(moving["control"], key):
            return
        self._key = tuple(key)

    def _take_parameters(self, parameters: Any, key: list[Any]) -> bool:
        """Constants of the model; false if they are not in plain arrays, or none."""
        if type(parameters) is not dict or not parameters:
            return False
        for name, given in parameters.items():
            value = np.array(given) if type(given) is float else given
            if type(value) is not np.ndarray or value.dtype is not FLOAT:
                return False
            self._parameters[name] = value
            key += name, value.shape
        return True

    def _take_control(self, control: Any, key: list[Any]) -> bool:
        """A compiled controller, by its function: `with_parameters` makes a new one each time."""
        if type(control) is not Compiled or control.state.dtype is not FLOAT or control.parameters.dtype is not FLOAT:
            return False
        self._control = control
        key[key.index(id(control))] = id(control.function)
        key += control.state.shape, control.parameters.shape, control.every, control.sees, *control.outputs.items()
        return True

    def again(self) -> Trajectory | None:
        """The trajectory, if a rollout like this one was prepared and this is an ordinary one."""
        if self._key is None:
            return None
        try:
            known = self._model.cache.rollouts.get(self._key)
        except (AttributeError, TypeError):  # bad arguments, which are named later
            return None
        if known is None:
            return None
        if known.unchanged() and known.same_function(self._control):
            return self._run(known)
        self._model.cache.rollouts.pop(self._key, None)
        return None

    def prepared(self, problem: Problem, chunk_of: Callable[[Loop, int], int]) -> Trajectory | None:
        """The same of the second of its kind, which is prepared now, if it is small and one chunk. The first is only
        noted: objects that are made for each call never come again."""
        kept = problem.model.cache.rollouts
        if self._key is None or kept.get(self._key) is not None or not _repeatable(problem, self._moving):
            return None
        if problem.steps > chunk_of(problem.loop, problem.count):
            return None
        if self._key not in kept:
            while len(kept) >= MOST_KEPT:
                kept.pop(next(iter(tuple(kept)), None), None)
            kept[self._key] = None
            return None
        known = kept[self._key] = Prepared(problem, self._moving, self._parameters)
        return self._run(known)

    def _run(self, known: Prepared) -> Trajectory | None:
        try:
            q, v, tau, f_ext = self._arrays
            return known.run(q, v, tau, f_ext, self._parameters, self._control)
        except KeyboardInterrupt:
            self.stopped = True
            return None


def _repeatable(p: Problem, moving: dict[str, Any]) -> bool:
    """Is it small, and do others like it differ in the numbers of their arrays alone?"""
    options = p.options
    if options is None or not p.count or (p.record == "mean" and p.every > 1):
        return False
    if not _says_nothing(p, moving["limits"]):
        return False
    for name, values in (("forces", options.forces), ("constraints", options.constraints)):
        given = moving[name]
        if type(given) not in (tuple, list) and (given,) != values:  # a collection that may change
            return False
    samples = sum(c.size for c in p.carry) * (p.samples + 1) + p.count * p.samples * sum(map(prod, p.records.values()))
    if samples + sum(a.size for a in (*p.carry, *p.given)) > MOST_NUMBERS:
        return False
    if not options.fields.fixed or not options.identity.settled:
        return False
    return not (options if options.control is None else replace(options, control=None)).identity.foreign


def _says_nothing(p: Problem, limits: bool) -> bool:
    """Is there nothing to warn of but joints beyond their limits, wherever a run like it begins?"""
    options: Any = p.options
    if options.contact is not None and p.dt > options.contact.longest_step(p.model, p.carry[0][0]):
        return False
    if limits and without_limits(p.model):
        return False
    return options.integrator.damping_limit == np.inf or not damping_of(p.model).any()


class Prepared:
    """A problem that is run again with other states and forces."""

    def __init__(self, problem: Problem, moving: dict[str, Any], parameters: dict[str, np.ndarray]) -> None:
        options: Any = problem.options
        self._problem, self._kept = problem, moving  # all objects whose ids are in the key
        self.unchanged = options.fields.unchanged
        self._function = None if options.control is None else identity(options.control.function)
        self._limited = options.limits or options.watched
        self._code = problem.loop.code(problem.count)
        self._model, self._count, self._steps = problem.model, problem.count, problem.steps
        self._names = tuple(parameters)  # of constants that are given
        self._free = [_Memory(problem, self._names)]  # not in use: calls from several threads have one each
        self._fields = _fields_of(self._free[0])

    def same_function(self, control: Compiled | None) -> bool:
        """Is a controller's function still the same, with all it refers to?"""
        return control is None or identity(control.function) == self._function

    def run(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray | None, f_ext: np.ndarray | None,
        parameters: dict[str, np.ndarray], control: Compiled | None,
    ) -> Trajectory | None:  # fmt: skip
        """The rollout from these states with these forces; None if it is not an ordinary one."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = _Memory(self._problem, self._names)
        memory.q[...], memory.v[...] = q, v
        if tau is not None:
            memory.tau[...] = tau
        if f_ext is not None:
            memory.f_ext[...] = f_ext
        if control is not None:
            memory.x[...], memory.p[...] = control.state, control.parameters
        for name, value in parameters.items():
            memory.parameters[name][...] = value
        results = None
        good = not self._limited or within(self._model, memory.first)
        if good and (not parameters or self._possible(parameters)):
            self._code.run_rows(memory.address, self._count, self._steps)
            if memory.good():
                results = memory.results.copy()
        self._free.append(memory)
        if results is None:
            return None
        own = {name: value.copy() for name, value in parameters.items()}
        ground, pairs = self._problem.ground, self._problem.pairs
        return Trajectory.later(self._model, ground, pairs, partial(self._field, results, own))

    def _possible(self, parameters: dict[str, np.ndarray]) -> bool:
        """Can a model be built with them? What cannot be is explained elsewhere."""
        try:
            for name, value in parameters.items():
                self._model.parameters[name].check(value)
        except ValueError:
            return False
        return True

    def _field(self, results: np.ndarray, parameters: dict[str, np.ndarray], name: str) -> Any:
        """A field of the trajectory that these results are."""
        return parameters if name == "parameters" else _taken(results, self._fields[name])


class _Memory:
    """Inputs of a call, and its results in one piece, for one run at a time."""

    tau: np.ndarray
    f_ext: np.ndarray
    x: np.ndarray  # first state and parameters of a controller
    p: np.ndarray

    def __init__(self, problem: Problem, parameters: Sequence[str]) -> None:
        carry, given = tuple(map(np.array, problem.carry)), tuple(map(np.array, problem.given))
        control = None if problem.options is None else problem.options.control
        own = [*range(1, 1 + len(problem.model.parameters)), *([] if control is None else [len(problem.constants) - 1])]
        constants = tuple(np.array(c) if k in own else c for k, c in enumerate(problem.constants))
        self._run = run = Run(replace(problem, carry=carry, given=given, constants=constants))
        p, names = run.problem, [a.name for a in problem.loop.carry]
        if control is not None:
            self.x = _view(carry[names.index("x")], p, control.state.shape[-1:])
            self.p = _view(constants[-1], p, control.parameters.shape[-1:])
        declared = p.model.parameters
        rows = dict(zip(declared, constants[1:], strict=False))
        self.parameters = {name: _view(rows[name], p, declared[name].shape) for name in parameters}
        self.first = carry[0]
        self.q, self.v = (c.reshape(*p.batch, c.shape[1]) for c in carry[:2])
        forces = iter(given)
        if p.options is not None and p.options.given:
            self.tau = next(forces).reshape(*p.batch, p.steps, p.model.nv)
        if p.options is not None and p.options.wrenches:
            self.f_ext = next(forces).reshape(*p.batch, p.steps, p.model.nb + 1, 6)
        shapes = [a.shape for a in (*run.history, *carry[run.kept :], *run.records.values())]
        ends = np.cumsum([0, *map(prod, shapes)]).tolist()
        self.results = np.zeros(ends[-1])
        parts = [self.results[ends[k] : ends[k + 1]].reshape(shape) for k, shape in enumerate(shapes)]
        states, records = parts[: len(carry)], parts[len(carry) :]
        run.history, run.records = states[: run.kept], dict(zip(run.records, records, strict=True))
        run.now = list(carry)
        self._call = run.call(p.steps, p.every, states, records)
        self.address = self._call.address
        self._states, self._alone = states, p.count == 1
        self._clock = states[names.index("clock")]
        self._passed = states[names.index("passed")] if "passed" in names else None

    def good(self) -> bool:
        """Has no robot failed, nor passed a limit that does not act?"""
        failed = self._clock.item(1) if self._alone else self._clock[:, 1].any()
        return not failed and (self._passed is None or not (self._passed[:, 0] >= 0).any())

    def trajectory(self) -> Trajectory:
        """What the results are, where no robot has failed."""
        run, p = self._run, self._run.problem
        self._clock[:, 1:] = 0.0, -1.0
        run.k, run.done = p.steps, p.samples
        run.now = [*(states[:, -1] for states in run.history), *self._states[run.kept :]]
        return run.trajectory()


def _view(rows: np.ndarray, p: Problem, shape: tuple[int, ...]) -> np.ndarray:
    """Rows, one a robot or one for all, as an array (…, *shape) that values are copied into."""
    return rows.reshape((*p.batch, *shape)) if len(rows) == p.count else rows.reshape(shape)


def _fields_of(memory: _Memory) -> dict[str, Any]:
    """Fields of a trajectory by name: where they begin and end in the results, and their shapes; what is the same for
    all of them as it is."""
    whole, start = memory.trajectory(), address_of(memory.results)

    def place(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: place(one) for name, one in value.items()}
        if isinstance(value, np.ndarray) and np.shares_memory(value, memory.results):
            first = (address_of(value) - start) // FLOAT.itemsize
            return first, first + value.size, value.shape
        return value

    return {name: place(getattr(whole, name)) for name in FIELDS}


def _taken(results: np.ndarray, place: Any) -> Any:
    """What is there in the results; dictionaries of such."""
    if type(place) is dict:
        return {name: _taken(results, one) for name, one in place.items()}
    if type(place) is tuple:
        start, stop, shape = place
        return results[start:stop].reshape(shape)
    return place.copy()
