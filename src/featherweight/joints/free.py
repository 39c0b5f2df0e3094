"""Free joint: a floating body.

q = position [m] and unit quaternion x y z w; v = linear [m/s], then angular [rad/s] velocity, both
in the body's frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.joints.joint import Joint, moving
from featherweight.joints.orientation import explain_unit, not_unit, quaternion_rate, random_quaternion, rotated
from featherweight.spatial import (
    Displacement,
    Matrix,
    Motion,
    Quaternion,
    Transform,
    Vector,
    exp_se3,
    exp_so3,
    from_quaternion,
    log_se3,
    right_jacobian_se3_inverse,
)


class Free(Joint):
    """S is the identity: six free velocities."""

    nq, nv = 7, 6
    orientation = slice(3, 7)
    floating = True
    turns = slice(3, 6)

    def transform(self, q: Sequence[Any]) -> Transform:
        x, y, z, *quaternion = q
        return Transform(from_quaternion(*quaternion).T, Vector(x, y, z))

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        linear = (Motion(Vector.zero(), e) for e in Matrix.identity())
        angular = (Motion(e, Vector.zero()) for e in Matrix.identity())
        return (*linear, *angular)

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        turn, step = exp_se3(_twist(v))
        orientation = Quaternion(*q[3:])
        return [*(Vector(*q[:3]) + orientation.rotate(step)), *(orientation @ turn).normalized()]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        back = Quaternion(*q0[3:]).conjugate
        twist = log_se3(back @ Quaternion(*q1[3:]), back.rotate(Vector(*q1[:3]) - Vector(*q0[:3])))
        return [*twist.linear, *twist.angular]

    def rate(self, u: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        moving = right_jacobian_se3_inverse(_twist(u)) @ _twist(v)
        return [*moving.linear, *moving.angular]

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return Displacement.along(_twist(d))

    def coordinate_rate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [*(from_quaternion(*q[3:]) @ Vector(*v[:3])), *quaternion_rate(q[3:], v[3:])]

    def predicted(self, v: Sequence[Any], a: Sequence[Any], h: Any) -> list[Any]:
        """Uses the classical acceleration: a spinning body in free flight keeps its linear velocity in the world."""
        V, A = _twist(v), _twist(a)
        return [*(V.linear + (A.linear + V.angular.cross(V.linear)) * h), *(V.angular + A.angular * h)]

    def advance(
        self, q: Sequence[Any], v: Sequence[Any], h: Any, more: Sequence[Any] | None = None
    ) -> tuple[list[Any], list[Any]]:
        V, orientation, moves = _twist(v), Quaternion(*q[3:]), _twist(moving(v, more))
        turn = exp_so3(moves.angular * h)
        position = Vector(*q[:3]) + orientation.rotate(moves.linear * h)
        # ω is along its own turn, but not along one that is more than its own
        angular = V.angular if more is None else turn.conjugate.rotate(V.angular)
        return [*position, *(orientation @ turn).normalized()], [*turn.conjugate.rotate(V.linear), *angular]

    def check(self, q: Sequence[Any]) -> Any:
        return not_unit(q[3:])

    def explain(self, q: np.ndarray) -> str | None:
        return explain_unit(q[..., 3:7])

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([rng.uniform(-1.0, 1.0, 3), random_quaternion(rng)])

    def to_mujoco(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        qpos = np.concatenate([q[..., :3], np.roll(q[..., 3:], 1, axis=-1)], axis=-1)  # w x y z
        return qpos, np.concatenate([rotated(q[..., 3:], v[..., :3]), v[..., 3:]], axis=-1)  # linear in the world

    def from_mujoco(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        quaternion = np.roll(qpos[..., 3:], -1, axis=-1)
        back = quaternion * np.array([-1.0, -1.0, -1.0, 1.0])
        v = np.concatenate([rotated(back, qvel[..., :3]), qvel[..., 3:]], axis=-1)
        return np.concatenate([qpos[..., :3], quaternion], axis=-1), v


def _twist(v: Sequence[Any]) -> Motion:
    """Six numbers, linear first."""
    return Motion(Vector(*v[3:]), Vector(*v[:3]))
