"""Universal joint: q = two angles [rad], about the first axis and then about the second, which turns with the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints.joint import Joint, unit_axis
from featherweight.spatial import Displacement, Motion, Transform, Vector, about_axis, turn_about


class Universal(Joint):
    """S = [E_2(q_2) a_1, a_2; 0 0]: the first axis as the body sees it depends on the second angle."""

    nq = nv = 2
    first: Vector
    second: Vector

    def __init__(self, first: Any = "x", second: Any = "y") -> None:
        object.__setattr__(self, "first", unit_axis(first))
        object.__setattr__(self, "second", unit_axis(second))
        if np.linalg.norm(np.cross(self.first, self.second)) < 1e-6:
            raise ModelError("Universal: expected two axes of different directions, got parallel ones")

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(about_axis(self.second, q[1]) @ about_axis(self.first, q[0]), Vector.zero())

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        first = about_axis(self.second, q[1]) @ self.first
        return Motion(first, Vector.zero()), Motion(self.second, Vector.zero())

    def subspace_after(self, q: Sequence[Any], d: Sequence[Any]) -> tuple[Motion, ...]:
        first, second = self.subspace(q)
        return Motion(turn_about(self.second, -d[1]).rotate(first.angular), Vector.zero()), second

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        first = about_axis(self.second, q[1]) @ self.first
        return Motion(first.cross(self.second) * v[1], Vector.zero()), Motion.zero()  # Ė_2 a_1 = -q̇_2 a_2 × E_2 a_1

    def bias_derivative(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        turned = (about_axis(self.second, q[1]) @ self.first).cross(self.second).cross(self.second)
        return Motion.zero(), Motion(turned * (v[0] * v[1]), Vector.zero())

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        """About the first axis, as the body sees it, then about the second."""
        first = about_axis(self.second, q[1]) @ self.first
        return Displacement(turn_about(first, d[0]) @ turn_about(self.second, d[1]), Vector.zero())

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-pi, pi, 2)

    def lift(self, f: Callable[[float], Any]) -> Universal:
        return self._with(first=self.first.lift(f), second=self.second.lift(f))

    def arguments(self) -> tuple[Any, ...]:
        return tuple(self.first), tuple(self.second)
