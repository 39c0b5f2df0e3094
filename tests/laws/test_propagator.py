"""Articulated inertias and propagators, as one meets them in a lecture: by their definitions, with dense matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from featherweight.model import aggregated
from laws.measure import allowance, close, law
from laws.random_trees import Body, build, floating, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


def cut_free(bodies: list[Body], i: int) -> list[Body]:
    """Body i, on nothing, with all it carries."""
    kept = {bodies[i - 1].name}
    made = [replace(bodies[i - 1], parent="world", joint=fw.joints.Free(), placement=fw.Placement(), rotor=None,
                    armature=0.0, damping=0.0, friction=0.0, stiffness=0.0, rest=None)]  # fmt: skip
    for body in bodies[i:]:
        if body.parent in kept:
            kept.add(body.name)
            made.append(body)
    return made


def same_joints(model: fw.Model, q: np.ndarray, part: fw.Model) -> np.ndarray:
    """The configuration of a part of a robot: its base where it is, its joints as those of the robot are."""
    own = part.neutral()
    for joint in part.joints[1:]:
        own[joint.q] = q[model.joint(joint.name).q]
    return own


def motion_matrix(poses: fw.Poses, i: int, parent: int) -> np.ndarray:
    """X of body i from another one; linear first: v_i = R (v - r × ω), ω_i = R ω."""
    R, p = poses
    turn = R[i].T @ R[parent]
    return np.block([[turn, -turn @ crossed(R[parent].T @ (p[i] - p[parent]))], [np.zeros((3, 3)), turn]])


def crossed(r: np.ndarray) -> np.ndarray:
    x, y, z = r
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@law
@given(recipes(most=6))
def test_articulated_inertia_is_that_of_the_subtree_cut_free(bodies: list[Body]) -> None:
    """I^A = (J M⁻¹ Jᵀ)⁻¹ of the body, with M of the robot that it makes with all it carries."""
    model = build(bodies)
    q, _, _ = state(model)
    I_A, _, _ = fw.articulated_inertia(model, q)
    assert not I_A[0].any()
    for i in range(1, model.nb + 1):
        part = build(cut_free(bodies, i))
        M = fw.mass_matrix(part, same_joints(model, q, part))
        close(I_A[i], np.linalg.inv(np.linalg.inv(M)[:6, :6]), 1e-11 * max(1.0, np.linalg.cond(M) / 1e3))
        assert (I_A[i] == I_A[i].T).all()


@law
@given(trees(mimic=True))
def test_they_are_what_their_definitions_say(model: fw.Model) -> None:
    """U = I^A S and D = Sᵀ U + armature without rotors; I^A = I + Σ Xᵀ I^A X - U D⁻¹ Uᵀ over the joints on a body, with
    U in its frame; and χ = X - S D⁻¹ Uᵀ. Joints that share coordinates are one joint, on the body that carries them."""
    q, _, _ = state(model)
    poses, tree = fw.forward_kinematics(model, q), aggregated(model.over(float, lambda: None))
    I_A, U, D = fw.articulated_inertia(model, q)
    chi, tolerance = fw.propagator(model, q), 1e-12 * allowance(model, q)
    X = [motion_matrix(poses, i, max(0, tree.parent[i])) for i in range(model.nb + 1)]
    owner = {k: joint.body for joint in model.independent_joints for k in range(joint.v.start, joint.v.stop)}
    rigid = list(I_A)
    blocks = np.zeros((model.nv, model.nv), dtype=bool)
    for bodies in tree.bodies_on().values():
        v, base = tree.joints[bodies[0]].v, tree.parent[bodies[0]]
        blocks[v, v] = True
        U_base = np.stack([X[owner[k]].T @ U[:, k] for k in range(v.start, v.stop)], axis=1)
        outer = np.linalg.solve(D[v, v], U_base.T)
        for i in bodies:
            S = fw.jacobian(model, q, model.names[i])[:, v]
            close(chi[i], X[i] - S @ outer, tolerance)
            rigid[base] = rigid[base] - X[i].T @ I_A[i] @ X[i]
        rigid[base] = rigid[base] + U_base @ outer
        joint = model.joints[bodies[0] - 1]
        if len(bodies) == 1 and joint.rotor is None:
            close(U[:, v], I_A[i] @ S, tolerance)
            close(D[v, v], S.T @ U[:, v] + np.diag(joint.armature), tolerance)
    for i in range(1, model.nb + 1):
        m, h = model.inertias[i].m, crossed(model.inertias[i].h)
        size = tolerance * max(1.0, *(np.abs(I).max() for I in I_A))
        close(rigid[i][:3, :3], m * np.eye(3), size)
        close(rigid[i][:3, 3:], -h, size)
    assert not D[~blocks].any()


@law
@given(recipes(mimic=True).map(floating))
def test_what_shakes_the_base_goes_from_body_to_body_by_the_propagators(bodies: list[Body]) -> None:
    """On a base that accelerates with a, free joints accelerate with -M_jj⁻¹ M_jb a, and each body with χ a_λ."""
    model = build(bodies)
    q, _, _ = state(model)
    a = np.random.default_rng(1).normal(size=6)
    M = fw.mass_matrix(model, q)
    whole = np.concatenate([a, np.linalg.solve(M[6:, 6:], -M[6:, :6] @ a)])
    tree, chi, A = aggregated(model.over(float, lambda: None)), fw.propagator(model, q), [np.zeros(6), a]
    close(chi[1], 0.0)  # nothing goes through a free joint
    for i in range(2, model.nb + 1):
        A.append(chi[i] @ A[tree.parent[i]])
        close(A[i], fw.jacobian(model, q, model.names[i]) @ whole, 1e-12 * allowance(model, q))


@law
@given(trees(mimic=True))
def test_a_force_goes_to_the_root_by_the_transposed_propagators(model: fw.Model) -> None:
    """Fᵀ J M⁻¹ Jᵀ F = Σ tᵀ D⁻¹ t over the joints on the way, t = Sᵀ F there, and then F ← χᵀ F."""
    q, _, _ = states(model, 2)
    _, _, D = fw.articulated_inertia(model, q)
    chi, tree = fw.propagator(model, q), aggregated(model.over(float, lambda: None))
    J = fw.jacobian(model, q, model.names[-1])
    wrench = np.random.default_rng(2).normal(size=6)
    for k in range(2):
        F, i, total = wrench, model.nb, 0.0
        while i > 0:
            v = tree.joints[i].v
            t = fw.jacobian(model, q[k], model.names[i])[:, v].T @ F
            total += t @ np.linalg.solve(D[k, v, v], t)
            F, i = chi[k, i].T @ F, tree.parent[i]
        right = wrench @ J[k] @ np.linalg.solve(fw.mass_matrix(model, q[k]), J[k].T @ wrench)
        close(total, right, 1e-12 * allowance(model, q))


def test_an_arm_feels_both_fingers_of_its_gripper() -> None:
    """Fingers that mimic each other are one joint: they give way together or not at all."""
    finger = fw.Inertia.box(0.2, (0.02, 0.02, 0.1), (0.0, 0.0, 0.05))
    builder = fw.Builder("gripper").add_body(
        "arm", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.3))
    )
    builder.add_body("left", parent="arm", joint=fw.joints.Prismatic("y"), inertia=finger)
    mirrored = fw.joints.Mimic(fw.joints.Prismatic("y"), "left_joint", -1.0)
    model = builder.add_body("right", parent="arm", joint=mirrored, inertia=finger).build()
    q = model.neutral()
    I_A, U, D = fw.articulated_inertia(model, q)
    M = fw.mass_matrix(model, q)
    close(I_A[1], M[:6, :6] - np.outer(M[:6, 6], M[6, :6]) / M[6, 6])
    close(I_A[1][1, 1], 1.4)  # pushed along y, the fingers cannot stay behind: one would open as the other closes
    close(D[6:, 6:], [[0.4]])
    close(U[1, 6], 0.0)
    close(fw.propagator(model, q)[2], np.eye(6))


def test_declared_masses_are_inputs() -> None:
    """One function for robots of different masses, in a batch of configurations."""
    masses = np.array([0.5, 1.0, 3.0])

    def arm(mass: float, *declared: str) -> fw.Model:
        builder = fw.Builder("arm", parameters=declared)
        builder.add_body("upper", joint=fw.joints.Universal("x", "y"), inertia=fw.Inertia(2.0, (0, 0, 0.2), 0.1))
        body = fw.Inertia(mass, (0.1, 0.0, 0.2), (0.1, 0.2, 0.25))
        return builder.add_body("lower", parent="upper", joint=fw.joints.Spherical(), inertia=body).build()

    model = arm(1.0, "lower.mass")
    q, _, _ = states(model, 3)
    found = (
        *fw.articulated_inertia(model, q, parameters={"lower.mass": masses}),
        fw.propagator(model, q, parameters={"lower.mass": masses}),
    )
    for k, mass in enumerate(masses):
        right = *fw.articulated_inertia(arm(mass), q[k]), fw.propagator(arm(mass), q[k])
        for x, y in zip(found, right, strict=True):
            close(x[k], y)
