"""Laws of mechanics on random trees of all joint kinds."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings

import featherweight as fw
from featherweight.spatial import Motion, from_quaternion
from laws.random_trees import states, trees

law = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def close(x: np.ndarray, y: np.ndarray, tolerance: float = 1e-12) -> None:
    scale = max(1.0, np.abs(x).max(initial=0), np.abs(y).max(initial=0))
    assert np.abs(x - y).max(initial=0) <= tolerance * scale


def moved(model: fw.Model, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
    """q ⊕ v dt, for the joint kinds that change q by more than v dt too."""
    result = q.copy()
    for joint in model.joints:
        if not isinstance(joint.kind, fw.joints.Free):
            result[joint.q] += dt * v[joint.v]
            continue
        x, y, z, w = q[joint.q][3:]
        R = np.array(from_quaternion(*q[joint.q][3:]))
        linear, omega = v[joint.v][:3], v[joint.v][3:] * dt
        angle = np.linalg.norm(omega)
        half = 0.5 * np.sinc(angle / (2 * np.pi)) * omega
        a, b, c, d = *half, np.cos(angle / 2)
        result[joint.q][:3] += dt * R @ linear
        result[joint.q][3:] = (
            w * a + x * d + y * c - z * b,
            w * b - x * c + y * d + z * a,
            w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c,
        )
    return result


@law
@given(trees())
def test_mass_matrix_is_the_columns_of_inverse_dynamics(model: fw.Model) -> None:
    q, _, _ = states(model, 1)
    zero, unit = np.zeros(model.nv), np.eye(model.nv)
    columns = fw.inverse_dynamics(model, q, zero, unit) - fw.inverse_dynamics(model, q, zero, zero)
    M = fw.mass_matrix(model, q[0])
    close(M, columns)
    assert (M == M.T).all()


@law
@given(trees())
def test_forward_dynamics_undoes_inverse_dynamics(model: fw.Model) -> None:
    q, v, a = states(model, 9)
    f_ext = np.random.default_rng(5).normal(size=(9, model.nb + 1, 6))
    M = fw.mass_matrix(model, q)
    allowance = max(1.0, np.linalg.cond(M).max() / 1e3)
    close(fw.forward_dynamics(model, q, v, fw.inverse_dynamics(model, q, v, a)), a, 1e-12 * allowance)
    tau = fw.inverse_dynamics(model, q, v, a, f_ext)
    close(fw.forward_dynamics(model, q, v, tau, f_ext), a, 1e-12 * allowance)


@law
@given(trees())
def test_forward_dynamics_solves_the_equation_of_motion(model: fw.Model) -> None:
    q, v, tau = states(model, 9)
    M, c = fw.mass_matrix(model, q), fw.inverse_dynamics(model, q, v, np.zeros_like(v))
    a = np.linalg.solve(M, (tau - c)[..., None])[..., 0]
    close(fw.forward_dynamics(model, q, v, tau), a, 1e-12 * max(1.0, np.linalg.cond(M).max() / 1e3))


@law
@given(trees())
def test_the_mass_matrix_gives_the_kinetic_energy(model: fw.Model) -> None:
    """½ vᵀMv = Σ ½ V·(I V), with the twist of every body found by a recursion of its own."""
    q, v, _ = (x[0] for x in states(model, 1))
    tree = model.over(float, lambda: None)
    V = [Motion.zero()]
    energy = 0.0
    for i, parent, joint in tree.outward():
        X = joint.transform(q) @ tree.X_tree[i]
        V.append(sum((s * x for s, x in zip(joint.subspace(q), v[joint.v], strict=True)), X @ V[parent]))
        energy += 0.5 * V[i].dot(tree.I[i] @ V[i])
    close(np.array(0.5 * v @ fw.mass_matrix(model, q) @ v), np.array(energy))


@law
@given(trees())
def test_energy_rate_is_power(model: fw.Model) -> None:
    """d/dt ½ vᵀMv = vᵀ(τ - g) along the motion: the velocity terms do no work of their own."""
    q, v, a = (x[0] for x in states(model, 1))
    tau = fw.inverse_dynamics(model, q, v, a)
    gravity = fw.inverse_dynamics(model, q, np.zeros_like(v), np.zeros_like(v))

    def kinetic(h: float) -> float:
        v_h = v + h * a
        return 0.5 * v_h @ fw.mass_matrix(model, moved(model, q, v, h)) @ v_h

    h = 1e-3  # fourth-order difference
    rate = (8 * (kinetic(h) - kinetic(-h)) - (kinetic(2 * h) - kinetic(-2 * h))) / (12 * h)
    close(np.array(rate), v @ (tau - gravity), 1e-8)


@law
@given(trees())
def test_external_forces_add_up_through_jacobians(model: fw.Model) -> None:
    """-Jᵀf is linear in f and does not depend on velocity; power of f on each body = vᵀJᵀf."""
    q, v, a = (x[0] for x in states(model, 1))
    f = np.random.default_rng(3).normal(size=(model.nb + 1, 6))
    f[0] = 7.0  # the world's row is ignored
    generalized = fw.inverse_dynamics(model, q, v, a) - fw.inverse_dynamics(model, q, v, a, f)
    double = fw.inverse_dynamics(model, q, v, a) - fw.inverse_dynamics(model, q, v, a, 2 * f)
    close(2 * generalized, double, 1e-11)
    # velocity of each body by differences of its pose
    h = 1e-4
    ahead, behind = (fw.forward_kinematics(model, moved(model, q, v, s * h)) for s in (1, -1))
    R = fw.forward_kinematics(model, q).rotation
    linear = np.einsum("bji,bj->bi", R, (ahead.position - behind.position) / (2 * h))
    spin = np.einsum("bji,bjk->bik", R, (ahead.rotation - behind.rotation) / (2 * h))
    angular = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    power = np.sum(f[1:, :3] * linear[1:]) + np.sum(f[1:, 3:] * angular[1:])
    close(np.array(v @ generalized), np.array(power), 1e-6)


@law
@given(trees())
def test_joint_wrenches_project_to_joint_forces(model: fw.Model) -> None:
    """τ = Sᵀ f, and the wrenches at the world's children balance gravity, inertia and the world."""
    q, v, a = states(model, 5)
    tau, wrenches = fw.inverse_dynamics(model, q, v, a), fw.joint_wrenches(model, q, v, a)
    assert not wrenches[:, 0].any()
    for joint in model.joints:
        columns = joint.kind.subspace([float(x) for x in q[0][joint.q]])
        S = np.array([[*s.linear, *s.angular] for s in columns], dtype=float)
        close(wrenches[:, joint.body] @ S.T, tau[:, joint.v])


