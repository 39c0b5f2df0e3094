"""Runs with an ordinary Python function as their controller, which is called between the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.compiler.runtime.loop import Call, single_steps
from featherweight.errors import SimulationError
from featherweight.simulation.control import as_forces, raised
from featherweight.simulation.problem import Problem
from featherweight.simulation.run import LAST_STATES, MeanRun, Run, kept, last_of, take
from featherweight.simulation.trajectory import Trajectory

FLOAT = np.dtype(float)
LENGTH = 1000  # steps on a tape


def run_of(problem: Problem) -> Run:
    """The run for a problem: with native code alone, or with Python in between."""
    if problem.control is None:
        return MeanRun(problem) if problem.record == "mean" and problem.every > 1 else Run(problem)
    alone = problem.count == 1 and (problem.record == "first" or problem.every == 1)
    return AloneWithPython(problem) if alone else BatchWithPython(problem)


class PythonRun(Run):
    """What both kinds have in common: forces for a step, from a function that may do anything."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._first()
        p = problem
        self._shape = (*p.batch, p.model.nv)
        self._forces = np.empty((p.count, 1, p.model.nv))
        self._tau = self._forces.reshape(self._shape)  # the same memory
        self._wrenches = [np.array(own[:, :1]) for own in p.given]  # of a step
        self._rest = [np.array(c) for c in self.now[self.kept :]]  # what is carried and not recorded, after k steps
        self._single = single_steps(p.loop, p.count)

    def _push(self, k: int) -> None:
        """Let the wrenches of step k act."""
        for own, given in zip(self._wrenches, self.problem.given, strict=True):
            own[:, 0] = given[:, k]

    def _asked(self, k: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What the controller asks for in step k; SimulationError, with the run so far, if it is no force."""
        control: Any = self.problem.control
        try:
            forces = control(self.problem.time(k), q, v)
        except Exception as error:
            raise self._error(raised(control, error, self._at(k)), k) from error
        return forces if self._plain(forces) else self._converted(forces, k)

    def _plain(self, forces: Any) -> bool:
        return forces.__class__ is np.ndarray and forces.dtype is FLOAT and forces.shape == self._shape

    def _converted(self, forces: Any, k: int) -> np.ndarray:
        """What a controller returned as a plain array of the right shape."""
        try:
            return as_forces(forces, self._shape, self._at(k))
        except SimulationError as error:
            raise self._error(error, k) from None

    def _at(self, k: int) -> str:
        return f"at step {k}, t = {np.ravel(self.problem.time(k))[0]:g} s"

    def _error(self, error: SimulationError, k: int) -> SimulationError:
        """With the trajectory, and up to 100 states to the one at step k; None for a batch."""
        return SimulationError(str(error), self.trajectory(), self._recently(k))

    def _recently(self, k: int) -> Trajectory | None:
        return None


class BatchWithPython(PythonRun):
    """Many robots: each step is made in the same place."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        p = problem
        self.now = [*(np.array(c) for c in self.now[: self.kept]), *self._rest]
        self._out = [np.empty((p.count, 1, *shape)) for shape in p.records.values()]
        given = [self._forces, *self._wrenches]
        self._single.use(Call(self.now, given, p.constants, self.now, self._out, 1, 1))

    def advance(self, steps: int) -> None:
        try:
            self._step_by_step(min(self.k + steps, self.problem.steps))
        finally:  # also if the controller raises or Ctrl-C comes: the file is to know which robots have failed
            self.last = [np.array(c) for c in self._rest]

    def _step_by_step(self, end: int) -> None:
        p, every = self.problem, self.problem.every
        q, v = (now.reshape(*p.batch, now.shape[1]) for now in self.now[: self.kept])
        for k in range(self.k, end):
            self._tau[...] = self._asked(k, q.copy(), v.copy())
            self._push(k)
            self._single.step()
            for (name, record), out in zip(self.records.items(), self._out, strict=True):
                take(record[:, k // every], out[:, 0], k % every, every, kept(name, p.record))
            self.k = k + 1
            if not self.k % every:
                done = self.k // every
                for states, now in zip(self.history, self.now, strict=False):
                    states[:, done] = now
                self.done = done


class Tape:
    """States and records of one robot's last steps, one after the other as native code writes them."""

    def __init__(
        self, p: Problem, k: int, states: list[np.ndarray], records: list[np.ndarray], given: list[Any], rest: list[Any]
    ) -> None:
        """After k steps: states (1, m + 1, n), of which the last is the present one, and records (1, m, …) before it.
        `given` is what acts in a step, `rest` what is carried and not recorded."""
        m = states[0].shape[1] - 1
        self.first, self._begun, self.end = k - m, k, k + LENGTH  # steps before: its rows, itself, its end
        self.states, self.records = ([_longer(old, LENGTH) for old in arrays] for arrays in (states, records))
        now = [states[:, m] for states in self.states]
        history = [states[:, m:] for states in self.states]
        made = [record[:, m:] for record in self.records]
        self.call: Call = Call([*now, *rest], given, p.constants, [*history, *rest], made, 1, 1)

    @property
    def k(self) -> int:
        """Steps that are made; native code counts them."""
        return self._begun + self.call.steps_made

    def rows(self, first: int, end: int, every: int = 1) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """States after first, first + every, … < end steps, and records of the steps that begin there."""
        part = slice(first - self.first, end - self.first, every)
        return [states[:, part] for states in self.states], [record[:, part] for record in self.records]


def _longer(old: np.ndarray, more: int) -> np.ndarray:
    m = old.shape[1]
    new = np.empty((1, m + more, *old.shape[2:]))
    new[:, :m] = old
    return new


class AloneWithPython(PythonRun):
    """One robot: native code goes along a tape, from which samples are taken now and then. It always has the last
    hundred states, for the error when the robot fails."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        p = problem
        states = [c[:, None] for c in self.now[: self.kept]]
        records = [np.empty((1, 0, *shape)) for shape in p.records.values()]
        self._tape = Tape(p, 0, states, records, [self._forces, *self._wrenches], self._rest)
        self._step: Any = (None if p.batch else self._single.from_python) or self._slow_step

    def advance(self, steps: int) -> None:
        end = min(self.k + steps, self.problem.steps)
        while self.k < end and not self.failed:
            self._rewind()
            try:
                self._along_the_tape(end)
            finally:  # also if the controller raises or Ctrl-C comes
                self._keep()

    def _along_the_tape(self, end: int) -> None:
        """Up to step `end`, the end of the tape, or the robot's failure."""
        step, p = self._step, self.problem
        control: Any = p.control
        clock = self._rest[0].reshape(-1).data
        self._single.use(self._tape.call)
        q, v = self._state()
        for k in range(self.k, min(end, self._tape.end)):
            try:
                forces = control(k * p.dt if p.began is None else p.time(k), q, v)
            except Exception as error:
                raise self._error(raised(control, error, self._at(k)), k) from error
            state = step(forces)
            if state is None:
                state = step(self._converted(forces, k))
            q, v = state
            if clock[1]:
                break

    def _slow_step(self, forces: Any) -> tuple[np.ndarray, ...] | None:
        """What `SingleSteps.from_python` does, where there is no such function."""
        if not self._plain(forces):
            return None
        self._tau[...] = forces
        self._push(self._tape.k)
        self._single.step()
        return self._state()

    def _state(self) -> tuple[np.ndarray, ...]:
        """Copies of q and v."""
        now = self._tape.k - self._tape.first
        return tuple(states[0, now].reshape(*self.problem.batch, -1).copy() for states in self._tape.states)

    def _keep(self) -> None:
        """The samples that are new on the tape, into the arrays; Ctrl-C comes before or after."""
        tape, every = self._tape, self.problem.every
        k = tape.k
        fresh = self.done + 1
        states, _ = tape.rows(fresh * every, k + 1, every)
        for array, new in zip(self.history, states, strict=True):
            array[:, fresh : fresh + new.shape[1]] = new
        begun = -(-self.k // every)
        _, records = tape.rows(begun * every, k, every)
        for array, new in zip(self.records.values(), records, strict=True):
            array[:, begun : begun + new.shape[1]] = new
        (now, _), rest = tape.rows(k, k + 1), [np.array(c) for c in self._rest]
        done = k // every
        if k % every and rest[0][0, 1]:  # it has failed: what it will be at the next sample
            done += 1
            for array, new in zip(self.history, now, strict=True):
                array[:, done] = new[:, 0]
        self._set(k=k, done=done, now=[*(state[:, 0] for state in now), *rest], last=rest)

    def _rewind(self) -> None:
        """A new tape, if this one is full."""
        tape, k = self._tape, self.k
        if k == tape.end:
            first = max(tape.first, k - LAST_STATES)
            states, records = tape.rows(first, k + 1)
            records = [record[:, : k - first] for record in records]
            given = [self._forces, *self._wrenches]
            self._tape = Tape(self.problem, k, states, records, given, self._rest)

    def _error(self, error: SimulationError, k: int) -> SimulationError:
        self._keep()
        return super()._error(error, k)

    def last_states(self) -> Trajectory:
        return self._recently(int(self.clock[0, 2]))

    def _recently(self, k: int) -> Trajectory:
        first = max(self._tape.first, k - LAST_STATES + 1)
        (q, v), records = self._tape.rows(first, k + 1)
        own = {name: r[:, : k - first] for name, r in zip(self.problem.records, records, strict=True)}
        return last_of(self.problem, first, q, v, own, self.clock)
