"""A small pool of threads for batches: workers wait on locks, the caller works too.

Native code releases the interpreter lock and takes its rows by itself, so a pool has nothing to
schedule: it only wakes the workers and waits for them.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence

import numpy as np

from featherweight.compiler.target import Library, host

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


_bell = ctypes.c_int64()  # native code raises it when a batch begins
BELL = ctypes.addressof(_bell)
WATCH = 2000  # looks at the bell; about 100 us
_kept: list[Library] = []  # code that workers run: it stays for good


@functools.cache
def _watcher() -> Callable[[int, int, int], None]:
    """watch(bell, heard, looks): returns when the bell is not what was heard, or after so many looks."""
    target = host()
    arm = target.arch == "arm"
    pause = "call void @llvm.aarch64.hint(i32 1)" if arm else "call void @llvm.x86.sse2.pause()"
    ir = f"""
declare void {"@llvm.aarch64.hint(i32)" if arm else "@llvm.x86.sse2.pause()"}
define void @watch(ptr %bell, i64 %heard, i64 %looks) nounwind {{
entry:
  br label %look
look:
  %left = phi i64 [%looks, %entry], [%left1, %wait]
  %now = load atomic i64, ptr %bell acquire, align 8
  %same = icmp eq i64 %now, %heard
  %more = icmp sgt i64 %left, 0
  %again = and i1 %same, %more
  br i1 %again, label %wait, label %end
wait:
  {pause}
  %left1 = sub i64 %left, 1
  br label %look
end:
  ret void
}}
"""
    library = Library(target.object_code(ir), ("watch",))
    _kept.append(library)
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(library["watch"])


class _Worker:
    """A thread that does a job when it is given one. It has a job from then on until the job is done: whoever
    waits looks at that, so an interrupt between any two steps loses nothing.

    After a job it watches the bell for a while, in native code, before it goes to sleep: waking takes 30 us.
    """

    def __init__(self) -> None:
        self.job: Callable[[], int] | None = None
        self.result = 0
        self.error: BaseException | None = None
        self._asleep = False
        self._wake, self._done = threading.Lock(), threading.Lock()
        self._wake.acquire()
        self._done.acquire()
        threading.Thread(target=self._loop, name="featherweight", daemon=True).start()

    def _loop(self) -> None:
        watch = _watcher()
        while True:
            heard = _bell.value
            if self.job is None:
                watch(BELL, heard, WATCH)
            if self.job is None:
                self._asleep = True
                if self.job is None:
                    self._wake.acquire()
                self._asleep = False
                continue
            try:
                self.result = self.job()
            except BaseException as error:  # the caller raises it
                self.error = error
            finally:
                self.job = None
                if self._done.locked():
                    self._done.release()

    def give(self, job: Callable[[], int]) -> None:
        self.result, self.error = 0, None
        self.job = job
        if self._asleep:
            self._nudge()

    def _nudge(self) -> None:
        if self._wake.locked():
            self._wake.release()

    def wait(self) -> None:
        """Until it has no job."""
        while self.job is not None:
            if not self._done.acquire(timeout=0.05):
                self._nudge()


class Pool:
    """Workers that stay. One team of jobs at a time has them."""

    def __init__(self) -> None:
        _watcher()
        self.workers: list[_Worker] = []
        self.owner: dict[str, int] = {}  # the thread that has the workers now

    def _claim(self) -> bool:
        """Take the workers for this thread. What an interrupted call of the same thread left is its own again."""
        me = threading.get_ident()
        return self.owner.setdefault("thread", me) == me and all(worker.job is None for worker in self.workers)

    def run(self, jobs: Sequence[Callable[[], int]], prepare: Callable[[], None]) -> int | None:
        """After `prepare()`, all jobs side by side, the first here; the sum of what they return.

        None, and nothing done, if another team has the workers or no more threads are to be had. Raises
        what a job raised.
        """
        if not self._claim():
            return None
        helpers: list[_Worker] = []
        total = 0
        try:
            try:
                while len(self.workers) < len(jobs) - 1:
                    self.workers.append(_Worker())
            except RuntimeError:  # the system has no thread for us
                return None
            helpers = self.workers[: len(jobs) - 1]
            prepare()
            for worker, job in zip(helpers, jobs[1:], strict=True):
                worker.give(job)
            total = jobs[0]()
        finally:
            interrupt = _wait(helpers)
            self.owner.pop("thread", None)
        error = interrupt or next((w.error for w in helpers if w.error is not None), None)
        if error is not None:
            raise error
        return total + sum(worker.result for worker in helpers)


def _wait(helpers: list[_Worker]) -> KeyboardInterrupt | None:
    """Wait for all, come what may: they are still writing into the caller's arrays."""
    interrupt = None
    while True:
        try:
            for worker in helpers:
                worker.wait()
            return interrupt
        except KeyboardInterrupt as error:
            interrupt = error


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
