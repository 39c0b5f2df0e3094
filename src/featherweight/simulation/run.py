"""A run: the arrays of a simulation, filled from chunk to chunk.

A chunk ends with the whole carry (q, v, clock, controller's state) and the next begins with it, so how a run is cut
into chunks changes no bit, and a run can be taken up again from any of its chunks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from featherweight.compiler.runtime.loop import Call
from featherweight.compiler.runtime.memory import empty
from featherweight.simulation.header import in_a_row
from featherweight.simulation.problem import Problem
from featherweight.simulation.trajectory import Trajectory, assembled

LAST_STATES = 100  # kept for the error when a run fails


class Run:
    """The loop in native code."""

    def __init__(self, problem: Problem) -> None:
        self.problem = p = problem
        self.kept = len(p.states)  # parts of the carry whose history is kept
        self.k = 0  # steps that are made
        self.done = 0  # samples after the first
        self.history = [empty((p.count, p.samples + 1, c.shape[1])) for c in p.carry[: self.kept]]  # see `_first`
        self.records = {name: empty((p.count, p.samples, *shape)) for name, shape in p.records.items()}
        self.now = list(p.carry)  # the whole carry after k steps; never written to
        self.last = self.now[self.kept :]  # what is not recorded, at the last sample
        self._begun: deque[tuple[int, list[np.ndarray]]] = deque()  # carries that a failure may need again

    def _first(self) -> None:
        """Write the first states, if no step has: the native loop does when it begins, side by side."""
        if self.k == 0:
            for states, first in zip(self.history, self.problem.carry, strict=False):
                states[:, 0] = first

    @property
    def clock(self) -> np.ndarray:
        """Step, status and failed step of each robot."""
        return self.now[self.kept]

    @property
    def failed(self) -> bool:
        """Has every robot failed?"""
        return bool((self.clock[:, 1] != 0).all())

    def advance(self, steps: int) -> None:
        """Make up to so many steps more: whole samples, or a part of one."""
        p, i = self.problem, self.done
        while len(self._begun) > 1 and self.k - self._begun[1][0] >= LAST_STATES:
            self._begun.popleft()
        if p.count == 1:
            self._begun.append((self.k, self.now))
        begun = self.k % p.every
        samples = 0 if begun else min(steps // p.every, p.samples - i)
        rest = [np.empty_like(c) for c in self.now[self.kept :]]
        if samples:
            states = [states[:, i : i + samples + 1] for states in self.history]
            records = [record[:, i : i + samples] for record in self.records.values()]
            self._steps(samples * p.every, p.every, [*states, *rest], records)
            now = [*(s[:, -1] for s in states), *rest]
            self._set(k=self.k + samples * p.every, done=i + samples, now=now, last=rest)
            return
        self._first()
        part = min(steps, p.every - begun)
        pairs = [np.empty((p.count, 2, c.shape[1])) for c in self.now[: self.kept]]
        records = [np.empty((p.count, 1, *shape)) for shape in p.records.values()]
        self._steps(part, part, [*pairs, *rest], records)
        now = [*(np.array(pair[:, 1]) for pair in pairs), *rest]
        if not begun or p.record == "last":
            for record, new in zip(self.records.values(), records, strict=True):
                record[:, i] = new[:, 0]
        k = self.k + part
        if k % p.every == 0 or (rest[0][:, 1] != 0).all():
            self._sample(k, now)
        else:
            self._set(k=k, now=now)

    def _set(self, **places: Any) -> None:
        """How far it is, all at once: Ctrl-C comes before or after."""
        self.__dict__.update(places)

    def _steps(self, steps: int, every: int, states: list[np.ndarray], records: list[np.ndarray]) -> None:
        """Steps from now on, into arrays."""
        self.problem.loop.run(self.call(steps, every, states, records))

    def call(self, steps: int, every: int, states: list[np.ndarray], records: list[np.ndarray]) -> Call:
        """The call that makes steps from now on."""
        p = self.problem
        given = [forces[:, self.k : self.k + steps] for forces in p.given]
        return Call(self.now, given, p.constants, states, records, steps, every, record=p.record)

    def _sample(self, k: int, now: list[np.ndarray]) -> None:
        """Keep the state after k steps as the next sample. When all robots have failed it is what they will be then."""
        for states, c in zip(self.history, now, strict=False):
            states[:, self.done + 1] = c
        self._set(k=k, now=now, last=[np.array(c) for c in now[self.kept :]], done=self.done + 1)

    def last_states(self) -> Trajectory:
        """Up to 100 states before the failure of a single robot, one for each step."""
        p, failed = self.problem, int(self.clock[0, 2])
        begun = self._begun or [(0, list(p.carry))]
        start, carry = next((b for b in reversed(begun) if b[0] <= failed - LAST_STATES), begun[0])
        first = max(start, failed - LAST_STATES + 1)
        if first > start:
            states = self._again(carry, start, first, 1)[: len(carry)]
            carry = [*(c[:, -1] for c in states[: self.kept]), *states[self.kept :]]
        states = self._again(carry, first, failed, failed - first)
        records = dict(zip(p.records, states[len(carry) :], strict=True))
        return last_of(p, first, states[0], states[1], records, self.clock)

    def _again(self, carry: list[np.ndarray], start: int, end: int, samples: int) -> list[np.ndarray]:
        """Steps that were made before; the carry, q and v with their history, and records."""
        p = self.problem
        records = [np.empty((p.count, samples, *shape)) for shape in p.records.values()]
        if end == start:
            return [*(c[:, None] for c in carry[: self.kept]), *carry[self.kept :], *records]
        states = [np.empty((p.count, samples + 1, c.shape[1])) for c in carry[: self.kept]]
        states += [np.empty_like(c) for c in carry[self.kept :]]
        given = [forces[:, start:end] for forces in p.given]
        steps = end - start
        p.loop.run(Call(carry, given, p.constants, states, records, steps, steps // samples))
        return [*states, *records]

    def trajectory(self) -> Trajectory:
        """Everything so far; rows of failed lanes from the failed step on are NaN."""
        self._first()
        p, n = self.problem, self.done
        rows = {name: states[:, : n + 1] for name, states in zip(p.states, self.history, strict=True)}
        rows |= {name: record[:, :n] for name, record in self.records.items()}
        whole = assembled(p.model, p.batch, p.dt, p.every, p.samples, rows, self.clock, p.began)
        return replace(whole, ground=p.ground, pairs=p.pairs, parameters=p.parameters)

    # ---- in a file

    def written(self, since: int | None) -> dict[str, np.ndarray]:
        """What a file needs of the samples after `since`, all of them for None, and to go on from here."""
        self._first()
        first, begin = (0, 0) if since is None else (since + 1, since)
        states = {n: s[:, first : self.done + 1] for n, s in zip(self.problem.states, self.history, strict=True)}
        records = {n: r[:, begin : self.done] for n, r in self.records.items()}
        others = {f"carry{k}": c for k, c in enumerate(self.last[1:])}
        constants = in_a_row(self.problem.parameters) if since is None else {}
        return {**states, **records, "clock": self.last[0], **others, **constants}

    def restore(self, arrays: dict[str, np.ndarray], since: int | None) -> None:
        """What `written` gave, put back."""
        first, begin = (0, 0) if since is None else (since + 1, since)
        self.done = first + arrays["q"].shape[1] - 1
        for states, name in zip(self.history, self.problem.states, strict=True):
            states[:, first : self.done + 1] = arrays[name]
        for name, record in self.records.items():
            record[:, begin : self.done] = arrays[name]
        self.last = [np.array(arrays["clock"]), *(np.array(arrays[f"carry{k}"]) for k in range(len(self.last) - 1))]
        self.now = [*(np.array(states[:, self.done]) for states in self.history), *self.last]
        self.k = self.done * self.problem.every


class MeanRun(Run):
    """The same, with means of what is recorded in all steps of an interval, added up in their order."""

    def _steps(self, steps: int, every: int, states: list[np.ndarray], records: list[np.ndarray]) -> None:
        p, i, begun = self.problem, self.done, self.k % self.problem.every
        fine = [np.empty((p.count, steps + 1, s.shape[-1])) if s.ndim == 3 else s for s in states]
        new = [np.empty((p.count, steps, *shape)) for shape in p.records.values()]
        super()._steps(steps, 1, fine, new)
        for own, all_of_them in zip(states, fine, strict=True):
            if own.ndim == 3:
                own[...] = all_of_them[:, ::every]
        for (name, record), steps_of_it in zip(self.records.items(), new, strict=True):
            for k in range(steps):
                step = begun + k
                take(record[:, i + step // p.every], steps_of_it[:, k], step % p.every, p.every, kept(name, "mean"))
        for own, record in zip(records, self.records.values(), strict=True):
            own[...] = record[:, i : i + own.shape[1]]


def kept(name: str, how: str) -> str:
    """How a record is kept. Slots hold another contact point in each step, and numbers of these have no mean: then the
    first step counts, that of the state that is kept."""
    return "first" if how == "mean" and name == "slots" else how


def take(record: np.ndarray, new: np.ndarray, k: int, every: int, how: str) -> None:
    """Put what was recorded in step k of an interval into the record of the interval, (count, …)."""
    if how == "mean":
        record[...] = new if k == 0 else record + new
        if k == every - 1:
            record /= every
    elif k == (every - 1 if how == "last" else 0):
        record[...] = new


def last_of(
    p: Problem, first: int, q: np.ndarray, v: np.ndarray, records: Mapping[str, np.ndarray], clock: np.ndarray
) -> Trajectory:
    """States from step `first` on, one for each step, of a robot that failed after the last of them."""
    t = (first + np.arange(q.shape[1])) * p.dt
    status, failed = clock[0, 1].astype(np.uint8), clock[0, 2].astype(int)
    own: dict[str, Any] = {name: record[0] for name, record in records.items()}
    constants = {name: values.reshape(p.model.parameters[name].shape) for name, values in p.parameters.items()}
    return Trajectory(
        p.model,
        t,
        q[0],
        v[0],
        status=status,
        failed_step=failed,
        ground=p.ground,
        pairs=p.pairs,
        parameters=constants,
        **own,
    )
