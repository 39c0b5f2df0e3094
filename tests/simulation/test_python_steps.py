"""Ordinary Python controllers: many steps, one by one, come to the bits of the native loop."""

import sys

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime.loop import SingleSteps
from featherweight.simulation import python_run

DT = 1e-3


@pytest.fixture(params=["builtin", "ctypes"])
def way(request, monkeypatch) -> str:
    """With the builtin function, and as where there is none."""
    if request.param == "ctypes":
        init = SingleSteps.__init__
        monkeypatch.setattr(
            SingleSteps, "__init__", lambda self, *given: (init(self, *given), setattr(self, "from_python", None))[0]
        )
    return request.param


def forces(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -0.3 * v + 0.2 * np.cos(3.0 * t)


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 50)])
def test_many_tapes_make_one_trajectory(batch: tuple[int, ...], every: int, way: str, monkeypatch) -> None:
    """Forces that were recorded with one robot's controller, given to the native loop."""
    monkeypatch.setattr(python_run, "LENGTH", 120)
    model, steps = fw.robots.double_pendulum(), 420
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(*batch, 2)), rng.normal(size=(*batch, 2))
    fine = fw.rollout(model, q, v, steps=steps, dt=DT, control=forces)
    given = fw.rollout(model, q, v, steps=steps, dt=DT, tau=fine.tau)
    assert np.array_equal(fine.q, given.q)
    assert np.array_equal(fine.v, given.v)
    coarse = fw.rollout(model, q, v, steps=steps, dt=DT, control=forces, record_every=every)
    for name, part in (("t", slice(None, None, every)), ("tau", np.s_[..., ::every, :])):
        assert np.array_equal(getattr(coarse, name), getattr(fine, name)[part]), name
    assert np.array_equal(coarse.q, fine.q[..., ::every, :])
    assert np.array_equal(coarse.v, fine.v[..., ::every, :])


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("fails", [50, 999, 1000, 1001, 1050, 2345])
def test_the_last_states_are_there_wherever_the_tape_ends(fails: int, every: int, way: str) -> None:
    model = fw.robots.double_pendulum()
    good = fw.rollout(model, [0.3, 0.1], [0.0, 0.0], steps=2350, dt=DT, control=forces)

    def control(t, q, v):
        return forces(t, q, v) if round(t / DT) < fails else np.full(2, np.nan)

    with pytest.raises(fw.SimulationError, match=f"failed at step {fails},") as caught:
        fw.simulate(model, [0.3, 0.1], [0.0, 0.0], duration=2.35, dt=DT, control=control, record_every=every)
    last, n = caught.value.last, min(100, fails + 1)
    assert np.array_equal(last.q, good.q[fails + 1 - n : fails + 1])
    assert np.array_equal(last.v, good.v[fails + 1 - n : fails + 1])
    assert np.array_equal(last.tau, good.tau[fails + 1 - n : fails])
    assert last.t[-1] == fails * DT


def test_states_that_a_controller_keeps_are_its_own(way: str) -> None:
    """Arrays that nobody refers to are handed out again; those that are kept are not."""
    model, kept, views = fw.robots.double_pendulum(), [], []

    def control(t, q, v):
        kept.append(q)
        views.append(v[1:])
        return v  # the array that it was given: read, then left alone

    run = fw.rollout(model, [0.3, 0.1], [0.5, 0.2], steps=50, dt=DT, control=control)
    assert np.array_equal(np.array(kept), run.q[:-1])
    assert np.array_equal(np.array(views)[:, 0], run.v[:-1, 1])
    assert np.array_equal(run.tau, run.v[:-1])


@pytest.mark.parametrize(
    "same",
    [
        lambda tau: tau.tolist(),
        lambda tau: np.repeat(tau, 2)[::2],
        lambda tau: tau.astype(">f8"),
        lambda tau: tau.view(type("Mine", (np.ndarray,), {})),
        lambda tau: np.frombuffer(b"\0" + tau.tobytes(), dtype=np.uint8)[1:].view(float),
    ],
    ids=["list", "strided", "big endian", "subclass", "unaligned"],
)
def test_unusual_arrays_are_taken_as_what_they_say(same) -> None:
    model = fw.robots.double_pendulum()
    start = [0.3, 0.1], [0.5, 0.2]
    plain = fw.rollout(model, *start, steps=20, dt=DT, control=forces)
    other = fw.rollout(model, *start, steps=20, dt=DT, control=lambda t, q, v: same(forces(t, q, v)))
    assert np.array_equal(plain.q, other.q)
    assert np.array_equal(plain.tau, other.tau)


def test_steps_leave_no_references_behind(way: str) -> None:
    model, tau = fw.robots.double_pendulum(), np.zeros(2)

    def references() -> np.ndarray:
        fw.rollout(model, [0.3, 0.1], [0.5, 0.2], steps=500, dt=DT, control=lambda t, q, v: tau)
        return np.array([sys.getrefcount(x) for x in (tau, None, np.dtype(float), np.ndarray)])

    before = references()
    after = references()
    assert after[0] == before[0]
    assert np.abs(after - before).max() < 100
