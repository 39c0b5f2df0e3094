"""Exponential and logarithm of rotations, of rigid motions and of the plane, and their Jacobians, in closed form.

Everything is a function of x = θ², the square of the angle, and comes from a few coefficients: the Stumpff functions
c_k = Σ (-x)^j / (2j + k)! and k = (1 - (θ/2) cot(θ/2)) / x. Below θ = 3 they are series, above closed forms, so
no digits cancel on either side. The series are cut for float64: with more digits they are good to about 1e-17.

A twist (ω, v) acts like the dual vector ω + ε v: the lower blocks on SE(3) are derivatives along v of those on SO(3).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, pi
from typing import Any, NamedTuple

from featherweight.scalar import atan2, cos, maximum, minimum, sin, sqrt, where
from featherweight.spatial.motion import Force, Motion
from featherweight.spatial.rotation import from_quaternion
from featherweight.spatial.vector import Matrix, Vector


class Quaternion(NamedTuple):
    """x i + y j + z k + w; of unit length for a rotation, q and -q for the same one."""

    x: Any
    y: Any
    z: Any
    w: Any

    @staticmethod
    def identity() -> Quaternion:
        return Quaternion(0, 0, 0, 1)

    @staticmethod
    def of(R: Matrix) -> Quaternion:
        """A quaternion of a rotation, of any length: the largest of the rows 4 q_k q, which R has as sums and
        differences of its entries (Shepperd, 1978)."""
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
        rows = (
            (1 + xx - yy - zz, xy + yx, xz + zx, zy - yz),
            (xy + yx, 1 - xx + yy - zz, yz + zy, xz - zx),
            (xz + zx, yz + zy, 1 - xx - yy + zz, yx - xy),
            (zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz),
        )
        best, most = rows[3], rows[3][3]
        for k in range(3):
            more = rows[k][k] > most
            best = tuple(where(more, a, b) for a, b in zip(rows[k], best, strict=True))
            most = where(more, rows[k][k], most)
        return Quaternion(*best)

    @property
    def vector(self) -> Vector:
        """x, y and z: the axis times sin θ/2."""
        return Vector(self.x, self.y, self.z)

    @property
    def conjugate(self) -> Quaternion:
        """The inverse rotation."""
        return Quaternion(-self.x, -self.y, -self.z, self.w)

    @property
    def rotation(self) -> Matrix:
        """R(q), body to world."""
        return from_quaternion(*self)

    def __matmul__(self, b: Quaternion) -> Quaternion:
        """Hamilton's product: R(a @ b) = R(a) R(b)."""
        u, v = self.vector, b.vector
        x, y, z = v * self.w + u * b.w + u.cross(v)
        return Quaternion(x, y, z, self.w * b.w - u.dot(v))

    def rotate(self, v: Vector) -> Vector:
        """R(q) v = v + 2 w (u × v) + 2 u × (u × v)."""
        u = self.vector
        twice = u.cross(v) * 2
        return v + twice * self.w + u.cross(twice)

    def normalized(self) -> Quaternion:
        """The unit quaternion in the same direction."""
        x, y, z, w = self
        scale = 1 / sqrt(x * x + y * y + z * z + w * w)
        return Quaternion(x * scale, y * scale, z * scale, w * scale)


class MotionMatrix(NamedTuple):
    """[[A, 0], [N, A]] on motions, angular part first."""

    A: Matrix
    N: Matrix

    def __matmul__(self, v: Motion) -> Motion:
        return Motion(self.A @ v.angular, self.N @ v.angular + self.A @ v.linear)

    def back(self, f: Force) -> Force:
        """The transpose, on a force."""
        moment = self.A.transposed_times(f.moment) + self.N.transposed_times(f.force)
        return Force(moment, self.A.transposed_times(f.force))


# ---- exponential and logarithm


def exp_so3(w: Vector) -> Quaternion:
    """The rotation by |w| [rad] about w: (w/θ sin θ/2, cos θ/2)."""
    cosine, sinc = _half_angle(w.dot(w))
    x, y, z = w * (0.5 * sinc)
    return Quaternion(x, y, z, cosine)


def log_so3(q: Quaternion) -> Vector:
    """The shortest rotation vector [rad] of q, |w| ≤ π; the same for q and -q, whatever their length.

    w = 2 atan2(|u|, q_w) u / |u| with u = (x, y, z): while |u| ≪ |q_w| a series in r² = |u|²/q_w², which needs no |u|.
    """
    u, height = q.vector, abs(q.w)
    square = u.dot(u)
    small = square < SMALL_SLOPE * q.w * q.w
    safe_height = where(small, height, 1.0)
    slope = where(small, square, 0.0) / (safe_height * safe_height)
    length = sqrt(where(small, 1.0, square))
    half = where(small, _polynomial(ATAN, slope) / safe_height, atan2(length, height) / length)
    # of q and -q take the one with w > 0; at half a turn the one whose last component is positive
    x, y, z, w = q
    minus = (w < 0) | (w <= 0) & ((z < 0) | (z <= 0) & ((y < 0) | (y <= 0) & (x < 0)))
    return u * where(minus, -2 * half, 2 * half)


