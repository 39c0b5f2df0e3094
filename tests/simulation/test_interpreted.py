"""`with fw.interpret():` runs the source of a whole simulation on NumPy, for this thread and no other."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler import interpreting
from featherweight.compiler.llvm.calls import OFF
from featherweight.compiler.runtime import code, interpretation

MODEL = fw.robots.chain(3)
Q, V = np.random.default_rng(0).normal(size=(2, 4, 3))
QUADRUPED = fw.robots.mini_cheetah()
STANDING = QUADRUPED.neutral()
STANDING[2] = 0.3
OWN = fw.compiled(lambda t, q, v, x, p: (x[0] - p[0] * v, x + 1.0), state=[0.0], parameters=[2.0])


@pytest.fixture
def no_native_code(monkeypatch):
    """Whoever loads or runs compiled code fails."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("native code was used")

    monkeypatch.setattr(code.Code, "__init__", never)
    monkeypatch.setattr(code.Code, "run_rows", never)


def one(**options):
    return fw.rollout(MODEL, Q[0], V[0], steps=20, dt=1e-3, **options)


def batch(**options):
    return fw.rollout(MODEL, Q, V, steps=20, dt=1e-3, **options)


def on_the_ground(contact):
    return fw.rollout(QUADRUPED, STANDING, np.zeros(QUADRUPED.nv), steps=4, dt=2e-4, contact=contact)


RUNS = {
    "one": lambda: one(record_every=4),
    "batch": lambda: batch(record_every=5),
    "Runge-Kutta": lambda: batch(integrator="rk4"),
    "variational": lambda: one(integrator="variational"),
    "variational batch": lambda: batch(integrator="variational"),
    "forces": lambda: batch(tau=np.ones((20, 3))),
    "compiled controller": lambda: one(control=OWN),
    "compiled controller, batch": lambda: batch(control=OWN),
    "Python controller": lambda: fw.simulate(MODEL, Q[0], V[0], duration=0.02, dt=1e-3, control=lambda t, q, v: -v),
    "Python controller, batch": lambda: batch(control=lambda t, q, v: -v, record_every=2),
    "impulses": lambda: on_the_ground(fw.contact.Impulse()),
    "springs": lambda: on_the_ground(fw.contact.SpringDamper()),
}


def numbers(run) -> list[np.ndarray]:
    return [run.q, run.v, run.tau, run.contact_force, run.status, run.failed_step, run.t]


@pytest.mark.parametrize("kind", RUNS)
def test_it_computes_what_native_code_computes(kind, monkeypatch) -> None:
    compiled = RUNS[kind]()
    with monkeypatch.context() as patch, fw.interpret():
        patch.setattr(code.Code, "__init__", None)
        patch.setattr(code.Code, "run_rows", None)
        source = RUNS[kind]()
    for ours, theirs in zip(numbers(compiled), numbers(source), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_nothing_is_compiled(no_native_code) -> None:
    model = fw.robots.chain(2, mass=1.0625)
    with fw.interpret():
        run = fw.rollout(model, [[0.1, 0.2]] * 3, [[0.0, 0.0]] * 3, steps=5, dt=1e-3)
        fw.simulate(model, [0.1, 0.2], [0.0, 0.0], duration=5e-3, dt=1e-3, control=lambda t, q, v: -v)
    assert np.isfinite(run.q).all()
    with pytest.raises(AssertionError, match="native code was used"):
        fw.rollout(model, [0.1, 0.2], [0.0, 0.0], steps=5, dt=1e-3)


def test_failures_are_the_same() -> None:
    def fails():
        with pytest.raises(fw.SimulationError) as caught:
            fw.simulate(
                MODEL, Q[0], V[0], duration=0.05, dt=1e-3, control=lambda t, q, v: v * (np.inf if t > 0.01 else 1.0)
            )
        return caught.value

    compiled = fails()
    with fw.interpret():
        source = fails()
    assert str(compiled) == str(source)
    np.testing.assert_allclose(compiled.last.q, source.last.q, rtol=1e-9)
    bad = Q.copy()
    bad[1] = np.nan
    compiled = fw.rollout(MODEL, bad, V, steps=3, dt=1e-3)
    with fw.interpret():
        source = fw.rollout(MODEL, bad, V, steps=3, dt=1e-3)
    assert compiled.status.tolist() == source.status.tolist()
    np.testing.assert_allclose(compiled.q, source.q, rtol=1e-9)


# ---- whose mode it is


def in_a_thread(call):
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    thread.join()
    return results[0]


def test_other_threads_are_compiled_as_always(monkeypatch) -> None:
    model, x = fw.robots.chain(3), Q[0].copy()
    fw.forward_dynamics(model, x, x, x)
    interpreted = []
    source = fw.dynamics.evaluate.Kernel.interpret

    def noted(self, *arguments):
        interpreted.append(threading.get_ident())
        return source(self, *arguments)

    monkeypatch.setattr(fw.dynamics.evaluate.Kernel, "interpret", noted)
    with fw.interpret():
        assert not in_a_thread(interpreting)
        right = in_a_thread(lambda: fw.forward_dynamics(model, x, x, x))
        assert interpreted == []
        fw.forward_dynamics(model, x, x, x)
        assert interpreted == [threading.get_ident()]
    assert right.tobytes() == fw.forward_dynamics(model, x, x, x).tobytes()


def test_one_thread_may_leave_it_while_another_is_in_it() -> None:
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def other():
        with fw.interpret():
            inside.set()
            leave.wait(timeout=30)
            seen.append(interpreting())

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(timeout=30)
    with fw.interpret():
        assert interpreting()
    assert not interpreting()
    leave.set()
    thread.join()
    assert seen == [True]
    assert OFF.value == 0


def test_it_nests_and_may_be_used_again() -> None:
    mode = fw.interpret()
    for _ in range(2):
        with mode:
            with mode, fw.interpret():
                assert interpreting()
            assert interpreting()
        assert not interpreting()
    with pytest.raises(KeyError), fw.interpret():
        raise KeyError
    assert not interpreting()
    assert OFF.value == 0


def test_one_that_was_never_left_ends_when_it_is_dropped() -> None:
    """An exception of a signal handler may come right before the end of a `with`."""
    mode = fw.interpret()
    mode.__enter__()
    assert interpreting()
    del mode
    gc.collect()
    assert not interpreting()
    assert OFF.value == 0
    interpretation._entered.set(())
