"""Threads: how many, chosen by whom, and that nobody notices but the clock."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime.pool import Pool, Team, _Worker, pool
from featherweight.dynamics.functions import FORWARD_DYNAMICS


@pytest.fixture(autouse=True)
def no_limit(monkeypatch):
    """Begin with the machine's own number of threads, and leave no limit behind."""
    monkeypatch.delenv("FEATHERWEIGHT_THREADS", raising=False)
    monkeypatch.setattr(sys.modules[Pool.__module__], "_limit", None)


def states(model, count, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, (count, model.nq)), rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


def test_without_a_limit_all_cores_we_may_use_are_used():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert fw.thread_count() == cores


def test_threads_as_a_function_holds_from_then_on():
    fw.threads(3)
    assert fw.thread_count() == 3
    fw.threads(1)
    assert fw.thread_count() == 1


def test_threads_as_a_context_holds_inside_and_nests():
    before = fw.thread_count()
    with fw.threads(7):
        assert fw.thread_count() == 7
        with fw.threads(2):
            assert fw.thread_count() == 2
        assert fw.thread_count() == 7
    assert fw.thread_count() == before


def test_the_limit_is_lifted_after_an_error_inside():
    fw.threads(3)
    with pytest.raises(KeyError), fw.threads(5):
        raise KeyError
    assert fw.thread_count() == 3


@pytest.mark.parametrize("bad", [0, -1, 1.5, 2.0, "many", None, True, [2], float("nan"), np.float64(2)])
def test_bad_numbers_are_refused_and_change_nothing(bad):
    fw.threads(3)
    with pytest.raises((ValueError, TypeError), match=r"n: expected a whole number of threads, 1 or more, got"):
        fw.threads(bad)
    assert fw.thread_count() == 3


@pytest.mark.parametrize("good", [1, 2, np.int64(2), 64])
def test_whole_numbers_of_any_kind_are_taken(good):
    fw.threads(good)
    assert fw.thread_count() == good
    assert type(fw.thread_count()) is int


def test_the_environment_sets_the_number_and_a_call_goes_before_it(monkeypatch):
    monkeypatch.setenv("FEATHERWEIGHT_THREADS", "3")
    assert fw.thread_count() == 3
    with fw.threads(2):
        assert fw.thread_count() == 2
    assert fw.thread_count() == 3


@pytest.mark.parametrize("bad", ["0", "-2", "two", "1.5"])
def test_a_bad_environment_is_named(bad, monkeypatch):
    monkeypatch.setenv("FEATHERWEIGHT_THREADS", bad)
    with pytest.raises(ValueError, match=f"FEATHERWEIGHT_THREADS: expected .* got '{bad}'"):
        fw.thread_count()


PART = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)


def run(workers, job, n):
    """job(0) … job(n-1) on a pool, as native code would be run."""
    part = PART(lambda call, ws, taken, k, count: job(k) or 0)
    team = Team(ctypes.cast(part, ctypes.c_void_p).value, [np.zeros(1) for _ in range(n)])
    return workers.run(team, 0)


def test_a_pool_runs_every_job_once_with_any_number_of_workers():
    workers = Pool()
    for n in (1, 2, 5, 3, 1, 4):
        done = []
        assert run(workers, lambda k, done=done: done.append(k) or k, n) == sum(range(n))
        assert sorted(done) == list(range(n))
    assert len(workers.workers) == 4  # those of the largest call, less the caller


def test_threads_that_begin_at_the_same_time_hire_and_wake_the_same_workers():
    """Each round begins with a new pool; whoever does not get it is told so."""
    errors, interval = [], sys.getswitchinterval()

    def work(workers, start):
        try:
            start.wait(timeout=30)
            for _ in range(3):
                assert run(workers, lambda k: k, 6) in (None, 15)
        except BaseException as error:
            errors.append(error)

    sys.setswitchinterval(1e-7)
    try:
        for _ in range(20):
            workers, start = Pool(), threading.Barrier(8)
            callers = [threading.Thread(target=work, args=(workers, start)) for _ in range(8)]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join(timeout=60)
            assert len(workers.workers) == 5
    finally:
        sys.setswitchinterval(interval)
    assert errors == []


