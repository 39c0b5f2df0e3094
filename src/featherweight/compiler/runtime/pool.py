"""A small pool of threads for batches: the caller works too.

Native code takes its rows by itself, so a pool has nothing to schedule: it wakes the workers that sleep,
the rest is a hand-over in native code.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from _thread import start_new_thread
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.compiler.native.lock import Lock
from featherweight.compiler.runtime.arguments import address_of
from featherweight.compiler.runtime.mailbox import BOX_WORDS, BUSY, DESK_WORDS, handover

_limit: int | None = None
_pool: Pool | None = None
_pool_lock = Lock()


@functools.cache
def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _wrong_count(name: str, value: object) -> ValueError:
    return ValueError(f"{name}: expected a whole number of threads, 1 or more, got {value!r}")


def thread_count() -> int:
    """Threads that a batch, or compiling, may use now."""
    if _limit is not None:
        return _limit
    setting = os.environ.get("FEATHERWEIGHT_THREADS")
    if not setting:
        return _cores()
    if not setting.strip().isdecimal() or int(setting) < 1:
        raise _wrong_count("FEATHERWEIGHT_THREADS", setting)
    return int(setting)


class threads:
    """Limit the threads that batches use: `fw.threads(2)`, or `with fw.threads(1): …`. Holds for the process."""

    def __init__(self, n: int) -> None:
        global _limit
        self._before = _limit
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise _wrong_count("n", n)
        self._n = _limit = int(n)

    def __enter__(self) -> threads:
        global _limit
        _limit = self._n
        return self

    def __exit__(self, *error: object) -> None:
        global _limit
        _limit = self._before


WATCH = 2000  # looks at its box before a worker sleeps; about 100 us


class _Worker:
    """A thread with a box: it does what is posted there, in native code. Between two jobs it watches the box for a
    while before it goes to sleep, for waking takes 30 us."""

    def __init__(self) -> None:
        self.box = np.zeros(2 * BOX_WORDS, dtype=np.int64)
        self.address = -(-address_of(self.box) // 128) * 128
        self._alarm = threading.Lock()
        self._alarm.acquire()
        start_new_thread(self._loop, ())

    def _loop(self) -> None:
        serve = handover().serve
        while True:
            serve(self.address, WATCH)
            self._alarm.acquire()

    def wake(self) -> None:
        """So that it looks at its box once more before it sleeps."""
        if self._alarm.locked():
            with contextlib.suppress(RuntimeError):  # another thread was quicker
                self._alarm.release()


class Team:
    """n threads for one module: a workspace for each. Used by one call at a time."""

    def __init__(self, run: int, workspaces: Sequence[np.ndarray]) -> None:
        self.n = len(workspaces)
        self.run = run
        self._workspaces = tuple(workspaces)
        self.workspaces = (ctypes.c_void_p * self.n)(*map(address_of, workspaces))
        self.taken = (ctypes.c_int64 * self.n)()


class Pool:
    """Workers that stay. One team at a time has them."""

    def __init__(self) -> None:
        self._native = handover()
        self._memory = np.zeros(2 * DESK_WORDS, dtype=np.int64)
        self._desk = -(-address_of(self._memory) // 128) * 128
        self._hiring = Lock()
        self._crew: tuple[tuple[_Worker, ...], Any] = (), (ctypes.c_void_p * 0)()  # and their boxes

    @property
    def workers(self) -> tuple[_Worker, ...]:
        return self._crew[0]

    def _hire(self, n: int) -> bool:
        """Have n workers; False if the system has no thread for us."""
        with self._hiring:
            try:
                while len(self.workers) < n:
                    workers = (*self.workers, _Worker())
                    self._crew = workers, (ctypes.c_void_p * len(workers))(*(w.address for w in workers))
            except RuntimeError:
                return False
        return True

    def run(self, team: Team, call: int) -> int | None:
        """All parts of the call at this address, side by side, the first here; how many packs had a bad row.

        None, and nothing done, if another team has the workers or no more threads are to be had. Nobody writes any
        more when it ends, also if it ends with an exception of a signal handler: handing over, working and waiting are
        one call of native code.
        """
        helpers = team.n - 1
        if len(self._crew[0]) < helpers and not self._hire(helpers):
            return None
        workers, boxes = self._crew
        for worker in workers[:helpers]:
            worker.wake()
        native = self._native
        bad = native.team(self._desk, boxes, team.n, team.run, call, team.workspaces, team.taken, native.sleep)
        return None if bad == BUSY else bad


def pool() -> Pool:
    """The process's pool, made when first needed."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = Pool()
        return _pool


def _after_fork() -> None:
    """Threads do not survive a fork, locks may be held: begin anew."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