def exp_se3(v: Motion) -> tuple[Quaternion, Vector]:
    """The motion in a unit of time at a constant twist in body axes: rotation, and p = J_left(ω) u."""
    w, u = v
    return exp_so3(w), _applied(w, u, *_left(w.dot(w)))


def log_se3(q: Quaternion, p: Vector) -> Motion:
    """The twist that leads to this pose in a unit of time: ω = log q, u = J_left(ω)⁻¹ p."""
    w = log_so3(q)
    return Motion(w, _applied(w, p, -0.5, _k(w.dot(w))))


def exp_se2(x: Any, y: Any, angle: Any) -> tuple[Any, Any]:
    """Displacement in the plane, in the axes at the beginning, of a frame with a constant twist in body axes.

    It is the chord of the arc: (x, y) turned by angle/2 and shortened by sin(θ/2) / (θ/2).
    """
    c, sinc = _half_angle(angle * angle)
    s = 0.5 * angle * sinc
    return sinc * (c * x - s * y), sinc * (s * x + c * y)


def log_se2(x: Any, y: Any, angle: Any) -> tuple[Any, Any]:
    """The inverse of `exp_se2`, for |angle| < 2π."""
    c, sinc = _half_angle(angle * angle)
    s = 0.5 * angle * sinc
    return (c * x + s * y) / sinc, (c * y - s * x) / sinc


# ---- Jacobians: exp(w + δ) = exp(J_left δ) exp(w) = exp(w) exp(J_right δ)


def left_jacobian_so3(w: Vector) -> Matrix:
    """J = 1 + c₂ ŵ + c₃ ŵ²."""
    b, c = _left(w.dot(w))
    return _matrix(w, b, c)


def right_jacobian_so3(w: Vector) -> Matrix:
    """J = 1 - c₂ ŵ + c₃ ŵ²: the left one of -w, and its transpose."""
    b, c = _left(w.dot(w))
    return _matrix(w, -b, c)


def left_jacobian_so3_inverse(w: Vector) -> Matrix:
    """J⁻¹ = 1 - ½ ŵ + k ŵ²; there is none at |w| = 2π."""
    return _matrix(w, -0.5, _k(w.dot(w)))


def right_jacobian_so3_inverse(w: Vector) -> Matrix:
    """J⁻¹ = 1 + ½ ŵ + k ŵ²; there is none at |w| = 2π."""
    return _matrix(w, 0.5, _k(w.dot(w)))


def left_jacobian_se3(v: Motion) -> MotionMatrix:
    """J = Σ ad^j / (j + 1)!."""
    x = v.angular.dot(v.angular)
    (b, c), (db, dc) = _left(x), _left_rate(x)
    return _motion_matrix(v, b, c, db, dc)


def right_jacobian_se3(v: Motion) -> MotionMatrix:
    """J = Σ (-ad)^j / (j + 1)!: the left one of -v."""
    x = v.angular.dot(v.angular)
    (b, c), (db, dc) = _left(x), _left_rate(x)
    return _motion_matrix(v, -b, c, -db, dc)


def left_jacobian_se3_inverse(v: Motion) -> MotionMatrix:
    """dlog = 1 - ½ ad + 1/12 ad² - …; there is none at |ω| = 2π."""
    x = v.angular.dot(v.angular)
    return _motion_matrix(v, -0.5, _k(x), 0, _k_rate(x))


def right_jacobian_se3_inverse(v: Motion) -> MotionMatrix:
    """1 + ½ ad + 1/12 ad² + …: dlog of -v; there is none at |ω| = 2π."""
    x = v.angular.dot(v.angular)
    return _motion_matrix(v, 0.5, _k(x), 0, _k_rate(x))


def _applied(w: Vector, u: Vector, b: Any, c: Any) -> Vector:
    """(1 + b ŵ + c ŵ²) u."""
    turned = w.cross(u)
    return u + turned * b + w.cross(turned) * c


def _matrix(w: Vector, b: Any, c: Any) -> Matrix:
    """A = 1 + b ŵ + c ŵ²."""
    W = Matrix.cross(w)
    return Matrix.identity() + _scaled(W, b) + _scaled(W @ W, c)


