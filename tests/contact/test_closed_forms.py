"""Contact against what can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Box, Impulse, Plane, SpringDamper

G = 9.81


def ball(radius: float = 0.1) -> fw.Model:
    builder = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, radius))
    return builder.add_contact_point("skin", parent="ball", radius=radius).build()


def block(size=(0.4, 0.3, 0.2)) -> fw.Model:
    builder = fw.Builder("block").add_body("block", joint=fw.joints.Free(), inertia=fw.Inertia.box(2.0, size))
    for k in range(8):
        corner = [(0.5 if k >> axis & 1 else -0.5) * size[axis] for axis in range(3)]
        builder.add_contact_point(f"corner{k}", parent="block", position=corner)
    return builder.build()


def slope(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal of a plane that falls along x, and the orientation of a block on it."""
    return np.array([math.sin(angle), 0, math.cos(angle)]), np.array([0, math.sin(angle / 2), 0, math.cos(angle / 2)])


def on_slope(angle: float) -> np.ndarray:
    """A block that rests on the slope, as deep as resting points are."""
    normal, turned = slope(angle)
    return np.concatenate([(0.1 - 1e-6) * normal, turned])


@pytest.mark.parametrize("e", [0.2, 0.5, 0.8, 1.0])
def test_a_ball_bounces_to_the_square_of_restitution(e: float) -> None:
    q = ball().neutral()
    q[2] = 1.1
    run = fw.simulate(ball(), q, np.zeros(6), duration=1.2, dt=1e-4, contact=Impulse(restitution=e))
    height = run.q[:, 2] - 0.1
    bottom = int(np.argmin(height[:6000]))
    assert height[bottom:].max() == pytest.approx(e * e, rel=2e-3)


