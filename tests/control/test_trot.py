"""The Mini Cheetah trots: in place on both contact models, forward, pushed, on rough ground."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

FEET = ("FR_foot", "FL_foot", "HR_foot", "HL_foot")
CAPS = np.tile([17.0, 17.0, 26.0], 4)  # [N m]


def simulated(scene: fw.scenes.Scene, duration: float = 10.0) -> fw.Trajectory:
    return fw.simulate(scene.model, scene.q, scene.v, duration=duration, **{**scene.means, "actuators": None})


def check_trot(run: fw.Trajectory) -> None:
    """Level, on its feet, within the torques of its motors; nothing drives the base."""
    late = run.t >= 2.0
    height = run.q[late, 2]
    assert np.abs(height - height.mean()).max() <= 0.01
    assert (1 - 2 * (run.q[:, 3] ** 2 + run.q[:, 4] ** 2)).min() >= np.cos(np.radians(5))
    assert (np.abs(run.tau[:, 6:]) <= CAPS).all()
    assert (run.tau[:, :6] == 0.0).all()
    body = [k for k, p in enumerate(run.model.contact_points) if p.name not in FEET]
    assert (run.contact_force[:, body] == 0.0).all()


@pytest.mark.parametrize(("contact", "slip_mm"), [("impulse", 0.1), ("spring", 2.0)])
def test_trot_in_place(contact: str, slip_mm: float) -> None:
    run = simulated(fw.scenes.trot(contact=contact))
    check_trot(run)
    stances = [s for s in fw.control.stances(run, FEET) if s.begin > 2.0]
    steps = [s for s in stances if s.end - s.begin > 0.15]
    assert len(steps) >= 4 * 16  # 20 periods of 0.4 s
    assert max(s.slip for s in stances) <= 1e-3 * slip_mm
    assert np.abs(run.q[-1, :2]).max() <= 0.05
    swinging = run.contact_force[run.t[:-1] > 2.0][:, [9, 11, 13, 15], 2] == 0.0
    assert swinging.mean(axis=0) == pytest.approx([0.4] * 4, abs=0.05)


def test_trot_forward() -> None:
    run = simulated(fw.scenes.trot(velocity=(0.5, 0.0, 0.0)))
    check_trot(run)
    half = run.t >= 3.0
    assert (run.q[-1, 0] - run.q[half, 0][0]) / 7.0 == pytest.approx(0.5, rel=0.02)
    assert abs(run.q[-1, 1]) <= 0.05


def test_a_trot_survives_side_pushes_of_30_newtons() -> None:
    """For 0.2 s, at eight times within a period, from both sides."""
    scene = fw.scenes.trot()
    times = 3.0 + np.arange(8) * 0.05
    force = np.array([[0.0, 30.0, 0.0], [0.0, -30.0, 0.0]])[:, None]
    control = fw.control.pushed(scene.control, scene.model, "body", force=force, start=times, duration=0.2)
    means = {**scene.means, "control": control}
    run = fw.rollout(scene.model, scene.q, scene.v, steps=6000, record_every=50, **means)
    assert (run.status == fw.Status.OK).all()
    late = run.t >= 5.0
    assert np.abs(run.q[..., late, 2] - 0.28).max() <= 0.01
    assert np.abs(run.q[..., -1, 1]).min() > 0.02  # they did feel it


def test_trot_on_rough_ground() -> None:
    run = simulated(fw.scenes.trot(velocity=(0.3, 0.0, 0.0), ground=fw.scenes.rough_ground()), 6.0)
    assert run.q[-1, 0] > 1.4
    assert (1 - 2 * (run.q[:, 3] ** 2 + run.q[:, 4] ** 2)).min() >= np.cos(np.radians(10))


def test_robots_of_a_batch_trot_with_their_own_commands() -> None:
    robot = fw.robots.mini_cheetah(parameters=("body.mass", "ground.friction"))
    q = fw.scenes.crouched(robot)
    velocity = np.array([[0.3, 0.0, 0.0], [-0.2, 0.0, 0.0], [0.0, 0.15, 0.0], [0.0, 0.0, 0.5]])
    control = fw.control.trot(robot, q, velocity=velocity, friction=0.4)
    given = {"body.mass": [2.5, 3.0, 4.0, 5.0], "ground.friction": [0.5, 0.7, 0.9, 1.0]}
    contact = fw.contact.Impulse(tolerance=1e-5)
    run = fw.rollout(
        robot, q, np.zeros(robot.nv), steps=4000, dt=1e-3, contact=contact, control=control, parameters=given,
        record_every=100,
    )  # fmt: skip
    assert (run.status == fw.Status.OK).all()
    speed = (run.q[:, -1, :2] - run.q[:, -21, :2]) / 2.0
    assert np.abs(speed[:3] - velocity[:3, :2]).max() <= 0.05
    yaw = 2 * np.arctan2(run.q[3, [-21, -1], 5], run.q[3, [-21, -1], 6])
    assert (yaw[1] - yaw[0]) / 2.0 == pytest.approx(0.5, abs=0.05)


def test_standing_is_still() -> None:
    scene = fw.scenes.trot()
    control = fw.control.stand(scene.model, scene.q)
    run = fw.simulate(scene.model, scene.q, scene.v, duration=1.0, **{**scene.means, "control": control})
    assert np.abs(run.q[-1] - run.q[0]).max() <= 1e-3
    assert np.abs(run.v[-1]).max() <= 1e-3
