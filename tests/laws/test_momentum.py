"""Centre of mass and momentum: rates of each other, and conserved where nothing pushes the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import allowance, along, close, law, rate
from laws.random_trees import Body, build, floating, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


def mass(model: fw.Model) -> float:
    return float(sum(I.m for I in model.inertias[1:]))


@law
@given(recipes(mimic=True))
def test_center_of_mass_is_the_mean_of_all_bodies_and_rotors(bodies: list[Body]) -> None:
    model = build(bodies)
    q, _, _ = state(model)
    moment, total = np.zeros(3), 0.0
    for part in model.parts:
        if part.body > 0:
            R, p = fw.frame_pose(model, q, model.names[part.body])
            at = np.array(part.X.r, dtype=float) + np.array(part.X.E, dtype=float).T @ part.inertia.com
            moment, total = moment + part.inertia.mass * (p + R @ at), total + part.inertia.mass
    close(total, mass(model))
    close(fw.center_of_mass(model, q), moment / total)


@law
@given(trees(mimic=True))
def test_com_jacobian_gives_the_velocity_of_the_center_of_mass(model: fw.Model) -> None:
    q, v, _ = state(model)
    velocity = fw.com_jacobian(model, q) @ v
    close(velocity, rate(lambda t: fw.center_of_mass(model, along(model, q, v)(t))), 1e-9)


@law
@given(trees(mimic=True))
def test_linear_momentum_is_mass_times_velocity_of_the_center_of_mass(model: fw.Model) -> None:
    q, v, _ = states(model, 5)
    velocity = np.einsum("bij,bj->bi", fw.com_jacobian(model, q), v)
    close(fw.momentum(model, q, v)[:, :3], mass(model) * velocity)


@law
@given(trees(mimic=True))
def test_centroidal_momentum_is_the_momentum_about_the_center_of_mass(model: fw.Model) -> None:
    """h about c = h about the origin with the moment of the linear part, c × p, taken off."""
    q, v, _ = states(model, 5)
    h = fw.momentum(model, q, v)
    h[:, 3:] -= np.cross(fw.center_of_mass(model, q), h[:, :3])
    close(np.einsum("bij,bj->bi", fw.centroidal_momentum_matrix(model, q), v), h)


@law
@given(recipes(mimic=True))
def test_momentum_is_that_of_all_bodies_and_rotors(bodies: list[Body]) -> None:
    """About the origin: m v_com, and c × m v_com + I ω, part by part; a rotor on the world turns, so it counts."""
    model = build(bodies)
    q, v, _ = state(model)
    joints = {f"{joint.name}.rotor": joint for joint in model.joints}
    total = np.zeros(6)
    for part in model.parts:
        if part.body == 0 and part.link not in joints:
            continue
        R, p = fw.frame_pose(model, q, model.names[part.body])
        linear, angular = np.split(fw.body_velocity(model, q, v, model.names[part.body], "world_aligned"), 2)
        R_part = R @ np.array(part.X.E, dtype=float).T
        arm = R @ np.array(part.X.r, dtype=float) + R_part @ part.inertia.com
        push = part.inertia.mass * (linear + np.cross(angular, arm))
        if part.link in joints:
            joint = joints[part.link]
            angular = angular + R_part @ np.array(joint.kind.axis) * joint.rotor.gear * v[joint.v]
        spin = R_part @ np.array(part.inertia.moment_about_com) @ R_part.T @ angular
        total += np.concatenate([push, np.cross(p + arm, push) + spin])
    close(fw.momentum(model, q, v), total)


@law
@given(trees(mimic=True))
def test_centroidal_bias_is_the_rate_of_the_matrix_times_velocity(model: fw.Model) -> None:
    q, v, _ = state(model)
    A_dot = rate(lambda t: fw.centroidal_momentum_matrix(model, along(model, q, v)(t)))
    close(fw.centroidal_bias(model, q, v), A_dot @ v, 1e-9)


@law
@given(recipes(mimic=True).map(floating))
def test_a_floating_tree_keeps_its_momentum(bodies: list[Body]) -> None:
    """No gravity, forces between bodies only: nothing pushes the whole."""
    model = build(bodies, gravity=(0, 0, 0))
    q, v, tau = state(model)
    tau[:6] = 0
    a = fw.forward_dynamics(model, q, v, tau)
    h_dot = rate(lambda t: fw.momentum(model, along(model, q, v)(t), v + t[:, None] * a))
    size = np.abs(fw.mass_matrix(model, q)).max() * np.abs(a).max()
    close(h_dot / max(1.0, size), np.zeros(6), 1e-9)
    held = fw.joint_wrenches(model, q, v, a)[1]  # what holds the base: the rate of momentum
    close(held / max(1.0, size), np.zeros(6), 1e-12 * allowance(model, q))


@law
@given(recipes(mimic=True).map(floating))
def test_only_gravity_moves_the_center_of_mass_of_a_floating_tree(bodies: list[Body]) -> None:
    """c̈ = g, whatever the joints do; about the centre of mass nothing turns the whole."""
    model = build(bodies, gravity=(1.0, -2.0, 3.0))
    q, v, tau = state(model)
    tau[:6] = 0
    a = fw.forward_dynamics(model, q, v, tau)
    h_dot = fw.centroidal_momentum_matrix(model, q) @ a + fw.centroidal_bias(model, q, v)
    size = np.abs(fw.mass_matrix(model, q)).max() * np.abs(a).max()
    weight = np.concatenate([mass(model) * model.gravity, np.zeros(3)])
    close(h_dot / max(1.0, size), weight / max(1.0, size), 1e-12 * allowance(model, q))
