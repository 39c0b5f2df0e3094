"""Misuses at the edge of a simulation."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import featherweight as fw

J = fw.joints


def test_limits_of_effort_do_not_share_code() -> None:
    for effort in (5.0, 1.0):
        body = {
            "joint": J.Revolute("y"),
            "inertia": fw.Inertia.point(1.0, (0, 0, -1)),
            "limits": fw.Limits(effort=effort),
        }
        model = fw.Builder("p").add_body("b", **body).build()
        run = fw.rollout(
            model, [0.0], [0.0], steps=1, dt=1e-3, tau=[[10.0]], actuators=fw.actuators.EffortLimits()
        )  # fmt: skip
        assert run.tau[0, 0] == effort


@pytest.mark.parametrize("spin", [10.0, 90.0, 250.0])
@pytest.mark.parametrize(
    ("kind", "damping", "v"),
    [(J.Planar(), [1e6, 1e6, 0], [1.0, 0, 0]), (J.Free(), [1e6] * 3 + [0] * 3, [1.0, 0, 0, 0, 0, 0])],
)
def test_stiff_damping_of_a_spinning_body(kind, damping, v, spin: float) -> None:
    """v⁺ = M / (M + h d) v, however fast it turns."""
    ball = fw.Inertia.sphere(1.0, 0.1)
    model = fw.Builder(gravity=(0, 0, 0)).add_body("b", joint=kind, inertia=ball, damping=damping).build()
    run = fw.simulate(model, model.neutral(), [*v[:-1], spin], duration=0.05, dt=1e-2)
    speed = np.linalg.norm(run.v[:, :2], axis=1)
    assert speed == pytest.approx(1e-4 ** np.arange(6), rel=1e-3)
    assert (np.diff(run.energy()) <= 0).all()


TRACED = {
    "complex": lambda t, q, v, x, p: ([1j, 0], x),
    "conditions": lambda t, q, v, x, p: (q > 0, x),
    "bools": lambda t, q, v, x, p: ([True, False], x),
    "texts": lambda t, q, v, x, p: (["1", "2"], x),
    "nothing": lambda t, q, v, x, p: ([None, None], x),
    "arrays": lambda t, q, v, x, p: ([np.zeros(2), 1.0], x),
    "too large": lambda t, q, v, x, p: ([10**400, 0], x),
    "a row": lambda t, q, v, x, p: (np.reshape(q, (1, 2)), x),
}


@pytest.mark.parametrize("what", TRACED)
def test_compiled_controllers_that_return_no_forces(what: str) -> None:
    with pytest.raises(fw.SimulationError, match=r"the controller .*before step 0, t = 0 s"):
        fw.simulate(
            fw.robots.double_pendulum(),
            [0.1, 0.2],
            [0.0, 0.0],
            duration=0.01,
            dt=1e-3,
            control=fw.compiled(TRACED[what]),
        )


def test_one_number_for_many_joints_is_refused() -> None:
    for tau in (1.0, np.ones(1)):
        with pytest.raises(fw.SimulationError, match=r"the controller returned .* at step 0, t = 0 s"):
            fw.rollout(
                fw.robots.double_pendulum(), [0.1, 0.2], [0.0, 0.0], steps=3, dt=1e-3, control=lambda *_, x=tau: x
            )


def test_ctrl_c_within_a_sample() -> None:
    code = """
import os, signal, threading
import featherweight as fw
signal.signal(signal.SIGINT, signal.default_int_handler)
model = fw.robots.pendulum()
fw.rollout(model, [0.5], [0.0], steps=10, dt=1e-3)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
assert not fw.rollout(model, [0.5], [0.0], steps=10**10, dt=1e-3, record_every=5 * 10**9).complete
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == 0


@pytest.mark.parametrize("options", [{"state": "a"}, {"state": [1, [2]]}, {"parameters": 1j}, {"parameters": None}])
def test_bad_states_and_parameters_are_named(options) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"^{next(iter(options))}: expected"):
        fw.compiled(lambda t, q, v, x, p: (v, x), **options)


@pytest.mark.parametrize("gear", ["six", [1, [2]], 1j])
def test_bad_gears_are_named(gear) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^gear: expected"):
        fw.actuators.DCMotor(gear, 0.05, 0.173, 24.0, 3.0)


def test_tau_of_the_interval_in_which_a_run_fails() -> None:
    """The force of a step before the failure is kept, whoever controls."""
    model = fw.robots.pendulum()
    late = fw.compiled(lambda t, q, v, x, p: (fw.scalar.where(t > 0.0125, np.nan, 0.5) + 0 * v, x))
    for control in (late, lambda t, q, v: 0 * v + (np.nan if t > 0.0125 else 0.5)):
        run = fw.rollout(model, [0.1], [0.0], steps=30, dt=1e-3, record_every=10, control=control)
        assert np.array_equal(run.tau[:, 0], [0.5, 0.5, np.nan], equal_nan=True)


@pytest.mark.parametrize("dt", [1e-5, 1.0, 1e5])
def test_a_duration_is_a_multiple_of_the_step_to_six_digits_of_any_size(dt: float) -> None:
    builder = fw.Builder("wheel", gravity=(0, 0, 0))
    model = builder.add_body("wheel", joint=J.Revolute("z"), inertia=fw.Inertia.sphere(1.0, 0.1)).build()
    assert fw.simulate(model, [0.0], [0.0], duration=3 * dt * (1 + 5e-7), dt=dt).q.shape == (4, 1)
    with pytest.raises(ValueError, match=r"duration: expected a multiple of dt"):
        fw.simulate(model, [0.0], [0.0], duration=3 * dt * (1 + 2e-6), dt=dt)


def test_limits_act_or_are_watched() -> None:
    """A slider at 2 m/s, 3 cm before its end: semi-implicit steps stop it there, RK4 tells of the first one beyond."""
    build = fw.Builder("slider", gravity=(0, 0, 0))
    build.add_body(
        "b", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.sphere(1.0, 0.1), limits=fw.Limits(-1.0, 0.03)
    )
    model = build.build()
    for integrator in ("semi_implicit", "rk4"):  # what is remembered of these is of a robot without limits
        fw.rollout(fw.robots.pendulum(), [0.0], [0.0], steps=1, dt=1e-2, integrator=integrator)
    stopped = fw.rollout(model, [0.0], [2.0], steps=4, dt=1e-2)
    np.testing.assert_allclose(stopped.q[:, 0], [0.0, 0.02, 0.03, 0.03, 0.03], atol=1e-9)
    with pytest.warns(UserWarning, match="is beyond its limits from -1 to 0.03 after step 1"):
        free = fw.rollout(model, [0.0], [2.0], steps=4, dt=1e-2, integrator="rk4")
    np.testing.assert_allclose(free.q[:, 0], [0.0, 0.02, 0.04, 0.06, 0.08], atol=1e-12)


def test_a_controller_with_a_longer_state_or_more_parameters_is_another_loop() -> None:
    model = fw.robots.pendulum()
    control = fw.compiled(lambda t, q, v, x, p: ([sum(x) + sum(p)], x), state=[1.0], parameters=[10.0])
    for others, tau in (({}, 11.0), ({"state": np.array([1.0, 2.0])}, 13.0), ({"parameters": np.full(2, 10.0)}, 21.0)):
        run = fw.rollout(model, [0.0], [0.0], steps=1, dt=1e-2, control=replace(control, **others))
        assert run.tau[0, 0] == tau
