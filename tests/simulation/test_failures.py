"""Runs that fail: the last hundred states, at every step, to the bit; lanes that fail alone."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import featherweight as fw
from featherweight.simulation import running

MODEL = fw.robots.double_pendulum()
START = np.array([0.4, -0.2]), np.array([0.3, 0.1])
DT = 1e-3


def native(fails_at: int) -> fw.simulation.Compiled:
    """A controller with a memory whose forces are NaN from a step on."""

    def control(t, q, v, x, p):
        x = 0.9 * x + q[0]
        return fw.scalar.where(t > p[0], np.nan, 1.0) * (0.1 * x[0] - 0.2 * v), x

    return fw.compiled(control, state=[0.5], parameters=[(fails_at - 0.5) * DT])


def python(fails_at: int):
    def control(t, q, v):
        return np.sin(3 * t) - 0.2 * v + (np.nan if t > (fails_at - 0.5) * DT else 0.0)

    return control


@pytest.fixture(params=["one chunk", "chunks"])
def chunks(request, monkeypatch) -> None:
    """Whole runs, or chunks of a sample each."""
    monkeypatch.setattr(running, "FIRST_CHUNK", 1.0 if request.param == "chunks" else 1e15)
    monkeypatch.setattr(running, "CHUNK_SECONDS", 1e-9)


def failure(control, every: int, steps: int = 600, model: fw.Model = MODEL, **options) -> fw.SimulationError:
    q, v = START if model is MODEL else (model.neutral(), np.ones(model.nv))
    with pytest.raises(fw.SimulationError) as caught:
        fw.simulate(model, q, v, duration=steps * DT, dt=DT, control=control, record_every=every, **options)
    return caught.value


@pytest.mark.parametrize("every", [1, 2, 30, 300])
@pytest.mark.parametrize("fails_at", [1, 40, 100, 101, 150, 299, 300, 301, 557])
@pytest.mark.parametrize("kind", [native, python])
def test_the_last_hundred_states_before_a_failure(kind, fails_at: int, every: int, chunks) -> None:
    error = failure(kind(fails_at), every)
    assert str(error) == f"failed at step {fails_at}, t = {fails_at * DT:g} s: the controller gave NaN or inf"
    good = fw.rollout(MODEL, *START, steps=fails_at, dt=DT, control=kind(10**6))
    n = min(100, fails_at + 1)
    last = error.last
    assert np.array_equal(last.t, np.arange(fails_at + 1)[-n:] * DT)
    assert np.array_equal(last.q, good.q[-n:])
    assert np.array_equal(last.v, good.v[-n:])
    assert np.array_equal(last.tau, good.tau[len(good.tau) - n + 1 :])
    assert (last.status, last.failed_step) == (fw.Status.BAD_CONTROL, fails_at)
    run = error.trajectory
    k = -(-fails_at // every)  # samples before it
    assert np.array_equal(run.q[:k], good.q[: k * every : every][:k])
    assert np.isnan(run.q[k:]).all()
    assert (run.status, run.failed_step) == (fw.Status.BAD_CONTROL, fails_at)


@pytest.mark.parametrize("control", [native(0), python(0)], ids=["native", "python"])
@pytest.mark.parametrize("every", [1, 30])
def test_a_failure_at_the_first_step(control, every: int) -> None:
    error = failure(control, every)
    assert error.last.q.tolist() == [START[0].tolist()]
    assert error.last.v.tolist() == [START[1].tolist()]
    assert error.last.tau.shape == (0, 2)
    assert np.array_equal(error.trajectory.q[0], START[0])
    assert np.isnan(error.trajectory.q[1:]).all()


@pytest.mark.parametrize("every", [1, 60])
def test_the_last_states_of_a_robot_that_flies_apart(every: int, chunks) -> None:
    """Explicit damping beyond its limit: the speed grows some tenfold a step until it is no number any more."""
    joint = {"joint": fw.joints.Revolute("z"), "inertia": fw.Inertia(1, (0, 0, 0), 1.0), "damping": 5.6e3}
    model = fw.Builder(gravity=(0, 0, 0)).add_body("b", **joint).build()
    with pytest.warns(UserWarning, match="too stiff"):
        error = failure(None, every, model=model, integrator="rk4")
    assert "the state is no longer finite" in str(error)
    failed = int(error.trajectory.failed_step)
    assert 100 < failed < 600
    with pytest.warns(UserWarning, match="too stiff"):
        good = fw.rollout(model, [0.0], [1.0], steps=failed, dt=DT, integrator="rk4")
    assert good.status == fw.Status.OK
    assert np.array_equal(error.last.q, good.q[-100:])
    assert np.array_equal(error.last.v, good.v[-100:])
    assert np.isfinite(error.last.v).all()


def test_a_motion_that_grew_names_its_fastest_joint() -> None:
    """A controller's damping is explicit; the message names the joint that it drives too hard."""

    def control(t, q, v):
        return np.array([0.0, -5e3 * v[1]])

    error = failure(control, 1)
    name = MODEL.joints[1].name
    speed = next(v for v in np.abs(error.last.v).max(axis=1) if v > 100)
    assert f"; before it joint {name!r} moved at {speed:.3g} rad/s or m/s: " in str(error)
    assert str(error).endswith("take shorter steps or less gain (damping of a controller is explicit)")


