"""Forces in friction cones: against solvers of other people, and the projection against its definition."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sparse

import featherweight as fw
from featherweight.control.forces import FrictionCone, forces_in_cones

FEET = np.array([[0.19, -0.11, -0.28], [0.19, 0.11, -0.28], [-0.19, -0.11, -0.28], [-0.19, 0.11, -0.28]])
MU, EPS = 0.6, 1e-2


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A quadruped's wrench, more than its feet can give in some, with two feet in the air in every other."""
    rng = np.random.default_rng(seed)
    feet = FEET + 0.03 * rng.normal(size=(4, 3))
    arms = np.concatenate([np.cross(np.eye(3), -r) for r in feet], axis=1)
    A = np.concatenate([np.tile(np.eye(3), 4), 5.0 * arms])
    b = np.concatenate([40 * rng.normal(size=2), [88 + 30 * rng.normal()], 20 * rng.normal(size=3)])
    most = np.where([seed % 2, 0, 0, seed % 2], 0.0, [150.0, 150.0, 40.0, 150.0])
    return A, b, most


def second_order(A: np.ndarray, b: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The same by clarabel, with the round cone."""
    n = len(most)
    caps = np.zeros((n, 3 * n))
    caps[np.arange(n), 3 * np.arange(n) + 2] = 1.0
    cones = np.zeros((3 * n, 3 * n))
    for i in range(n):
        cones[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = -np.array([[0, 0, MU], [1, 0, 0], [0, 1, 0]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(A.T @ A + EPS * np.eye(3 * n))), -A.T @ b,
        sparse.csc_matrix(np.concatenate([caps, cones])), np.concatenate([most, np.zeros(3 * n)]),
        [clarabel.NonnegativeConeT(n)] + [clarabel.SecondOrderConeT(3)] * n, settings,
    )  # fmt: skip
    return np.array(solver.solve().x).reshape(n, 3)


def polygonal(A: np.ndarray, b: np.ndarray, most: np.ndarray, solver: str) -> np.ndarray:
    """The same through qpsolvers, with a cone of 64 sides around the round one."""
    n, angles = len(most), np.arange(64) * 2 * np.pi / 64
    sides = np.stack([np.cos(angles), np.sin(angles), np.full(64, -MU)], axis=-1)
    caps = np.zeros((n, 3 * n))
    caps[np.arange(n), 3 * np.arange(n) + 2] = 1.0
    G = np.concatenate([np.kron(np.eye(n), sides), caps])
    h = np.concatenate([np.zeros(64 * n), most])
    P = sparse.csc_matrix(A.T @ A + EPS * np.eye(3 * n))
    return qpsolvers.solve_qp(P, -A.T @ b, sparse.csc_matrix(G), h, solver=solver).reshape(n, 3)


def solved(A: np.ndarray, b: np.ndarray, most: np.ndarray, **options: float) -> np.ndarray:
    many = {"tolerance": 1e-6, "iterations": 5000, **options}
    return forces_in_cones(A, b, friction=MU, most=most, regularisation=EPS, rho=0.3, **many).z.astype(float)


@pytest.mark.parametrize("seed", range(20))
def test_the_forces_are_those_of_a_second_order_cone_solver(seed: int) -> None:
    A, b, most = problem(seed)
    assert np.abs(solved(A, b, most) - second_order(A, b, most)).max() <= 1e-3  # [N], of about 90


@pytest.mark.parametrize("solver", ["proxqp", "clarabel"])
@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_the_cost_is_between_those_of_qp_solvers_around_and_inside_the_cone(seed: int, solver: str) -> None:
    A, b, most = problem(seed)
    if solver not in qpsolvers.available_solvers:
        pytest.skip(f"{solver} has no wheel for this platform")

    def cost(f: np.ndarray) -> float:
        return float(0.5 * np.sum((A @ f.ravel() - b) ** 2) + 0.5 * EPS * np.sum(f**2))

    around = polygonal(A, b, most, solver)
    inside = around * [np.cos(np.pi / 64), np.cos(np.pi / 64), 1.0]
    assert cost(around) * (1 - 1e-6) <= cost(solved(A, b, most)) <= cost(inside) * (1 + 1e-6)
    assert cost(inside) - cost(around) <= 0.02 * cost(around)


@pytest.mark.parametrize("iterations", [1, 3, 60])
def test_after_any_number_of_turns_the_forces_are_in_their_cones(iterations: int) -> None:
    for seed in range(20):
        A, b, most = problem(seed)
        f = solved(A, b, most, iterations=iterations)
        assert (f[:, 2] >= 0).all()
        assert (f[:, 2] <= most).all()
        assert (np.hypot(f[:, 0], f[:, 1]) <= MU * f[:, 2] * (1 + 1e-12)).all()


def test_a_warm_start_needs_few_turns() -> None:
    A, b, most = problem(2)
    first = forces_in_cones(A, b, friction=MU, most=most, regularisation=EPS, rho=0.3, tolerance=1e-3, iterations=999)
    again = forces_in_cones(
        A, 1.001 * b, friction=MU, most=most, regularisation=EPS, rho=0.3, tolerance=1e-3, iterations=999,
        warm=(first.z, first.u),
    )  # fmt: skip
    assert again.turns <= first.turns / 2


def test_the_projection_is_the_nearest_point() -> None:
    rng = np.random.default_rng(0)
    z = np.linspace(0, 5.0, 101)
    angle = np.linspace(0, 2 * np.pi, 61)
    share = np.linspace(0, 1, 11)
    cone = np.array([(MU * s * h * np.cos(a), MU * s * h * np.sin(a), h) for h in z for a in angle[:-1] for s in share])
    for f in rng.normal(size=(40, 3)) * 4.0:
        nearest = np.array(FrictionCone.of(MU).nearest(list(f), 5.0), dtype=float)
        assert np.hypot(*nearest[:2]) <= MU * nearest[2] * (1 + 1e-12)
        assert np.linalg.norm(nearest - f) <= np.linalg.norm(cone - f, axis=1).min() + 1e-12


def test_the_native_loop_finds_the_same_forces() -> None:
    """Traced as a controller's state, against floats."""
    A, b, most = problem(2)
    point = fw.robots.pendulum()

    def control(t, q, v, x, p):
        f = forces_in_cones(A, p, friction=MU, most=most, regularisation=EPS, rho=0.3, tolerance=1e-6, iterations=500)
        return [0.0 * q[0] + f.z[0, 2]], x

    run = fw.simulate(point, [0.0], [0.0], duration=1e-3, dt=1e-3, control=fw.compiled(control, parameters=b))
    expected = solved(A, b, most, iterations=500)
    assert run.tau[0, 0] == pytest.approx(expected[0, 2], rel=1e-9)