def test_jobs_run_side_by_side():
    """Jobs that wait for each other end well only if all run at the same time. On a busy machine a worker may
    come too late for one call, not for twenty."""
    workers = Pool()

    def meet(k):
        try:
            barrier.wait(timeout=1)
            return 0
        except threading.BrokenBarrierError:
            return 1

    for _ in range(20):
        barrier = threading.Barrier(3)
        if run(workers, meet, 3) == 0:
            return
    pytest.fail("the workers never came")


def test_while_the_pool_is_busy_a_second_caller_is_told_so():
    workers, inside, go_on = Pool(), threading.Event(), threading.Event()

    def first(k):
        inside.set()
        go_on.wait(timeout=30)
        return 0

    caller = threading.Thread(target=run, args=(workers, first, 2))
    caller.start()
    assert inside.wait(timeout=30)
    done = []
    assert run(workers, done.append, 3) is None
    go_on.set()
    caller.join(timeout=30)
    assert not done
    assert not caller.is_alive()


def test_a_batch_is_whole_while_the_pool_is_busy(monkeypatch):
    """With four threads allowed and none to be had, the caller computes every row itself."""
    model = fw.robots.chain(20)
    q, v, tau = states(model, 5000, 1)
    right = fw.forward_dynamics(model, q, v, tau)
    monkeypatch.setattr(Pool, "run", lambda *_: None)  # somebody else has it
    with fw.threads(4):
        assert (fw.forward_dynamics(model, q, v, tau) == right).all()


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_caller_does_what_no_worker_comes_for(n, monkeypatch):
    """Workers that never look at their boxes: nothing waits for them, nothing is left out or done twice."""
    monkeypatch.setattr(_Worker, "_loop", lambda self: None)
    workers, done = Pool(), []
    assert run(workers, lambda k: done.append(k) or k, n) == sum(range(n))
    assert sorted(done) == list(range(n))
    assert run(workers, lambda k: done.append(k) or k, n) == sum(range(n))  # and the pool is free again


def kernel_of_a_chain(n):
    return FORWARD_DYNAMICS._make(fw.robots.chain(n), ())


def test_python_threads_may_share_a_kernel(monkeypatch):
    """Each thread has its own batch; one of them gets the pool, the others work alone."""
    monkeypatch.setattr("featherweight.compiler.runtime.code.WORTH_A_THREAD", 0)
    kernel, model = kernel_of_a_chain(5), fw.robots.chain(5)
    batches = [states(model, 700 + k, k) for k in range(3)]
    with fw.threads(1):
        alone = [kernel(*batch)[0].tobytes() for batch in batches]
    differences = []

    def work(k):
        for _ in range(40):
            if kernel(*batches[k])[0].tobytes() != alone[k]:
                differences.append(k)

    with fw.threads(2):
        workers = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(timeout=60)
    assert not any(worker.is_alive() for worker in workers)
    assert differences == []


def test_python_threads_may_share_a_model_from_its_first_call_on():
    """All at once: compiling, single states and batches through the public function."""
    model, reference = fw.robots.chain(4), fw.robots.chain(4)
    q, v, tau = states(model, 200, 9)
    expected = fw.forward_dynamics(reference, q, v, tau)
    start = threading.Barrier(4)
    failures = []

    def work(k):
        start.wait(timeout=30)
        for n in range(50):
            one = fw.forward_dynamics(model, q[n], v[n], tau[n])
            some = fw.forward_dynamics(model, q[k : k + n + 2], v[k : k + n + 2], tau[k : k + n + 2])
            if one.tobytes() != expected[n].tobytes() or some.tobytes() != expected[k : k + n + 2].tobytes():
                failures.append((k, n))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert not any(worker.is_alive() for worker in workers)
    assert failures == []