def test_contact_that_is_not_solved_says_what_may_be_changed() -> None:
    robot = fw.robots.mini_cheetah()
    q = robot.neutral()
    q[2], q[7:] = 0.2, np.tile([0.0, -0.8, 1.6], 4)
    hard = fw.contact.Impulse(tolerance=1e-14, iterations=1)
    with pytest.raises(fw.ConvergenceError) as caught:
        fw.simulate(robot, q, np.zeros(robot.nv), duration=0.5, dt=1e-3, contact=hard)
    assert "a solver did not converge to tolerance=1e-14 m/s; a larger one is solved more often" in str(caught.value)


def test_rollout_does_not_raise_for_a_lane() -> None:
    tau = np.zeros((3, 50, 2))
    tau[1, 20] = np.nan
    run = fw.rollout(MODEL, *START, steps=50, dt=DT, tau=tau)
    assert run.status.tolist() == [0, fw.Status.BAD_CONTROL, 0]
    assert run.failed_step.tolist() == [-1, 20, -1]
    one = fw.rollout(MODEL, *START, steps=50, dt=DT, tau=tau[1])
    assert (one.status, one.failed_step, one.complete) == (fw.Status.BAD_CONTROL, 20, True)
    assert np.array_equal(one.q, run.q[1], equal_nan=True)
    by_control = fw.rollout(MODEL, *START, steps=50, dt=DT, control=python(20))
    assert (by_control.status, by_control.failed_step) == (fw.Status.BAD_CONTROL, 20)
    assert repr(one).startswith("<Trajectory: failed, ")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("every", [1, 10])
