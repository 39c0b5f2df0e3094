"""PD with gravity compensation, operational space, controllers by name."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.control.operational_space import OperationalSpaceParameters


def arm() -> fw.Model:
    """Six joints on a fixed base."""
    builder, parent, before = fw.Builder("arm"), "world", 0.0
    for k, (axis, length) in enumerate(zip("zyyzyz", (0.3, 0.4, 0.1, 0.3, 0.1, 0.1), strict=True)):
        place = fw.Placement((0, 0, before))
        inertia = fw.Inertia.box(2.0 / (k + 1), (0.05, 0.06, length))
        builder.add_body(f"link{k}", parent=parent, joint=fw.joints.Revolute(axis), placement=place, inertia=inertia)
        parent, before = f"link{k}", length
    return builder.add_frame("tool", parent=parent, placement=fw.Placement((0, 0, before))).build()


def test_pd_with_gravity_holds_exactly_and_returns() -> None:
    model = arm()
    rng = np.random.default_rng(0)
    goal = rng.uniform(-1, 1, model.nq)
    inertia = np.diag(fw.mass_matrix(model, goal))
    gains = {"stiffness": 30.0 * inertia, "damping": 10.0 * inertia}
    control = fw.control.joint_pd(model, goal, **gains)
    held = fw.simulate(model, goal, np.zeros(model.nv), duration=0.5, dt=1e-3, control=control)
    assert np.abs(held.q - goal).max() <= 1e-12
    run = fw.simulate(model, goal + 0.3, np.zeros(model.nv), duration=8.0, dt=1e-3, control=control)
    assert np.abs(run.q[-1] - goal).max() <= 1e-4
    without = fw.control.joint_pd(model, goal, **gains, gravity=False)
    sagging = fw.simulate(model, goal, np.zeros(model.nv), duration=4.0, dt=1e-3, control=without)
    assert np.abs(sagging.q[-1] - goal).max() >= 0.01


@pytest.mark.parametrize("gravity", [True, False])
def test_pd_is_what_it_says(gravity: bool) -> None:
    """τ = K (q_d ⊖ q) - D v + g(q), with ball joints, and 0 on a free base."""
    model, rng = fw.robots.humanoid(ball_joints=True), np.random.default_rng(2)
    q, goal, v = model.random(rng), model.random(rng), rng.normal(size=model.nv)
    K, D = rng.uniform(1, 50, (2, model.nv))
    control = fw.control.joint_pd(model, goal, stiffness=K, damping=D, gravity=gravity)
    tau, _ = control.function(0.0, q, v, np.zeros(0), control.parameters)
    expected = K * fw.difference(model, q, goal) - D * v + (fw.gravity_force(model, q) if gravity else 0.0)
    expected[:6] = 0.0
    np.testing.assert_allclose(np.array(tau, dtype=float), expected, rtol=1e-12, atol=1e-12)


def test_pd_leaves_a_free_base_alone_and_works_with_quaternions() -> None:
    model = fw.robots.humanoid(ball_joints=True, armature=0.1)
    goal = model.neutral()
    q = fw.integrate(model, goal, np.r_[np.zeros(6), 0.2 * np.ones(model.nv - 6)], 1.0)
    control = fw.control.joint_pd(model, goal, stiffness=200.0, damping=20.0, gravity=False)
    run = fw.simulate(model, q, np.zeros(model.nv), duration=2.0, dt=1e-3, control=control, limits=False)
    assert (run.tau[:, :6] == 0).all()
    assert np.abs(fw.difference(model, goal, run.q[-1])[6:]).max() <= 0.01


def test_the_tool_accelerates_as_asked_whatever_the_posture_wants() -> None:
    model = arm()
    rng = np.random.default_rng(1)
    goal = np.array([0.4, 0.2, 0.6])
    for _ in range(5):
        q, v, posture = rng.uniform(-1, 1, 6), rng.normal(size=6), rng.uniform(-2, 2, 6)
        control = fw.control.operational_space(model, "tool", place=goal, posture=posture, softness=0.0)
        tau, _ = control.function(0.0, q, v, np.zeros(0), control.parameters)
        a = fw.forward_dynamics(model, q, v, np.array(tau, dtype=float))
        got = fw.body_acceleration(model, q, v, a, "tool", "world_aligned", classical=True)[:3]
        rate = fw.body_velocity(model, q, v, "tool", "world_aligned")[:3]
        expected = 100.0 * (goal - fw.frame_pose(model, q, "tool").position) - 20.0 * rate
        assert np.abs(got - expected).max() <= 1e-8 * np.abs(expected).max()


def test_the_tool_arrives() -> None:
    model = arm()
    q = np.array([0.1, 0.5, 0.8, 0.0, 0.4, 0.0])
    goal = fw.frame_pose(model, q, "tool").position + np.array([0.05, -0.1, 0.08])
    control = fw.control.operational_space(model, "tool", place=goal, posture=q)
    run = fw.simulate(model, q, np.zeros(6), duration=3.0, dt=1e-3, control=control)
    assert np.abs(fw.frame_pose(model, run.q[-1], "tool").position - goal).max() <= 1e-4


def test_parameters_have_the_defaults_of_the_function() -> None:
    """100 /s² and 20 /s for the tool, 25 /s² and 10 /s for the posture, d = 1e-3."""
    model, place, posture = arm(), np.array([0.4, 0.2, 0.6]), np.linspace(0.1, 0.6, 6)
    control = fw.control.operational_space(model, "tool", place=place, posture=posture)
    row = [*place, *posture, 1e-3, 100.0, 20.0, 25.0, 10.0]
    assert control.parameters.tolist() == row
    assert control.function.layout.pack(OperationalSpaceParameters(place, posture)).tolist() == row


def test_robots_of_a_batch_have_their_own_postures_and_gains() -> None:
    """Alone, each does what it does in the batch, to the bit."""
    model = arm()
    q = np.array([0.1, 0.5, 0.8, 0.0, 0.4, 0.0])
    goal = fw.frame_pose(model, q, "tool").position + np.array([0.05, -0.1, 0.08])
    postures, stiffness = np.array([q, q + 0.2, q - 0.1]), np.array([100.0, 60.0, 144.0])
    options = {"place": goal, "posture": postures, "stiffness": stiffness, "softness": 2e-3}
    control = fw.control.operational_space(model, "tool", **options)
    run = fw.rollout(model, q, np.zeros(6), steps=50, dt=1e-3, control=control)
    for k in range(3):
        own = {**options, "posture": postures[k], "stiffness": stiffness[k]}
        alone = fw.rollout(
            model, q, np.zeros(6), steps=50, dt=1e-3, control=fw.control.operational_space(model, "tool", **own)
        )
        assert (alone.q == run.q[k]).all()
    assert len({x.tobytes() for x in run.q}) == 3


def test_controllers_have_names() -> None:
    model = fw.robots.mini_cheetah()
    q = fw.scenes.crouched(model)
    control = fw.control.named("trot", model, q, velocity=(0.1, 0.0, 0.0))
    assert control.parameters[:3].tolist() == [0.1, 0.0, 0.0]
    with pytest.raises(ValueError, match=r"no controller named 'trott'; did you mean 'trot'\?"):
        fw.control.named("trott", model, q)
    assert fw.scenes.named("ragdoll", count=3).q.shape == (3, 38)
    with pytest.raises(ValueError, match=r"no scene named 'trott'; did you mean 'trot'\?"):
        fw.scenes.named("trott")
