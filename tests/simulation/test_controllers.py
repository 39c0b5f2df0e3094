"""Controllers that misbehave: every error says when and why, and nothing they do reaches the robot behind its back."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.double_pendulum()
START = np.array([0.4, -0.2]), np.array([0.3, 0.1])
DT = 1e-2


def simulate(control, **options) -> fw.Trajectory:
    return fw.simulate(MODEL, *START, duration=0.1, dt=DT, control=control, **options)


def from_step_4(bad):
    """A good controller until then."""
    return lambda t, q, v: bad(t, q, v) if t > 3.5 * DT else -0.1 * v


def good(t, q, v):
    return -0.1 * v


@pytest.mark.parametrize("every", [1, 2, 5])
@pytest.mark.parametrize(
    ("bad", "cause"),
    [
        (lambda t, q, v: 1 / 0, "the controller raised ZeroDivisionError at step 4, t = 0.04 s: division by zero"),
        (lambda t, q, v: q["x"], "the controller raised IndexError at step 4, t = 0.04 s: "),
        (lambda t, q: q, "the controller raised TypeError at step 4, t = 0.04 s: "),
        (lambda t, q, v: np.zeros(3), "the controller returned shape (3,) at step 4, t = 0.04 s; expected (2,)"),
        (lambda t, q, v: np.zeros((2, 1)), "the controller returned shape (2, 1) at step 4"),
        (lambda t, q, v: np.zeros((1, 2)), "the controller returned shape (1, 2) at step 4"),
        (lambda t, q, v: np.zeros(0), "the controller returned shape (0,) at step 4"),
        (lambda t, q, v: [[0.0], [0.0, 1.0]], "the controller returned list at step 4, t = 0.04 s; expected (2,)"),
        (lambda t, q, v: v + 0j, "the controller returned shape (2,) of complex128 at step 4"),
        (lambda t, q, v: v > 0, "the controller returned shape (2,) of bool at step 4"),
        (lambda t, q, v: np.array([1.0, 2.0], dtype=object), "the controller returned shape (2,) of object at step 4"),
        (lambda t, q, v: np.array(["1", "2"]), "the controller returned shape (2,) of <U1 at step 4"),
        (lambda t, q, v: np.zeros(2, dtype="m8[s]"), "the controller returned shape (2,) of timedelta64[s] at step 4"),
        (lambda t, q, v: "ab", "the controller returned str at step 4"),
        (lambda t, q, v: None, "the controller returned NoneType at step 4"),
        (lambda t, q, v: {}, "the controller returned dict at step 4"),
        (lambda t, q, v: (x for x in v), "the controller returned generator at step 4"),
        (lambda t, q, v: (v, None), "the controller returned tuple at step 4"),
        (lambda t, q, v: v * np.nan, "failed at step 4, t = 0.04 s: the controller gave NaN or inf"),
        (lambda t, q, v: [np.inf, 0.0], "failed at step 4, t = 0.04 s: the controller gave NaN or inf"),
    ],
)
def test_a_controller_that_goes_wrong_later(bad, cause: str, every: int) -> None:
    with pytest.raises(fw.SimulationError) as caught:
        simulate(from_step_4(bad), record_every=every)
    assert str(caught.value).startswith(cause)
    right, run = simulate(good, record_every=every), caught.value.trajectory
    n = -(-4 // every)  # samples before step 4
    assert np.array_equal(run.q[:n], right.q[:n])
    assert np.isnan(run.q[n + 1 :]).all() or len(run.q) == 4 // every + 1


def test_a_cause_is_kept() -> None:
    with pytest.raises(fw.SimulationError) as caught:
        simulate(lambda t, q, v: {}["missing"])
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "kind", [list, tuple, lambda x: x.astype(">f8"), np.ndarray.copy, lambda x: np.repeat(x, 2)[::2]]
)
def test_forces_of_other_kinds_are_taken_as_they_are(kind) -> None:
    assert np.array_equal(simulate(lambda t, q, v: kind(-0.1 * v)).q, simulate(good).q)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16, np.longdouble])
def test_real_numbers_of_other_sizes_are_taken(dtype) -> None:
    run = simulate(lambda t, q, v: np.array([3, 2], dtype=dtype))
    assert np.array_equal(run.q, simulate(lambda t, q, v: np.array([3.0, 2.0])).q)


def test_a_controller_that_writes_into_what_it_is_given() -> None:
    kept = []

    def rude(t, q, v):
        tau = -0.1 * v
        for old_q, old_v in kept:
            old_q[:], old_v[:] = 1e9, np.nan
        kept.append((q, v))
        q[:], v[:] = np.nan, 1e9
        return tau

    for every in (1, 5):
        kept.clear()
        assert np.array_equal(simulate(rude, record_every=every).q, simulate(good, record_every=every).q)
    q, v = START[0].copy(), START[1].copy()
    fw.simulate(MODEL, q, v, duration=0.1, dt=DT, control=rude)
    assert np.array_equal(q, START[0])
    assert np.array_equal(v, START[1])


def test_a_controller_with_one_buffer() -> None:
    """The same array every time, changed in place and after it was handed over."""
    buffer = np.zeros(2)

    def control(t, q, v):
        np.multiply(v, -0.1, out=buffer)
        return buffer

    run = simulate(control)
    buffer[:] = np.nan
    right = simulate(good)
    assert np.array_equal(run.q, right.q)
    assert np.array_equal(run.tau, right.tau)


def test_a_controller_that_returns_what_it_was_given() -> None:
    """q as forces: as many numbers as v, on this robot."""
    assert np.array_equal(simulate(lambda t, q, v: q).q, simulate(lambda t, q, v: q + 0.0).q)
    assert np.array_equal(simulate(lambda t, q, v: v).tau, simulate(lambda t, q, v: v).v[:-1])


def test_a_controller_cannot_change_the_model() -> None:
    def control(t, q, v):
        MODEL.gravity[:] = 0.0  # of a copy
        return -0.1 * v

    assert np.array_equal(simulate(control).q, simulate(good).q)
    with pytest.raises(fw.SimulationError, match=r"the controller raised FrozenInstanceError at step 0, t = 0 s"):
        simulate(lambda t, q, v: setattr(MODEL, "name", "other"))
    assert np.array_equal(MODEL.gravity, (0.0, 0.0, -9.81))


@pytest.mark.parametrize("count", [None, 100])
def test_a_controller_that_simulates(count: int | None) -> None:
    """The same model, the same compiled step, inside of itself: a look ahead, by a controller of its own."""
    shape = (2,) if count is None else (count, 2)
    q, v = np.broadcast_to(START[0], shape).copy(), np.broadcast_to(START[1], shape).copy()

    def look(t, q, v):
        ahead = fw.rollout(MODEL, q, v, steps=3, dt=DT, control=good, record_every=3)
        a = fw.forward_dynamics(MODEL, q, v, np.zeros_like(v))
        return -0.1 * ahead.v[..., -1, :] - 0.01 * a

    run = fw.rollout(MODEL, q, v, steps=10, dt=DT, control=look)
    for k in range(10):  # the same, step by step from outside
        tau = look(k * DT, q, v)
        assert np.array_equal(run.tau[..., k, :], tau)
        step = fw.rollout(MODEL, q, v, steps=1, dt=DT, tau=tau[..., None, :])
        q, v = step.q[..., -1, :], step.v[..., -1, :]
        assert np.array_equal(run.q[..., k + 1, :], q)


def test_an_error_inside_of_a_simulation_inside_of_a_controller() -> None:
    def control(t, q, v):
        return simulate(from_step_4(lambda t, q, v: 1 / 0)).v[-1]

    with pytest.raises(
        fw.SimulationError, match=r"the controller raised SimulationError at step 0, t = 0 s: .* step 4"
    ):
        simulate(control)
    assert simulate(good).complete


def test_runs_from_many_threads_at_once() -> None:
    """One model, compiled and Python controllers, batches that use threads themselves."""
    traced = fw.compiled(lambda t, q, v, x, p: (-0.1 * v + x, x * 0.5), state=[0.2, 0.1])
    q, v = np.tile(START[0], (300, 1)), np.tile(START[1], (300, 1))
    calls = [
        lambda: fw.rollout(MODEL, q, v, steps=200, dt=DT, control=traced),
        lambda: fw.rollout(MODEL, q, v, steps=20, dt=DT, control=good),
        lambda: fw.rollout(MODEL, *START, steps=200, dt=DT, control=good),
        lambda: fw.rollout(MODEL, *START, steps=2000, dt=DT, integrator="rk4"),
    ] * 2
    right = [call() for call in calls]
    found: list[fw.Trajectory | None] = [None] * len(calls)

    def work(k: int) -> None:
        found[k] = calls[k]()

    for _ in range(3):
        workers = [threading.Thread(target=work, args=(k,)) for k in range(len(calls))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(timeout=60)
        for a, b in zip(found, right, strict=True):
            assert a is not None
            assert np.array_equal(a.q, b.q)
            assert np.array_equal(a.tau, b.tau)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, q, v, x, p: 1 / 0, "the controller raised ZeroDivisionError while it was traced, before step 0"),
        (lambda t, q, v: v, "the controller raised TypeError while it was traced, before step 0, t = 0 s: "),
        (lambda t, q, v, x, p: v, r"expected <lambda> to return \(tau, x\), got NodeArray"),
        (lambda t, q, v, x, p: None, r"expected <lambda> to return \(tau, x\), got NoneType"),
        (
            lambda t, q, v, x, p: (None, x),
            "the controller returned .*, before step 0, t = 0 s; expected",
        ),
        (lambda t, q, v, x, p: (np.zeros(3), x), "returned tau of 3 and a state of 1 numbers"),
        (lambda t, q, v, x, p: (0.0, x), "returned tau of 1 and a state of 1 numbers"),
        (lambda t, q, v, x, p: (v, [1.0, 2.0]), "returned tau of 2 and a state of 2 numbers"),
        (
            lambda t, q, v, x, p: (v if q[0] > 0 else -v, x),
            r"test_controllers.py:\d+: a traced value has no truth value",
        ),
        (lambda t, q, v, x, p: ([float(q[0]), 0.0], x), r"test_controllers.py:\d+: a traced value is not a number yet"),
        (lambda t, q, v, x, p: (v + 1j, x), "raised TypeError while it was traced"),
        (lambda t, q, v, x, p: (fw.rollout(MODEL, q, v, steps=1, dt=DT).v[0], x), "q: expected real numbers"),
        (lambda t, q, v, x, p: (v * np.nan, x), "failed at step 0, t = 0 s: the controller gave NaN or inf"),
        (lambda t, q, v, x, p: (v / (x[0] - x[0]), x), "failed at step 0, t = 0 s: the controller gave NaN or inf"),
    ],
)
def test_malformed_compiled_controllers(function, message: str) -> None:
    with pytest.raises(fw.SimulationError, match=message):
        simulate(fw.compiled(function, state=[0.5]))
    assert simulate(good).complete  # nothing is left behind


def test_a_compiled_controller_that_writes_into_what_it_is_given() -> None:
    """Its arrays are its own: the robot does not see it."""

    def rude(t, q, v, x, p):
        tau, after = -0.1 * v + p[0] + x[0], 0.5 * x
        q[:], v[:], x[:], p[:] = 1e9, np.nan, np.nan, np.nan
        return tau, after

    def kind(t, q, v, x, p):
        return -0.1 * v + p[0] + x[0], 0.5 * x

    options = {"state": [0.5], "parameters": [0.2]}
    found, right = (simulate(fw.compiled(f, **options)) for f in (rude, kind))
    assert np.array_equal(found.q, right.q)
    assert np.array_equal(found.tau, right.tau)


def test_a_memory_that_is_no_number_is_seen_in_the_forces() -> None:
    def control(t, q, v, x, p):
        return -0.1 * v + x[0], x + fw.scalar.where(t > 3.5 * DT, np.nan, 0.0)

    with pytest.raises(fw.SimulationError, match=r"failed at step 5, t = 0.05 s: the controller gave NaN or inf"):
        simulate(fw.compiled(control, state=[0.5]))


def test_compiled_controllers_are_called_with_the_right_things() -> None:
    arguments = []

    def control(t, q, v, x, p):
        arguments.append([np.shape(a) for a in (t, q, v, x, p)])
        return [p[0] * t, x[0]], x + p[1]

    run = simulate(fw.compiled(control, state=[1.0], parameters=[3.0, 0.5]))
    assert arguments == [[(), (2,), (2,), (1,), (2,)]] * len(arguments)
    assert np.abs(run.tau[:, 0] - 3.0 * run.t[:-1]).max() <= 1e-15
    assert np.array_equal(run.tau[:, 1], 1.0 + 0.5 * np.arange(10))


def test_batches_of_states_and_parameters_must_fit() -> None:
    control = fw.compiled(lambda t, q, v, x, p: (v * p[0], x), parameters=np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"batch\) axes do not broadcast .* control: parameters \(3, 1\)"):
        fw.rollout(MODEL, np.zeros((2, 2)), np.zeros((2, 2)), steps=2, dt=DT, control=control)
    with pytest.raises(ValueError, match="expected one state, got a batch"):
        simulate(control)
    with pytest.raises(TypeError, match=r"control: expected a function f\(t, q, v\) -> tau, got int"):
        simulate(3)
    with pytest.raises(TypeError, match="function: expected a controller"):
        fw.compiled(3)


def test_a_function_with_other_arguments_is_told_how_it_is_called():
    model, rest = fw.robots.double_pendulum(), ([0.0, 0.0], [0.0, 0.0])
    with pytest.raises(fw.SimulationError, match=r"it is called as f\(t, q, v\) -> tau$"):
        fw.simulate(model, *rest, duration=0.1, dt=DT, control=lambda q, v: v)
    with pytest.raises(fw.SimulationError, match=r"it is called as f\(t, q, v\) -> tau$"):
        fw.Stepper(model, dt=DT, control=lambda q, v: v).step()
    with pytest.raises(fw.SimulationError, match=r"it is called as f\(t, q, v, x, p\) -> tau, x$"):
        fw.simulate(model, *rest, duration=0.1, dt=DT, control=fw.compiled(lambda t, q, v: v))
    with pytest.raises(fw.SimulationError, match=r"it is called as f\(t, q, v, x, p, s\) -> tau, x$"):
        fw.simulate(model, *rest, duration=0.1, dt=DT, control=fw.compiled(lambda t, q, v, x, p: (v, x), sees=("dt",)))
    with pytest.raises(fw.SimulationError, match="unsupported operand") as error:
        fw.simulate(model, *rest, duration=0.1, dt=DT, control=lambda t, q, v: None + v)
    assert "called as" not in str(error.value)


def test_a_class_in_place_of_a_contact_model_is_told_apart():
    model, rest = fw.robots.double_pendulum(), ([0.0, 0.0], [0.0, 0.0])
    with pytest.raises(TypeError, match=r"contact: .*, got the class Impulse; write Impulse\(\)"):
        fw.simulate(model, *rest, duration=0.1, dt=DT, contact=fw.contact.Impulse)
    with pytest.raises(TypeError, match=r"contact: .*, got str; write Impulse\(\), for example"):
        fw.simulate(model, *rest, duration=0.1, dt=DT, contact="impulse")
    with pytest.raises(TypeError, match=r"got the class EffortLimits; write EffortLimits\(\)"):
        fw.simulate(model, *rest, duration=0.1, dt=DT, actuators=fw.actuators.EffortLimits)
