"""Who compiles: one at a time, in several threads if there is much to do, and never across a fork."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Sequence
from typing import Any


class Compiling:
    """One at a time traces or compiles: LLVM does not race, a fork waits for rest. Meanwhile Python does not look for
    garbage in cycles: it would go through all that is traced again and again, for a sixth of the time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth, self._collects = 0, False
        self._codes: list[tuple[Any, weakref.ref]] = []  # that are loaded, and whose they are
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

    def keep(self, code: Any, owner: object) -> None:
        """Keep loaded code for as long as its owner lives, and free what has none any more.

        That is done here and nowhere else: Python drops an owner in the midst of anything, at the bottom of a recursion
        or in a thread, where no lock may be waited for; and a fork must not find LLVM at it.
        """
        kept = [(code, weakref.ref(owner))]
        for other, its_owner in self._codes:
            if its_owner() is None:
                other.close()
            else:
                kept.append((other, its_owner))
        self._codes = kept

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