def test_a_bad_row_in_any_threads_share_is_found(monkeypatch):
    monkeypatch.setattr("featherweight.compiler.runtime.code.WORTH_A_THREAD", 0)
    kernel, model = kernel_of_a_chain(2), fw.robots.chain(2)
    q, v, tau = states(model, 1000, 3)
    with fw.threads(3):
        for row in (0, 63, 64, 500, 999):
            bad = v.copy()
            bad[row, 1] = np.nan
            with pytest.raises(ValueError, match=rf"v\[{row}, 1\] is nan"):
                kernel(q, bad, tau)
        kernel(q, v, tau)


FORK = """
import os, sys
import numpy as np
import featherweight as fw
from featherweight.compiler.runtime import code as module
from featherweight.dynamics.functions import FORWARD_DYNAMICS
module.WORTH_A_THREAD = 0
model = fw.robots.chain(5)
kernel = FORWARD_DYNAMICS.kernel(model)
rng = np.random.default_rng(0)
q, v, tau = rng.normal(size=(3, 1000, 5))
fw.threads(2)
expected = kernel(q, v, tau)[0]
assert module.pool().workers, "the pool was not used before the fork"
children = []
for k in range(3):
    child = os.fork()
    if child == 0:
        good = kernel(q, v, tau)[0].tobytes() == expected.tobytes()
        good &= fw.forward_dynamics(model, q[k], v[k], tau[k]).tobytes() == expected[k].tobytes()
        good &= len(module.pool().workers) == 1
        os._exit(0 if good else 1)
    children.append(child)
    assert kernel(q, v, tau)[0].tobytes() == expected.tobytes()
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes)
"""

FORK_WHILE_BUSY = """
import os, threading, time
import numpy as np
import featherweight as fw
from featherweight.compiler.runtime import code as module
from featherweight.dynamics.functions import FORWARD_DYNAMICS
module.WORTH_A_THREAD = 0
kernel = FORWARD_DYNAMICS.kernel(fw.robots.chain(5))
rng = np.random.default_rng(0)
q, v, tau = rng.normal(size=(3, 20_000, 5))
fw.threads(2)
expected = kernel(q, v, tau)[0].tobytes()
stop = threading.Event()

def busy():
    while not stop.is_set():
        kernel(q, v, tau)

other = threading.Thread(target=busy)
other.start()
codes = []
for _ in range(5):
    time.sleep(0.003)
    child = os.fork()
    if child == 0:
        os._exit(0 if kernel(q, v, tau)[0].tobytes() == expected else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
other.join()
print(codes)
"""

FORK_WHILE_COMPILING = """
import os, signal, threading, time
import numpy as np
import featherweight as fw
fw.forward_dynamics(fw.robots.pendulum(), [0.1], [0.2], [0.3])
zero = np.zeros(60)
other = threading.Thread(target=fw.forward_dynamics, args=(fw.robots.chain(60), zero, zero, zero))
other.start()
codes = []
while other.is_alive() and not any(codes):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        signal.alarm(5)  # a child that hangs is ended
        model = fw.robots.chain(2, mass=1.0 + len(codes))
        fw.forward_dynamics(model, zero[:2], zero[:2], zero[:2])
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
other.join()
print(codes or [0])
"""

FORK_AT_FIRST = """
import os, signal, threading, time
import numpy as np
import featherweight as fw
model, zero = fw.robots.chain(8), np.zeros((16, 8))
other = threading.Thread(target=fw.forward_dynamics, args=(model, zero, zero, zero))
other.start()
codes = []
for _ in range(6):
    time.sleep(0.012)
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        fw.forward_dynamics(model, zero, zero, zero)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
other.join()
print(codes)
"""

FORK_WHILE_TRACING = """
import concurrent.futures.thread, os, signal, threading, time
import numpy as np
import featherweight as fw
signal.alarm(30)
codes = []

def fork():
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

other = threading.Thread(target=fork)
other.start()
model = fw.robots.humanoid()
with fw.threads(2):
    fw.forward_dynamics(model, model.neutral(), np.zeros(model.nv), np.zeros(model.nv))
other.join()
print(codes)
"""

