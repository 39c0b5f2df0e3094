"""Revolute joint: rotation by q [rad] about an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from featherweight.joints.joint import AxisJoint
from featherweight.scalar import cos, sin
from featherweight.spatial import Displacement, Motion, Transform, Vector, about_axis, small_turn, turn_about, turned


class Revolute(AxisJoint):
    """S = [a; 0]: turns about the axis a through the frames' common origin."""

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(about_axis(self.axis, q[0]), Vector.zero())

    def place_after(self, q: Sequence[Any], d: Sequence[Any], q_after: Sequence[Any]) -> Sequence[Any]:
        """Angle sum: cos(q + d) = cos q cos d - sin q sin d, with polynomials for the small d."""
        c, s, (c_d, s_d) = cos(q[0]), sin(q[0]), small_turn(d[0])
        return [c * c_d - s * s_d, s * c_d + c * s_d]

    def transform_at(self, place: Sequence[Any]) -> Transform:
        return Transform(turned(self.axis, *place), Vector.zero())

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector.zero()),)

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement(turn_about(self.axis, d[0]), Vector.zero())

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-pi, pi, 1)
