"""Cylindrical joint: q = angle [rad] about an axis and displacement [m] along it, independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from featherweight.joints.joint import AxisJoint
from featherweight.spatial import Displacement, Motion, Transform, Vector, about_axis, turn_about


class Cylindrical(AxisJoint):
    """S = [a 0; 0 a]: turns about the axis a and slides along it."""

    nq = nv = 2

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(about_axis(self.axis, q[0]), self.axis * q[1])

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return Motion(self.axis, Vector.zero()), Motion(Vector.zero(), self.axis)

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement(turn_about(self.axis, d[0]), self.axis * d[1])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.uniform(-pi, pi), rng.uniform(-1.0, 1.0)])
