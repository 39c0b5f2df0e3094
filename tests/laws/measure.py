"""How the laws are tried and how close is close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings

import featherweight as fw

law = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

# d/dt at 0 from eight values around it, to the eighth order in h
H = 2e-3
TIMES = H * np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / H


def close(x: Any, y: Any, tolerance: float = 1e-12) -> None:
    """The largest difference, relative to the largest entry if that is above 1."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    scale = max(1.0, np.abs(x).max(initial=0), np.abs(y).max(initial=0))
    assert np.abs(x - y).max(initial=0) <= tolerance * scale


def rate(f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """df/dt at 0 of a function that takes all times at once, shape (8,), and gives (8, …)."""
    return np.tensordot(WEIGHTS, f(TIMES), axes=1)


def along(model: fw.Model, q: np.ndarray, v: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The motion through q with velocity v, which is constant in the joints' own frames."""
    return lambda t: fw.integrate(model, q, v, t)


def allowance(model: fw.Model, q: np.ndarray) -> float:
    """How much worse than rounding a solution with the mass matrix may be: by its condition."""
    return max(1.0, float(np.linalg.cond(fw.mass_matrix(model, q)).max()) / 1e3)
