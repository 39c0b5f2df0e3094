"""Small matrices over any scalar: inverses that stay finite, and the error of an orientation."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.algorithms.linear import Factored, factor
from featherweight.scalar import sqrt, where


def symmetric_inverse(A: np.ndarray) -> np.ndarray:
    """A⁻¹ of a symmetric positive definite matrix, by A = L diag(d) Lᵀ."""
    return solved(factor(A.tolist()), np.eye(len(A)))


def solved(factors: Factored, B: np.ndarray) -> np.ndarray:
    """A⁻¹ B, column by column."""
    return np.array([factors.solve(list(column)) for column in B.T], dtype=object).T


def damped_inverse(J: np.ndarray, damping: float) -> np.ndarray:
    """Jᵀ (J Jᵀ + d² 1)⁻¹: the inverse of a square matrix, finite where that is singular.

    A direction in which J has the singular value σ keeps the share σ² / (σ² + d²).
    """
    return J.T @ symmetric_inverse(J @ J.T + damping * damping * np.eye(len(J)))


def whitened(Q: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and R b with Q = Rᵀ R, so that bᵀ Q b is the square of a length; Q symmetric positive definite."""
    factors = factor(Q.tolist())
    L, d = np.array(factors.L, dtype=object) + np.eye(len(Q)), factors.d
    R = np.array([[sqrt(d_i) * x for x in row] for d_i, row in zip(d, L.T, strict=True)], dtype=object)
    return R, R @ b


def rotated(yaw_sine: Any, yaw_cosine: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """A horizontal vector, rotated about z by an angle with this sine and cosine."""
    return yaw_cosine * x - yaw_sine * y, yaw_sine * x + yaw_cosine * y


def orientation_error(quaternion: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """2 sign(w) (x, y, z) of wanted⁻¹ ∘ quaternion: the rotation vector [rad] from wanted to actual where it is small.

    It is the same in both bodies' axes. Quaternions are x y z w.
    """
    x, y, z, w = quaternion
    a, b, c, d = wanted
    real = d * w + a * x + b * y + c * z
    side = where(real < 0, -2.0, 2.0)
    vector = [d * x - a * w - b * z + c * y, d * y - b * w - c * x + a * z, d * z - c * w - a * y + b * x]
    return np.array([side * e for e in vector], dtype=object)
