"""The equations of a step: the recursions against derivatives of the discrete action, taken with 40 digits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

import featherweight as fw
from featherweight import algorithms
from featherweight.algorithms.linear import combine
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.integrators.variational.floating import floating_momentum
from featherweight.integrators.variational.forces import Braked
from featherweight.integrators.variational.legendre import momentum_after, read_out, start
from featherweight.integrators.variational.newton import newton_step
from featherweight.integrators.variational.riqn import MassSolver
from featherweight.integrators.variational.solve import Search
from featherweight.integrators.variational.step_end import StepEnd
from featherweight.spatial import Displacement, Motion, log_se3
from laws.random_trees import KINDS, bodies, build, state, tree

H = 0.01


def motors(parents: list[int], kinds: list[str]) -> fw.Model:
    """With rotors, springs, and armature at joints of one coordinate: for others it is not of a Lagrangian."""
    made = bodies(parents, kinds, 5, properties=True)
    return build([replace(body, armature=body.armature if body.joint.nv == 1 else 0.0) for body in made])


TREES = {
    "chain": fw.robots.chain(4),
    "every kind": tree([0, 1, 2, 1, 4, 5, 3, 3, 6, 8, 9, 4], KINDS, 3),
    "floating, with motors": motors([0, 1, 2, 1, 4], ["free", "revolute any", "spherical", "helical any", "planar"]),
    "mimic": tree([0, 1, 2, 3], ["revolute y", "revolute any", "mimic", "prismatic any"], 2),
    "mimic, with motors": motors([0, 1, 2, 3, 2], ["free", "universal any", "revolute any", "mimic", "mimic"]),
}  # fmt: skip
trees = pytest.mark.parametrize("name", TREES)


def discrete_lagrangian(model: fw.Model, q: list[Any], q_after: list[Any]) -> Any:
    """L_d = Σ ½ Xᵀ I X / h - h/2 (U(q) + U(q⁺)), X = log(T⁻¹ T⁺) of every body from the poses themselves."""
    over = model.over(mpmath.mpf, lambda: None)
    poses = [algorithms.forward_kinematics(over, x) for x in (q, q_after)]
    delta = algorithms.difference(over, q, q_after)
    X: list[Any] = [Motion.zero()]
    action: Any = 0
    for i, parent, joint in over.outward():
        move = Displacement.between(poses[0][i], poses[1][i])
        X.append(log_se3(*move))
        I, (before, after) = over.I[i], (pose[i].r + pose[i].E.T @ over.I[i].com for pose in poses)
        if over.afloat[i]:  # the centre of mass moves straight
            way = after - before
            action += (I.m * way.dot(way) + X[i].angular.dot(I.central @ X[i].angular)) / (2 * H)
        else:
            action += X[i].dot(I @ X[i]) / (2 * H)
        for k, armature in zip(range(joint.v.start, joint.v.stop), joint.armature, strict=True):
            action += armature * delta[k] ** 2 / (2 * H)
        if joint.spin is not None:
            action += X[parent].dot(joint.spin) * delta[joint.v.start] / H
    potential = sum(algorithms.potential_energy(over, x) for x in (q, q_after))
    return action - H / 2 * potential


def slopes(model: fw.Model, q: list[Any], q_after: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """D₁L_d and D₂L_d along q ⊕ ε and q⁺ ⊕ ε, by central differences."""
    over = model.over(mpmath.mpf, lambda: None)
    step = mpmath.mpf(10) ** -12
    result: list[list[float]] = [[], []]
    for k in range(model.nv):
        values = []
        for sign in (1, -1):
            nudge = [sign * step if j == k else mpmath.mpf(0) for j in range(model.nv)]
            values.append(
                (
                    discrete_lagrangian(model, algorithms.integrate(over, q, nudge), q_after),
                    discrete_lagrangian(model, q, algorithms.integrate(over, q_after, nudge)),
                )
            )
        for side in (0, 1):
            result[side].append(float((values[0][side] - values[1][side]) / (2 * step)))
    return np.array(result[0]), np.array(result[1])


def exact(model: fw.Model, q: np.ndarray) -> list[Any]:
    """With 40 digits, quaternions of unit length to all of them."""
    numbers = [mpmath.mpf(float(x)) for x in q]
    for joint in model.independent_joints:
        if joint.kind.orientation is not None:
            where = slice(joint.q.start + joint.kind.orientation.start, joint.q.start + joint.kind.orientation.stop)
            length = mpmath.sqrt(sum(x * x for x in numbers[where]))
            numbers[where] = [x / length for x in numbers[where]]
    return numbers


@trees
def test_the_recursion_is_the_derivative_of_the_action(name: str) -> None:
    """Both ends: -D₁L_d = Sᵀ F - ½ h (gravity + springs), D₂L_d = M v⁺."""
    model = TREES[name]
    q, v, _ = state(model, 1)
    v = 0.5 * v / max(1.0, np.abs(v).max())
    with mpmath.workdps(40):
        over = model.over(mpmath.mpf, lambda: None)
        at = exact(model, q)
        delta = [mpmath.mpf(float(H * x)) for x in v]
        q_after = algorithms.integrate(over, at, delta)
        first, second = slopes(model, at, q_after)

    plain = model.over(float, lambda: None)
    q_plain, d_plain = [float(x) for x in at], [float(x) for x in delta]
    springs = algorithms.passive_force(_without_friction(plain), q_plain, [0.0] * model.nv)
    at_rest = start(plain, q_plain, [0.0] * model.nv, H, springs, None)  # ½ h² (gravity + springs)
    trial = drnea(Place.at(plain, q_plain, at_rest), d_plain)
    scale = np.abs(first).max()
    assert np.abs(np.array(trial.e) / H + first).max() <= 1e-12 * scale
    after = [float(x) for x in q_after]
    none = [0.0] * model.nv
    springs = algorithms.passive_force(_without_friction(plain), after, none)
    free = Braked(plain, plain, none, none, none)
    begin = [x + y for x, y in zip(at_rest, trial.e, strict=True)]  # the momentum with which it is a step
    p = momentum_after(plain, begin, trial, d_plain, H, free, springs)
    for k, x in floating_momentum(plain, q_plain, begin, d_plain, H, free, springs).items():
        p[k] = x
    answer, M = MassSolver.after(plain, q_plain, d_plain), fw.mass_matrix(model, np.array(after))
    for v_after in (read_out(plain, after, H, p), StepEnd(answer, answer.inward(p)).velocity(H, plain)):
        assert np.abs(M @ v_after - second).max() <= 1e-12 * scale


def _without_friction(tree: Any) -> Any:
    none = tuple(replace(j, friction=(0,) * len(j.friction), damping=(0,) * len(j.damping)) for j in tree.joints)
    return replace(tree, joints=none)


def place(model: fw.Model, seed: int = 1) -> tuple[Place, list[float]]:
    q, v, tau = state(model, seed)
    plain = model.over(float, lambda: None)
    q, v = list(map(float, q)), list(map(float, v))
    return Place.at(plain, q, start(plain, q, v, H, list(map(float, tau)), None)), [H * x for x in v]


@trees
def test_quasi_newton_steps_answer_by_the_mass_matrix(name: str) -> None:
    model = TREES[name]
    where, delta = place(model)
    e = np.random.default_rng(0).normal(size=model.nv)
    M = fw.mass_matrix(model, fw.integrate(model, where.q, delta, 1.0))
    assert np.abs(M @ MassSolver.after(where.tree, where.q, delta)(list(e)) - e).max() <= 1e-11


@trees
def test_newton_steps_are_those_of_the_whole_jacobian(name: str) -> None:
    """The recursion in linear time against columns by differences: but for the terms of fourth order in dlog."""
    model = TREES[name]
    where, delta = place(model)
    trial = drnea(where, delta)
    after = algorithms.integrate(where.tree, where.q, trial.delta)
    step = np.array(newton_step(where, after, trial))
    jacobian = np.zeros((model.nv, model.nv))
    for k in range(model.nv):
        columns = []
        for eps in (1e-5, -1e-5):
            nudge = [eps * (j == k) for j in range(model.nv)]
            moved = algorithms.integrate(where.tree, after, nudge)
            columns.append(drnea(where, algorithms.difference(where.tree, where.q, moved)).e)
        jacobian[:, k] = (np.array(columns[0]) - columns[1]) / 2e-5
    assert np.abs(step - np.linalg.solve(jacobian, trial.e)).max() <= 2e-5 * np.abs(step).max()


@trees
def test_newton_converges_quadratically_and_quasi_newton_linearly(name: str) -> None:
    where, delta = place(TREES[name])
    search = Search(where, 0.0, 0.0)
    sizes: dict[str, list[float]] = {"newton": [], "riqn": []}
    respond = MassSolver.after(where.tree, where.q, delta)
    for solver, errors in sizes.items():
        d = list(delta)
        for _ in range(4):
            trial = drnea(where, d)
            errors.append(trial.square**0.5 / max(map(abs, where.start)))
            step = search._direction(trial) if solver == "newton" else respond(trial.e)
            d = [x - dx for x, dx in zip(d, step, strict=True)]
    newton, riqn = sizes["newton"], sizes["riqn"]
    assert newton[2] <= 30 * newton[1] ** 2 + 1e-13, newton
    assert newton[3] <= 1e-13, newton
    assert all(b < 0.5 * a or b < 1e-13 for a, b in pairwise(riqn)), riqn


def test_the_start_is_inverse_dynamics_of_impulses() -> None:
    model = TREES["every kind"]
    q, v, tau = state(model, 4)
    plain = model.over(float, lambda: None)
    own = start(plain, list(map(float, q)), list(map(float, v)), H, list(map(float, tau)), None)
    expected = H * fw.mass_matrix(model, q) @ v + H * H / 2 * (tau - fw.gravity_force(model, q))
    assert np.abs(own - expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_motion_of_bodies_is_that_of_the_joints() -> None:
    """The mean velocity of a body that only its own joint moves is S δ."""
    model = fw.robots.pendulum()
    where, _ = place(model)
    trial = drnea(where, [0.01])
    assert np.allclose(np.array(trial.log[1].X), np.array(combine(where.S[1], [0.01])), atol=1e-17)
