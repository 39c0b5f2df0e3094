"""Helical joint: a screw. q [rad] turns about the axis and moves along it by the pitch [m/rad]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints.joint import AxisJoint, finite
from featherweight.spatial import Displacement, Motion, Transform, about_axis, turn_about


class Helical(AxisJoint):
    """S = [a; h a]: turns about the axis a and advances by h for each radian."""

    pitch: float

    def __init__(self, axis: Any = "z", pitch: float = 0.0) -> None:
        super().__init__(axis)
        object.__setattr__(self, "pitch", finite("pitch", pitch))

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(about_axis(self.axis, q[0]), self.axis * (self.pitch * q[0]))

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return (Motion(self.axis, self.axis * self.pitch),)

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement(turn_about(self.axis, d[0]), self.axis * (self.pitch * d[0]))

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-pi, pi, 1)

    def to_mujoco(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise ModelError("MuJoCo has no helical joint")

    def from_mujoco(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise ModelError("MuJoCo has no helical joint")

    def lift(self, f: Callable[[float], Any]) -> Helical:
        return self._with(axis=self.axis.lift(f), pitch=f(self.pitch))

    def arguments(self) -> tuple[Any, ...]:
        return tuple(self.axis), self.pitch
