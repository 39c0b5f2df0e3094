"""Exceptions of signal handlers, at any moment: nobody still writes, no lock is held, the collector is as it was."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from featherweight.compiler import Argument, Kernel, compiling
from featherweight.compiler.native import library
from featherweight.compiler.runtime import code
from featherweight.compiler.runtime.pool import Pool, Team

PART = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)
FOLDERS = Path(library.__file__).parent, Path(code.__file__).parent
NAMES = ("lock", "kernel", "code", "library", "pages", "owners", "target", "shared")
WITH_STATE = {str(path) for name in NAMES for path in (folder / f"{name}.py" for folder in FOLDERS) if path.exists()}


class Interrupt(BaseException):
    """What a signal handler raises."""


def interrupt(*_: object) -> None:
    raise Interrupt


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads here")
@pytest.mark.parametrize("signals", [1, 5], ids=["one signal", "several signals"])
def test_a_batch_ends_when_nobody_writes_any_more(signals: int) -> None:
    """The caller's part is done at once, the worker's takes long, and signals come meanwhile. On a busy machine a
    worker may come too late for one call, not for twenty."""
    caller = threading.get_ident()
    begun, waited, done = (threading.Event() for _ in range(3))

    def part(call, ws, taken, k, n):
        if threading.get_ident() == caller:
            begun.wait(timeout=0.2)  # so that it does not take the worker's part back
            waited.set()
            return 0
        begun.set()
        waited.wait(timeout=10)
        while sys._current_frames()[caller].f_code is not Pool.run.__code__:  # it waits, in native code
            time.sleep(1e-3)
        for _ in range(signals):
            signal.pthread_kill(caller, signal.SIGUSR1)
            time.sleep(0.02)
        done.set()
        return 0

    native = PART(part)
    team = Team(ctypes.cast(native, ctypes.c_void_p).value, [np.zeros(1), np.zeros(1)])
    before = signal.signal(signal.SIGUSR1, interrupt)
    pools = []

    def until_a_worker_comes():
        for _ in range(20):
            pools.append(Pool())
            waited.clear()
            assert pools[-1].run(team, 0) == 0

    try:
        with pytest.raises(Interrupt):
            until_a_worker_comes()
        assert done.is_set()
    finally:
        signal.signal(signal.SIGUSR1, before)
    nothing = PART(lambda *_: 0)
    team = Team(ctypes.cast(nothing, ctypes.c_void_p).value, [np.zeros(1), np.zeros(1)])
    assert pools[-1].run(team, 0) == 0  # the pool is free again


def kernel() -> Kernel:
    """Twice a number, by code that nobody has."""
    code._recent.clear()
    code._loaded.clear()
    return Kernel(
        "test", [Argument("x", (1,), "n")], [(1,)], lambda scalars, *_: ([[2.0 * scalars[0][0]]], 0), lambda _: ""
    )


def interrupted(call, at: int) -> int:
    """Call with an exception at this one of the moments when CPython looks for signals: when a Python function begins,
    or a call of a C function returns. Only those in files that keep something count; how many there were."""
    seen = 0

    def moment(frame, event, argument):
        nonlocal seen
        if event in ("call", "c_return") and frame.f_code.co_filename in WITH_STATE:
            seen += 1
            if seen == at:
                raise Interrupt

    sys.setprofile(moment)
    try:
        call()
    except Interrupt:
        pass
    finally:
        sys.setprofile(None)
    return seen


def free(lock) -> bool:
    """Can another thread have it?"""
    answers = []

    def ask():
        if lock.acquire(timeout=1):
            lock.release()
            answers.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return bool(answers)


def pages_add_up() -> bool:
    """All pages in use belong to somebody."""
    pages = library._pages
    owned = sum(block.n for block in pages._runs.things.values())
    return owned == sum(sum(region.used) for region in pages._regions)


def test_interrupts_while_compiling_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEATHERWEIGHT_CACHE", "off")
    kernel()([1.0])  # what is loaded once
    moments = interrupted(lambda: kernel()([1.0]), at=0)
    assert moments > 50
    for at in range(1, moments + 1):
        new = kernel()
        interrupted(lambda new=new: new([3.0]), at)
        assert gc.isenabled(), at
        assert free(compiling), at
        assert pages_add_up(), at
        assert new([3.0])[0].tolist() == [6.0], at
