"""Unit quaternions as coordinates: what the spherical and the free joint have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.scalar import where

TOLERANCE = 1e-6  # tolerance of a quaternion's length


def not_unit(quaternion: Sequence[Any]) -> Any:
    """Zero if the length is 1 within the tolerance."""
    x, y, z, w = quaternion
    square = x * x + y * y + z * z + w * w
    return where(abs(square - 1) <= 2 * TOLERANCE, 0.0, 1.0)


def explain_unit(quaternion: np.ndarray) -> str | None:
    """Which of an array of quaternions (…, 4) is not of unit length, if any."""
    with np.errstate(all="ignore"):
        length = np.sqrt(np.sum(quaternion**2, axis=-1))
        bad = ~(np.abs(length**2 - 1.0) <= 2 * TOLERANCE * (1 - 1e-6))  # the compiled check rounds differently
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
    place = f" at [{', '.join(map(str, index))}]" if index else ""
    return (
        f"the quaternion (x y z w){place} has length {float(length[index]):.9g}; "
        f"expected 1 within {TOLERANCE:g}, normalise it first"
    )


def quaternion_rate(quaternion: Sequence[Any], omega: Sequence[Any]) -> list[Any]:
    """The rate ½ q ω of a quaternion x y z w whose body turns with ω in its own axes."""
    x, y, z, w = quaternion
    a, b, c = omega
    return [
        (w * a + y * c - z * b) / 2,
        (w * b + z * a - x * c) / 2,
        (w * c + x * b - y * a) / 2,
        -(x * a + y * b + z * c) / 2,
    ]


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    """Uniform over all orientations."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def rotated(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) turned by unit quaternions x y z w (…, 4)."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)
