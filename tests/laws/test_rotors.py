"""A rotor is a body of its own on the joint's parent, that turns `gear` times as fast as the joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import allowance, close, law
from laws.random_trees import ONE_DOF, Body, build, floating, recipes, rotor, states

pytestmark = pytest.mark.usefixtures("interpreted")


def everywhere(bodies: list[Body]) -> list[Body]:
    """The same bodies with a rotor at each joint that can have one."""
    rng = np.random.default_rng(len(bodies))
    return [
        replace(body, rotor=rotor(body.joint.axis, rng)) if hasattr(body.joint, "axis") and body.joint.nv == 1 else body
        for body in bodies
    ]


def explicit(bodies: list[Body]) -> list[Body]:
    """The same tree, its rotors bodies on mimic joints; they come last, so the others keep their numbers."""
    rotors = [
        Body(
            f"rotor of {body.name}",
            body.parent,
            fw.joints.Mimic(
                fw.joints.Revolute(body.joint.axis if body.rotor.axis is None else body.rotor.axis),
                of=f"{body.name}_joint",
                ratio=body.rotor.gear,
            ),
            body.rotor.placement,
            body.rotor.inertia,
        )
        for body in bodies
        if body.rotor is not None
    ]
    return [*(replace(body, rotor=None) for body in bodies), *rotors]


@law
@given(recipes(kinds=(*ONE_DOF, "spherical", "universal any")).map(everywhere))
def test_a_rotor_is_an_explicit_body(bodies: list[Body]) -> None:
    model, other = build(bodies), build(explicit(bodies))
    q, v, a = states(model, 4)
    f = np.random.default_rng(1).normal(size=(4, model.nb + 1, 6))
    f_other = np.concatenate([f, np.zeros((4, other.nb - model.nb, 6))], axis=1)
    close(fw.mass_matrix(model, q), fw.mass_matrix(other, q), 1e-11)
    close(fw.inverse_dynamics(model, q, v, a, f), fw.inverse_dynamics(other, q, v, a, f_other), 1e-11)
    tolerance = 1e-11 * allowance(model, q)
    close(fw.forward_dynamics(model, q, v, a, f), fw.forward_dynamics(other, q, v, a, f_other), tolerance)
    close(fw.kinetic_energy(model, q, v), fw.kinetic_energy(other, q, v), 1e-11)
    close(fw.momentum(model, q, v), fw.momentum(other, q, v), 1e-11)
    close(fw.gravity_force(model, q), fw.gravity_force(other, q), 1e-11)
    close(fw.coriolis_matrix(model, q, v), fw.coriolis_matrix(other, q, v), 1e-11)
    wrenches, others = fw.joint_wrenches(model, q, v, a, f), fw.joint_wrenches(other, q, v, a, f_other)
    close(wrenches, others[:, : model.nb + 1], 1e-11)


@law
@given(recipes(kinds=(*ONE_DOF, "spherical", "universal any")).map(everywhere).map(floating))
def test_a_rotor_on_a_moving_body_has_weight_and_momentum(bodies: list[Body]) -> None:
    bodies = [replace(body, stiffness=0.0) for body in bodies]  # a continuous joint that leads does not wrap its angle
    model, other = build(bodies), build(explicit(bodies))
    q, v, _ = states(model, 4)
    close(fw.momentum(model, q, v), fw.momentum(other, q, v), 1e-11)
    close(fw.center_of_mass(model, q), fw.center_of_mass(other, q), 1e-11)
    close(fw.com_jacobian(model, q), fw.com_jacobian(other, q), 1e-11)
    close(fw.centroidal_momentum_matrix(model, q), fw.centroidal_momentum_matrix(other, q), 1e-11)
    close(fw.centroidal_bias(model, q, v), fw.centroidal_bias(other, q, v), 1e-11)
    close(fw.potential_energy(model, q), fw.potential_energy(other, q), 1e-11)


@law
@given(recipes(kinds=ONE_DOF))
def test_a_rotor_may_spin_about_an_axis_of_its_own(bodies: list[Body]) -> None:
    """A bevel gear: the axis is given in the rotor's frame."""
    rng = np.random.default_rng(3)
    axis = rng.normal(size=3)
    wheel = rotor(axis / np.linalg.norm(axis), rng)
    bodies = [replace(body, rotor=replace(wheel, axis=axis)) for body in bodies]
    model, other = build(bodies), build(explicit(bodies))
    q, v, a = states(model, 3)
    close(fw.mass_matrix(model, q), fw.mass_matrix(other, q), 1e-11)
    close(fw.inverse_dynamics(model, q, v, a), fw.inverse_dynamics(other, q, v, a), 1e-11)


@law
@given(recipes(kinds=(*ONE_DOF, "spherical", "free")).map(everywhere))
def test_an_armature_is_a_rotor_without_the_coupling(bodies: list[Body]) -> None:
    """With gear² J added to the joint and the rotor's mass welded to the parent, M differs by the spin alone."""
    armature = [
        replace(body, rotor=None, armature=np.array(body.armature) + body.rotor.gear**2 * about_axis(body))
        if body.rotor
        else body
        for body in bodies
    ]
    rotors = [
        Body(f"rotor of {b.name}", b.parent, fw.joints.Fixed(), b.rotor.placement, b.rotor.inertia)
        for b in bodies
        if b.rotor
    ]
    model, other = build(bodies), build([*armature, *rotors])
    q, _, _ = states(model, 3)
    difference = fw.mass_matrix(model, q) - fw.mass_matrix(other, q)
    coupling = np.zeros_like(difference)
    for joint in model.joints:
        if joint.spin is not None:
            J = fw.jacobian(model, q, model.names[model.parent[joint.body]])[:, 3:]
            felt = np.einsum("i,bij->bj", np.array(joint.spin), J)
            coupling[:, :, joint.v.start] += felt
            coupling[:, joint.v.start, :] += felt
    close(difference, coupling, 1e-11)


def about_axis(body: Body) -> float:
    axis = np.array(body.joint.axis)
    return float(axis @ np.array(body.rotor.inertia.moment_about_com) @ axis)


@law
@given(recipes(kinds=ONE_DOF, mimic=True))
def test_a_rotor_at_a_mimic_joint_turns_with_that_joint(bodies: list[Body]) -> None:
    """gear times as fast as the follower, not as its leader."""
    rng = np.random.default_rng(2)
    axis = (0.0, 0.6, 0.8)
    bodies = [replace(body, rotor=replace(rotor(axis, rng), axis=axis)) for body in bodies]
    model, other = build(bodies), build(explicit(bodies))
    q, v, a = states(model, 3)
    close(fw.mass_matrix(model, q), fw.mass_matrix(other, q), 1e-11)
    close(fw.inverse_dynamics(model, q, v, a), fw.inverse_dynamics(other, q, v, a), 1e-11)
    close(fw.coriolis_matrix(model, q, v), fw.coriolis_matrix(other, q, v), 1e-11)
    close(fw.kinetic_energy(model, q, v), fw.kinetic_energy(other, q, v), 1e-11)
