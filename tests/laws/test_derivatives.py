"""Derivatives of dynamics: of every joint kind, with rotors, mimic joints and forces on bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from featherweight import algorithms
from laws.measure import allowance, close, law, rate
from laws.random_trees import Body, build, floating, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


def forces_on(model: fw.Model, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(model.nb + 1, 6))


def columns(n: int, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """∂f/∂x for a function of (…, n) displacements x, at 0, by differences."""
    return rate(lambda t: f(t[:, None, None] * np.eye(n))).T


@law
@given(trees(mimic=True))
def test_derivative_of_inverse_dynamics_with_respect_to_acceleration_is_the_mass_matrix(model: fw.Model) -> None:
    q, v, a = states(model, 5)
    close(fw.inverse_dynamics_derivatives(model, q, v, a, forces_on(model))[2], fw.mass_matrix(model, q))


@law
@given(trees(mimic=True, most=6))
def test_derivatives_of_inverse_dynamics_are_its_differences(model: fw.Model) -> None:
    """Along q ⊕ δ, also where q̇ is not v; forces stay as they are in the bodies' frames."""
    (q, v, a), f_ext = state(model), forces_on(model)
    dq, dv, _ = fw.inverse_dynamics_derivatives(model, q, v, a, f_ext)
    moved = columns(model.nv, lambda d: fw.inverse_dynamics(model, fw.integrate(model, q, d, 1.0), v, a, f_ext))
    close(dq, moved, 1e-9)
    close(dv, columns(model.nv, lambda d: fw.inverse_dynamics(model, q, v + d, a, f_ext)), 1e-9)


@law
@given(trees(mimic=True))
def test_derivatives_of_forward_dynamics_solve_those_of_inverse_dynamics(model: fw.Model) -> None:
    """∂q̈/∂(q, v) = -M⁻¹ ∂τ/∂(q, v) where q̈ is the solution, and ∂q̈/∂τ = M⁻¹."""
    (q, v, tau), f_ext = state(model), forces_on(model)
    a = fw.forward_dynamics(model, q, v, tau, f_ext)
    inverse = np.linalg.inv(fw.mass_matrix(model, q))
    by_force = fw.inverse_dynamics_derivatives(model, q, v, a, f_ext)
    tolerance = 1e-11 * allowance(model, q)
    dq, dv, dtau = fw.forward_dynamics_derivatives(model, q, v, tau, f_ext)
    close(dq, -inverse @ by_force[0], tolerance)
    close(dv, -inverse @ by_force[1], tolerance)
    close(dtau, inverse, tolerance)


@law
@given(recipes(most=5))
def test_a_floating_robot_is_moved_without_its_joints_noticing(bodies: list[Body]) -> None:
    """Columns of the base: only the acceleration of its origin changes, by where gravity points and by ω × v."""
    model = build(floating(bodies))
    q, v, tau = state(model)
    dq, dv, _ = fw.forward_dynamics_derivatives(model, q, v, tau)
    assert not dq[:, :3].any()
    assert not dq[3:, :6].any()
    assert not dv[3:, :3].any()
    close(dq[:3, 3:6], columns(3, lambda d: _gravity_in_base(model, q, d)), 1e-9)
    close(dv[:3, :3], -np.cross(v[3:6], np.eye(3)).T)


def _gravity_in_base(model: fw.Model, q: np.ndarray, turn: np.ndarray) -> np.ndarray:
    along = np.zeros((*turn.shape[:-1], model.nv))
    along[..., 3:6] = turn
    return model.gravity @ fw.forward_kinematics(model, fw.integrate(model, q, along, 1.0)).rotation[..., 1, :, :]


@law
@given(recipes(mimic=True, properties=False))
def test_regressor_times_parameters_is_inverse_dynamics(bodies: list[Body]) -> None:
    model = build(bodies)
    q, v, a = states(model, 3)
    close(fw.regressor(model, q, v, a) @ parameters_of(model), fw.inverse_dynamics(model, q, v, a))


@law
@given(trees(mimic=True))
def test_regressor_leaves_out_armature_and_turning_rotors(model: fw.Model) -> None:
    """What it gives is inverse dynamics of the same tree whose rotors stand still on the bodies that carry them."""
    q, v, a = state(model)
    tree = model.over_floats
    still = [replace(j, armature=(0.0,) * len(j.dofs), spin=None) for j in tree.joints[1:]]
    tau, _ = algorithms.inverse_dynamics(replace(tree, joints=(tree.joints[0], *still)), q, v, a, None)
    close(fw.regressor(model, q, v, a) @ parameters_of(model), tau)


def test_columns_of_the_regressor_are_differences_in_each_parameter() -> None:
    """The layout: ten columns a body, m, m c, then xx xy yy xz yz zz about its origin."""
    model = build(floating(_arm()))
    q, v, a = state(model)
    pi, Y = parameters_of(model).reshape(model.nb, 10), fw.regressor(model, q, v, a)
    tree = model.over_floats
    for body in range(1, model.nb + 1):
        for k in range(10):
            m, *rest = pi[body - 1] + np.eye(10)[k]
            inertia = tree.I[body]
            other = inertia._replace(
                m=m,
                h=type(inertia.h)(*rest[:3]),
                I=inertia.I._replace(**dict(zip(("xx", "xy", "yy", "xz", "yz", "zz"), rest[3:], strict=True))),
            )
            changed = replace(tree, I=(*tree.I[:body], other, *tree.I[body + 1 :]))
            difference = np.subtract(
                algorithms.inverse_dynamics(changed, q, v, a, None)[0],
                algorithms.inverse_dynamics(tree, q, v, a, None)[0],
            )
            close(Y[:, 10 * (body - 1) + k], difference)


def _arm() -> list[Body]:
    from laws.random_trees import bodies

    return bodies([0, 1, 2], ["revolute any", "universal any", "prismatic any"], 3)


def parameters_of(model: fw.Model) -> np.ndarray:
    """π as the documentation has it."""
    rows = [[I.m, *I.h, I.I.xx, I.I.xy, I.I.yy, I.I.xz, I.I.yz, I.I.zz] for I in model.inertias[1:]]
    return np.array(rows, dtype=float).ravel()
