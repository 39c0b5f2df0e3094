"""Against Pinocchio, on robots that nobody here wrote: fixed and free base, 1 000 random states each."""

from __future__ import annotations

import mpmath
import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from featherweight import algorithms
from peers.pinocchio_adapter import ROBOTS, pinocchio_model, random_states, robot

STATES = 1000
CASES = [(name, base) for name in ROBOTS for base in ("fixed", "free")]


def check(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Error of each state, scaled by the largest entry: never above 1e-10, usually below 1e-13."""
    axes = tuple(range(1, ours.ndim))
    scale = np.maximum(np.abs(theirs).max(axis=axes), 1e-300)
    error = np.abs(ours - theirs).max(axis=axes) / scale
    assert error.max() <= 1e-10
    assert np.median(error) <= 1e-13


def wrenches(model: pin.Model, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(STATES, model.njoints, 6))


def force_vector(rows: np.ndarray) -> pin.StdVec_Force:
    forces = pin.StdVec_Force()
    for row in rows:
        forces.append(pin.Force(row))
    return forces


@pytest.mark.parametrize(("name", "base"), CASES)
def test_forward_kinematics(name: str, base: str) -> None:
    model = pinocchio_model(name, base)
    data = model.createData()
    q, _, _ = random_states(model, STATES)
    rotation, position = np.empty((STATES, model.njoints, 3, 3)), np.empty((STATES, model.njoints, 3))
    for k in range(STATES):
        pin.forwardKinematics(model, data, q[k])
        for j in range(model.njoints):
            rotation[k, j], position[k, j] = data.oMi[j].rotation, data.oMi[j].translation
    poses = fw.forward_kinematics(robot(name, base), q)
    check(poses.rotation, rotation)
    check(poses.position, position)


@pytest.mark.parametrize(("name", "base"), CASES)
def test_inverse_dynamics_and_joint_wrenches(name: str, base: str) -> None:
    model = pinocchio_model(name, base)
    data = model.createData()
    q, v, a = random_states(model, STATES)
    f_ext = wrenches(model)
    tau, tau_ext, forces = np.empty_like(v), np.empty_like(v), np.zeros((STATES, model.njoints, 6))
    for k in range(STATES):
        tau_ext[k] = pin.rnea(model, data, q[k], v[k], a[k], force_vector(f_ext[k]))
        tau[k] = pin.rnea(model, data, q[k], v[k], a[k])
        forces[k, 1:] = [data.f[j].vector for j in range(1, model.njoints)]
    ours = robot(name, base)
    check(fw.inverse_dynamics(ours, q, v, a), tau)
    check(fw.inverse_dynamics(ours, q, v, a, f_ext), tau_ext)
    check(fw.joint_wrenches(ours, q, v, a), forces)


@pytest.mark.parametrize(("name", "base"), CASES)
def test_mass_matrix(name: str, base: str) -> None:
    model = pinocchio_model(name, base)
    data = model.createData()
    q, _, _ = random_states(model, STATES)
    M = np.empty((STATES, model.nv, model.nv))
    for k in range(STATES):
        upper = np.triu(pin.crba(model, data, q[k]))
        M[k] = upper + np.triu(upper, 1).T
    check(fw.mass_matrix(robot(name, base), q), M)


@pytest.mark.parametrize(("name", "base"), CASES)
def test_forward_dynamics(name: str, base: str) -> None:
    model = pinocchio_model(name, base)
    data = model.createData()
    q, v, tau = random_states(model, STATES)
    f_ext = wrenches(model)
    ours = robot(name, base)
    a, a_ext = fw.forward_dynamics(ours, q, v, tau), fw.forward_dynamics(ours, q, v, tau, f_ext)

    # Pinocchio's inverse dynamics takes our accelerations back to the forces: holds however near singular M is
    size = np.abs(np.einsum("kij,kj->ki", np.abs(fw.mass_matrix(ours, q)), np.abs(a))).max(axis=1)
    for k in range(STATES):
        back = pin.rnea(model, data, q[k], v[k], a[k])
        assert np.abs(back - tau[k]).max() <= 1e-12 * (size[k] + np.abs(tau[k]).max())

    if name != "icub":  # there Pinocchio is far from the truth: next test
        theirs, theirs_ext = np.empty_like(a), np.empty_like(a)
        for k in range(STATES):
            theirs[k] = pin.aba(model, data, q[k], v[k], tau[k])
            theirs_ext[k] = pin.aba(model, data, q[k], v[k], tau[k], force_vector(f_ext[k]))
        check(a, theirs)
        check(a_ext, theirs_ext)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_near_singular_robot_against_forty_digits(base: str) -> None:
    """icub.urdf has bodies without inertia and cond(M) up to 1e11: the truth is computed to 40 digits.

    Our error stays near the condition number times rounding, and below Pinocchio's.
    """
    model, ours = pinocchio_model("icub", base), robot("icub", base)
    data = model.createData()
    q, v, tau = random_states(model, STATES)
    a = fw.forward_dynamics(ours, q, v, tau)
    theirs = np.array([pin.aba(model, data, *state) for state in zip(q, v, tau, strict=True)])
    worst = np.argsort(np.abs(a - theirs).max(axis=1) / np.abs(theirs).max(axis=1))
    condition = np.linalg.cond(fw.mass_matrix(ours, q))
    with mpmath.workdps(40):
        tree = ours.over(lambda x: mpmath.mpf(float(x)), lambda: None)
        for k in (*worst[:4], *worst[498:502], *worst[-4:]):
            state = ([mpmath.mpf(float(x)) for x in array[k]] for array in (q, v, tau))
            truth = np.array([float(x) for x in algorithms.forward_dynamics(tree, *state, None)[0]])
            error = np.abs(a[k] - truth).max() / np.abs(truth).max()
            assert error <= 1e-13 * max(1.0, condition[k] / 1e5)
            assert error <= max(1e-13, np.abs(theirs[k] - truth).max() / np.abs(truth).max())


@pytest.mark.parametrize(("name", "base"), CASES)
def test_forward_dynamics_undoes_inverse_dynamics(name: str, base: str) -> None:
    """ABA ∘ RNEA = identity to 1e-12. Not so on icub, whose M is nearly singular: there the error is what the
    rounding of τ alone makes of it, above 1e-12 in nine states of ten."""
    ours = robot(name, base)
    q, v, a = random_states(pinocchio_model(name, base), STATES)
    tau = fw.inverse_dynamics(ours, q, v, a)
    back = fw.forward_dynamics(ours, q, v, tau)
    least = np.linalg.eigvalsh(fw.mass_matrix(ours, q))[:, 0]
    size = np.linalg.norm(a, axis=1)
    from_rounding = np.finfo(float).eps * np.linalg.norm(tau, axis=1) / np.maximum(least, 1e-300) / size
    error = np.linalg.norm(back - a, axis=1) / size
    assert (error <= (np.maximum(1e-12, 10 * from_rounding) if name == "icub" else 1e-12)).all()
