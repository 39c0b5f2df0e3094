"""Runs with an ordinary Python function as their controller, which is called between the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.compiler.runtime.loop import Call, stepper
from featherweight.errors import SimulationError
from featherweight.simulation.problem import Problem
from featherweight.simulation.run import LAST_STATES, Run, last_of
from featherweight.simulation.step import RECORDED
from featherweight.simulation.trajectory import Trajectory

FLOAT = np.dtype(float)
LENGTH = 1000  # steps on a tape


def python_run(problem: Problem) -> PythonRun:
    return AloneWithPython(problem) if problem.count == 1 else BatchWithPython(problem)


class PythonRun(Run):
    """What both kinds have in common: forces for a step, from a function that may do anything."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._first()
        p = problem
        self._shape = (*p.batch, p.model.nv)
        self._forces = np.empty((p.count, 1, p.model.nv))
        self._tau = self._forces.reshape(self._shape)  # the same memory
        self._rest = [np.array(c) for c in self.now[RECORDED:]]  # what is carried and not recorded, after k steps
        self._stepper = stepper(p.loop, p.count)

    def _plain(self, forces: Any) -> bool:
        return forces.__class__ is np.ndarray and forces.dtype is FLOAT and forces.shape == self._shape

    def _converted(self, forces: Any, k: int) -> np.ndarray:
        """What a controller returned as a plain array of the right shape."""
        try:
            array = np.asarray(forces)
            if (
                not np.can_cast(array.dtype, FLOAT, "same_kind")
                or array.dtype == bool
                or array.shape[-1:] != self._shape[-1:]
                or isinstance(forces, np.ma.MaskedArray)
            ):
                raise TypeError
            return np.array(np.broadcast_to(array, self._shape), dtype=float, order="C")
        except (TypeError, ValueError):
            what = type(forces).__name__
            if isinstance(forces, np.ndarray):
                what = f"shape {forces.shape}" + ("" if forces.dtype == FLOAT else f" of {forces.dtype}")
            at = f"at step {k}, t = {k * self.problem.dt:g} s"
            raise self._error(f"the controller returned {what} {at}; expected {self._shape}", k) from None

    def _broken(self, error: Exception, k: int) -> SimulationError:
        """A controller raised."""
        at = f"at step {k}, t = {k * self.problem.dt:g} s"
        return self._error(f"the controller raised {type(error).__name__} {at}: {error}", k)

    def _error(self, message: str, k: int) -> SimulationError:
        return SimulationError(message, self.trajectory(), self._recently(k))

    def _recently(self, k: int) -> Trajectory | None:
        """Up to 100 states to the one at step k; None for a batch."""
        return None


class BatchWithPython(PythonRun):
    """Many robots: each step is made in the same place."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        p = problem
        # a step writes the state it began with and the new one: its own place is the second half of `pairs`
        pairs = [np.stack([c, c], axis=1) for c in self.now[:RECORDED]]
        self.now = [*(pair[:, 1] for pair in pairs), *self._rest]
        self._out = [np.empty((p.count, 1, *shape)) for shape in p.records.values()]
        self._stepper.use(Call(self.now, [self._forces], p.constants, [*pairs, *self._rest], self._out, 1, 1))

    def advance(self, steps: int) -> None:
        try:
            self._step_by_step(min(self.k + steps, self.problem.steps))
        finally:  # also if the controller raises or Ctrl-C comes: the file is to know which robots have failed
            self.last = [np.array(c) for c in self._rest]

    def _step_by_step(self, end: int) -> None:
        p, every, dt = self.problem, self.problem.every, self.problem.dt
        control: Any = p.control
        q, v = (now.reshape(*p.batch, now.shape[1]) for now in self.now[:RECORDED])
        for k in range(self.k, end):
            try:
                forces = control(k * dt, q.copy(), v.copy())
            except Exception as error:
                raise self._broken(error, k) from error
            self._tau[...] = forces if self._plain(forces) else self._converted(forces, k)
            self._stepper.step()
            if not k % every:
                for record, out in zip(self.records.values(), self._out, strict=True):
                    record[:, k // every] = out[:, 0]
            self.k = k + 1
            if not self.k % every:
                done = self.k // every
                for states, now in zip(self.history, self.now, strict=False):
                    states[:, done] = now
                self.done = done


class Tape:
    """States and records of one robot's last steps, one after the other as native code writes them."""

    def __init__(
        self, p: Problem, k: int, states: list[np.ndarray], records: list[np.ndarray], tau: np.ndarray, rest: list[Any]
    ) -> None:
        """After k steps: states (1, m + 1, n), of which the last is the present one, and records (1, m, …) before it.
        `tau` is what acts in a step, `rest` what is carried and not recorded."""
        m = states[0].shape[1] - 1
        self.first, self._begun, self.end = k - m, k, k + LENGTH  # steps before: its rows, itself, its end
        self.states, self.records = ([_longer(old, LENGTH) for old in arrays] for arrays in (states, records))
        now = [states[:, m] for states in self.states]
        history = [states[:, m:] for states in self.states]
        made = [record[:, m:] for record in self.records]
        self.call: Call = Call([*now, *rest], [tau], p.constants, [*history, *rest], made, 1, 1)

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
        states = [c[:, None] for c in self.now[:RECORDED]]
        records = [np.empty((1, 0, *shape)) for shape in p.records.values()]
        self._tape = Tape(p, 0, states, records, self._forces, self._rest)
        self._step: Any = (None if p.batch else self._stepper.from_python) or self._slow_step

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
        step, dt = self._step, self.problem.dt
        control: Any = self.problem.control
        clock = self._rest[0].reshape(-1).data
        self._stepper.use(self._tape.call)
        q, v = self._state()
        for k in range(self.k, min(end, self._tape.end)):
            try:
                forces = control(k * dt, q, v)
            except Exception as error:
                raise self._broken(error, k) from error
            state = step(forces)
            if state is None:
                state = step(self._converted(forces, k))
            q, v = state
            if clock[1]:
                break

    def _slow_step(self, forces: Any) -> tuple[np.ndarray, ...] | None:
        """What `Stepper.from_python` does, where there is no such function."""
        if not self._plain(forces):
            return None
        self._tau[...] = forces
        self._stepper.step()
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
            self._tape = Tape(self.problem, k, states, records, self._forces, self._rest)

    def _error(self, message: str, k: int) -> SimulationError:
        self._keep()
        return super()._error(message, k)

    def last_states(self) -> Trajectory:
        return self._recently(int(self.clock[0, 2]))

    def _recently(self, k: int) -> Trajectory:
        first = max(self._tape.first, k - LAST_STATES + 1)
        (q, v), records = self._tape.rows(first, k + 1)
        own = {name: r[:, : k - first] for name, r in zip(self.problem.records, records, strict=True)}
        return last_of(self.problem, first, q, v, own, self.clock)
