"""Several robots in one world, each with a controller of its own."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

ARM, CART = fw.robots.double_pendulum(), fw.robots.cartpole()
WORLD = fw.Builder("two").add_model(ARM, "arm_").add_model(CART, "cart_").build()
HOLD = fw.control.joint_pd(ARM, [0.5, -0.2])


def drive(t, q, v, x, p):
    return np.array([p[0] * fw.scalar.sin(3.0 * t) - x[0], 0.0], dtype=object), x + 0.001 * v[0]


def test_each_robot_moves_as_it_does_alone() -> None:
    swing = fw.compiled(drive, state=[0.1], parameters=[5.0])
    # the cart first: the order of parts is not that of coordinates
    both = fw.control.parts(WORLD, {"cart_": (CART, swing), "arm_": (ARM, HOLD)})
    q_arm, q_cart = np.array([0.2, 0.1]), np.array([0.0, 2.5])
    run = fw.rollout(WORLD, np.concatenate([q_arm, q_cart]), np.zeros(4), steps=200, dt=1e-3, control=both)
    for own, robot, q, control in ((slice(0, 2), ARM, q_arm, HOLD), (slice(2, 4), CART, q_cart, swing)):
        alone = fw.rollout(robot, q, np.zeros(2), steps=200, dt=1e-3, control=control)
        assert np.allclose(run.q[:, own], alone.q, rtol=0, atol=1e-12)
        assert np.allclose(run.tau[:, own], alone.tau, rtol=0, atol=1e-9)
        assert np.ptp(alone.q, axis=0).max() > 1e-3


def test_joints_of_no_part_are_limp() -> None:
    one = fw.control.parts(WORLD, {"arm_": (ARM, HOLD)})
    run = fw.rollout(WORLD, np.full(4, 0.3), np.zeros(4), steps=5, dt=1e-3, control=one)
    assert run.tau[:, :2].all()
    assert not run.tau[:, 2:].any()


def test_mistakes_are_told() -> None:
    with pytest.raises(KeyError, match="no joint of the world named 'arn_shoulder'"):
        fw.control.parts(WORLD, {"arn_": (ARM, HOLD)})
    with pytest.raises(TypeError, match="expected a robot and its compiled controller"):
        fw.control.parts(WORLD, {"arm_": HOLD})  # type: ignore[dict-item]
    seldom = fw.compiled(drive, state=[0.0], parameters=[1.0], every=2)
    seeing = fw.compiled(lambda t, q, v, x, p, seen: (q * seen.dt, x), sees=("dt",))
    with pytest.raises(ValueError, match="asked equally often"):
        fw.control.parts(WORLD, {"arm_": (ARM, HOLD), "cart_": (CART, seldom)})
    with pytest.raises(ValueError, match="sees dt"):
        fw.control.parts(WORLD, {"arm_": (ARM, seeing)})
    with pytest.raises(TypeError, match="expected a featherweight Model, got str"):
        fw.control.parts(WORLD, {"arm_": ("arm", HOLD)})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="prefix"):
        fw.control.parts(WORLD, {})