@law
@given(trees())
def test_a_lonely_tree_falls_freely(model: fw.Model) -> None:
    """With zero gravity and zero velocity nothing accelerates; gravity is a uniform acceleration."""
    q, _, _ = states(model, 3)
    zero = np.zeros((3, model.nv))
    still = fw.Builder("still", gravity=(0, 0, 0))
    copy_bodies(model, still)
    close(fw.forward_dynamics(still.build(), q, zero, zero), zero)


def copy_bodies(model: fw.Model, builder: fw.Builder, order: list[int] | None = None) -> None:
    """The same bodies again, from the numbers of a model."""
    for i in range(1, model.nb + 1) if order is None else order:
        X, I, joint = model.X_tree[i], model.inertias[i], model.joints[i - 1]
        c = np.array(I.h, dtype=float) / float(I.m)
        moment = np.array(I.I.matrix, dtype=float) - float(I.m) * (c @ c * np.eye(3) - np.outer(c, c))
        builder.add_body(
            model.names[i],
            parent=model.names[model.parent[i]],
            joint=joint.kind,
            joint_name=joint.name,
            placement=fw.Placement(X.r, rotation=np.array(X.E, dtype=float).T),
            inertia=fw.Inertia(float(I.m), c, moment),
        )


@law
@given(trees())
def test_renumbering_changes_nothing(model: fw.Model) -> None:
    """Bodies added in another order that respects parents: the same numbers at other places."""
    order: list[int] = []
    waiting = list(range(model.nb, 0, -1))
    while waiting:
        i = next(i for i in waiting if model.parent[i] == 0 or model.parent[i] in order)
        order.append(i)
        waiting.remove(i)
    builder = fw.Builder("renumbered")
    copy_bodies(model, builder, order)
    other = builder.build()
    q, v, tau = states(model, 4)
    q2, v2, tau2, a = np.empty_like(q), np.empty_like(v), np.empty_like(tau), np.empty_like(v)
    for joint in model.joints:
        twin = other.joint(joint.name)
        q2[:, twin.q], v2[:, twin.v], tau2[:, twin.v] = q[:, joint.q], v[:, joint.v], tau[:, joint.v]
    a2 = fw.forward_dynamics(other, q2, v2, tau2)
    for joint in model.joints:
        a[:, joint.v] = a2[:, other.joint(joint.name).v]
    allowance = max(1.0, np.linalg.cond(fw.mass_matrix(model, q)).max() / 1e3)
    close(a, fw.forward_dynamics(model, q, v, tau), 1e-12 * allowance)


