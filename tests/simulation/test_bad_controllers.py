"""Controllers that are wrong in every way we could think of: an error with time and cause, or the right bits."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.double_pendulum()
Q, V, DT = np.array([0.4, -0.9]), np.array([0.3, 0.1]), 1e-3


def run(control, steps: int = 40, **options) -> fw.Trajectory:
    return fw.rollout(MODEL, Q, V, steps=steps, dt=DT, control=control, **options)


RETURNED = {
    "nothing": None,
    "a text": "12",
    "bytes": b"12",
    "too few": np.zeros(1 + 2),
    "none at all": np.zeros(0),
    "a column": np.zeros((2, 1)),
    "a row": np.zeros((1, 2)),
    "complex": np.zeros(2, dtype=complex),
    "bool": np.zeros(2, dtype=bool),
    "bools": [True, False],
    "object": np.zeros(2, dtype=object),
    "texts": np.array(["1", "2"]),
    "dates": np.zeros(2, dtype="M8[s]"),
    "ragged": [1.0, [2.0]],
    "a dict": {},
    "a generator": (x for x in (1.0, 2.0)),
    "a function": lambda: None,
    "too large": [10**400, 0],
}


@pytest.mark.parametrize("what", RETURNED)
@pytest.mark.parametrize("step", [0, 23])
def test_wrong_returns_name_the_step_and_the_time(what: str, step: int) -> None:
    def control(t, q, v):
        return RETURNED[what] if t > (step - 0.5) * DT else 0.1 * v

    with pytest.raises(
        fw.SimulationError, match=rf"the controller returned .* at step {step}, t = {step * DT:g} s"
    ) as e:
        run(control)
    right = run(lambda t, q, v: 0.1 * v)
    assert (e.value.trajectory.q == right.q[: step + 1]).all()
    assert (e.value.trajectory.tau == right.tau[:step]).all()


@pytest.mark.parametrize("error", [ValueError("bad gain"), StopIteration("end"), KeyError("hip"), MemoryError("full")])
@pytest.mark.parametrize("step", [0, 23])
def test_errors_of_a_controller_name_the_step_the_time_and_the_cause(error: Exception, step: int) -> None:
    def control(t, q, v):
        if t > (step - 0.5) * DT:
            raise error
        return 0.1 * v

    message = rf"the controller raised {type(error).__name__} at step {step}, t = {step * DT:g} s: .*{error.args[0]}"
    with pytest.raises(fw.SimulationError, match=message) as caught:
        run(control)
    assert caught.value.__cause__ is error
    assert (caught.value.trajectory.q == run(lambda t, q, v: 0.1 * v).q[: step + 1]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_marked(bad: float) -> None:
    python = run(lambda t, q, v: np.array([0.0, bad if t > 0.0225 else 0.1]))
    native = run(fw.compiled(lambda t, q, v, x, p: ([0.0 * v[0], fw.scalar.where(t > 0.0225, bad, 0.1)], x)))
    for result in (python, native):
        assert (result.status, result.failed_step) == (fw.Status.BAD_CONTROL, 23)
        assert np.isfinite(result.q[:23]).all()
        assert np.isnan(result.q[23:]).all()
        assert (result.tau[:23] == [0.0, 0.1]).all()
    assert (python.q[:23] == native.q[:23]).all()


@pytest.mark.parametrize(
    "result", [[0.5, 1], (0.5, 1), np.array([0.5, 1], dtype=np.float32), np.array([0.5, 1])[::-1][::-1]]
)
def test_what_can_be_meant_is_taken(result) -> None:
    assert (run(lambda t, q, v: result).q == run(lambda t, q, v: np.array([0.5, 1.0])).q).all()


def changing(t, q, v):
    q += 1.0
    v[...] = np.nan
    return np.array([0.2, np.sin(t)])


BUFFER = np.zeros(2)


def same_buffer(t, q, v):
    BUFFER[:] = 0.2, np.sin(t)
    return BUFFER


def strided(t, q, v):
    return np.array([0.2, 7.0, np.sin(t), 7.0])[::2]


def read_only(t, q, v):
    tau = np.array([0.2, np.sin(t)])
    tau.flags.writeable = False
    return tau


@pytest.mark.parametrize("control", [changing, same_buffer, strided, read_only])
@pytest.mark.parametrize("every", [1, 8])
def test_nothing_that_a_controller_does_to_arrays_matters(control, every: int) -> None:
    right = run(lambda t, q, v: np.array([0.2, np.sin(t)]), record_every=every)
    result = run(control, record_every=every)
    BUFFER[:] = 99.0
    for name in ("q", "v", "tau"):
        assert (getattr(result, name) == getattr(right, name)).all()


def test_given_arrays_may_be_returned_and_kept() -> None:
    kept = []

    def control(t, q, v):
        kept.append((t, q, v))
        return v

    result = run(control)
    assert (np.array([q for _, q, _ in kept]) == result.q[:-1]).all()
    assert (np.array([v for _, _, v in kept]) == result.v[:-1]).all()
    assert (result.tau == result.v[:-1]).all()
    assert ([t for t, _, _ in kept] == result.t[:-1]).all()
    assert (result.q == run(lambda t, q, v: v.copy()).q).all()


@pytest.mark.parametrize("count", [1, 3, 100])
def test_a_controller_may_simulate_the_same_model(count: int) -> None:
    q, v = np.tile(Q, (count, 1)) + np.arange(count)[:, None] * 0.01, np.tile(V, (count, 1))

    def plain(t, q, v):
        return -0.3 * v + 0.1 * q

    def thoughtful(t, q, v):
        ahead = fw.rollout(MODEL, q, v, steps=3, dt=DT, control=lambda t, q, v: fw.forward_dynamics(MODEL, q, v, v))
        fw.rollout(MODEL, q, v, steps=5, dt=DT)
        assert np.isfinite(ahead.q).all()
        return plain(t, q, v)

    options = {"steps": 20, "dt": DT, "record_every": 2}
    right = fw.rollout(MODEL, q, v, control=plain, **options)
    result = fw.rollout(MODEL, q, v, control=thoughtful, **options)
    assert (result.q == right.q).all()
    assert (result.tau == right.tau).all()


def test_runs_in_several_threads_at_once() -> None:
    gains = fw.compiled(lambda t, q, v, x, p: (p[0] * q - 0.1 * v, x), parameters=[-2.0])
    ways = [{}, {"control": gains}, {"control": lambda t, q, v: -2.0 * q}] * 2
    right = [fw.rollout(MODEL, Q, V, steps=400, dt=DT, **way).q for way in ways]
    results: list[np.ndarray | None] = [None] * len(ways)

    def work(k: int) -> None:
        results[k] = fw.rollout(MODEL, Q, V, steps=400, dt=DT, **ways[k]).q

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(ways))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((a == b).all() for a, b in zip(results, right, strict=True))


TRACED = {
    "raises": (lambda t, q, v, x, p: 1 / 0, "ZeroDivisionError .*: division by zero"),
    "nothing": (lambda t, q, v, x, p: None, r"expected <lambda> to return \(tau, x\), got NoneType"),
    "forces alone": (lambda t, q, v, x, p: v, r"expected <lambda> to return \(tau, x\), got ndarray"),
    "a list": (lambda t, q, v, x, p: [v, x], r"expected <lambda> to return \(tau, x\), got list"),
    "too few": (lambda t, q, v, x, p: (v[:1], x), "returned tau of 1 and a state of 1 numbers.*expected 2 and 1"),
    "one number": (lambda t, q, v, x, p: (0.0, x), "returned tau of 1 and a state of 1 numbers.*expected 2 and 1"),
    "another state": (
        lambda t, q, v, x, p: (v, [1, 2]),
        "returned tau of 2 and a state of 2 numbers.*expected 2 and 1",
    ),
    "if": (lambda t, q, v, x, p: (q if q[0] > 0 else v, x), r"test_bad_controllers\.py:\d+: .*scalar\.where"),
    "float()": (
        lambda t, q, v, x, p: ([float(q[0]), 0.0], x),
        r"test_bad_controllers\.py:\d+: .*featherweight\.scalar",
    ),
    "other arguments": (lambda t, q: q, "TypeError .*positional arguments"),
    "a rollout": (lambda t, q, v, x, p: (fw.rollout(MODEL, q, v, steps=2, dt=DT).q[-1], x), "TypeError .*q: expected"),
    "imaginary": (lambda t, q, v, x, p: (q * 1j, x), "TypeError"),
}


@pytest.mark.parametrize("what", TRACED)
def test_wrong_compiled_controllers_are_explained(what: str) -> None:
    function, message = TRACED[what]
    with pytest.raises(fw.SimulationError, match=rf"the controller (?=.*before step 0, t = 0 s).*{message}"):
        run(fw.compiled(function, state=[0.0]))
    assert (run(None).status == 0).all()  # and nothing is broken afterwards


def test_a_compiled_controller_cannot_change_the_state() -> None:
    def rude(t, q, v, x, p):
        q[:], v[:], x[:], p[:] = 0.0, 7.0, 3.0, 1.0
        return np.array([0.1, 0.2]), None

    def kind(t, q, v, x, p):
        return np.array([0.1, 0.2]), x

    assert (run(fw.compiled(rude, state=[1.0], parameters=[2.0])).q == run(fw.compiled(kind)).q).all()


def test_what_is_no_controller() -> None:
    for wrong in (3.0, "pd", np.zeros(2), [1, 2]):
        with pytest.raises(TypeError, match=r"control: expected a function f\(t, q, v\) -> tau, got"):
            run(wrong)
    with pytest.raises(TypeError, match=r"function: expected a controller f\(t, q, v, x, p\), got float"):
        fw.compiled(3.0)
