"""A small pool of threads for batches: workers wait on locks, the caller works too.

Native code releases the interpreter lock and takes its rows by itself, so a pool has nothing to
schedule: it only wakes the workers and waits for them.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Sequence

import numpy as np

_limit: int | None = None
_pool: Pool | None = None
_pool_lock = threading.Lock()


@functools.cache
def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _wrong_count(name: str, value: object) -> ValueError:
    return ValueError(f"{name}: expected a whole number of threads, 1 or more, got {value!r}")


def thread_count() -> int:
    """Threads a batch may use now."""
    if _limit is not None:
        return _limit
    setting = os.environ.get("FEATHERWEIGHT_THREADS")
    if not setting:
        return _cores()
    if not setting.strip().isdecimal() or int(setting) < 1:
        raise _wrong_count("FEATHERWEIGHT_THREADS", setting)
    return int(setting)


class threads:
    """Limit the threads that batches use: `fw.threads(2)`, or `with fw.threads(1): …`."""

    def __init__(self, n: int) -> None:
        global _limit
        self._before = _limit
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise _wrong_count("n", n)
        _limit = int(n)

    def __enter__(self) -> threads:
        return self

    def __exit__(self, *error: object) -> None:
        global _limit
        _limit = self._before


class _Worker:
    def __init__(self) -> None:
        self.job: Callable[[], int] | None = None
        self.result = 0
        self.error: BaseException | None = None
        self.wake, self.done = threading.Lock(), threading.Lock()
        self.wake.acquire()
        self.done.acquire()
        threading.Thread(target=self._loop, name="featherweight", daemon=True).start()

    def _loop(self) -> None:
        while True:
            self.wake.acquire()
            try:
                if self.job is not None:
                    self.result = self.job()
            except BaseException as error:  # the caller raises it
                self.error = error
            finally:
                self.done.release()


class Pool:
    """Workers that stay. One team of jobs at a time has them."""

    def __init__(self) -> None:
        self.workers: list[_Worker] = []
        self.busy = threading.Lock()

    def run(self, jobs: Sequence[Callable[[], int]], prepare: Callable[[], None]) -> int | None:
        """After `prepare()`, all jobs side by side, the first here; the sum of what they return.

        None, and nothing done, if another team has the workers. Raises what a job raised.
        """
        if not self.busy.acquire(blocking=False):
            return None
        helpers: list[_Worker] = []
        total = 0
        try:
            prepare()
            while len(self.workers) < len(jobs) - 1:
                self.workers.append(_Worker())
            for worker, job in zip(self.workers, jobs[1:], strict=False):
                worker.job = job
                helpers.append(worker)
                worker.wake.release()
            total = jobs[0]()
        finally:
            error = _wait(helpers)
            total += sum(worker.result for worker in helpers)
            self.busy.release()
            if error is not None:
                raise error
        return total


def _wait(helpers: list[_Worker]) -> BaseException | None:
    """Wait for all, come what may: they are still writing into the caller's arrays. What went wrong, if anything."""
    problem: BaseException | None = None
    for worker in helpers:
        while True:
            try:
                worker.done.acquire()
                break
            except KeyboardInterrupt as error:
                problem = error
        problem = problem or worker.error
        worker.job = worker.error = None
    return problem


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
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