@law
@given(trees())
def test_splitting_a_body_by_a_fixed_joint_changes_nothing(model: fw.Model) -> None:
    """Half of the last body's mass on a body that is fixed to it."""
    builder = fw.Builder("split")
    copy_bodies(model, builder, list(range(1, model.nb)))
    i, joint = model.nb, model.joints[-1]
    X, I = model.X_tree[i], model.inertias[i]
    c = np.array(I.h, dtype=float) / float(I.m)
    moment = np.array(I.I.matrix, dtype=float) - float(I.m) * (c @ c * np.eye(3) - np.outer(c, c))
    half = fw.Inertia(0.5 * float(I.m), c, 0.5 * moment)
    turn = fw.Placement((0.1, -0.2, 0.3), rpy=(0.4, -0.5, 0.6))
    R, p = np.array(turn.rotation, dtype=float), np.array(turn.position)
    there = fw.Inertia(half.mass, R.T @ (c - p), R.T @ (0.5 * moment) @ R)
    builder.add_body(
        model.names[i],
        parent=model.names[model.parent[i]],
        joint=joint.kind,
        placement=fw.Placement(X.r, rotation=np.array(X.E, dtype=float).T),
        inertia=half,
    )
    builder.add_body("half", parent=model.names[i], placement=turn, inertia=there)
    split = builder.build()
    assert split.nb == model.nb
    q, v, a = states(model, 4)
    close(fw.inverse_dynamics(split, q, v, a), fw.inverse_dynamics(model, q, v, a), 1e-11)
    close(fw.mass_matrix(split, q), fw.mass_matrix(model, q), 1e-11)


@law
@given(trees())
def test_a_free_floating_tree_keeps_its_momentum(model: fw.Model) -> None:
    """No gravity, a free base, forces between bodies only: nothing pushes the whole."""
    builder = fw.Builder("floating", gravity=(0, 0, 0))
    builder.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.box(2.0, (0.3, 0.2, 0.1)))
    for i in range(1, model.nb + 1):
        parent = "base" if model.parent[i] == 0 else model.names[model.parent[i]]
        builder.add_body(
            model.names[i], parent=parent, joint=model.joints[i - 1].kind, inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3))
        )
    floating = builder.build()
    q, v, tau = states(floating, 5)
    tau[:, :6] = 0
    a = fw.forward_dynamics(floating, q, v, tau)
    size = np.abs(fw.mass_matrix(floating, q)).max() * np.abs(a).max()
    root = fw.joint_wrenches(floating, q, v, a)[:, 1]  # what holds the base: the rate of momentum
    assert np.abs(root).max() <= 1e-12 * max(1.0, size)
