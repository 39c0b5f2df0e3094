"""Revolute joint: rotation by q [rad] about an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from featherweight.joints.joint import AxisJoint
from featherweight.spatial import Displacement, Motion, Quaternion, Transform, Vector, about_axis


class Revolute(AxisJoint):
    """S = [a; 0]: turns about the axis a through the frames' common origin."""

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(about_axis(self.axis, q[0]), Vector.zero())

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector.zero()),)

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement(Quaternion.about(self.axis, d[0]), Vector.zero())

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-pi, pi, 1)
