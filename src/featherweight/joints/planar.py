"""Planar joint: motion in a plane of the frame it is mounted on, the x-y plane if no other axis is given.

q = position x, y [m] in that plane and angle [rad] about its normal; v = velocity along x, y [m/s] **in the
body's frame** and angular velocity [rad/s].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints.joint import AxisJoint, moving
from featherweight.scalar import atan2, cos, sin
from featherweight.spatial import (
    Displacement,
    Motion,
    Transform,
    Vector,
    about_axis,
    exp_se2,
    log_se2,
    right_jacobian_se3_inverse,
    turn_about,
)


class Planar(AxisJoint):
    """S = [0 0 a; x y 0], with x and y such that x, y and the normal a are right-handed."""

    nq = nv = 3

    def _plane(self) -> tuple[Vector, Vector]:
        """The directions x and y: for a normal along an axis, the next two axes."""
        a = self.axis
        if a.x == 0 and a.y == 0:
            x = Vector(1, 0, 0)
        elif a.y == 0 and a.z == 0:
            x = Vector(0, 1, 0)
        elif a.z == 0 and a.x == 0:
            x = Vector(0, 0, 1)
        else:
            raise ModelError("Planar: expected the axis x, y or z as normal")
        return x, a.cross(x)

    def __init__(self, axis: Any = "z") -> None:
        super().__init__(axis)
        self._plane()

    def transform(self, q: Sequence[Any]) -> Transform:
        x, y = self._plane()
        return Transform(about_axis(self.axis, q[2]), x * q[0] + y * q[1])

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        x, y = self._plane()
        return Motion(Vector.zero(), x), Motion(Vector.zero(), y), Motion(self.axis, Vector.zero())

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        dx, dy = exp_se2(*v)
        c, s = cos(q[2]), sin(q[2])
        return [q[0] + c * dx - s * dy, q[1] + s * dx + c * dy, q[2] + v[2]]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        dx, dy, turned = (b - a for a, b in zip(q0, q1, strict=True))
        angle = atan2(sin(turned), cos(turned))  # the short way round
        c, s = cos(q0[2]), sin(q0[2])
        return [*log_se2(c * dx + s * dy, c * dy - s * dx, angle), angle]

    def rate(self, u: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        plane = right_jacobian_se3_inverse(_in_space(u)) @ _in_space(v)
        return [plane.linear.x, plane.linear.y, plane.angular.z]

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        (x, y), (dx, dy) = self._plane(), exp_se2(*d)
        return Displacement(turn_about(self.axis, d[2]), x * dx + y * dy)

    def coordinate_rate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        c, s = cos(q[2]), sin(q[2])
        return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]

    def predicted(self, v: Sequence[Any], a: Sequence[Any], h: Any) -> list[Any]:
        """Uses the classical acceleration, as the free joint does."""
        return [v[0] + h * (a[0] - v[2] * v[1]), v[1] + h * (a[1] + v[2] * v[0]), v[2] + h * a[2]]

    def advance(
        self, q: Sequence[Any], v: Sequence[Any], h: Any, more: Sequence[Any] | None = None
    ) -> tuple[list[Any], list[Any]]:
        x, y, turn = moving(v, more)
        c, s = cos(q[2]), sin(q[2])
        moved = [q[0] + h * (c * x - s * y), q[1] + h * (s * x + c * y), q[2] + h * turn]
        c, s = cos(h * turn), sin(h * turn)
        x, y, turn = v
        return moved, [c * x + s * y, c * y - s * x, turn]

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([*rng.uniform(-1.0, 1.0, 2), rng.uniform(-pi, pi)])

    def to_pinocchio(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])], axis=-1)

    def from_pinocchio(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([q[..., :2], np.arctan2(q[..., 3:], q[..., 2:3])], axis=-1)

    def to_mujoco(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return q, _turned(q[..., 2], v)  # two slides and a hinge: velocity in the frame it is mounted on

    def from_mujoco(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return qpos, _turned(-qpos[..., 2], qvel)


def _in_space(u: Sequence[Any]) -> Motion:
    """A planar twist x, y, angle as a twist in space, in a plane z = 0."""
    return Motion(Vector(0, 0, u[2]), Vector(u[0], u[1], 0))


def _turned(angle: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities (…, 3) with their linear part turned by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[..., 0] - s * v[..., 1], s * v[..., 0] + c * v[..., 1], v[..., 2]], axis=-1)
