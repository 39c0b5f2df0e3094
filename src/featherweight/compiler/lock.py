"""Who compiles: one at a time, in several threads if there is much to do, and never across a fork."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
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
        self._places: set[_Owner] = set()  # of code that is in use
        self._gone: deque[_Owner] = deque()
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
        try:
            if self._depth == 0:
                self._free()
                if self._collects:
                    gc.enable()
        finally:
            self._lock.release()

    def free_after(self, owner: object, code: Any) -> None:
        """Free code when its owner is gone: not at once, but when who compiles next is done. Python finds that
        something is gone in the midst of anything, where no lock may be waited for; and no fork may find LLVM at it."""
        place = _Owner(owner, self._gone.append)
        place.code = code
        self._places.add(place)

    def _free(self) -> None:
        while self._gone:
            place = self._gone.popleft()
            self._places.discard(place)
            place.code.close()

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


class _Owner(weakref.ref):
    """Who needs a piece of code."""

    __slots__ = ("code",)
    code: Any


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
