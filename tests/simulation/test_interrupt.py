"""Ctrl-C at any moment: what was computed comes back, to the bit, and nothing hangs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

import featherweight as fw
from featherweight.simulation import running
from featherweight.simulation.python_run import AloneWithPython
from featherweight.simulation.run import Run

SCRIPT = """
import json, signal, sys
import numpy as np
import featherweight as fw

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored by who started us
model = fw.robots.double_pendulum()

def traced(t, q, v, x, p):
    x = 0.9 * x + 0.1 * q
    return fw.scalar.sin(t) * p[0] - 0.1 * v - x, x

count, options = {
    "one": (None, {"steps": 2 * 10**9, "record_every": 10**4}),
    "compiled": (None, {"steps": 2 * 10**9, "record_every": 10**4,
                        "control": fw.compiled(traced, state=[0.0, 0.0], parameters=[0.5])}),
    "threads": (1024, {"steps": 2 * 10**6, "record_every": 10**3}),
    "python": (None, {"steps": 4 * 10**6, "control": lambda t, q, v: np.sin(t) - 0.1 * v}),
    "python, batch": (100, {"steps": 2 * 10**6, "record_every": 100, "control": lambda t, q, v: np.sin(t) - 0.1 * v}),
}[sys.argv[1]]
rng = np.random.default_rng(0)
shape = (2,) if count is None else (count, 2)
q, v = rng.normal(size=shape), rng.normal(size=shape)
options = {"dt": 1e-4, **options}
if sys.argv[1] == "threads":
    fw.threads(2)
every = options.get("record_every", 1)
fw.rollout(model, q, v, **{**options, "steps": every})  # compile
print("started", flush=True)
run = fw.rollout(model, q, v, **options)
print("returned", flush=True)
done = len(run.t) - 1
whole = fw.rollout(model, q, v, **{**options, "steps": max(done, 1) * every})
print(json.dumps({
    "complete": run.complete, "done": done, "all": options["steps"] // every, "status": int(np.max(run.status)),
    "same": all(
        np.array_equal(np.moveaxis(getattr(run, n), -2, 0), np.moveaxis(getattr(whole, n), -2, 0)[: done + more])
        for n, more in (("q", 1), ("v", 1), ("tau", 0))
    ),
}))
"""


def after(case: str, seconds: float) -> dict:
    """What a run gives that gets Ctrl-C after so long."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SCRIPT, case], text=True, **pipes) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            assert process.stdout.readline() == "returned\n"
            assert time.monotonic() - sent < 5.0  # the whole run would take a minute
            out = process.stdout.read()  # `communicate` does not see what readline has fetched beyond its line
            _, messages = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "interrupted at t = " in messages
    assert "Traceback" not in messages
    return json.loads(out)


@pytest.mark.parametrize("case", ["one", "compiled", "threads", "python", "python, batch"])
def test_ctrl_c_returns_what_was_computed(case: str) -> None:
    for seconds in (0.5, 2.0, 6.0):  # a busy machine may need longer for its first chunk
        result = after(case, seconds)
        assert result["complete"] is False
        assert result["same"] is True
        assert result["status"] == 0
        if result["done"]:
            break
    assert 0 < result["done"] < result["all"]


def interrupted(place: Callable, instruction: int, call: Callable[[], fw.Trajectory]) -> tuple[fw.Trajectory, bool]:
    """The call with Ctrl-C before the n-th instruction of a function; was it raised?"""
    code, seen, raised = place.__code__, 0, False

    def local(frame, event, argument):
        nonlocal seen, raised
        if event == "opcode":
            seen += 1
            if seen == instruction:
                raised = True
                raise KeyboardInterrupt
        return local

    def tracer(frame, event, argument):
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        return local

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        return call(), raised
    finally:
        sys.settrace(before)


@pytest.fixture
def poisoned(monkeypatch) -> None:
    """Memory that nobody has written to is NaN, not by chance what the run before has left there."""
    empty = np.empty

    def poison(shape, dtype=float, **options):
        array = empty(shape, dtype, **options)
        if array.dtype == float:
            array.fill(np.nan)
        return array

    monkeypatch.setattr(np, "empty", poison)


