"""Rotation matrices from axes, angles and quaternions."""

from __future__ import annotations

from typing import Any

from featherweight.scalar import cos, sin
from featherweight.spatial.vector import Matrix, Vector


def about_axis(axis: Vector, angle: Any) -> Matrix:
    """E for a frame turned by `angle` [rad] about a unit axis: old coordinates to new ones."""
    return turned(axis, cos(angle), sin(angle))


def turned(axis: Vector, c: Any, s: Any) -> Matrix:
    """E for a frame turned by an angle with cosine c and sine s about a unit axis.

    E = cos θ 1 + (1 - cos θ) a aᵀ - sin θ â; for a coordinate axis four entries are left.
    """
    rows = [[0] * 3 for _ in range(3)]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        # c + (1-c) a², with 0 and 1 kept exact
        square = axis[k] * axis[k]
        rows[k][k] = square + c * (1 - square)
        product = axis[i] * axis[j]
        rows[i][j] = (product - c * product) + s * axis[k]
        rows[j][i] = (product - c * product) - s * axis[k]
    return Matrix.of(rows)


def from_quaternion(x: Any, y: Any, z: Any, w: Any) -> Matrix:
    """R(q), body to world, of a unit quaternion x y z w."""
    return Matrix(
        Vector(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        Vector(2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        Vector(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def from_rpy(roll: Any, pitch: Any, yaw: Any) -> Matrix:
    """R = Rz(yaw) Ry(pitch) Rx(roll), the convention of URDF; body to parent."""
    (cr, sr), (cp, sp), (cy, sy) = ((cos(angle), sin(angle)) for angle in (roll, pitch, yaw))
    a, b = sr * sp, cr * sp
    return Matrix(
        Vector(cp * cy, a * cy - cr * sy, b * cy + sr * sy),
        Vector(cp * sy, a * sy + cr * cy, b * sy - sr * cy),
        Vector(-sp, sr * cp, cr * cp),
    )
