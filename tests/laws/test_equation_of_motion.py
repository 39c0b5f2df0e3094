"""M a + c = τ + Jᵀ f, whichever of the functions is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import allowance, along, close, law, rate
from laws.random_trees import Body, build, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


@law
@given(trees(mimic=True))
def test_mass_matrix_is_the_columns_of_inverse_dynamics(model: fw.Model) -> None:
    q, _, _ = states(model, 1)
    zero, unit = np.zeros(model.nv), np.eye(model.nv)
    columns = fw.inverse_dynamics(model, q, zero, unit) - fw.inverse_dynamics(model, q, zero, zero)
    close(fw.mass_matrix(model, q[0]), columns)


@law
@given(trees(mimic=True))
def test_mass_matrix_is_symmetric_and_positive_definite(model: fw.Model) -> None:
    q, _, _ = states(model, 5)
    M = fw.mass_matrix(model, q)
    assert np.array_equal(M, M.swapaxes(1, 2))
    assert np.linalg.eigvalsh(M).min() > 0


@law
@given(trees(mimic=True))
def test_forward_dynamics_undoes_inverse_dynamics(model: fw.Model) -> None:
    q, v, a = states(model, 9)
    f_ext = np.random.default_rng(5).normal(size=(9, model.nb + 1, 6))
    tolerance = 1e-12 * allowance(model, q)
    close(fw.forward_dynamics(model, q, v, fw.inverse_dynamics(model, q, v, a)), a, tolerance)
    tau = fw.inverse_dynamics(model, q, v, a, f_ext)
    close(fw.forward_dynamics(model, q, v, tau, f_ext), a, tolerance)


@law
@given(trees(mimic=True))
def test_forward_dynamics_solves_the_equation_of_motion(model: fw.Model) -> None:
    q, v, tau = states(model, 9)
    M, c = fw.mass_matrix(model, q), fw.bias_force(model, q, v)
    a = np.linalg.solve(M, (tau - c)[..., None])[..., 0]
    close(fw.forward_dynamics(model, q, v, tau), a, 1e-12 * allowance(model, q))


@law
@given(trees(mimic=True))
def test_inverse_dynamics_is_linear_in_acceleration_and_bias(model: fw.Model) -> None:
    q, v, a = states(model, 5)
    tau = np.einsum("bij,bj->bi", fw.mass_matrix(model, q), a) + fw.bias_force(model, q, v)
    close(fw.inverse_dynamics(model, q, v, a), tau)


@law
@given(trees(mimic=True))
def test_inverse_and_solution_belong_to_the_mass_matrix(model: fw.Model) -> None:
    q, _, b = states(model, 5)
    M, inverse = fw.mass_matrix(model, q), fw.mass_matrix_inverse(model, q)
    tolerance = 1e-12 * allowance(model, q)
    assert (inverse == inverse.swapaxes(1, 2)).all()
    close(inverse, np.linalg.inv(M), tolerance)
    close(fw.solve_mass_matrix(model, q, b), np.einsum("bij,bj->bi", inverse, b), tolerance)


@law
@given(recipes(mimic=True))
def test_bias_without_velocity_is_gravity(bodies: list[Body]) -> None:
    """c(q, 0) = g, and g = dU/dq along every motion."""
    model = build(bodies)
    q, v, _ = state(model)
    g = fw.gravity_force(model, q)
    close(g, fw.bias_force(model, q, np.zeros_like(v)))
    springless = build([replace(body, stiffness=0.0) for body in bodies])  # gravity_force knows gravity only
    close(rate(lambda t: fw.potential_energy(springless, along(model, q, v)(t))), v @ g, 1e-9)


@law
@given(trees(mimic=True))
def test_external_forces_add_up(model: fw.Model) -> None:
    """-Jᵀf is linear in f and does not depend on velocity; power of f on each body = vᵀJᵀf."""
    q, v, a = state(model)
    f = np.random.default_rng(3).normal(size=(model.nb + 1, 6))
    f[0] = 7.0  # the world's row is ignored
    generalized = fw.inverse_dynamics(model, q, v, a) - fw.inverse_dynamics(model, q, v, a, f)
    double = fw.inverse_dynamics(model, q, 0 * v, a) - fw.inverse_dynamics(model, q, 0 * v, a, 2 * f)
    close(2 * generalized, double, 1e-11)
    power = sum(fw.body_velocity(model, q, v, name) @ f[i] for i, name in enumerate(model.names[1:], start=1))
    close(v @ generalized, power, 1e-11)


@law
@given(trees())
def test_joint_wrenches_project_to_joint_forces(model: fw.Model) -> None:
    """τ = Sᵀ f, with the motor's own inertia: armature, and what the rotor takes from its parent."""
    q, v, a = state(model)
    tau, wrenches = fw.inverse_dynamics(model, q, v, a), fw.joint_wrenches(model, q, v, a)
    assert not wrenches[0].any()
    for joint in model.joints:
        columns = joint.kind.subspace([float(x) for x in q[joint.q]])
        S = np.array([[*s.linear, *s.angular] for s in columns], dtype=float)
        motor = np.array(joint.armature) * a[joint.v]
        if joint.rotor is not None:
            motor = motor + joint.rotor_inertia * a[joint.v]
        if joint.spin is not None:
            parent = model.names[model.parent[joint.body]]
            motor = motor + fw.body_acceleration(model, q, v, a, parent)[3:] @ np.array(joint.spin)
        close(S @ wrenches[joint.body] + motor, tau[joint.v], 1e-11)


