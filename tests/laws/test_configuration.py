"""Steps between configurations: ⊕ and ⊖ undo each other, on whatever the joints live on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import close, law, rate
from laws.random_trees import state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


@law
@given(trees(mimic=True))
def test_difference_undoes_integrate(model: fw.Model) -> None:
    """As long as no joint goes further than half a turn."""
    q, v, _ = states(model, 9)
    dt = np.linspace(-0.7, 0.7, 9)
    v = np.clip(v, -2.0, 2.0)
    close(fw.difference(model, q, fw.integrate(model, q, v, dt)), v * dt[:, None])


@law
@given(trees())
def test_integrate_undoes_difference(model: fw.Model) -> None:
    """The pose of all bodies is that of q1; q itself may be another quaternion, or a turn away."""
    q0, _, _ = states(model, 9)
    q1, _, _ = states(model, 9, seed=1)
    reached = fw.integrate(model, q0, fw.difference(model, q0, q1), 1.0)
    for found, right in zip(fw.forward_kinematics(model, reached), fw.forward_kinematics(model, q1), strict=True):
        close(found, right, 1e-11)


def test_integrate_undoes_difference_where_a_continuous_joint_leads() -> None:
    builder = fw.Builder("screw").add_body("nut", joint=fw.joints.Continuous("z"), inertia=fw.Inertia.sphere(1, 0.1))
    slide = fw.joints.Mimic(fw.joints.Prismatic("z"), "nut_joint", 0.1)
    model = builder.add_body("screw", joint=slide, inertia=fw.Inertia.sphere(1, 0.1)).build()
    reached = fw.integrate(model, [0.0], fw.difference(model, [0.0], [6.0]), 1.0)
    close(fw.frame_pose(model, reached, "screw").position, fw.frame_pose(model, [6.0], "screw").position)


@law
@given(trees(mimic=True))
def test_small_steps_are_velocities(model: fw.Model) -> None:
    """d/dt (q ⊕ v t) ⊖ q = v at t = 0: the derivative of the difference is the identity."""
    q, _, _ = state(model)
    for v in np.eye(model.nv):
        close(rate(lambda t, v=v: fw.difference(model, q, fw.integrate(model, q, v, t))), v, 1e-9)


@law
@given(trees(mimic=True))
def test_the_difference_from_the_other_side_is_minus_it(model: fw.Model) -> None:
    q0, _, _ = states(model, 9)
    q1, _, _ = states(model, 9, seed=1)
    forth, back = fw.difference(model, q0, q1), fw.difference(model, q1, q0)
    close(back, -forth, 1e-11)


@law
@given(trees(mimic=True))
def test_steps_with_the_same_velocity_add_up(model: fw.Model) -> None:
    """(q ⊕ v s) ⊕ v t = q ⊕ v (s + t): the velocity is constant in the joint's own frame."""
    q, v, _ = states(model, 5)
    twice = fw.integrate(model, fw.integrate(model, q, v, 0.3), v, 0.9)
    for found, right in zip(
        fw.forward_kinematics(model, twice), fw.forward_kinematics(model, fw.integrate(model, q, v, 1.2)), strict=True
    ):
        close(found, right)


@law
@given(trees(mimic=True))
def test_no_step_leaves_the_robot_where_it_is(model: fw.Model) -> None:
    q, v, _ = states(model, 5)
    close(fw.integrate(model, q, 0 * v, 1.0), q, 1e-15)
    close(fw.integrate(model, q, v, 0.0), q, 1e-15)
    close(fw.difference(model, q, q), 0 * v, 1e-15)


@law
@given(trees(mimic=True))
def test_long_steps_stay_configurations(model: fw.Model) -> None:
    """Quaternions keep their length, over many turns and many steps."""
    q, v, _ = states(model, 3)
    for _ in range(20):
        q = fw.integrate(model, q, 10 * v, 1.0)
    for joint in model.independent_joints:
        assert joint.kind.explain(q[:, joint.q]) is None
        if isinstance(joint.kind, (fw.joints.Spherical, fw.joints.Free)):
            close(np.linalg.norm(q[:, joint.q][:, -4:], axis=1), np.ones(3), 1e-15)


@law
@given(trees(mimic=True))
def test_random_configurations_are_configurations(model: fw.Model) -> None:
    q = model.random(7)
    assert q.shape == (model.nq,)
    for joint in model.independent_joints:
        assert joint.kind.explain(q[joint.q]) is None
    assert (model.random(7) == q).all()
    assert not (model.random(8) == q).all()
