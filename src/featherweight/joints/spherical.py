"""Spherical joint, a ball in a socket: q = unit quaternion x y z w; v = angular velocity [rad/s] in the body frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.joints.joint import Joint
from featherweight.joints.orientation import explain_unit, not_unit, quaternion_rate, random_quaternion
from featherweight.spatial import (
    Displacement,
    Matrix,
    Motion,
    Quaternion,
    Transform,
    Vector,
    exp_so3,
    from_quaternion,
    log_so3,
    right_jacobian_so3_inverse,
)


class Spherical(Joint):
    """S = [1; 0]: three angular velocities."""

    nq, nv = 4, 3
    orientation = slice(0, 4)
    turns = slice(0, 3)

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform(from_quaternion(*q).T, Vector.zero())

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return tuple(Motion(e, Vector.zero()) for e in Matrix.identity())

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return list((Quaternion(*q) @ exp_so3(Vector(*v))).normalized())

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return list(log_so3(Quaternion(*q0).conjugate @ Quaternion(*q1)))

    def rate(self, u: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return list(right_jacobian_so3_inverse(Vector(*u)) @ Vector(*v))

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement.along(Motion(Vector(*d), Vector.zero()))

    def coordinate_rate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return quaternion_rate(q, v)

    def check(self, q: Sequence[Any]) -> Any:
        return not_unit(q)

    def explain(self, q: np.ndarray) -> str | None:
        return explain_unit(q)

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return random_quaternion(rng)

    def to_mujoco(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.roll(q, 1, axis=-1), v  # w x y z

    def from_mujoco(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.roll(qpos, -1, axis=-1), qvel