@pytest.mark.parametrize("speed", [0.0, -1.0])
def test_depth_is_recovered_by_a_part_of_it_a_second_and_never_faster_than_allowed(speed: float) -> None:
    """v* = max(-e v_n, min(β (depth - slop), v_max)), which the first step gives."""
    depth = np.array([5e-7, 1e-6, 1e-3, 4e-3, 5e-3, 2e-2, 0.1])
    q = np.tile(ball().neutral(), (len(depth), 1))
    q[:, 2] = 0.1 - depth
    v = np.zeros((len(depth), 6))
    v[:, 2] = speed
    contact = Impulse(recovery=20.0, recovery_speed=0.1, slop=1e-6, restitution=0.03)
    run = fw.rollout(ball(), q, v, steps=1, dt=1e-3, contact=contact)
    recovery = np.clip(20.0 * (depth - 1e-6), 0.0, 0.1)
    assert run.v[:, 1, 2] == pytest.approx(np.maximum(-0.03 * speed, recovery), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("angle", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("share", [0.97, 1.03])
def test_a_block_sticks_if_friction_is_more_than_the_slope_and_does_not_creep(angle: float, share: float) -> None:
    mu = share * math.tan(angle)
    ground = Plane(normal=slope(angle)[0], friction=mu)
    run = fw.simulate(
        block(), on_slope(angle), np.zeros(6), duration=10.0 if share > 1 else 1.0, dt=1e-3,
        contact=Impulse(ground=ground), record_every=100,
    )  # fmt: skip
    way = np.linalg.norm(run.q[:, :3] - run.q[0, :3], axis=1)
    if share > 1:
        assert way.max() <= 1e-9
    else:
        acceleration = G * (math.sin(angle) - mu * math.cos(angle))
        assert way[-1] == pytest.approx(0.5 * acceleration, rel=3e-3)


def test_a_step_is_given_up_after_as_many_sweeps_as_allowed() -> None:
    """Corners of a block that is thrown on the ground need 20 until they miss no law by more than the tolerance. So few
    are allowed that no Newton step follows."""
    q, v = np.array([0.0, 0.0, 0.095, 0.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.5, -2.0, 1.0, 3.0, 0.2])
    contact = Impulse(iterations=3)
    run = fw.rollout(block(), q, v, steps=2, dt=1e-3, contact=contact)
    assert run.status == fw.Status.NOT_CONVERGED
    sweeps, residual = run.solver[0]
    assert sweeps == 3
    assert residual > 100 * contact.tolerance


@pytest.mark.parametrize("degrees", range(0, 91, 5))
def test_friction_is_opposite_to_slip_in_every_direction(degrees: int) -> None:
    direction = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
    q = block().neutral()
    q[2] = 0.1 - 1e-6
    v = np.concatenate([2.0 * direction, np.zeros(3)])
    run = fw.simulate(block(), q, v, duration=0.3, dt=1e-3, contact=Impulse(friction=0.4))
    way = run.q[-1, :2] - run.q[0, :2]
    assert abs(math.degrees(math.atan2(way[1], way[0])) - degrees) <= 0.5
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(2.0 - 0.4 * G * 0.3, rel=2e-3)
    force = run.contact_force[150].sum(axis=0)
    assert abs(math.degrees(math.atan2(-force[1], -force[0])) - degrees) <= 0.5


def test_a_ball_rolls_down_with_five_sevenths() -> None:
    angle = 0.3
    normal, _ = slope(angle)
    q = ball().neutral()
    q[:3] = (0.1 - 1e-6) * normal
    run = fw.simulate(
        ball(), q, np.zeros(6), duration=1.0, dt=1e-4, contact=Impulse(ground=Plane(normal=normal)), record_every=100
    )
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(5 / 7 * G * math.sin(angle), rel=1e-3)


STANCE = np.tile([0.0, -0.8, 1.6], 4)


def stand(t, q, v, x, p):
    return np.concatenate([np.zeros(6), 40.0 * (STANCE - q[7:]) - 1.0 * v[6:]]), x


@pytest.mark.parametrize("contact", [Impulse(), SpringDamper()], ids=["impulse", "springs"])
def test_forces_under_a_standing_mini_cheetah_are_its_weight(contact) -> None:
    model = fw.robots.mini_cheetah()
    q = model.neutral()
    q[2], q[7:] = 0.28, STANCE
    run = fw.simulate(
        model, q, np.zeros(model.nv), duration=4.0, dt=1e-3 if isinstance(contact, Impulse) else 1e-4,
        control=fw.compiled(stand), contact=contact, record_every=1000,
    )  # fmt: skip
    mass = fw.mass_matrix(model, q)[0, 0]
    np.testing.assert_allclose(run.contact_force[-1].sum(axis=0), [0, 0, mass * G], atol=1e-6 * mass * G)
    assert (run.penetration[-1] < 2e-3).all()


def test_feet_on_springs_stand_in_the_steps_of_the_published_simulator() -> None:
    """At 1 ms, beyond what is stable, they creep by millimetres in 2 s, and none leaves the ground."""
    model = fw.robots.mini_cheetah()
    q = model.neutral()
    q[7:] = STANCE
    q[2] = -float(fw.scenes.lowest(model, q))
    options = {"control": fw.compiled(stand), "contact": SpringDamper(friction=0.8)}
    with pytest.warns(UserWarning, match="is too long for hertz springs"):
        run = fw.simulate(model, q, np.zeros(model.nv), duration=2.0, dt=1e-3, **options)
    presses = run.contact_force[..., 2] > 0
    assert (1e-3 * np.where(presses, run.contact_slip, 0.0)).sum(axis=0).max() < 0.012
    assert not (presses[:-1] & ~presses[1:]).any()


def test_a_joint_stops_at_its_limit_and_presses_against_it() -> None:
    arm = fw.Inertia.point(1.0, (0, 0, -1.0))
    builder = fw.Builder("arm").add_body("arm", joint=fw.joints.Revolute("y"), inertia=arm, limits=fw.Limits(-0.5, 0.5))
    model = builder.add_contact_point("hand", parent="arm", position=(0, 0, -1)).build()
    run = fw.simulate(
        model, [0.4], [3.0], duration=1.0, dt=1e-3, contact=Impulse(ground=Plane(point=(0, 0, -5))),
        control=lambda t, q, v: np.array([20.0]),
    )  # fmt: skip
    assert run.q.max() <= 0.5 + 3.1e-3  # one step at the speed of impact, then it recovers
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-5)
    assert abs(run.v[-1, 0]) <= 1e-6


def test_a_block_rests_on_a_box_and_in_a_corner() -> None:
    """A table, and a wall with a floor: several surfaces at once."""
    q = block().neutral()
    q[2] = 0.5 + 0.1 - 1e-6
    table = Box(size=(2.0, 2.0, 1.0))
    run = fw.simulate(block(), q, np.zeros(6), duration=1.0, dt=1e-3, contact=Impulse(ground=table))
    assert np.abs(run.q[-1, :3] - q[:3]).max() <= 1e-6
    wall = Plane(normal=(-1, 0, 0), point=(0.2, 0, 0), friction=0.0)
    q[2] = 0.1
    run = fw.simulate(
        block(), q, [1.0, 0, 0, 0, 0, 0], duration=0.5, dt=1e-3, contact=Impulse(ground=[Plane(friction=0.0), wall])
    )
    assert run.q[-1, 0] <= 1e-3 + 1e-6
    assert run.contact_force.shape == (500, 8, 3)


@pytest.mark.parametrize("law", ["linear", "hertz"])
def test_a_ball_on_springs_sinks_as_deep_as_its_weight(law: str) -> None:
    q = ball().neutral()
    q[2] = 0.1
    contact = SpringDamper(
        law=law, stiffness=1e4 if law == "linear" else 1e6, damping=300.0 if law == "linear" else 1e4
    )
    run = fw.simulate(ball(), q, np.zeros(6), duration=2.0, dt=1e-4, contact=contact, record_every=100)
    depth = G / 1e4 if law == "linear" else (G / 1e6) ** (2 / 3)
    assert 0.1 - run.q[-1, 2] == pytest.approx(depth, rel=1e-4)
    assert run.contact_force[-1, 0, 2] == pytest.approx(G, rel=1e-6)


def test_a_block_on_springs_sticks_and_slides() -> None:
    angle = 0.3
    for mu in (0.2, 0.4):
        ground = Plane(normal=slope(angle)[0], friction=mu)
        run = fw.simulate(
            block(), on_slope(angle), np.zeros(6), duration=1.0, dt=1e-4, contact=SpringDamper(ground=ground),
            record_every=100,
        )  # fmt: skip
        way = np.linalg.norm(run.q[-1, :3] - run.q[0, :3])
        expected = 0.5 * G * (math.sin(angle) - mu * math.cos(angle))
        assert way == pytest.approx(expected, rel=0.02) if mu < math.tan(angle) else way <= 2e-3