def prefix(run: fw.Trajectory, whole: fw.Trajectory) -> bool:
    n = len(run.t)
    states = all(np.array_equal(getattr(run, a), getattr(whole, a)[:n]) for a in ("t", "q", "v"))
    return states and np.array_equal(run.tau, whole.tau[: n - 1]) and run.complete == (n == len(whole.t))


@pytest.mark.parametrize("every", [1, 2])
def test_ctrl_c_between_any_two_instructions_of_a_native_run(every: int, monkeypatch, poisoned) -> None:
    monkeypatch.setattr("featherweight.simulation.running.FIRST_CHUNK", 1.0)
    monkeypatch.setattr("featherweight.simulation.running.CHUNK_SECONDS", 1e-9)
    model = fw.robots.pendulum()

    def call() -> fw.Trajectory:
        return fw.rollout(model, [0.3], [0.5], steps=6, dt=1e-2, record_every=every)

    whole, lengths, k, raised = call(), set(), 1, True
    while raised:
        run, raised = interrupted(Run.advance, k, call)
        assert prefix(run, whole), k
        lengths.add(len(run.t))
        k += 3
    assert lengths == set(range(1, 6 // every + 2))


@pytest.mark.parametrize("every", [1, 2])
def test_ctrl_c_between_any_two_instructions_of_a_run_with_a_python_controller(every: int, poisoned) -> None:
    model = fw.robots.pendulum()

    def call() -> fw.Trajectory:
        return fw.rollout(model, [0.3], [0.5], steps=4, dt=1e-2, record_every=every, control=lambda t, q, v: -0.1 * v)

    whole, k, raised = call(), 1, True
    while raised:
        run, raised = interrupted(AloneWithPython.advance, k, call)
        assert prefix(run, whole), k
        k += 1


def test_ctrl_c_leaves_states_and_clock_together(monkeypatch) -> None:
    """What a file gets on the way out: the clock of other states would make the run go on to other bits."""
    monkeypatch.setattr(running, "FIRST_CHUNK", 1.0)
    model, runs, init = fw.robots.pendulum(), [], Run.__init__
    monkeypatch.setattr(Run, "__init__", lambda self, problem: (init(self, problem), runs.append(self))[0])
    k, raised = 1, True
    while raised:
        _, raised = interrupted(Run.advance, k, lambda: fw.rollout(model, [0.3], [0.5], steps=3, dt=1e-2))
        assert runs[-1].clock[0, 0] == runs[-1].done, k
        k += 1


def test_ctrl_c_from_a_controller_is_ctrl_c() -> None:
    model = fw.robots.pendulum()

    def control(t, q, v):
        if t > 0.0295:
            raise KeyboardInterrupt
        return -0.1 * v

    run = fw.rollout(model, [0.3], [0.5], steps=10, dt=1e-2, control=control)
    whole = fw.rollout(model, [0.3], [0.5], steps=10, dt=1e-2, control=lambda t, q, v: -0.1 * v)
    assert len(run.t) == 4
    assert prefix(run, whole)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored by who started us
    try:
        control = lambda t, q, v: signal.raise_signal(signal.SIGINT)  # noqa: E731
        nothing = fw.simulate(model, [0.3], [0.5], duration=0.1, dt=1e-2, control=control)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (len(nothing.t), nothing.complete, nothing.tau.shape) == (1, False, (0, 1))
    assert nothing.q.tolist() == [[0.3]]


def test_an_interrupted_run_can_be_saved_and_gone_on_from(tmp_path) -> None:
    model = fw.robots.pendulum()

    def stop(t, q, v):
        if t > 0.0495:
            raise KeyboardInterrupt
        return 0.0 * v

    run = fw.rollout(model, [0.3], [0.5], steps=10, dt=1e-2, control=stop)
    run.save(tmp_path / "run.fw")
    assert fw.Trajectory.load(tmp_path / "run.fw").complete is False
    assert repr(run).endswith(" s, not complete>")
    rest = fw.rollout(model, run.q[-1], run.v[-1], steps=5, dt=1e-2, tau=np.zeros((5, 1)))
    whole = fw.rollout(model, [0.3], [0.5], steps=10, dt=1e-2, tau=np.zeros((10, 1)))
    assert np.array_equal(np.concatenate([run.q, rest.q[1:]]), whole.q)
    assert run.energy().shape == (6,)
