"""Displacements: the small rigid motion of a frame in one step, in the axes where it began.

A pose T after a step and T₀ before it give Δ = T₀⁻¹ T. Products of poses would lose the digits of a small Δ; here they
are never formed: Δ is carried from frame to frame by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any, NamedTuple

from featherweight.scalar import sqrt
from featherweight.spatial.groups import Quaternion
from featherweight.spatial.motion import Force, Motion
from featherweight.spatial.transform import Transform
from featherweight.spatial.vector import Vector


class Displacement(NamedTuple):
    """Rotation and translation [m] of a frame, in its own axes before it moved."""

    turn: Quaternion
    p: Vector

    @staticmethod
    def identity() -> Displacement:
        return Displacement(Quaternion.identity(), Vector.zero())

    @staticmethod
    def along(v: Motion) -> Displacement:
        """exp of a twist: the displacement in a unit of time at a constant twist in body axes. For turns below π.

        A few terms of cos(θ/2), sin(θ/2) / (θ/2) and (θ - sin θ) / θ³ are enough for that; no root, no division.
        """
        w, u = v
        x = w.dot(w)
        sinc, c3 = _series(1, 0.25 * x), _series(3, x)
        turned = w.cross(u)
        a, b, c = w * (0.5 * sinc)
        p = u + turned * (0.5 * sinc * sinc) + w.cross(turned) * c3
        return Displacement(Quaternion(a, b, c, _series(0, 0.25 * x)), p)

    @staticmethod
    def between(before: Transform, after: Transform) -> Displacement:
        """The displacement from frame a to frame b, from X_0a and X_0b; for turns of less than π."""
        x, y, z = before.E @ after.E.T
        w = 0.5 * sqrt(1 + x.x + y.y + z.z)
        scale = 0.25 / w
        turn = Quaternion((z.y - y.z) * scale, (x.z - z.x) * scale, (y.x - x.y) * scale, w)
        return Displacement(turn, before.E @ (after.r - before.r))

    def seen_from(self, X: Transform) -> Displacement:
        """X Δ X⁻¹: the displacement of another frame fixed to this one, X being the transform to it."""
        x, y, z = X.E @ self.turn.vector
        return Displacement(Quaternion(x, y, z, self.turn.w), X.E @ (self.p + self.turned(X.r)))

    def then(self, other: Displacement) -> Displacement:
        """Composition: this displacement, then another one."""
        return Displacement(self.turn @ other.turn, self.p + (other.p + self.turned(other.p)))

    def change(self, v: Motion) -> Motion:
        """(Ad_Δ - 1) v: the change of a twist that moves with the frame, in the axes where it began."""
        w, u = v
        turned = self.turned(w)
        return Motion(turned, self.turned(u) + self.p.cross(w + turned))

    def ahead(self, f: Force) -> Force:
        """Ad_Δᵀ f: a force or momentum at the frame before the step, in the axes after it."""
        back = self.turn.conjugate
        return Force(back.rotate(f.moment - self.p.cross(f.force)), back.rotate(f.force))

    def turned(self, r: Vector) -> Vector:
        """(R - 1) r."""
        u, w = self.turn.vector, self.turn.w
        return u.cross(r * w + u.cross(r)) * 2


# cos √x and sin √x / √x for √x ≤ 60°, interpolated at Chebyshev points with 60 digits: to 2e-17
COS = (
    1.0, -0.49999999999999967, 0.04166666666665994, -0.0013888888888398316, 2.480158712576133e-05,
    -2.755728499304865e-07, 2.0873062951942423e-09, -1.1262869231464423e-11,
)  # fmt: skip
SINC = (
    1.0, -0.16666666666666666, 0.008333333333332938, -0.00019841269840980847, 2.7557319120412487e-06,
    -2.505208822274082e-08, 1.6056868287910103e-10, -7.524774083391097e-13,
)  # fmt: skip


def turn_about(axis: Vector, angle: Any) -> Quaternion:
    """The rotation about a unit axis by an angle [rad] of at most 120°: two bodies may turn by 60° each in a step.

    Polynomials rather than sines, for a vectorised sine would wait until all angles are known.
    """
    w, s = _half_turn(angle)
    x, y, z = axis * s
    return Quaternion(x, y, z, w)


def small_turn(angle: Any) -> tuple[Any, Any]:
    """Cosine and sine of a small angle [rad], as in `turn_about`."""
    w, s = _half_turn(angle)
    return 1 - 2 * s * s, 2 * s * w


def _half_turn(angle: Any) -> tuple[Any, Any]:
    """Cosine and sine of half of a small angle."""
    half = 0.5 * angle
    square = half * half
    return polynomial(COS, square), half * polynomial(SINC, square)


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """Σ c_j x^j, by Horner's rule."""
    total: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


TERMS = 9  # 1e-17 of the sum at 60°, 1e-9 at half a turn


def _series(k: int, x: Any) -> Any:
    """Σ (-x)^j / (2j + k)!."""
    total: Any = (-1) ** (TERMS - 1) / factorial(2 * (TERMS - 1) + k)
    for j in reversed(range(TERMS - 1)):
        total = total * x + (-1) ** j / factorial(2 * j + k)
    return total