def test_one_poisoned_lane_of_4096(threads: int, every: int, chunks) -> None:
    """By a force that is no number at step 17, by forces so large that it flies apart, by its first state."""
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(4096, 2)), rng.normal(size=(4096, 2))

    def control(t, q, v, x, p):
        return [
            fw.scalar.where(t > p[0], p[1], 0.3 - 0.1 * speed) + own for speed, own in zip(v, x, strict=True)
        ], x / 2

    p = np.tile([1e9, 0.0], (4096, 1))
    push = fw.compiled(control, state=[0.1, 0.2], parameters=p)
    with fw.threads(threads):
        right = fw.rollout(MODEL, q, v, steps=40, dt=DT, control=push, record_every=every)
        assert (right.status == 0).all()
        poison = {5: (fw.Status.BAD_CONTROL, 17), 1234: (fw.Status.BAD_INPUT, 0), 4095: (fw.Status.DIVERGED, None)}
        bad_q, bad_p = q.copy(), p.copy()
        bad_q[1234, 1], bad_p[5], bad_p[4095] = np.nan, (16.5 * DT, np.nan), (22.5 * DT, 1e300)
        ill = fw.compiled(control, state=[0.1, 0.2], parameters=bad_p)
        run = fw.rollout(MODEL, bad_q, v, steps=40, dt=DT, control=ill, record_every=every)
    others = np.setdiff1d(np.arange(4096), list(poison))
    for name in ("q", "v", "tau", "status", "failed_step"):
        assert np.array_equal(getattr(run, name)[others], getattr(right, name)[others])
    for lane, (status, step) in poison.items():
        assert run.status[lane] == status
        failed = run.failed_step[lane]
        assert failed == step or (step is None and failed >= 23)
        first = -(-int(failed) // every)
        assert np.isnan(run.q[lane, first:]).all()
        assert np.array_equal(run.q[lane, :first], right.q[lane, :first])


def test_a_python_controller_that_fails_in_one_lane_of_a_batch() -> None:
    def control(t, q, v):
        tau = np.zeros_like(v)
        tau[3] = np.nan if t > 4.5 * DT else 0.0
        return tau

    q, v = np.tile(START[0], (80, 1)), np.tile(START[1], (80, 1))  # so many that threads may help
    run = fw.rollout(MODEL, q, v, steps=10, dt=DT, control=control)
    right = fw.rollout(MODEL, q, v, steps=10, dt=DT, control=lambda t, q, v: np.zeros_like(v))
    others = np.arange(80) != 3
    assert run.failed_step[3] == 5
    assert run.status[3] == fw.Status.BAD_CONTROL
    assert np.array_equal(run.q[others], right.q[others])
    assert np.isnan(run.q[3, 5:]).all()
    assert np.array_equal(run.q[3, :5], right.q[3, :5])


def test_all_lanes_may_fail() -> None:
    run = fw.rollout(MODEL, np.full((3, 2), np.nan), np.zeros((3, 2)), steps=10, dt=DT, record_every=5)
    assert (run.status == fw.Status.BAD_INPUT).all()
    assert (run.failed_step == 0).all()
    assert np.isnan(run.q).all()
    assert np.isnan(run.energy()).all()


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("control", [None, native(5), python(5)], ids=["none", "native", "python"])
def test_a_first_state_that_is_none(control, every: int) -> None:
    with pytest.raises(fw.SimulationError, match=r"failed at step 0, t = 0 s: q or v is not a state") as caught:
        fw.simulate(MODEL, [np.nan, 0.0], [0.0, 0.0], duration=10 * DT, dt=DT, control=control, record_every=every)
    assert (caught.value.last.q.shape, caught.value.last.tau.shape) == ((1, 2), (0, 2))


@pytest.mark.parametrize("kind", [native, python])
@pytest.mark.parametrize("fails_at", [7, 150])
def test_the_last_forces_are_those_that_acted(kind, fails_at: int) -> None:
    """Limited by the motors, also where states are kept more rarely."""
    motor = fw.actuators.DCMotor(gear=1.0, torque_constant=0.05, resistance=0.2, voltage=24.0, torque=0.01)
    every, rare = (failure(kind(fails_at), n, actuators=motor).last for n in (1, 30))
    assert np.array_equal(every.tau, rare.tau)
    assert (np.abs(rare.tau) <= 0.01).all()


@pytest.mark.parametrize("bad", [lambda t, q, v: 1 / 0, lambda t, q, v: "no"], ids=["raises", "returns nonsense"])
@pytest.mark.parametrize("every", [1, 30])
def test_a_controller_that_raises_has_last_states_too(bad, every: int) -> None:
    """As the documentation of SimulationError says."""
    error = failure(lambda t, q, v: bad(t, q, v) if t > 119.5 * DT else -0.1 * v, every)
    assert error.last.q.shape == (100, 2)
    assert error.last.t[-1] == 120 * DT


@pytest.mark.parametrize("ends_by", [ValueError, KeyboardInterrupt])
def test_a_file_knows_which_lanes_failed_before_the_controller_did(ends_by, tmp_path, monkeypatch) -> None:
    """Both in the middle of a chunk that is not the first: those of 1, 2, 4 and 8 steps."""
    monkeypatch.setattr(running, "FIRST_CHUNK", 1.0)

    def control(t, q, v):
        if round(t / DT) == 12:
            raise ends_by("enough")
        return np.where([[round(t / DT) == 9], [False]], np.nan, -0.1 * v)

    q, v = np.array([START[0]] * 2), np.array([START[1]] * 2)
    with contextlib.suppress(fw.SimulationError):
        fw.rollout(MODEL, q, v, steps=20, dt=DT, control=control, file=tmp_path / "run.fw")
    loaded = fw.Trajectory.load(tmp_path / "run.fw")
    assert loaded.status.tolist() == [fw.Status.BAD_CONTROL, fw.Status.OK]
    assert loaded.failed_step.tolist() == [9, -1]
    assert np.isnan(loaded.q[0, 9:]).all()
    assert np.isfinite(loaded.q[1]).all()


def test_a_lane_that_has_failed_keeps_what_its_controller_remembered() -> None:
    """Along with q and v: a file then says how the controller was when its robot failed."""
    counting = fw.compiled(lambda t, q, v, x, p: ([0.0, 0.0], x + 1.0), state=[5.0])
    sim = fw.Stepper(MODEL, np.tile(START[0], (2, 1)), START[1], dt=DT, control=counting)
    sim.q[1] = np.inf
    sim.step(3)
    assert sim.x.tolist() == [[8.0], [5.0]]
    assert sim.status.tolist() == [fw.Status.OK, fw.Status.BAD_INPUT]
