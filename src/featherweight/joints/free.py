"""Free joint: a floating body.

q = position [m] and unit quaternion x y z w; v = linear [m/s], then angular [rad/s] velocity, both
in the body's frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.joints.joint import Joint
from featherweight.scalar import where
from featherweight.spatial import Matrix, Motion, Transform, Vector, from_quaternion

TOLERANCE = 1e-6  # how far a quaternion's length may be from 1


class Free(Joint):
    """S = the identity: six velocities, none of them restricted."""

    nq, nv = 7, 6

    def transform(self, q: Sequence[Any]) -> Transform:
        x, y, z, *quaternion = q
        return Transform(from_quaternion(*quaternion).T, Vector(x, y, z))

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        linear = (Motion(Vector.zero(), e) for e in Matrix.identity())
        angular = (Motion(e, Vector.zero()) for e in Matrix.identity())
        return (*linear, *angular)

    def check(self, q: Sequence[Any]) -> Any:
        _, _, _, x, y, z, w = q
        square = x * x + y * y + z * z + w * w
        return where(abs(square - 1) <= 2 * TOLERANCE, 0.0, 1.0)

    def explain(self, q: np.ndarray) -> str | None:
        with np.errstate(all="ignore"):
            length = np.sqrt(np.sum(q[..., 3:7] ** 2, axis=-1))
            bad = ~(np.abs(length**2 - 1.0) <= 2 * TOLERANCE * (1 - 1e-6))  # the check itself rounds otherwise
        if not bad.any():
            return None
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
        where_ = f" at [{', '.join(map(str, index))}]" if index else ""
        return (
            f"the quaternion (x y z w){where_} has length {float(length[index]):.9g}; "
            f"expected 1 within {TOLERANCE:g}, normalise it first"
        )

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        quaternion = rng.normal(size=4)
        return np.concatenate([rng.uniform(-1.0, 1.0, 3), quaternion / np.linalg.norm(quaternion)])
