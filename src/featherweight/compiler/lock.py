"""Who compiles: one at a time, in several threads if there is much to do, and never across a fork."""

from __future__ import annotations

import gc
import os
import threading
import time
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any


class Compiling:
    """One at a time traces or compiles: LLVM does not race, a fork waits for rest. Meanwhile Python does not look for
    garbage in cycles: it would go through all that is traced again and again, for a sixth of the time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth, self._collects = 0, False
        self._dropped: deque[Any] = deque()
        self._jobs: set[_Job] = set()
        if hasattr(os, "register_at_fork"):
            release = self._lock.release
            os.register_at_fork(before=self._rest, after_in_parent=release, after_in_child=release)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1:
            self._collects = gc.isenabled()
            gc.disable()

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()
        self._lock.release()
        self._free()

    def drop(self, code: Any) -> None:
        """Free code that nothing refers to any more: now, or as soon as nobody compiles. Python may find that in the
        midst of anything, so this never waits; and a fork never finds LLVM at it, with a lock the child has not."""
        self._dropped.append(code)
        self._free()

    def _free(self) -> None:
        while self._dropped and self._lock.acquire(blocking=False):
            try:
                if self._depth == 0:
                    self._dropped.popleft().close()
                else:
                    return  # by this thread, later
            except IndexError:  # what came in between has done it
                return
            finally:
                self._lock.release()

    def side_by_side(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """What the calls return, each in a thread of its own; in this one, if there are no more threads.

        Ctrl-C is heard when all are done. One that comes between two lines here is not: then threads are left behind,
        which share nothing with anybody, and a fork waits for them.
        """
        jobs = [_Job(call, self._jobs) for call in calls]
        for job in jobs:
            try:
                start_new_thread(job.run, ())
            except RuntimeError:  # too many, or the process ends
                job.run()
        interrupt: KeyboardInterrupt | None = None
        for job in jobs:
            while not job.done.is_set():
                try:
                    job.done.wait()
                except KeyboardInterrupt as error:
                    interrupt = error
        for failure in (interrupt, *(job.error for job in jobs)):
            if failure is not None:
                raise failure
        return [job.result for job in jobs]

    def _rest(self) -> None:
        """Before a fork: nobody compiles, and none of the threads is left that were."""
        self._lock.acquire()
        while self._jobs:
            time.sleep(1e-3)


class _Job:
    """A call, and what came of it. While it runs it is one of `running`."""

    def __init__(self, call: Callable[[], Any], running: set[_Job]) -> None:
        self._call, self._running = call, running
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        self._running.add(self)
        try:
            self.result = self._call()
        except BaseException as error:
            self.error = error
        finally:
            self._running.discard(self)
            self.done.set()


compiling = Compiling()
