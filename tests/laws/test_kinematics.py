"""Velocities, accelerations and Jacobians are rates of poses, in all three coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import along, close, law, rate
from laws.random_trees import Body, build, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")
coordinates = pytest.mark.parametrize("in_", ["body", "world", "world_aligned"])
PLACE = fw.Placement((0.1, -0.2, 0.3), rpy=(0.4, -0.5, 0.6))


def with_frame(bodies: list[Body]) -> fw.Model:
    """The model with a frame "tool" on its last body."""
    builder = fw.Builder("tree")
    for body in bodies:
        builder.add_body(**vars(body))
    return builder.add_frame("tool", parent=bodies[-1].name, placement=PLACE).build()


def cross(x: np.ndarray) -> np.ndarray:
    """x̂, so that x̂ b = x × b."""
    return np.cross(np.eye(3), x)


@law
@given(recipes(mimic=True))
def test_velocity_is_the_rate_of_the_pose(bodies: list[Body]) -> None:
    """d/dt (R, p) along q ⊕ v t is (R ω̂, R v_body), with the pose known from the joints' transforms alone."""
    model = with_frame(bodies)
    q, v, _ = state(model)
    for name in (*model.names, "tool"):
        R, p = fw.frame_pose(model, q, name)
        R_dot = rate(lambda t, name=name: fw.frame_pose(model, along(model, q, v)(t), name).rotation)
        p_dot = rate(lambda t, name=name: fw.frame_pose(model, along(model, q, v)(t), name).position)
        linear, angular = np.split(fw.body_velocity(model, q, v, name), 2)
        close(R_dot, R @ cross(angular), 1e-9)
        close(p_dot, R @ linear, 1e-9)
        world = fw.body_velocity(model, q, v, name, "world")
        close(world, np.concatenate([p_dot + np.cross(p, R @ angular), R @ angular]), 1e-9)
        aligned = fw.body_velocity(model, q, v, name, "world_aligned")
        close(aligned, np.concatenate([p_dot, R @ angular]), 1e-9)


@law
@given(trees(mimic=True))
def test_poses_are_rigid_and_agree(model: fw.Model) -> None:
    q, _, _ = states(model, 3)
    R, p = fw.forward_kinematics(model, q)
    close(R @ R.swapaxes(-1, -2), np.broadcast_to(np.eye(3), R.shape))
    close(np.linalg.det(R), np.ones(R.shape[:-2]))
    for i, name in enumerate(model.names):
        for frame in (name, f"{name}_joint") if i else (name,):
            pose = fw.frame_pose(model, q, frame)
            close(pose.rotation, R[:, i])
            close(pose.position, p[:, i])


@coordinates
@law
@given(recipes(mimic=True))
def test_jacobian_times_velocity_is_the_velocity(in_: str, bodies: list[Body]) -> None:
    model = with_frame(bodies)
    q, v, _ = states(model, 5)
    for name in ("tool", model.names[1], "world"):
        J = fw.jacobian(model, q, name, in_)
        close(np.einsum("bij,bj->bi", J, v), fw.body_velocity(model, q, v, name, in_))


@coordinates
@law
@given(recipes(mimic=True))
def test_jacobian_dot_is_the_rate_of_the_jacobian(in_: str, bodies: list[Body]) -> None:
    model = with_frame(bodies)
    q, v, _ = state(model)
    J_dot = rate(lambda t: fw.jacobian(model, along(model, q, v)(t), "tool", in_))
    close(fw.jacobian_dot(model, q, v, "tool", in_), J_dot, 1e-9)


@coordinates
@law
@given(recipes(mimic=True))
def test_acceleration_is_J_a_plus_J_dot_v(in_: str, bodies: list[Body]) -> None:
    """Spatial in the frame and in the world; in axes that stay behind the rate is that of the point, classical."""
    model = with_frame(bodies)
    q, v, a = states(model, 5)
    J, J_dot = fw.jacobian(model, q, "tool", in_), fw.jacobian_dot(model, q, v, "tool", in_)
    found = np.einsum("bij,bj->bi", J, a) + np.einsum("bij,bj->bi", J_dot, v)
    close(found, fw.body_acceleration(model, q, v, a, "tool", in_, classical=in_ == "world_aligned"))


@law
@given(recipes(mimic=True))
def test_accelerations_in_all_coordinates_are_one_motion(bodies: list[Body]) -> None:
    model = with_frame(bodies)
    q, v, a = state(model)
    R, p = fw.frame_pose(model, q, "tool")
    for classical in (False, True):
        body = fw.body_acceleration(model, q, v, a, "tool", "body", classical=classical)
        aligned = fw.body_acceleration(model, q, v, a, "tool", "world_aligned", classical=classical)
        close(aligned, np.concatenate([R @ body[:3], R @ body[3:]]))
    V, A = fw.body_velocity(model, q, v, "tool"), fw.body_acceleration(model, q, v, a, "tool")
    point = fw.body_acceleration(model, q, v, a, "tool", classical=True)
    close(point, A + np.concatenate([np.cross(V[3:], V[:3]), np.zeros(3)]))
    world = fw.body_acceleration(model, q, v, a, "tool", "world")
    close(world, np.concatenate([R @ A[:3] + np.cross(p, R @ A[3:]), R @ A[3:]]))


@coordinates
@law
@given(recipes(mimic=True))
def test_a_wrench_at_a_frame_acts_through_its_jacobian(in_: str, bodies: list[Body]) -> None:
    """inverse_dynamics with f_ext = inverse_dynamics - Jᵀ w."""
    model = with_frame(bodies)
    q, v, a = states(model, 4)
    w = np.random.default_rng(2).normal(size=(4, 6))
    f_ext = fw.wrench_on(model, q, "tool", w, in_)
    assert not np.delete(f_ext, model.frame("tool").body, axis=1).any()
    J = fw.jacobian(model, q, "tool", in_)
    pushed = fw.inverse_dynamics(model, q, v, a) - np.einsum("bij,bi->bj", J, w)
    close(fw.inverse_dynamics(model, q, v, a, f_ext), pushed)


@law
@given(recipes(mimic=True))
def test_a_fixed_body_moves_like_a_frame_at_its_place(bodies: list[Body]) -> None:
    model = with_frame(bodies)
    last = bodies[-1]
    light = replace(
        last, name="tool", parent=last.name, joint=fw.joints.Fixed(), placement=PLACE, inertia=fw.Inertia.zero(),
        rotor=None, armature=0.0, damping=0.0, friction=0.0, stiffness=0.0, rest=None,
    )  # fmt: skip
    fixed = build([*bodies, light])
    q, v, a = states(model, 3)
    for f, args in ((fw.jacobian, (q,)), (fw.jacobian_dot, (q, v)), (fw.body_acceleration, (q, v, a))):
        close(f(fixed, *args, "tool"), f(model, *args, "tool"))
