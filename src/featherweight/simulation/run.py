"""A run: the arrays of a simulation, filled from chunk to chunk.

A chunk ends with the whole carry (q, v, clock, controller's state) and the next begins with it, so how a run is cut
into chunks changes no bit, and a run can be taken up again from any of its chunks.
"""

from __future__ import annotations

import ctypes
from collections import deque
from typing import Any

import numpy as np

from featherweight.compiler.arguments import address_of
from featherweight.errors import SimulationError
from featherweight.simulation.problem import Problem
from featherweight.simulation.step import RECORDED
from featherweight.simulation.trajectory import RECORDS, Trajectory, assembled

LAST_STATES = 100  # kept for the error when a run fails
FEW = 64  # robots that one thread steps sooner than several
FLOAT = np.dtype(float)


class Run:
    """The loop in native code."""

    def __init__(self, problem: Problem) -> None:
        self.problem = p = problem
        self.done = 0  # samples after the first
        self.history = [np.empty((p.count, p.samples + 1, c.shape[1])) for c in p.carry[:RECORDED]]
        for states, first in zip(self.history, p.carry, strict=False):
            states[:, 0] = first
        self.last = [np.array(c) for c in p.carry[RECORDED:]]  # what is not recorded, at the end of the last chunk
        self.records = [np.empty((p.count, p.samples, *shape)) for shape in p.records]
        self._begun: deque[tuple[int, list[np.ndarray]]] = deque()  # carries of chunks that a failure may need again

    @property
    def clock(self) -> np.ndarray:
        """Step, status and failed step of each robot."""
        return self.last[0]

    @property
    def failed(self) -> bool:
        """Has every robot failed?"""
        return bool((self.clock[:, 1] != 0).all())

    def carry(self) -> list[np.ndarray]:
        """The state to go on from."""
        return [*(states[:, self.done] for states in self.history), *self.last]

    def advance(self, samples: int) -> None:
        """Run on until so many more states are there."""
        p, i = self.problem, self.done
        before = [np.array(c) for c in self.carry()]
        while len(self._begun) > 1 and (i - self._begun[1][0]) * p.every >= LAST_STATES:
            self._begun.popleft()
        self._begun.append((i, before))
        last = [np.array(c) for c in self.last]
        p.loop.run(
            before,
            [forces[:, i * p.every : (i + samples) * p.every] for forces in p.given],
            p.constants,
            [*(states[:, i : i + samples + 1] for states in self.history), *last],
            [record[:, i : i + samples] for record in self.records],
            samples * p.every,
            p.every,
        )
        self.last, self.done = last, i + samples

    def last_states(self) -> Trajectory:
        """Up to 100 states before the failure of a single robot, one for each step."""
        p, failed = self.problem, int(self.clock[0, 2])
        sample, carry = next(
            (b for b in reversed(self._begun) if b[0] * p.every <= failed - LAST_STATES), self._begun[0]
        )
        start = sample * p.every
        first = max(start, failed - LAST_STATES + 1)
        if first > start:
            carry = [
                states.reshape(p.count, -1, states.shape[-1])[:, -1] for states in self._again(carry, start, first, 1)
            ]
        states = self._again(carry, first, failed, failed - first)
        return _last(p, first, states[0], states[1], states[len(carry) :], self.clock)

    def _again(self, carry: list[np.ndarray], start: int, end: int, samples: int) -> list[np.ndarray]:
        """Steps that were made before; states and forces."""
        p = self.problem
        records = [np.empty((p.count, samples, *shape)) for shape in p.records]
        if end == start:
            return [*(c[:, None] for c in carry), *records]
        states = [np.empty((p.count, samples + 1, c.shape[1])) for c in carry[:RECORDED]]
        states += [np.empty_like(c) for c in carry[RECORDED:]]
        given = [forces[:, start:end] for forces in p.given]
        p.loop.run(carry, given, p.constants, states, records, end - start, (end - start) // samples)
        return [*states, *records]

    def trajectory(self) -> Trajectory:
        """Everything so far; rows of failed lanes from the failed step on are NaN."""
        p, n = self.problem, self.done
        q, v = (states[:, : n + 1] for states in self.history)
        records = [record[:, :n] for record in self.records]
        return assembled(p.model, p.batch, p.dt, p.every, p.samples, q, v, records, self.clock)

    # ---- in a file

    def written(self, since: int | None) -> dict[str, np.ndarray]:
        """What a file needs of the samples after `since`, all of them for None, and to go on from here."""
        first, begin = (0, 0) if since is None else (since + 1, since)
        states = {n: s[:, first : self.done + 1] for n, s in zip(("q", "v"), self.history, strict=True)}
        records = {n: r[:, begin : self.done] for n, r in zip(RECORDS, self.records, strict=True)}
        others = {f"carry{k}": c for k, c in enumerate(self.last[1:])}
        return {**states, **records, "clock": self.clock, **others}

    def restore(self, arrays: dict[str, np.ndarray], since: int | None) -> None:
        """What `written` gave, put back."""
        first, begin = (0, 0) if since is None else (since + 1, since)
        self.done = first + arrays["q"].shape[1] - 1
        for states, name in zip(self.history, ("q", "v"), strict=True):
            states[:, first : self.done + 1] = arrays[name]
        for record, name in zip(self.records, RECORDS, strict=True):
            record[:, begin : self.done] = arrays[name]
        self.last = [np.array(arrays["clock"]), *(np.array(arrays[f"carry{k}"]) for k in range(len(self.last) - 1))]


class PythonRun(Run):
    """Step by step, with an ordinary Python function in between."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        p = problem
        # a step writes the state it began with and the new one: its own place is the second half of `pairs`
        self._pairs = [np.empty((p.count, 2, c.shape[1])) for c in p.carry[:RECORDED]]
        for pair, first in zip(self._pairs, p.carry, strict=False):
            pair[:, 1] = first
        self._tau = np.empty((p.count, 1, p.model.nv))
        self._out = [np.empty((p.count, 1, *shape)) for shape in p.records]
        carry = [*(pair[:, 1] for pair in self._pairs), *self.last]
        self._call = p.loop.call(carry, [self._tau], p.constants, [*self._pairs, *self.last], self._out, 1, 1)
        self._recent: deque[tuple[np.ndarray, ...]] = deque(maxlen=LAST_STATES)
        self._k = 0

    def advance(self, samples: int) -> None:
        p, control, every = self.problem, self.problem.control, self.problem.every
        if control is None or not p.count:
            self.done += samples
            return
        q, v = (pair.reshape(*p.batch, 2, pair.shape[-1])[..., 1, :] for pair in self._pairs)
        tau = self._tau.reshape(*p.batch, p.model.nv)
        axis = len(p.batch)
        Q, V = (np.moveaxis(a.reshape(*p.batch, *a.shape[1:]), axis, 0) for a in self.history)
        kept = [(r.swapaxes(0, 1), out[:, 0]) for r, out in zip(self.records, self._out, strict=True) if out.size]
        step, shape, clock = self._stepper(), tau.shape, self.last[0].reshape(-1).data
        watched = p.count == 1
        for k in range(self._k, self._k + samples * every):
            forces = self._asked(control, k, q.copy(), v.copy())
            if forces.__class__ is not np.ndarray or forces.dtype is not FLOAT or forces.shape != shape:
                forces = self._converted(forces, k, shape)
            tau[...] = forces
            if every > 1:
                self._recent.append((q.copy(), v.copy(), tau.copy()))
            step()
            if not k % every:
                for record, out in kept:
                    record[k // every] = out
            self._k = k + 1
            if not self._k % every:
                self.done = done = self._k // every
                Q[done], V[done] = q, v
            if watched and clock[1]:
                return

    def _stepper(self) -> Any:
        """A function that makes one step."""
        p, address = self.problem, ctypes.addressof(self._call)
        code = p.loop.code(p.count)
        if p.count > FEW:
            return lambda: code.run_rows(address, p.count)
        workspace, taken = code.workspace(), ctypes.c_int64()
        run, where, counter = code.run, address_of(workspace), ctypes.byref(taken)

        def step(workspace: np.ndarray = workspace) -> None:
            taken.value = 0
            run(address, where, counter, 0, 1)

        return step

    def _asked(self, control: Any, k: int, q: np.ndarray, v: np.ndarray) -> Any:
        try:
            return control(k * self.problem.dt, q, v)
        except Exception as error:
            raise SimulationError(
                f"the controller raised {type(error).__name__} at step {k}, t = {k * self.problem.dt:g} s: {error}",
                self.trajectory(),
            ) from error

    def _converted(self, forces: Any, k: int, shape: tuple[int, ...]) -> np.ndarray:
        """What a controller returned as an array of the right shape."""
        at = f"at step {k}, t = {k * self.problem.dt:g} s"
        try:
            array = np.asarray(forces)
            if not np.can_cast(array.dtype, FLOAT, "same_kind") or array.dtype == bool:
                raise TypeError
            return np.broadcast_to(array.astype(float), shape)
        except (TypeError, ValueError):
            what = type(forces).__name__
            if isinstance(forces, np.ndarray):
                what = f"shape {forces.shape}" + ("" if forces.dtype == FLOAT else f" of {forces.dtype}")
            raise SimulationError(f"the controller returned {what} {at}; expected {shape}", self.trajectory()) from None

    def last_states(self) -> Trajectory:
        p, failed = self.problem, int(self.clock[0, 2])
        if p.every == 1:
            first = max(0, failed - LAST_STATES + 1)
            q, v = (states[:, first : failed + 1] for states in self.history)
            records = [record[:, first:failed] for record in self.records]
        else:
            recent = list(self._recent)  # the last of them is the step that failed
            first = failed + 1 - len(recent)
            q, v = (np.array([r[j] for r in recent]).reshape(1, len(recent), -1) for j in (0, 1))
            records = [np.array([r[2] for r in recent[:-1]]).reshape(1, len(recent) - 1, -1)]
            records += [np.full((1, len(recent) - 1, *shape), np.nan) for shape in p.records[1:]]
        return _last(p, first, q, v, records, self.clock)


def _last(
    p: Problem, first: int, q: np.ndarray, v: np.ndarray, records: list[np.ndarray], clock: np.ndarray
) -> Trajectory:
    """States from step `first` on, one for each step, of a robot that failed after the last of them."""
    t = (first + np.arange(q.shape[1])) * p.dt
    status, failed = clock[0, 1].astype(np.uint8), clock[0, 2].astype(int)
    return Trajectory(
        p.model, t, q[0], v[0], *(r[0] for r in records[:2]), status, failed, True, *(r[0] for r in records[2:])
    )