FORK_WHILE_BUILDING = """
import os, signal, threading, time
import numpy as np
import featherweight as fw
fw.forward_dynamics(fw.robots.pendulum(), [0.1], [0.2], [0.3])
inside, end = threading.Event(), threading.Event()

class Slow(fw.Inertia):  # a body whose inertia is just being computed
    @property
    def mass(self):
        inside.set()
        end.wait(20)
        return 1.0

slow = object.__new__(Slow)
object.__setattr__(slow, "com", (0.0, 0.0, 0.0))
object.__setattr__(slow, "moment_about_com", ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)))
other = threading.Thread(target=lambda: slow.rigid)
other.start()
inside.wait(20)
child = os.fork()
if child == 0:
    signal.alarm(5)
    fw.forward_dynamics(fw.robots.chain(2), np.zeros(2), np.zeros(2), np.zeros(2))
    os._exit(0)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
end.set()
other.join()
print(codes)
"""

FORK_WHILE_LOGGING = """
import os, signal, threading, time
import featherweight
import logging
from featherweight.compiler.native.lock import compiling
signal.alarm(20)
held = threading.Event()

def compiles():
    with compiling:
        held.set()
        time.sleep(0.3)
        logging.getLogger("of a new name")  # takes logging's lock, which it takes itself before a fork

other = threading.Thread(target=compiles)
other.start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(0)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
other.join()
"""
FORKS = {
    "idle": FORK,
    "busy": FORK_WHILE_BUSY,
    "compiling": FORK_WHILE_COMPILING,
    "in its first call": FORK_AT_FIRST,
    "tracing what is long": FORK_WHILE_TRACING,
    "building a model": FORK_WHILE_BUILDING,
    "logging what it compiles": FORK_WHILE_LOGGING,
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("script", FORKS.values(), ids=FORKS)
def test_a_forked_child_computes_the_same_bits_whatever_the_parent_was_doing(script):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": "off"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert set(json.loads(run.stdout)) == {0}


def test_the_pool_is_one_for_the_process():
    assert pool() is pool()


INTERRUPTED = """
import ctypes, random, signal, time
import numpy as np
import featherweight as fw
from featherweight.compiler.runtime.pool import pool

model, x = fw.robots.chain(6), np.zeros((4096, 6))
fw.threads(2)
right = fw.forward_dynamics(model, x, x, x)

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
end, count = time.time() + 4, 0
while time.time() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 6e-4))
        while True:
            fw.forward_dynamics(model, x, x, x)
    except KeyboardInterrupt:
        count += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert count > 100, count
assert (fw.forward_dynamics(model, x, x, x) == right).all()
assert ctypes.c_int64.from_address(pool()._desk).value == 0, "the workers were lost"
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX timers")
def test_interrupts_at_any_moment_neither_hang_nor_lose_the_workers():
    subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=60, check=True)


def test_more_threads_than_the_system_has_are_done_without(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("featherweight.compiler.runtime.pool.start_new_thread", refuse)
    assert run(Pool(), lambda k: 1, 3) is None


def test_a_limit_can_be_entered_again():
    limit = fw.threads(1)
    with limit:
        pass
    with limit:
        assert fw.thread_count() == 1


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_every_row_is_computed_once_by_any_number_of_threads(n, monkeypatch):
    monkeypatch.setattr("featherweight.compiler.runtime.code.WORTH_A_THREAD", 0)
    model = fw.robots.pendulum()
    for count in (65, 64 * n - 1, 64 * n + 1, 5000):
        q, v, tau = states(model, count, n)
        with fw.threads(1):
            right = fw.inverse_dynamics(model, q, v, tau)
        with fw.threads(n):
            assert (fw.inverse_dynamics(model, q, v, tau, out=np.full_like(right, np.nan)) == right).all()
