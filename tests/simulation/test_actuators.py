"""Actuators against a motor written out by hand; what acted is what was recorded."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.mini_cheetah()
GEARS = [0.0] * 6 + [6.0, 6.0, 9.33] * 4
MOTOR = {"torque_constant": 0.05, "resistance": 0.173, "voltage": 24.0, "torque": 3.0}
CHEETAH = fw.actuators.DCMotor(gear=GEARS, **MOTOR)
LIMITS = fw.actuators.EffortLimits()


def clamp(x: float, bound: float) -> float:
    return max(-bound, min(bound, x))


def motor(n: float, speed: float, tau: float) -> float:
    """The Mini Cheetah's, as its simulator has it."""
    K, R, battery, most = 0.05, 0.173, 24.0, 3.0
    current = tau / (n * 1.5 * K)
    back = 2 * K * n * speed
    volts = clamp(current * R + back, battery)
    return n * clamp(1.5 * K * (volts - back) / R, most)


def asked(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States with joints from slow to faster than their motors can turn, and forces from small to too large."""
    rng = np.random.default_rng(0)
    q = np.array([MODEL.random(rng) for _ in range(count)])
    v, tau = rng.normal(size=(count, MODEL.nv)), rng.normal(size=(count, 1, MODEL.nv)) * 25.0
    v[:, 6:] = rng.uniform(-60.0, 60.0, size=(count, 12))
    return q, v, tau


def hinge(**options) -> fw.Model:
    body = fw.Inertia(1.0, (0, 0, 0), 0.5)
    return (
        fw.Builder(gravity=(0, 0, 0)).add_body("wheel", joint=fw.joints.Revolute("z"), inertia=body, **options).build()
    )


@pytest.mark.parametrize("method", ["semi_implicit", "rk4"])
def test_the_motor_of_the_mini_cheetah(method: str) -> None:
    q, v, tau = asked(200)
    run = fw.rollout(MODEL, q, v, steps=1, dt=1e-5, tau=tau, actuators=CHEETAH, integrator=method)
    right = tau[:, 0].copy()
    for lane, k in np.ndindex(200, 12):
        right[lane, 6 + k] = motor(GEARS[6 + k], v[lane, 6 + k], tau[lane, 0, 6 + k])
    assert np.abs(run.tau[:, 0] - right).max() <= 1e-12
    assert (run.tau[:, 0, :6] == tau[:, 0, :6]).all()  # no motor there
    untouched = np.abs(right[:, 6:] - tau[:, 0, 6:]) <= 1e-9
    assert 0.1 < untouched.mean() < 0.9  # both sides of the limits were tried
    braked = right[:, 6:] * tau[:, 0, 6:] < 0
    assert braked.any()  # beyond the no-load speed, a motor can only brake


def test_the_curve_of_a_hip() -> None:
    """18 N m up to 28.47 rad/s, from there down to nothing at 40 rad/s, less than nothing beyond."""
    speeds = np.array([-60.0, -10.0, 0.0, 20.0, 28.46, 28.47, 34.0, 40.0, 45.0])
    hip = fw.actuators.DCMotor(gear=6, **MOTOR)
    run = fw.rollout(
        hinge(), np.zeros((9, 1)), speeds[:, None], steps=1, dt=1e-9, tau=np.full((9, 1, 1), 1e3), actuators=hip
    )
    found = run.tau[:, 0, 0]
    assert np.abs(found[:5] - 18.0).max() <= 1e-12
    assert 17.9 < found[5] < 18.0
    assert found[6] == pytest.approx(6 * 0.075 / 0.173 * (24 - 0.6 * 34.0), rel=1e-12)
    assert abs(found[7]) <= 1e-12
    assert found[8] < 0.0


@pytest.mark.parametrize("actuators", [CHEETAH, LIMITS], ids=["motor", "limits"])
def test_what_was_recorded_is_what_acted(actuators) -> None:
    q, v, tau = asked(20)
    tau = np.repeat(tau, 5, axis=1)
    run = fw.rollout(MODEL, q, v, steps=5, dt=1e-5, tau=tau, actuators=actuators)
    again = fw.rollout(MODEL, q, v, steps=5, dt=1e-5, tau=run.tau)
    assert np.abs(again.v - run.v).max() <= 1e-9
    without = fw.rollout(MODEL, q, v, steps=5, dt=1e-5, tau=tau)
    assert np.abs(without.v - run.v).max() >= 1e-3


def test_limits_of_effort() -> None:
    q, v, tau = asked(50)
    run = fw.rollout(MODEL, q, v, steps=1, dt=1e-5, tau=tau, actuators=LIMITS)
    most = np.array([np.inf] * 6 + [17.0, 17.0, 26.0] * 4)
    assert (run.tau[:, 0] == np.clip(tau[:, 0], -most, most)).all()
    assert (np.abs(tau[:, 0]) > most).any()


def test_limits_of_each_coordinate_and_of_leaders() -> None:
    """Several coordinates, each with its limit; a mimic joint has none of its own."""
    body = fw.Inertia(1.0, (0.1, 0.2, 0), 0.5)
    model = (
        fw.Builder()
        .add_body("a", joint=fw.joints.Universal("x", "y"), inertia=body, limits=fw.Limits(effort=(2.0, np.inf)))
        .add_body("b", parent="a", joint=fw.joints.Revolute("x"), inertia=body, limits=fw.Limits(effort=3.0))
        .add_body("c", parent="b", joint=fw.joints.Mimic(fw.joints.Revolute("y"), "b_joint", 2.0, 0.0), inertia=body)
        .add_body("d", parent="a", joint=fw.joints.Prismatic("z"), inertia=body)
        .build()
    )
    q, v = model.neutral(), np.zeros(model.nv)
    for sign in (1.0, -1.0):
        run = fw.rollout(model, q, v, steps=1, dt=1e-3, tau=np.full((1, 4), sign * 1e3), actuators=LIMITS)
        assert (run.tau[0] == sign * np.array([2.0, 1e3, 3.0, 1e3])).all()


@pytest.mark.parametrize("actuators", [CHEETAH, LIMITS], ids=["motor", "limits"])
def test_controllers_of_all_kinds_are_limited_alike(actuators) -> None:
    def plain(t, q, v):
        return np.concatenate([np.zeros(6), 200.0 * (0.3 - q[7:]) - 0.5 * v[6:]])

    def traced(t, q, v, x, p):
        return np.concatenate([np.zeros(6), 200.0 * (0.3 - q[7:]) - 0.5 * v[6:]]), x

    q, v, _ = asked(1)
    q, v = q[0], v[0] * 0.5
    python = fw.rollout(MODEL, q, v, steps=20, dt=1e-4, control=plain, actuators=actuators)
    native = fw.rollout(MODEL, q, v, steps=20, dt=1e-4, control=fw.compiled(traced), actuators=actuators)
    assert np.abs(python.q - native.q).max() <= 1e-12
    assert np.abs(python.tau - native.tau).max() <= 1e-9
    free = fw.rollout(MODEL, q, v, steps=20, dt=1e-4, control=plain)
    assert np.abs(free.tau - python.tau).max() > 1.0


@pytest.mark.parametrize("actuators", [CHEETAH, LIMITS, None], ids=["motor", "limits", "none"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_never_clamped_away(actuators, bad: float) -> None:
    q, v, tau = asked(4)
    tau = np.repeat(tau, 6, axis=1)
    tau[2, 3, 11] = bad
    run = fw.rollout(MODEL, q, v, steps=6, dt=1e-5, tau=tau, actuators=actuators)
    assert run.status.tolist() == [0, 0, fw.Status.BAD_CONTROL, 0]
    assert run.failed_step.tolist() == [-1, -1, 3, -1]
    with pytest.raises(fw.SimulationError, match=r"failed at step 3, t = 3e-05 s: the controller gave NaN or inf"):
        fw.simulate(
            MODEL, q[0], v[0], duration=6e-5, dt=1e-5, actuators=actuators,
            control=lambda t, q, v: np.full(MODEL.nv, bad if t > 2.5e-5 else 0.0),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gear": -1.0}, "gear: expected finite ratios of 0 or more"),
        ({"gear": np.nan}, "gear: expected finite ratios"),
        ({"gear": [[6.0]]}, r"gear: expected .* shape \(\) or \(nv,\)"),
        ({"voltage": 0.0}, "voltage: expected a number > 0, got 0.0"),
        ({"voltage": "24"}, "voltage: expected a number > 0, got '24'"),
        ({"torque": np.inf}, "torque: expected a number > 0, got inf"),
        ({"resistance": -0.1}, "resistance: expected a number > 0"),
        ({"torque_constant": np.nan}, "torque_constant: expected a number > 0"),
        ({"current_factor": None}, "current_factor: expected a number > 0"),
        ({"speed_factor": 0}, "speed_factor: expected a number > 0"),
    ],
)
def test_bad_motors_are_refused(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        fw.actuators.DCMotor(**{"gear": 6.0, **MOTOR, **options})


def test_bad_actuators_are_refused_before_anything_runs() -> None:
    model = hinge()
    for bad, error, message in [
        (
            fw.actuators.DCMotor(gear=[6.0, 6.0], **MOTOR),
            ValueError,
            r"gear: expected shape \(nv,\) = \(1,\), got \(2,\)",
        ),
        ("limits", TypeError, "actuators: expected one of fw.actuators, got str"),
        (fw.actuators.EffortLimits, TypeError, "actuators: expected one of fw.actuators, got the class EffortLimits"),
    ]:
        with pytest.raises(error, match=message):
            fw.rollout(model, [0.0], [0.0], steps=1, dt=1e-3, actuators=bad)


def test_motors_with_other_numbers_do_not_share_code() -> None:
    """The same model, one number changed: another curve."""
    model, found = hinge(), []
    for voltage in (24.0, 12.0, 24.0):
        motor = fw.actuators.DCMotor(gear=6.0, **{**MOTOR, "voltage": voltage})
        found.append(fw.rollout(model, [0.0], [30.0], steps=1, dt=1e-3, tau=[[100.0]], actuators=motor).tau[0, 0])
    assert found[0] == found[2] > 0.0 > found[1]
