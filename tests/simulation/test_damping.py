"""Damping that acts implicitly: never too stiff, against dense algebra, and it only takes energy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import featherweight as fw
from simulation.semi_implicit_reference import middle_velocity

J = fw.joints


def dense_step(model: fw.Model, D: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float):
    """(M + h D) a = τ - D v + springs - c by NumPy, then each joint's own step. D has dry friction f / |v| in it, v
    is in axes that do not turn, and c is taken at v_m: two Newton steps of the midpoint rule for what turns freely."""
    middle = middle_velocity(model, q, v, h, newton=2)
    still, friction, coasting = np.zeros(model.nv), np.zeros(model.nv), v.copy()
    for joint in model.independent_joints:
        friction[joint.v] = joint.friction
        coasting[joint.v] = joint.kind.predicted(v[joint.v], still[joint.v], h)
    springs = fw.passive_force(model, q, still)
    D = D + friction / np.maximum(np.abs(v), 1e-4) * (D.any() > 0)
    forces = tau + springs - D * coasting - fw.bias_force(model, q, middle)
    a = np.linalg.solve(fw.mass_matrix(model, q) + h * np.diag(D), forces)
    new_q, new_v = q.copy(), v.copy()
    for joint in model.independent_joints:
        new_q[joint.q], new_v[joint.v] = joint.kind.advance(
            q[joint.q], joint.kind.predicted(middle[joint.v], a[joint.v], h) + (v - middle)[joint.v], h
        )
    return new_q, new_v


def damped_tree() -> tuple[fw.Model, np.ndarray]:
    """Joints of several coordinates, a damped leader whose follower is damped too, a spring; and D by hand."""
    body = fw.Inertia(1.0, (0.1, -0.05, 0.2), (0.05, 0.06, 0.07))
    model = (
        fw.Builder("damped")
        .add_body("base", joint=J.Free(), inertia=body, damping=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
        .add_body("a", parent="base", joint=J.Revolute("x"), inertia=body, damping=5.0)
        .add_body("b", parent="a", joint=J.Mimic(J.Revolute("y"), "a_joint", -1.5, 0.2), inertia=body, damping=7.0)
        .add_body("c", parent="b", joint=J.Cylindrical("z"), inertia=body, damping=(40.0, 0.0), armature=0.3)
        .add_body("d", parent="a", joint=J.Spherical(), inertia=body, damping=(1e3, 1.0, 0.0))
        .add_body("e", parent="d", joint=J.Prismatic("x"), inertia=body, damping=1e5, stiffness=10.0)
        .build()
    )
    return model, np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 5.0 + 1.5**2 * 7.0, 40.0, 0.0, 1e3, 1.0, 0.0, 1e5])


def cheetah() -> tuple[fw.Model, np.ndarray]:
    return fw.robots.mini_cheetah(damping=3.0, friction=0.0), np.array([0.0] * 6 + [3.0] * 12)


@pytest.mark.parametrize("h", [1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("case", [cheetah, damped_tree], ids=["mini_cheetah", "mimic"])
def test_one_step_against_dense_algebra(case, h: float) -> None:
    model, D = case()
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v, tau = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        run = fw.rollout(model, q, v, steps=1, dt=h, tau=tau[None])
        right_q, right_v = dense_step(model, D, q, v, tau, h)
        scale = 1.0 + np.abs(right_v).max()
        assert np.abs(run.v[1] - right_v).max() <= 1e-10 * scale
        assert np.abs(run.q[1] - right_q).max() <= 1e-10 * scale
        explicit_v = dense_step(model, 0 * D, q, v, tau, h)[1]
        assert np.abs(explicit_v - right_v).max() > 1e-8 * scale  # it makes a difference


@pytest.mark.parametrize("damping", [1.0, 1e3, 1e6, 1e12])
def test_no_damping_is_too_stiff(damping: float) -> None:
    """A gram on a hinge at 10 ms a step: explicit damping would multiply its speed by 1 - h d / I."""
    tiny = fw.Inertia(1e-3, (0, 0, 0), 1e-7)
    model = fw.Builder(gravity=(0, 0, 0)).add_body("b", joint=J.Revolute("z"), inertia=tiny, damping=damping).build()
    run = fw.simulate(model, [0.0], [10.0], duration=1.0, dt=1e-2)
    speed = run.v[:, 0]
    assert np.isfinite(speed).all()
    assert (speed >= -1e-15 * speed[0]).all()  # v + h a, where h a is -v to rounding
    assert (np.diff(np.abs(speed)) <= 0).all()
    assert speed[1] == pytest.approx(10.0 / (1 + 1e-2 * damping / 1e-7), rel=1e-12)


def test_a_stiff_chain_at_a_long_step_creeps() -> None:
    """Every joint of a tiny arm damped by 1e6: gravity pulls it as slowly as it must, g / d."""
    builder = fw.Builder()
    for k in range(4):
        builder.add_body(
            f"b{k}",
            parent=f"b{k - 1}" if k else "world",
            joint=J.Revolute("y"),
            placement=fw.Placement((0, 0, -0.01 if k else 0)),
            inertia=fw.Inertia.rod(1e-3, 0.01, at=(0, 0, -0.005)),
            damping=1e6,
        )
    model = builder.build()
    q = np.array([1.0, -0.5, 0.3, 0.2])
    run = fw.simulate(model, q, np.full(4, 5.0), duration=1.0, dt=1e-2)
    assert np.isfinite(run.q).all()
    assert np.abs(run.q - q).max() <= 1e-9
    creep = -fw.gravity_force(model, run.q[-1]) / 1e6
    assert np.abs(run.v[-1] - creep).max() <= 1e-9 * np.abs(creep).max()


def test_the_speed_at_the_end_is_force_over_damping() -> None:
    model = fw.Builder(gravity=(0, 0, 0)).add_body(
        "b", joint=J.Prismatic("x"), inertia=fw.Inertia.sphere(1e-3, 0.01), damping=1e6
    ).build()  # fmt: skip
    run = fw.simulate(model, [0.0], [0.0], duration=0.5, dt=1e-2, control=lambda t, q, v: np.array([3.0]))
    assert run.v[-1, 0] == pytest.approx(3e-6, rel=1e-12)


@pytest.mark.parametrize("damping", [0.3, 30.0, 1e4, 1e8])
@pytest.mark.parametrize("h", [1e-3, 1e-1])
def test_damping_only_takes_energy(damping: float, h: float) -> None:
    """Where M does not change, at every step and for every h: v⁺ᵀ M v⁺ ≤ vᵀ M v."""
    builder = fw.Builder(gravity=(0, 0, 0))
    for k, axis in enumerate("xyz"):  # a gantry: M is constant, and its masses are coupled by the turned rails
        builder.add_body(
            f"b{k}", parent=f"b{k - 1}" if k else "world", joint=J.Prismatic(axis),
            placement=fw.Placement(rpy=(0.3, 0.5, 0.1 * k)), inertia=fw.Inertia.sphere(10.0**-k, 0.1),
            damping=damping * 10.0**-k,
        )  # fmt: skip
    model = builder.build()
    run = fw.simulate(model, np.zeros(3), [1.0, -3.0, 2.0], duration=200 * h, dt=h)
    energy = run.energy()
    assert (np.diff(energy) <= 1e-15 * energy[0]).all()
    assert energy[-1] < energy[0]


@pytest.mark.parametrize("damping", [0.1, 1.0, 1e3, 1e6])
def test_damping_takes_energy_of_a_tumbling_robot(damping: float) -> None:
    """Energy about the centre of mass goes down, but for the method's own error of 1e-5 a step."""
    model = fw.robots.mini_cheetah(damping=damping, friction=0.0)
    rng = np.random.default_rng(0)
    q, v = model.random(rng), rng.normal(size=model.nv) * 3.0
    run = fw.simulate(model, q, v, duration=0.3, dt=1e-3)
    p = fw.momentum(model, run.q, run.v)[:, :3]
    own = fw.kinetic_energy(model, run.q, run.v) - (p**2).sum(axis=1) / (2 * fw.mass_matrix(model, q)[0, 0])
    assert (np.diff(own) <= 1e-5 * own[0]).all()
    assert own[-1] < own[0]
    assert np.abs(run.v[-1, 6:]).max() <= 0.2 * np.abs(v[6:]).max()


def test_damping_to_first_order_in_the_step() -> None:
    """Implicit or not, for small steps it is the same damping: e^(-d t / I)."""
    model = fw.Builder(gravity=(0, 0, 0)).add_body(
        "b", joint=J.Revolute("z"), inertia=fw.Inertia(1, (0, 0, 0), 2.0), damping=3.0
    ).build()  # fmt: skip
    errors = [
        abs(fw.simulate(model, [0.0], [1.0], duration=1.0, dt=1.0 / n).v[-1, 0] - np.exp(-1.5)) for n in (100, 200, 400)
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.05)


def test_what_explicit_damping_cannot_do_is_labelled() -> None:
    """RK4 damps explicitly: where that is too stiff, the run fails and says so."""
    model = fw.Builder(gravity=(0, 0, 0)).add_body(
        "b", joint=J.Revolute("z"), inertia=fw.Inertia(1, (0, 0, 0), 1.0), damping=1e4
    ).build()  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = fw.rollout(model, [0.0], [1.0], steps=200, dt=1e-2, integrator="rk4")
    assert run.status == fw.Status.DIVERGED
    assert 0 < run.failed_step < 200
    assert np.isfinite(run.v[: run.failed_step]).all()