@law
@given(recipes(mimic=True))
def test_nothing_moves_by_itself(bodies: list[Body]) -> None:
    """With zero gravity, zero velocity and zero force nothing accelerates."""
    still = build(bodies, gravity=(0, 0, 0))
    q, _, _ = states(still, 3)
    zero = np.zeros((3, still.nv))
    close(fw.forward_dynamics(still, q, zero, zero), zero)
    close(fw.inverse_dynamics(still, q, zero, zero), zero)


@law
@given(trees(mimic=True))
def test_hybrid_dynamics_is_the_partitioned_equation_of_motion(model: fw.Model) -> None:
    """Rows of M a + c - Jᵀf = τ with unknown a, solved; then the rows with unknown τ."""
    q, v, a = state(model)
    tau = np.random.default_rng(6).normal(size=model.nv)
    f = np.random.default_rng(7).normal(size=(model.nb + 1, 6))
    chosen = [joint for k, joint in enumerate(model.joints) if (k + model.nv) % 2]
    given_a = np.zeros(model.nv, dtype=bool)
    for joint in chosen:
        given_a[joint.v] = True
    free = ~given_a
    M = fw.mass_matrix(model, q)
    c = fw.inverse_dynamics(model, q, v, 0 * a, f)
    a_right, tau_right = a.copy(), tau.copy()
    a_right[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - c - M[:, given_a] @ a[given_a])[free])
    tau_right[given_a] = (M @ a_right + c)[given_a]
    tau_found, a_found = fw.hybrid_dynamics(model, q, v, tau, a, [joint.name for joint in chosen], f)
    tolerance = 1e-12 * allowance(model, q)
    close(a_found, a_right, tolerance)
    close(tau_found, tau_right, tolerance)
    assert (a_found[given_a] == a[given_a]).all()
    assert (tau_found[free] == tau[free]).all()


@law
@given(trees(mimic=True))
def test_hybrid_dynamics_lies_between_inverse_and_forward(model: fw.Model) -> None:
    q, v, a = states(model, 3)
    tau = np.random.default_rng(6).normal(size=(3, model.nv))
    close(fw.hybrid_dynamics(model, q, v, tau, a, model.joint_names)[0], fw.inverse_dynamics(model, q, v, a))
    found = fw.hybrid_dynamics(model, q, v, tau, a, [])[1]
    close(found, fw.forward_dynamics(model, q, v, tau), 1e-12 * allowance(model, q))
