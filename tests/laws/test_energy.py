"""Energy: what a moving robot has, what gravity and springs keep, what motors give and friction takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import along, close, law, rate
from laws.random_trees import Body, build, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


@law
@given(trees(mimic=True))
def test_kinetic_energy_is_half_v_M_v(model: fw.Model) -> None:
    q, v, _ = states(model, 5)
    M = fw.mass_matrix(model, q)
    close(fw.kinetic_energy(model, q, v), 0.5 * np.einsum("bi,bij,bj->b", v, M, v))


def energy(inertia: fw.Inertia, linear: np.ndarray, angular: np.ndarray) -> float:
    """½ m |v_com|² + ½ ω·I ω, from the velocity of the frame's origin."""
    at_com = linear + np.cross(angular, inertia.com)
    return 0.5 * inertia.mass * at_com @ at_com + 0.5 * angular @ np.array(inertia.moment_about_com) @ angular


@law
@given(recipes(mimic=True))
def test_kinetic_energy_is_that_of_all_bodies_and_rotors(bodies: list[Body]) -> None:
    model = build(bodies)
    q, v, _ = state(model)
    total = 0.0
    for body in bodies:
        V = fw.body_velocity(model, q, v, body.name)
        total += energy(body.inertia, V[:3], V[3:])
        joint = model.joint(f"{body.name}_joint")
        own = joint.kind.ratio * v[joint.v]  # a mimic joint's kind follows the first leader of all
        total += 0.5 * np.sum(np.array(body.armature) * own**2)
        if body.rotor is not None:
            R, p = (np.array(x, dtype=float) for x in (body.rotor.placement.rotation, body.rotor.placement.position))
            V = fw.body_velocity(model, q, v, body.parent)
            spin = body.rotor.gear * own[0] * np.array(body.joint.axis)
            total += energy(body.rotor.inertia, R.T @ (V[:3] + np.cross(V[3:], p)), R.T @ V[3:] + spin)
    close(fw.kinetic_energy(model, q, v), total)


@law
@given(recipes(mimic=True))
def test_potential_energy_is_that_of_all_bodies_and_springs(bodies: list[Body]) -> None:
    model = build(bodies, gravity=(1.0, -2.0, 3.0))
    q, _, _ = state(model)
    total = 0.0
    for body in bodies:
        pose = fw.frame_pose(model, q, body.name)
        total -= body.inertia.mass * model.gravity @ (pose.position + pose.rotation @ body.inertia.com)
        if body.rotor is not None and body.parent != "world":
            pose = fw.frame_pose(model, q, body.parent)
            R, p = (np.array(x, dtype=float) for x in (body.rotor.placement.rotation, body.rotor.placement.position))
            at_com = pose.position + pose.rotation @ (p + R @ body.rotor.inertia.com)
            total -= body.rotor.inertia.mass * model.gravity @ at_com
        if np.any(body.stiffness):
            joint = model.joint(f"{body.name}_joint")
            own = joint.kind.ratio * q[joint.q] + joint.kind.offset
            stretch = np.array(body.joint.difference(list(np.atleast_1d(body.rest)), list(own)))
            total += 0.5 * body.stiffness * stretch @ stretch
    close(fw.potential_energy(model, q), total)


@law
@given(trees(mimic=True))
def test_energy_rate_is_power(model: fw.Model) -> None:
    """d/dt (T + U) = v·τ + v·(damping and friction), when the joints' own forces act too."""
    q, v, tau = state(model)
    passive = fw.passive_force(model, q, v)
    a = fw.forward_dynamics(model, q, v, tau + passive)

    def total(t: np.ndarray) -> np.ndarray:
        q_t, v_t = along(model, q, v)(t), v + t[:, None] * a
        return fw.kinetic_energy(model, q_t, v_t) + fw.potential_energy(model, q_t)

    lost = passive - fw.passive_force(model, q, 0 * v)
    close(rate(total), v @ (tau + lost), 1e-9)


@law
@given(trees(mimic=True))
def test_velocity_terms_do_no_work(model: fw.Model) -> None:
    """d/dt ½ vᵀMv = vᵀ(τ - g) along the motion."""
    q, v, a = state(model)
    power = v @ (fw.inverse_dynamics(model, q, v, a) - fw.gravity_force(model, q))
    q_t = along(model, q, v)
    close(rate(lambda t: fw.kinetic_energy(model, q_t(t), v + t[:, None] * a)), power, 1e-9)


@law
@given(recipes(mimic=True))
def test_springs_are_the_slope_of_their_energy(bodies: list[Body]) -> None:
    """v·τ = -dU/dt without gravity, for any v."""
    model = build(bodies, gravity=(0, 0, 0))
    q, v, _ = state(model)
    slope = rate(lambda t: fw.potential_energy(model, along(model, q, v)(t)))
    close(v @ fw.passive_force(model, q, 0 * v), -slope, 1e-9)


SPRINGS = {
    "one number on a spherical joint": (fw.joints.Spherical(), 2.0),
    "two numbers on a universal joint": (fw.joints.Universal("x", (1, 2, 3)), (1.0, 2.0)),
    "two numbers on a cylindrical joint": (fw.joints.Cylindrical("x"), (1.0, 2.0)),
    "three numbers on a spherical joint": (fw.joints.Spherical(), (1.0, 2.0, 3.0)),
    "one number on a planar joint": (fw.joints.Planar(), 2.0),
    "one number on a free joint": (fw.joints.Free(), 2.0),
}


@pytest.mark.parametrize("name", SPRINGS)
def test_springs_of_joints_with_many_coordinates_are_the_slope_of_their_energy(name: str) -> None:
    kind, stiffness = SPRINGS[name]
    builder = fw.Builder("sprung", gravity=(0, 0, 0))
    model = builder.add_body("body", joint=kind, inertia=fw.Inertia.point(1.0), stiffness=stiffness).build()
    for seed in range(5):
        q, v, _ = state(model, seed)
        slope = rate(lambda t, q=q, v=v: fw.potential_energy(model, along(model, q, v)(t)))
        close(v @ fw.passive_force(model, q, 0 * v), -slope, 1e-9)


@law
@given(trees(mimic=True))
def test_damping_and_friction_only_take_energy(model: fw.Model) -> None:
    q, v, _ = states(model, 20)
    lost = fw.passive_force(model, q, v) - fw.passive_force(model, q, 0 * v)
    assert (lost * v <= 0).all()  # at every joint


@law
@given(recipes(mimic=True))
def test_damping_grows_with_velocity_and_friction_does_not(bodies: list[Body]) -> None:
    model = build(bodies)
    q, v, _ = state(model)
    still, slow, fast = (fw.passive_force(model, q, k * v) for k in (0, 1, 2))
    damping, friction = np.zeros(model.nv), np.zeros(model.nv)
    for body in bodies:  # as the coordinate of a leader feels it
        joint = model.joint(f"{body.name}_joint")
        damping[joint.v] += joint.kind.ratio**2 * np.array(body.damping)
        friction[joint.v] += abs(joint.kind.ratio) * np.array(body.friction)
    close(fast - slow, -damping * v)
    close(slow - still, -damping * v - friction * np.sign(v))
