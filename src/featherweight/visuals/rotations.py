"""Rotation matrices as unit quaternions, many at once (Shepperd, 1978)."""

from __future__ import annotations

import numpy as np

# 4 q qᵀ is linear in R: rows for w, x, y, z, each scaled by that number, so the largest row is never near zero
_PAIRS = ((2, 1), (0, 2), (1, 0))  # of R whose difference is 4 w x, 4 w y, 4 w z


def quaternions(R: np.ndarray) -> np.ndarray:
    """Unit quaternions x y z w (…, 4) of rotation matrices (…, 3, 3).

    >>> quaternions(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).round(4)  # a quarter turn about z
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    R = np.asarray(R, dtype=float)
    outer = np.empty((*R.shape[:-2], 4, 4))
    trace = np.trace(R, axis1=-2, axis2=-1)
    outer[..., 3, 3] = 1.0 + trace
    for i, (j, k) in enumerate(_PAIRS):
        outer[..., i, i] = 1.0 + 2.0 * R[..., i, i] - trace
        outer[..., i, 3] = outer[..., 3, i] = R[..., j, k] - R[..., k, j]
        outer[..., j, k] = outer[..., k, j] = R[..., j, k] + R[..., k, j]
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    rows = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))
