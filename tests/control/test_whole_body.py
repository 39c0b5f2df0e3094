"""The whole-body problem: reduced, it is still the QP over all accelerations and forces, and its torques give both."""

from __future__ import annotations

from dataclasses import replace

import clarabel
import numpy as np
import pytest
import scipy.sparse as sparse

import featherweight as fw
from featherweight.control import whole_body
from featherweight.control.gains import ForceSolver
from featherweight.control.whole_body import Cones, Tasks, WholeBody


def cases(name: str, seed: int) -> tuple[WholeBody, np.ndarray, np.ndarray, Tasks, Cones]:
    """A robot near its stance that is to do something that its feet cannot quite give."""
    rng = np.random.default_rng(seed)
    if name == "cheetah":
        model = fw.robots.mini_cheetah()
        q = fw.scenes.crouched(model)
        body = fw.control.trot(model, q).function.body
        most, momentum = [200.0, 0.0, 0.0, 200.0] if seed % 2 else [200.0] * 4, None
        base_weight, others_weight = [1.0] * 6, 1.0
    else:
        model = fw.robots.humanoid()
        q = fw.scenes.standing(model)
        body = fw.control.balance(model, q).function.body
        H = np.diag([1.0, 1.0, 1.0, 50.0, 50.0, 50.0])
        most, momentum = [400.0] * 8, (np.array([20.0, 30.0, 750.0, 5.0, 10.0, 5.0]) * rng.normal(1.0, 0.3, 6), H)
        base_weight, others_weight = [1.0] * 3 + [100.0] * 3, 10.0
    q = fw.integrate(model, q, 0.05 * rng.normal(size=model.nv), 1.0)
    v = 0.2 * rng.normal(size=model.nv)
    feet = [rng.normal(size=limb.size) for limb in body.limbs]
    base, others = 2.0 * rng.normal(size=6), rng.normal(size=len(body.others))
    zero = np.zeros((body.contacts, 3))
    return body, q, v, Tasks(base, base_weight, feet, others, others_weight, momentum), Cones(0.6, most, (zero, zero))


def full_problem(body: WholeBody, q: np.ndarray, v: np.ndarray, tasks: Tasks, cones: Cones) -> np.ndarray:
    """Accelerations and forces by clarabel: nothing eliminated."""
    model, n = body.model, body.model.nv
    points = [p for limb in body.limbs for p in limb.points]
    size = n + 3 * len(points)
    J = np.concatenate([fw.jacobian(model, q, p, "world_aligned")[:3] for p in points])
    G = np.concatenate([np.zeros((n, 6)), J[:, :6]]).T  # w = G [a; f]
    P, g = np.zeros((size, size)), np.zeros(size)
    P[:6, :6] = np.diag(tasks.base_weight)
    g[:6] = -np.array(tasks.base_weight) * tasks.base
    for d, u in zip(body.others, tasks.others, strict=True):
        P[d, d], g[d] = tasks.others_weight, -tasks.others_weight * u
    P[n:, n:] += cones.solver.regularisation * np.eye(3 * len(points))
    if tasks.momentum is not None:
        w_h, H = tasks.momentum
        P, g = P + G.T @ H @ G, g - G.T @ H @ w_h

    # equations: rows of the base, and the feet
    E = [np.concatenate([fw.mass_matrix(model, q)[:6], -J[:, :6].T], axis=1)]
    e = [-fw.bias_force(model, q, v)[:6]]
    for limb, x in zip(body.limbs, tasks.feet, strict=True):
        J_foot = fw.jacobian(model, q, limb.frame, "world_aligned")[: limb.size]
        drift = fw.jacobian_dot(model, q, v, limb.frame, "world_aligned")[: limb.size] @ v
        E.append(np.concatenate([J_foot, np.zeros((limb.size, 3 * len(points)))], axis=1))
        e.append(x - drift)
    caps, rows = np.zeros((len(points), size)), np.zeros((3 * len(points), size))
    for i in range(len(points)):
        caps[i, n + 3 * i + 2] = 1.0
        cone = -np.array([[0, 0, cones.friction], [1, 0, 0], [0, 1, 0]])
        rows[3 * i : 3 * i + 3, n + 3 * i : n + 3 * i + 3] = cone
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    equations = sum(len(x) for x in e)
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), g, sparse.csc_matrix(np.concatenate([*E, caps, rows])),
        np.concatenate([*e, cones.most, np.zeros(3 * len(points))]),
        [clarabel.ZeroConeT(equations), clarabel.NonnegativeConeT(len(points))]
        + [clarabel.SecondOrderConeT(3)] * len(points), settings,
    )  # fmt: skip
    return np.array(solver.solve().x)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["cheetah", "humanoid"])
def test_eliminating_accelerations_changes_nothing(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_body, "LIMB_DAMPING", 1e-7)
    monkeypatch.setattr(whole_body, "BASE_DAMPING", 0.0)
    monkeypatch.setattr(whole_body, "SOFTNESS", 0.0)
    body, q, v, tasks, cones = cases(name, seed)
    exact = replace(body, iterations=20_000)
    answer = exact(q, v, tasks, replace(cones, solver=ForceSolver(tolerance=1e-7)))
    expected = full_problem(body, q, v, tasks, cones)
    f, a = answer.forces.z.astype(float).ravel(), answer.acceleration.astype(float)
    assert np.abs(f - expected[body.model.nv :]).max() <= 2e-3 * np.abs(f).max()
    assert np.abs(a - expected[: body.model.nv]).max() <= 2e-3 * np.abs(a).max()


@pytest.mark.parametrize("name", ["cheetah", "humanoid"])
def test_the_torques_with_these_forces_give_these_accelerations(name: str) -> None:
    """Also where the inverses are damped and the forces are not solved to the end; and the base receives nothing."""
    body, q, v, tasks, cones = cases(name, 1)
    answer = body(q, v, tasks, cones)
    model = body.model
    f_ext = np.zeros((model.nb + 1, 6))
    points = [p for limb in body.limbs for p in limb.points]
    for p, f in zip(points, answer.forces.z.astype(float), strict=True):
        f_ext += fw.wrench_on(model, q, p, np.concatenate([f, np.zeros(3)]))
    tau, a = answer.tau.astype(float), answer.acceleration.astype(float)
    assert (tau[:6] == 0.0).all()
    assert np.abs(fw.forward_dynamics(model, q, v, tau, f_ext) - a).max() <= 1e-5 * np.abs(a).max()
