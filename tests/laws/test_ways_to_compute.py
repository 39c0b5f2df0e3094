"""Compiled for one lane, compiled for packs, on NumPy and with 40 digits: every public function is one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

import featherweight as fw
from featherweight import algorithms
from featherweight.spatial import Transform, Vector
from laws.measure import allowance, close, law
from laws.random_trees import states, tree, trees

KINDS = [
    "free",
    "universal any",
    "helical any",
    "planar x",
    "spherical",
    "continuous any",
    "cylindrical any",
    "revolute any",
    "prismatic any",
]
PARENTS = [0, 1, 1, 2, 0, 5, 5, 0, 8]
ALL = tree(PARENTS, KINDS, 3, properties=True)
COUPLED = tree(
    [0, 1, 2, 3, 1, 5], ["free", "spherical", "revolute any", "mimic", "prismatic any", "mimic"], 5, properties=True
)
UP = (0.1, 0.2, 0.9)
XYZ = (0.1, -0.2, 0.3)

Function = Callable[[fw.Model, np.ndarray, np.ndarray, np.ndarray], Any]
FUNCTIONS: dict[str, Function] = {
    "integrate": lambda m, q, v, a: fw.integrate(m, q, v, 0.3),
    "difference": lambda m, q, v, a: fw.difference(m, q, m.random(5)),
    "forward_kinematics": lambda m, q, v, a: fw.forward_kinematics(m, q),
    "frame_pose": lambda m, q, v, a: fw.frame_pose(m, q, m.names[4]),
    "jacobian": lambda m, q, v, a: fw.jacobian(m, q, m.names[3]),
    "jacobian world": lambda m, q, v, a: fw.jacobian(m, q, m.names[3], "world"),
    "jacobian_dot": lambda m, q, v, a: fw.jacobian_dot(m, q, v, m.names[3]),
    "jacobian_dot world_aligned": lambda m, q, v, a: fw.jacobian_dot(m, q, v, m.names[4], "world_aligned"),
    "body_velocity": lambda m, q, v, a: fw.body_velocity(m, q, v, m.names[4]),
    "body_acceleration": lambda m, q, v, a: fw.body_acceleration(m, q, v, a, m.names[4], classical=True),
    "wrench_on": lambda m, q, v, a: fw.wrench_on(m, q, m.names[4], np.arange(6.0)),
    "inverse_dynamics": lambda m, q, v, a: fw.inverse_dynamics(m, q, v, a),
    "inverse_dynamics f_ext": lambda m, q, v, a: fw.inverse_dynamics(m, q, v, a, forces(m)),
    "joint_wrenches": lambda m, q, v, a: fw.joint_wrenches(m, q, v, a),
    "mass_matrix": lambda m, q, v, a: fw.mass_matrix(m, q),
    "bias_force": lambda m, q, v, a: fw.bias_force(m, q, v),
    "gravity_force": lambda m, q, v, a: fw.gravity_force(m, q),
    "coriolis_matrix": lambda m, q, v, a: fw.coriolis_matrix(m, q, v),
    "passive_force": lambda m, q, v, a: fw.passive_force(m, q, v),
    "kinetic_energy": lambda m, q, v, a: fw.kinetic_energy(m, q, v),
    "potential_energy": lambda m, q, v, a: fw.potential_energy(m, q),
    "center_of_mass": lambda m, q, v, a: fw.center_of_mass(m, q),
    "com_jacobian": lambda m, q, v, a: fw.com_jacobian(m, q),
    "momentum": lambda m, q, v, a: fw.momentum(m, q, v),
    "centroidal_momentum_matrix": lambda m, q, v, a: fw.centroidal_momentum_matrix(m, q),
    "centroidal_bias": lambda m, q, v, a: fw.centroidal_bias(m, q, v),
    "inverse_dynamics_derivatives": lambda m, q, v, a: fw.inverse_dynamics_derivatives(m, q, v, a, forces(m)),
    "regressor": lambda m, q, v, a: fw.regressor(m, q, v, a),
}
SOLUTIONS: dict[str, Function] = {
    "forward_dynamics": lambda m, q, v, a: fw.forward_dynamics(m, q, v, a),
    "forward_dynamics f_ext": lambda m, q, v, a: fw.forward_dynamics(m, q, v, a, forces(m)),
    "mass_matrix_inverse": lambda m, q, v, a: fw.mass_matrix_inverse(m, q),
    "solve_mass_matrix": lambda m, q, v, a: fw.solve_mass_matrix(m, q, a),
    "hybrid_dynamics": lambda m, q, v, a: fw.hybrid_dynamics(m, q, v, a, a, m.joint_names[1::2]),
    "delassus": lambda m, q, v, a: fw.delassus(m, q, [m.names[4], (m.names[3], XYZ)]),
    "contact_inertia": lambda m, q, v, a: 1 / fw.contact_inertia(m, q, (m.names[4], XYZ), UP),
    "unit_force_response": lambda m, q, v, a: fw.unit_force_response(m, q, (m.names[4], XYZ), UP),
    "operational_inertia": lambda m, q, v, a: fw.operational_inertia(m, q, m.names[1]),
    "articulated_inertia": lambda m, q, v, a: fw.articulated_inertia(m, q),
    "propagator": lambda m, q, v, a: fw.propagator(m, q),
    "forward_dynamics_derivatives": lambda m, q, v, a: fw.forward_dynamics_derivatives(m, q, v, a),
}
CASES = [
    *(("all kinds", ALL, name, f, False) for name, f in FUNCTIONS.items()),
    *(("all kinds", ALL, name, f, True) for name, f in SOLUTIONS.items()),
    *(("with mimic joints", COUPLED, name, f, False) for name, f in FUNCTIONS.items()),
    *(("with mimic joints", COUPLED, name, f, True) for name, f in SOLUTIONS.items()),
]


def forces(model: fw.Model) -> np.ndarray:
    return np.random.default_rng(9).normal(size=(model.nb + 1, 6))


def arrays(result: Any) -> tuple[np.ndarray, ...]:
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else (np.asarray(result),)


def test_every_public_function_of_a_model_is_here() -> None:
    functions = {name for name in fw.dynamics.__all__ if name[0].islower()} - {
        "distance"
    }  # of shapes: test_distance.py
    assert functions == {name.partition(" ")[0] for _, _, name, _, _ in CASES}


@pytest.mark.parametrize(
    ("model", "f", "solves"), [c[1::2] + c[4:] for c in CASES], ids=[f"{c[2]}, {c[0]}" for c in CASES]
)
def test_one_lane_packs_and_numpy_agree(model: fw.Model, f: Function, solves: bool) -> None:
    """Bit for bit between one lane and packs, also in the rest of a batch that fills no pack."""
    q, v, a = states(model, 9)
    with fw.interpret():
        right = arrays(f(model, q, v, a))
        tolerance = 1e-12 * (allowance(model, q) if solves else 1.0)
    batch = arrays(f(model, q, v, a))
    for found, expected in zip(batch, right, strict=True):
        close(found, expected, tolerance)
    for k in (0, 8):
        for repeat in range(2):  # the second call takes the fast path
            one = arrays(f(model, q[k].copy(), v[k].copy(), a[k].copy()))
            assert all((x == y[k]).all() for x, y in zip(one, batch, strict=True)), repeat


@settings(law, max_examples=6)
@given(trees(most=5, mimic=True))
def test_compiled_code_agrees_with_numpy_on_random_trees(model: fw.Model) -> None:
    q, v, a = states(model, 5)
    for f in (fw.inverse_dynamics, fw.forward_dynamics):
        with fw.interpret():
            right, tolerance = f(model, q, v, a), 1e-12 * allowance(model, q)
        batch = f(model, q, v, a)
        close(batch, right, tolerance)
        assert (f(model, q[3], v[3], a[3]) == batch[3]).all()


def exact(model: fw.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    """The algorithms with 40 digits."""
    t = model.over(mpmath.mpf, lambda: None)
    q, v, a = ([mpmath.mpf(float(x)) for x in array] for array in (q, v, a))
    place = Transform.identity()
    answer = {
        "integrate": algorithms.integrate(t, q, [x * mpmath.mpf(0.3) for x in v]),
        "difference": algorithms.difference(t, q, [mpmath.mpf(float(x)) for x in model.random(5)]),
        "inverse_dynamics": algorithms.inverse_dynamics(t, q, v, a, None)[0],
        "mass_matrix": algorithms.mass_matrix(t, q),
        "coriolis_matrix": algorithms.coriolis_matrix(t, q, v),
        "passive_force": algorithms.passive_force(t, q, v),
        "kinetic_energy": algorithms.kinetic_energy(t, q, v),
        "potential_energy": algorithms.potential_energy(t, q),
        "jacobian_dot": by_rows([(*J.linear, *J.angular) for J in algorithms.jacobian_dot(t, q, v, 3, place, "body")]),
        "centroidal_bias": linear_first(algorithms.centroidal_bias(t, q, v)),
        "momentum": linear_first(algorithms.momentum(t, q, v)),
    }
    forward = algorithms.coupled_forward_dynamics if t.coupled else algorithms.forward_dynamics
    hybrid = algorithms.coupled_hybrid_dynamics if t.coupled else algorithms.hybrid_dynamics
    answer["forward_dynamics"] = forward(t, q, v, a, None)[0]
    answer["hybrid_dynamics"] = hybrid(
        t, q, v, a, a, dict.fromkeys((joint.body for joint in model.joints[1::2]), True), None
    )[:2]
    points = [(4, Vector(0, 0, 0)), (3, Vector(*XYZ).lift(mpmath.mpf))]
    answer["delassus"] = algorithms.delassus(t, q, points)
    answer["operational_inertia"] = algorithms.operational_inertia(t, q, [(1, place)], "body")[0]
    return answer


def by_rows(columns: Any) -> list[Any]:
    return [list(row) for row in zip(*columns, strict=True)]


def linear_first(f: Any) -> list[Any]:
    return [*f.force, *f.moment]


@pytest.mark.parametrize("model", [ALL, COUPLED], ids=["all kinds", "with mimic joints"])
def test_forty_digits_agree(model: fw.Model) -> None:
    q, v, a = states(model, 2)
    functions = {**FUNCTIONS, **SOLUTIONS}
    with mpmath.workdps(40):
        right = exact(model, q[1], v[1], a[1])
    for name, expected in right.items():
        found = functions[name](model, q[1], v[1], a[1])
        solves = name not in FUNCTIONS
        close(np.array(found), np.array(expected, dtype=float), 1e-12 * (allowance(model, q) if solves else 1.0))
