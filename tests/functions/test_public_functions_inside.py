"""Every public function of a state inside a function of a user: both modes against differences."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from laws import random_trees

TREE = random_trees.build(
    random_trees.floating(
        random_trees.bodies([0, 1, 1, 3], ["universal any", "spherical", "revolute any", "planar"], 3)
    )
)
FRAME, POINT = "body4", (TREE.nb, (0.1, 0.2, 0.3))
FUNCTIONS = {
    "inverse_dynamics": lambda q, v, a: fw.inverse_dynamics(TREE, q, v, a),
    "forward_dynamics": lambda q, v, a: fw.forward_dynamics(TREE, q, v, a),
    "hybrid_dynamics": lambda q, v, a: fw.hybrid_dynamics(TREE, q, v, a, a, ["body4_joint"])[0],
    "joint_wrenches": lambda q, v, a: fw.joint_wrenches(TREE, q, v, a)[2:4],
    "mass_matrix": lambda q, v, a: fw.mass_matrix(TREE, q) @ a,
    "mass_matrix_inverse": lambda q, v, a: fw.mass_matrix_inverse(TREE, q) @ a,
    "solve_mass_matrix": lambda q, v, a: fw.solve_mass_matrix(TREE, q, a),
    "bias_force": lambda q, v, a: fw.bias_force(TREE, q, v),
    "gravity_force": lambda q, v, a: fw.gravity_force(TREE, q),
    "coriolis_matrix": lambda q, v, a: fw.coriolis_matrix(TREE, q, v) @ v,
    "passive_force": lambda q, v, a: fw.passive_force(TREE, q, v),
    "kinetic_energy": lambda q, v, a: fw.kinetic_energy(TREE, q, v),
    "potential_energy": lambda q, v, a: fw.potential_energy(TREE, q),
    "momentum": lambda q, v, a: fw.momentum(TREE, q, v),
    "centroidal_momentum_matrix": lambda q, v, a: fw.centroidal_momentum_matrix(TREE, q) @ v,
    "centroidal_bias": lambda q, v, a: fw.centroidal_bias(TREE, q, v),
    "center_of_mass": lambda q, v, a: fw.center_of_mass(TREE, q),
    "com_jacobian": lambda q, v, a: fw.com_jacobian(TREE, q) @ v,
    "frame_pose": lambda q, v, a: fw.frame_pose(TREE, q, FRAME).rotation,
    "forward_kinematics": lambda q, v, a: fw.forward_kinematics(TREE, q).position,
    "jacobian": lambda q, v, a: fw.jacobian(TREE, q, FRAME) @ v,
    "jacobian_dot": lambda q, v, a: fw.jacobian_dot(TREE, q, v, FRAME) @ v,
    "body_velocity": lambda q, v, a: fw.body_velocity(TREE, q, v, FRAME),
    "body_acceleration": lambda q, v, a: fw.body_acceleration(TREE, q, v, a, FRAME),
    "delassus": lambda q, v, a: fw.delassus(TREE, q, [POINT]),
    "operational_inertia": lambda q, v, a: fw.operational_inertia(TREE, q, [FRAME]),
    "integrate": lambda q, v, a: fw.integrate(TREE, q, v, 0.2),
    "difference": lambda q, v, a: fw.difference(TREE, q, fw.integrate(TREE, q, v, 0.2)),
    "articulated_inertia": lambda q, v, a: fw.articulated_inertia(TREE, q).I_A[2],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_against_differences(name):
    n = TREE.nv
    f = fw.function(FUNCTIONS[name], inputs={"q": fw.configuration(TREE), "v": n, "a": n})
    rng = np.random.default_rng(1)
    q, v, a = TREE.random(rng), *rng.normal(size=(2, n))
    dq, dv, da = rng.normal(size=(3, n))
    eps = 1e-6
    with fw.interpret():
        ends = [f(fw.integrate(TREE, q, s * dq, eps), v + s * eps * dv, a + s * eps * da) for s in (1, -1)]
        expected = (ends[0] - ends[1]) / (2 * eps)
        found = fw.jvp(f)(q, v, a, dq, dv, da)
        w = rng.normal(size=found.shape)
        back = fw.vjp(f)(q, v, a, w)
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(found - expected).max() <= 2e-7 * scale
    total = sum(z @ d for z, d in zip(back, (dq, dv, da), strict=True))
    assert abs(total - np.sum(w * found)) <= 1e-11 * scale * w.size
