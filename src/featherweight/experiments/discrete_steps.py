"""A variational step as the paper writes it: an evaluation, a solver and a guess, for many robots at once.

What is compared are the paper's own algorithms (Lee, Liu, Park and Srinivasa, 2016): no line search, nothing remembered
from step to step, no other solver where one fails. `fw.integrators.Variational` has all of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from featherweight.dynamics import forward_dynamics, solve_mass_matrix
from featherweight.experiments.evaluations import (
    NEWTON,
    READ_OUT,
    RESIDUAL,
    SCALABLE_RESIDUAL,
    START,
    scalable_jacobian,
)
from featherweight.model import Model

EVALUATIONS = ("scalable", "drnea")
SOLVERS = ("newton", "broyden", "riqn")
GUESSES = ("rest", "velocity", "dynamics")
FARTHEST = np.pi / 3  # rad: a joint that turns more in one step has lost its way
Correction = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # (lanes, δ, start, e) -> change


@dataclass(frozen=True)
class Method:
    """How the equations of a step are evaluated, how they are solved, and where the search begins."""

    evaluation: str  # "scalable", O(n²), or "drnea", O(n)
    solver: str  # "newton", "broyden", or "riqn"
    guess: str  # "rest": δ = 0; "velocity": h v; "dynamics": h v + ½ h² q̈

    def __str__(self) -> str:
        return f"{self.evaluation}, {self.solver}, {self.guess}"


METHODS = [Method(*names) for names in product(EVALUATIONS, SOLVERS, GUESSES)]


@dataclass(frozen=True, eq=False)
class Search:
    """What a search left: δ (lanes, nv), how many corrections each lane took, and `|e|` [N m s] of every trial, shape
    (trials, lanes): NaN where a lane was done before."""

    delta: np.ndarray
    iterations: np.ndarray
    residuals: np.ndarray
    converged: np.ndarray


def states(n: int, lanes: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Angles [rad] and velocities [rad/s] of chains of n links, uniform in ±π/2 as in the paper; shape (lanes, n)."""
    q, v = np.random.default_rng(seed).uniform(-np.pi / 2, np.pi / 2, (2, lanes, n))
    return q, v


def first_delta(model: Model, q: np.ndarray, v: np.ndarray, h: float, guess: str) -> np.ndarray:
    """Where the search begins."""
    if guess == "rest":
        return np.zeros_like(v)
    if guess == "velocity":
        return h * v
    return h * v + 0.5 * h * h * forward_dynamics(model, q, v, np.zeros_like(v))


def search(
    model: Model, q: np.ndarray, v: np.ndarray, h: float, method: Method, *, tolerance: float, most: int = 50
) -> Search:
    """δ with |e(δ)| ≤ tolerance [N m s], for states (lanes, n)."""
    start = START.kernel(model)(q, v, np.array(h))[0]
    evaluate = (RESIDUAL if method.evaluation == "drnea" else SCALABLE_RESIDUAL).kernel(model)
    correct = _correction(model, q, method)
    delta = first_delta(model, q, v, h, method.guess)
    searching = np.arange(len(q))
    iterations = np.zeros(len(q), dtype=int)
    residuals: list[np.ndarray] = []
    while True:
        e = evaluate(q[searching], delta[searching], start[searching])[0]
        size = np.linalg.norm(e, axis=-1) / h
        residuals.append(np.full(len(q), np.nan))
        residuals[-1][searching] = size
        searching, e = searching[size > tolerance], e[size > tolerance]
        if not len(searching) or len(residuals) > most:
            break
        delta[searching] -= correct(searching, delta[searching], start[searching], e)
        iterations[searching] += 1
        searching = searching[np.abs(delta[searching]).max(axis=-1) < FARTHEST]
    converged = np.nanmin(np.array(residuals), axis=0) <= tolerance
    return Search(delta, iterations, np.array(residuals), np.asarray(converged))


def step_end(model: Model, q: np.ndarray, delta: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v where a step δ ends."""
    after, v = READ_OUT.kernel(model)(q, delta, np.array(h))
    return after, v


def _correction(model: Model, q: np.ndarray, method: Method) -> Correction:
    """What is taken from δ for a residual e."""
    if method.solver == "riqn":
        return lambda lanes, delta, start, e: solve_mass_matrix(model, q[lanes], e)
    if method.solver == "broyden":
        return Broyden(model, q)
    if method.evaluation == "scalable":
        return dense_newton(model, q)
    newton = NEWTON.kernel(model)
    return lambda lanes, delta, start, e: newton(q[lanes], delta, start)[0]


def dense_lanes(n: int) -> int:
    """How many Jacobians are made at a time: as many as caches hold, 8 or more."""
    return max(8, 5_000 // n**2)


def dense_newton(model: Model, q: np.ndarray) -> Correction:
    """Newton's method with the whole Jacobian."""

    together = dense_lanes(model.nv)

    def correct(lanes: np.ndarray, delta: np.ndarray, start: np.ndarray, e: np.ndarray) -> np.ndarray:
        change = np.empty_like(e)
        for first in range(0, len(e), together):
            some = slice(first, first + together)
            J = scalable_jacobian(model, q[lanes[some]], delta[some])
            change[some] = np.linalg.solve(J, e[some][..., None])[..., 0]
        return change

    return correct


class Broyden:
    """Broyden's method from M(q)⁻¹ on, by the steps made so far (Kelley, Iterative Methods, 1995, section 7.3)."""

    def __init__(self, model: Model, q: np.ndarray) -> None:
        self.model, self.q = model, q
        self.made: list[np.ndarray] = []

    def __call__(self, lanes: np.ndarray, delta: np.ndarray, start: np.ndarray, e: np.ndarray) -> np.ndarray:
        step = self.improved(-solve_mass_matrix(self.model, self.q[lanes], e), [step[lanes] for step in self.made])
        self.made.append(np.zeros_like(self.q))
        self.made[-1][lanes] = step
        return -step

    @staticmethod
    def improved(z: np.ndarray, made: list[np.ndarray]) -> np.ndarray:
        """The next step for z = -M⁻¹ e: z ← z + s_(j+1) (s_j·z) / |s_j|² for j < n, then z / (1 - (s_n·z) / |s_n|²)."""
        for j, step in enumerate(made):
            along = ((step * z).sum(axis=-1) / (step * step).sum(axis=-1))[..., None]
            z = z + made[j + 1] * along if j + 1 < len(made) else z / (1.0 - along)
        return z
