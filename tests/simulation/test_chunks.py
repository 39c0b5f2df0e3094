"""How a run is cut into chunks, recorded and shared out to threads changes no bit."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.simulation import prepared, running
from featherweight.simulation.run import Run

MODEL = fw.robots.mini_cheetah()
STEPS = 36


def filtered(t, q, v, x, p):
    """A PD controller with a memory of speeds, of time, and of how often it was called."""
    speeds = 0.7 * x[:12] + 0.3 * v[6:]
    joints = p[0] * (0.3 - q[7:]) - p[1] * speeds + fw.scalar.sin(40 * t) + 0.01 * x[12]
    return np.concatenate([np.zeros(6), joints]), np.concatenate([speeds, x[12:] + 1.0])


def plain(t, q, v):
    return np.concatenate([np.zeros((*q.shape[:-1], 6)), 20.0 * (0.3 - q[..., 7:]) + np.sin(40 * t)], axis=-1)


FILTERED = fw.compiled(filtered, state=np.zeros(13), parameters=[20.0, 0.5])
CONTROLS = {"none": None, "compiled": FILTERED, "python": plain}


def states(count: int | None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    q = np.array([MODEL.random(rng) for _ in range(count or 1)])
    v = rng.normal(size=(count or 1, MODEL.nv))
    return (q[0], v[0]) if count is None else (q, v)


def same(a: fw.Trajectory, b: fw.Trajectory, every: int = 1) -> None:
    """The states of a are every so many of b."""
    assert np.array_equal(a.t, b.t[::every])
    assert np.array_equal(a.q, b.q[..., ::every, :])
    assert np.array_equal(a.v, b.v[..., ::every, :])
    assert np.array_equal(a.tau, b.tau[..., ::every, :])
    assert np.array_equal(a.status, b.status)
    assert a.complete
    assert b.complete


@pytest.fixture
def cut(monkeypatch):
    """Set the lengths of chunks; gives the list of those that were run. Nothing is prepared, which has no chunks."""
    made: list[int] = []
    monkeypatch.setattr(prepared, "MOST_NUMBERS", 0)
    MODEL.cache.rollouts.clear()
    advance = Run.advance
    monkeypatch.setattr(Run, "advance", lambda self, samples: (made.append(samples), advance(self, samples))[1])

    def lengths(first: float, seconds: float) -> list[int]:
        monkeypatch.setattr(running, "FIRST_CHUNK", first)
        monkeypatch.setattr(running, "CHUNK_SECONDS", seconds)
        made.clear()
        return made

    return lengths


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS)
@pytest.mark.parametrize("count", [None, 1, 9, 70])
def test_chunks_change_no_bit(control, count: int | None, cut) -> None:
    q, v = states(count)
    made = cut(1e15, 1e9)
    whole = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, control=control)
    assert control is plain or len(made) == 1
    for first, seconds in ((1.0, 1e-12), (1.0, 1e9), (1e5, 1e-4)):
        made = cut(first, seconds)
        same(fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, control=control), whole)
        if control is not plain and first == 1.0:
            assert made[:3] == ([1, 1, 1] if seconds < 1 else [1, 2, 4])
        for every in (4, STEPS):
            run = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, control=control, record_every=every)
            same(run, whole, every)


@pytest.mark.parametrize("method", ["semi_implicit", "rk4"])
def test_forces_that_are_given_go_with_their_steps(method: str, cut) -> None:
    q, v = states(9)
    tau = np.random.default_rng(0).normal(size=(9, STEPS, MODEL.nv))
    cut(1e15, 1e9)
    whole = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, tau=tau, integrator=method)
    assert np.array_equal(whole.tau, tau)
    cut(1.0, 1e-12)
    same(fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, tau=tau, integrator=method), whole)
    run = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, tau=tau, integrator=method, record_every=3)
    same(run, whole, 3)


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS)
def test_threads_and_chunks_together(control, cut) -> None:
    q, v = states(200)
    cut(1e15, 1e9)
    with fw.threads(1):
        whole = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, control=control)
    cut(1.0, 1e-12)
    for n in (1, 2, 3):
        with fw.threads(n):
            run = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, control=control, record_every=2)
        same(run, whole, 2)
    alone = fw.rollout(MODEL, q[77], v[77], steps=STEPS, dt=1e-3, control=control)
    assert np.array_equal(alone.q, whole.q[77])


def test_parameters_and_states_of_each_lane_stay_with_it(cut) -> None:
    q, v = states(9)
    rng = np.random.default_rng(1)
    gains, memory = rng.uniform(5.0, 20.0, size=(9, 2)), rng.normal(size=(9, 13))
    cut(1.0, 1e-12)
    each = fw.compiled(filtered, state=memory, parameters=gains)
    run = fw.rollout(MODEL, q, v, steps=STEPS, dt=1e-3, control=each)
    cut(1e15, 1e9)
    for k in (0, 8):
        one = fw.compiled(filtered, state=memory[k], parameters=gains[k])
        assert np.array_equal(fw.rollout(MODEL, q[k], v[k], steps=STEPS, dt=1e-3, control=one).q, run.q[k])


def test_batches_of_any_shape_are_rows() -> None:
    q, v = states(12)
    rows = fw.rollout(MODEL, q, v, steps=4, dt=1e-3, control=FILTERED)
    for control in (FILTERED, plain):
        rows = fw.rollout(MODEL, q, v, steps=4, dt=1e-3, control=control)
        grid = fw.rollout(MODEL, q.reshape(3, 4, -1), v.reshape(3, 4, -1), steps=4, dt=1e-3, control=control)
        assert grid.q.shape == (3, 4, 5, MODEL.nq)
        assert np.array_equal(grid.q.reshape(rows.q.shape), rows.q)
        assert np.array_equal(grid.tau.reshape(rows.tau.shape), rows.tau)
    none = fw.rollout(MODEL, q[:0], v[:0], steps=4, dt=1e-3)
    assert none.q.shape == (0, 5, MODEL.nq)
