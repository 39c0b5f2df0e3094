"""The compile lock: one thread at a time traces or compiles, and never across a fork.

An exception of a signal handler (Ctrl-C, a time limit, `sys.exit`) may come between any two lines. CPython looks for
signals when a Python function begins, when a loop goes round, and when a call of a C function has returned. What must
not be left half done is done where it does not look.
"""

from __future__ import annotations

import gc
import logging  # noqa: F401 (before the end of this file, see there)
import os
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Lock(type(threading.RLock())):  # type: ignore[misc]
    """A lock that a thread may take again, and that a `with` always gives back.

    Leaving it is a C function, which has let go when CPython looks for signals. Entering must not be one: from version
    3.14 on CPython looks when it has returned, before the `with` has begun. Nor does it call one: an unpacking does.
    """

    def __enter__(self) -> bool:
        (held,) = map(self.acquire, (True,))
        return held


compiling = Lock()


def uncollected(call: Callable[..., T], *arguments: Any) -> T:
    """call(*arguments) with the cyclic garbage collector off, which would visit all that is traced or read over and
    over, for a sixth to a third of the time. The setting is the process's: who finds it off leaves it alone, so that it
    is on again when all who switched it off are done."""
    collects = gc.isenabled()
    try:
        if collects:
            gc.disable()
        return call(*arguments)
    finally:
        if collects:
            gc.enable()


_running: set[_Job] = set()


def side_by_side(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the calls return, each in a thread of its own; in this one, if there are no more threads.

    An exception of a signal handler is raised when all are done. One that comes between two lines here is raised at
    once: then threads are left behind, which share nothing with anybody, and a fork waits for them.
    """
    jobs = [_Job(call) for call in calls]
    for job in jobs:
        try:
            start_new_thread(job.run, ())
        except RuntimeError:  # too many, or the process ends
            job.run()
    interrupt: BaseException | None = None
    for job in jobs:
        while not job.done:
            try:
                with job.running:
                    pass
            except BaseException as error:
                interrupt = error
    for failure in (interrupt, *(job.error for job in jobs)):
        if failure is not None:
            raise failure
    return [job.result for job in jobs]


class _Job:
    """A call, and what came of it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self.done = False
        self.running = threading.Lock()  # held until it is done
        self.running.acquire()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        _running.add(self)
        try:
            self.result = self._call()
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            _running.discard(self)
            self.running.release()


def _before_fork() -> None:
    """Nobody compiles, and none of the threads is left that did."""
    compiling.acquire()
    while _running:
        time.sleep(1e-3)


# What is registered last is asked first: `logging`, which registers its own lock when it is imported, must come after
# us, for who compiles may write to the log.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=compiling.release, after_in_child=compiling.release)
