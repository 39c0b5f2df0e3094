"""Prismatic joint: translation by q [m] along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.joints.joint import AxisJoint
from featherweight.spatial import Displacement, Matrix, Motion, Quaternion, Transform, Vector


class Prismatic(AxisJoint):
    """S = [0; a]: slides along the axis a."""

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(Matrix.identity(), self.axis * q[0])

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return (Motion(Vector.zero(), self.axis),)

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement(Quaternion.identity(), self.axis * d[0])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-1.0, 1.0, 1)