def _motion_matrix(v: Motion, b: Any, c: Any, db: Any, dc: Any) -> MotionMatrix:
    """A, and its derivative along the linear part: N = b v̂ + c (ω̂ v̂ + v̂ ω̂) + 2 (ω·v) (b' ω̂ + c' ω̂²)."""
    w, u = v
    W, V = Matrix.cross(w), Matrix.cross(u)
    dx = 2 * w.dot(u)
    N = _scaled(V, b) + _scaled(W @ V + V @ W, c) + _scaled(W, dx * db) + _scaled(W @ W, dx * dc)
    return MotionMatrix(_matrix(w, b, c), N)


def _scaled(A: Matrix, s: Any) -> Matrix:
    """s A."""
    return A.lift(lambda a: a * s)


# ---- coefficients, functions of x = θ²

SWITCH = 9.0  # below it series, above it closed forms; each gets an argument from its own side
SMALL_SLOPE = 1 / 16  # r² = tan²(θ/2) below which log is a series: half a radian
STUMPFF_TERMS = 13
ATAN = [(-1) ** j / (2 * j + 1) for j in range(14)]  # atan r / r, in r²


def _bernoulli(count: int) -> list[float]:
    """β_j = |B_2j| / (2j)!, j = 1 …: 1/12, 1/720, 1/30240; by Euler's (2n + 1) β_n = Σ β_i β_(n-i)."""
    beta = [1 / 12]
    for n in range(2, count + 1):
        beta.append(sum(a * b for a, b in zip(beta, reversed(beta), strict=True)) / (2 * n + 1))
    return beta


POLE = 4 * pi * pi  # k = Σ 2 / (4π² m² - x): without the first pole its series needs few terms
K = [b - 2 / POLE**j for j, b in enumerate(_bernoulli(16), 1)]


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """Σ c_j x^j, by Horner's rule."""
    result: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def _stumpff(k: int, x: Any) -> Any:
    """c_k = Σ (-x)^j / (2j + k)!, for x ≤ 9: cos θ, sin θ/θ, (1 - cos θ)/θ², (θ - sin θ)/θ³ …"""
    return _polynomial([(-1) ** j / factorial(2 * j + k) for j in range(STUMPFF_TERMS)], x)


def _half_angle(x: Any) -> tuple[Any, Any]:
    """cos(θ/2) and sin(θ/2) / (θ/2)."""
    near, half = 0.25 * minimum(SWITCH, x), 0.5 * sqrt(maximum(SWITCH, x))
    cosine = where(x < SWITCH, _stumpff(0, near), cos(half))
    return cosine, where(x < SWITCH, _stumpff(1, near), sin(half) / half)


def _left(x: Any) -> tuple[Any, Any]:
    """c₂ = (1 - cos θ)/θ² and c₃ = (θ - sin θ)/θ³."""
    cosine, sinc = _half_angle(x)
    near, far = minimum(SWITCH, x), maximum(SWITCH, x)
    return 0.5 * sinc * sinc, where(x < SWITCH, _stumpff(3, near), (1 - sinc * cosine) / far)


def _left_rate(x: Any) -> tuple[Any, Any]:
    """dc₂/dx and dc₃/dx, from dc_k/dx = (k c_(k+2) - c_(k+1)) / 2 and c_(k+2) = (1/k! - c_k) / x."""
    c2, c3 = _left(x)
    near, far = minimum(SWITCH, x), maximum(SWITCH, x)
    c4 = where(x < SWITCH, _stumpff(4, near), (1 / 2 - c2) / far)
    c5 = where(x < SWITCH, _stumpff(5, near), (1 / 6 - c3) / far)
    return c4 - 0.5 * c3, 1.5 * c5 - 0.5 * c4


def _k(x: Any) -> Any:
    """k = (1 - (θ/2) cot(θ/2)) / x = Σ β_j x^(j-1)."""
    cosine, sinc = _half_angle(x)
    near, far = minimum(SWITCH, x), maximum(SWITCH, x)
    pole = 1 / (POLE - near)
    return where(x < SWITCH, _polynomial(K, near) + 2 * pole, (1 - cosine / sinc) / far)


def _k_rate(x: Any) -> Any:
    """dk/dx = ((θ - sin θ) / (8 θ sin²(θ/2)) - k) / x, or the series term by term."""
    c2, c3 = _left(x)
    near, far = minimum(SWITCH, x), maximum(SWITCH, x)
    pole = 1 / (POLE - near)
    series = _polynomial([j * c for j, c in enumerate(K)][1:], near) + 2 * pole * pole
    return where(x < SWITCH, series, (c3 / (4 * c2) - _k(x)) / far)
