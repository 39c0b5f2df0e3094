"""When a run fails, its error has the last hundred states, one for each step, whatever was recorded."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.simulation import running

MODEL = fw.robots.double_pendulum()
Q, V, DT = np.array([0.4, -0.9]), np.array([0.3, 0.1]), 1e-3
MOTOR = fw.actuators.DCMotor(2.0, 0.05, 0.2, 12.0, 0.5)


def native(step: int) -> fw.simulation.Compiled:
    """Counts its calls, and gives NaN at this one."""
    return fw.compiled(
        lambda t, q, v, x, p: (fw.scalar.where(x[0] == p[0], np.nan, 1.0) * (0.3 * q - 0.2 * v - x[0] * 1e-3), x + 1.0),
        state=[0.0],
        parameters=[float(step)],
    )


def python(step: int):
    count = iter(range(10**9))

    def control(t, q, v):
        k = next(count)
        return (np.nan if k == step else 1.0) * (0.3 * q - 0.2 * v - k * 1e-3)

    return control


def failure(control, every: int, **options) -> fw.SimulationError:
    with pytest.raises(fw.SimulationError) as caught:
        fw.simulate(MODEL, Q, V, duration=2.0, dt=DT, control=control, record_every=every, **options)
    return caught.value


@pytest.mark.parametrize("kind", [native, python])
@pytest.mark.parametrize("step", [0, 1, 57, 99, 100, 101, 1234])
def test_the_last_hundred_states(kind, step: int) -> None:
    right = fw.rollout(MODEL, Q, V, steps=2000, dt=DT, control=kind(10**6))
    for every in (1, 8, 1000):
        error = failure(kind(step), every)
        assert str(error) == f"failed at step {step}, t = {step * DT:g} s: the controller gave NaN or inf"
        last, first = error.last, max(0, step - 99)
        assert (last.t == np.arange(first, step + 1) * DT).all()
        assert (last.q == right.q[first : step + 1]).all()
        assert (last.v == right.v[first : step + 1]).all()
        assert (last.tau == right.tau[first:step]).all()
        assert (last.status, last.failed_step) == (fw.Status.BAD_CONTROL, step)
        kept = -(-step // every)  # states before the failed step
        whole = error.trajectory
        assert (whole.q[:kept] == right.q[: kept * every : every]).all()
        assert np.isnan(whole.q[max(1, kept) :]).all()


@pytest.mark.parametrize("kind", [native, python])
@pytest.mark.parametrize("chunk", [1e-9, 1e30])
def test_in_a_later_chunk(kind, chunk: float, monkeypatch) -> None:
    right = failure(kind(777), 1).last
    monkeypatch.setattr(running, "FIRST_CHUNK", chunk)
    monkeypatch.setattr(running, "CHUNK_SECONDS", 0.0)
    for every in (1, 5, 40, 500):
        last = failure(kind(777), every).last
        for name in ("t", "q", "v", "tau"):
            assert (getattr(last, name) == getattr(right, name)).all()


@pytest.mark.parametrize("kind", [native, python])
def test_forces_that_acted_are_in_the_last_states(kind) -> None:
    right = failure(kind(300), 1, actuators=MOTOR).last
    assert np.abs(right.tau).max() <= 1.0
    for every in (4, 1000):
        assert (failure(kind(300), every, actuators=MOTOR).last.tau == right.tau).all()


@pytest.mark.parametrize("every", [1, 10])
def test_states_that_run_away(every: int) -> None:
    control = fw.compiled(lambda t, q, v, x, p: (v * v * v * 40.0, x))
    error = failure(control, every)
    step = int(error.last.failed_step)
    assert step > 0
    assert "t = " in str(error)
    assert len(error.last.t) == min(step + 1, 100)
    assert np.isfinite(error.last.q).all()
    assert np.isfinite(error.last.v).all()


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("control", [None, native(10**6), lambda t, q, v: 0.0 * v], ids=["none", "native", "python"])
def test_a_first_state_that_is_none(control, every: int) -> None:
    with pytest.raises(fw.SimulationError, match="failed at step 0, t = 0 s: q or v is not a state") as caught:
        fw.simulate(MODEL, [np.nan, 0.0], V, duration=0.1, dt=DT, control=control, record_every=every)
    assert np.isnan(caught.value.trajectory.q).all()
    assert len(caught.value.last.t) <= 1


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("bad", ["raises", "returns"])
def test_controllers_that_break(bad: str, every: int) -> None:
    right = fw.rollout(MODEL, Q, V, steps=2000, dt=DT, control=python(10**6))
    inner = python(10**6)

    def control(t, q, v):
        if t > 0.1495:
            return 1 / 0 if bad == "raises" else "no"
        return inner(t, q, v)

    error = failure(control, every)
    assert "at step 150, t = 0.15 s" in str(error)
    assert (error.trajectory.q == right.q[:151:every]).all()
    assert (error.last.q == right.q[51:151]).all()
    assert (error.last.tau == right.tau[51:150]).all()
