"""Long modules are compiled in parts, side by side: the same functions, the same bits, for every machine that links."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import featherweight as fw
from compiler.test_cross_emission import KERNEL, POLICY, REPEATS, TARGETS, symbols
from compiler.test_repeat import kernel, nested
from compiler.test_same_bits import branching_robot
from featherweight.compiler.llvm.support import GROUPS, emit_support
from featherweight.compiler.native import lock, target
from featherweight.compiler.native.target import host
from featherweight.compiler.runtime import code
from featherweight.compiler.runtime.shared import support
from featherweight.dynamics.functions import FORWARD_DYNAMICS
from featherweight.scalar import dense, lookup, random, random_normal, tanh

ROBOT = branching_robot()
RNG = np.random.default_rng(2)
STATES = np.array([ROBOT.random(RNG) for _ in range(50)]), *RNG.normal(size=(2, 50, ROBOT.nv))
links = pytest.mark.skipif(not host().links_modules, reason="modules are not linked against each other here")


def computed(kernel, arrays=STATES):
    """One state, and a batch, by code that nobody has."""
    code._recent.clear()
    code._loaded.clear()
    return kernel(*(x[0] for x in arrays))[0].tobytes() + kernel(*arrays)[0].tobytes()


@pytest.fixture
def in_parts(monkeypatch):
    """Whatever is compiled is compiled in three parts; how many there were each time."""
    counts = []
    compiled = target.Target.object_codes

    def counted(self, texts):
        counts.append(len(texts))
        return compiled(self, texts)

    monkeypatch.setenv("FEATHERWEIGHT_CACHE", "off")
    monkeypatch.setattr(code, "PART", 1000)
    monkeypatch.setattr(target.Target, "object_codes", counted)
    with fw.threads(3):
        yield counts


WHOLE = computed(FORWARD_DYNAMICS._make(ROBOT, ()))
for width in (1, host().width):
    support(width, host(), GROUPS)  # so that kernels alone are counted


@links
def test_parts_have_the_bits_of_the_whole(in_parts, tmp_path, monkeypatch):
    monkeypatch.setenv("FEATHERWEIGHT_CACHE", str(tmp_path / "cache"))
    for from_cache in (False, True):
        kernel = FORWARD_DYNAMICS._make(ROBOT, ())
        assert computed(kernel) == WHOLE
        assert [kernel.code(width).from_cache for width in (1, host().width)] == [from_cache] * 2
    assert in_parts == [3, 3]


@links
def test_loops_tables_and_support_functions_in_parts(in_parts, monkeypatch):
    W = np.arange(100.0).reshape(50, 2) / 50

    def everything(a, b):
        layer = dense(W, [a, b], None, tanh)[:3]
        return [*nested(a, b), lookup([1.0, 2.0], a), random(a, b), random_normal(a, b), *layer]

    def both():
        new = kernel(everything, 2, 10)
        return computed(new, [np.random.default_rng(0).uniform(0.1, 2.0, (20, 2))])

    parts = both()
    monkeypatch.setattr(code, "PART", 10**9)
    assert both() == parts
    assert in_parts == [3, 3, 1, 1]


@links
def test_with_one_thread_there_is_one_part(in_parts):
    with fw.threads(1):
        assert computed(FORWARD_DYNAMICS._make(ROBOT, ())) == WHOLE
    assert in_parts == [1, 1]


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("name", [name for name in TARGETS if "windows" not in name])
def test_parts_for_other_machines_define_what_they_need_of_each_other(name, n):
    machine = TARGETS[name]
    for each in (KERNEL, REPEATS, POLICY):
        parts = each.module(machine.width, machine).parts(n)
        assert len(parts) == n
        support = [emit_support(machine.width, machine, group) for group in GROUPS]
        tables = [symbols(part) for part in machine.object_codes([*support, *parts])]
        functions = [{name for name in defined if name.startswith(("chunk", "shared"))} for defined, _ in tables]
        assert sum(map(len, functions)) == len(set().union(*functions))  # each of them once
        assert set().union(*(undefined for _, undefined in tables)) <= set().union(*(defined for defined, _ in tables))


def test_without_the_way_around_llvmlites_lock_it_is_kept(monkeypatch):
    from llvmlite.binding import ffi

    locked = ffi.lib.LLVMPY_TargetMachineEmitToMemory
    texts = KERNEL.module(1, host()).parts(2)
    expected = host().object_codes(texts)
    calls = []

    def emit(*arguments):
        calls.append(threading.current_thread())
        return locked(*arguments)

    monkeypatch.setitem(ffi.lib._fntab, "LLVMPY_TargetMachineEmitToMemory", emit)
    assert host().object_codes(texts) == expected
    assert len(calls) == 2


def test_what_is_wrong_with_a_part_is_said():
    good = "define void @f() {\n  ret void\n}"
    with pytest.raises(RuntimeError, match="nonsense"):
        host().object_codes([good, "define nonsense"])
    assert len(host().object_codes([good, good])) == 2


@pytest.mark.parametrize("most", [0, 1, 2])
def test_where_threads_run_out_the_caller_does_the_rest(most, monkeypatch):
    texts = KERNEL.module(1, host()).parts(3)
    expected = host().object_codes(texts)
    started = []

    def few(function, arguments):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(function)
        return start_new_thread(function, arguments)

    start_new_thread = lock.start_new_thread
    monkeypatch.setattr(lock, "start_new_thread", few)
    assert host().object_codes(texts) == expected
    assert len(started) == most


INTERRUPTED = """
import signal, time
import numpy as np
import featherweight as fw
from featherweight.compiler.native.target import host
from featherweight.dynamics.functions import FORWARD_DYNAMICS
parts = FORWARD_DYNAMICS.kernel(fw.robots.humanoid()).module(host().width, host()).parts(3)
begin = time.perf_counter()
expected = host().object_codes(parts)
took = time.perf_counter() - begin
signal.signal(signal.SIGALRM, signal.default_int_handler)
interrupted = 0
for part in np.linspace(0.02, 0.98, 25):
    signal.setitimer(signal.ITIMER_REAL, part * took)
    try:
        assert host().object_codes(parts) == expected
    except KeyboardInterrupt:
        interrupted += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
assert host().object_codes(parts) == expected
print(interrupted)
"""

AT_EXIT = """
import atexit
import numpy as np
import featherweight as fw
model = fw.robots.humanoid()
zero = np.zeros(model.nv)
atexit.register(lambda: print(np.isfinite(fw.forward_dynamics(model, model.neutral(), zero, zero)).all()))
"""


def run(script):
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": "off", "FEATHERWEIGHT_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_ctrl_c_is_heard_when_all_parts_are_done():
    """And not before: what LLVM still works on would be used again."""
    assert int(run(INTERRUPTED)[0]) > 10


def test_long_functions_are_compiled_at_exit_too():
    assert run(AT_EXIT) == ["True"]
