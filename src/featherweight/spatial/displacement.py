"""Displacements: how far a frame moves in a step, as seen from where it was.

A pose T after a step and T₀ before it give Δ = T₀⁻¹ T. Products of poses would lose the digits of a small Δ; here they
are never formed: Δ is carried from frame to frame by itself.
"""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple

from featherweight.scalar import sqrt
from featherweight.spatial.groups import Quaternion
from featherweight.spatial.motion import Motion
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
        """Where a frame gets in a unit of time with a constant twist in its own axes: exp, for turns of less than π.

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
        """From X_0a to X_0b: what it takes to bring frame a to where frame b is; for turns of less than π."""
        x, y, z = before.E @ after.E.T
        w = 0.5 * sqrt(1 + x.x + y.y + z.z)
        scale = 0.25 / w
        turn = Quaternion((z.y - y.z) * scale, (x.z - z.x) * scale, (y.x - x.y) * scale, w)
        return Displacement(turn, before.E @ (after.r - before.r))

    def seen_from(self, X: Transform) -> Displacement:
        """X Δ X⁻¹: how a frame moves that is fixed to this one; X is its transform, before and after."""
        u, w = self.turn.vector, self.turn.w
        carried = u.cross(X.r * w + u.cross(X.r)) * 2  # (R - 1) r
        x, y, z = X.E @ u
        return Displacement(Quaternion(x, y, z, w), X.E @ (self.p + carried))

    def then(self, other: Displacement) -> Displacement:
        """This one, and another one from there."""
        u, w = self.turn.vector, self.turn.w
        turned = other.p + u.cross(other.p * w + u.cross(other.p)) * 2
        return Displacement(self.turn @ other.turn, self.p + turned)


TERMS = 9  # 1e-17 of the sum at 60°, 1e-9 at half a turn


def _series(k: int, x: Any) -> Any:
    """Σ (-x)^j / (2j + k)!."""
    total: Any = (-1) ** (TERMS - 1) / factorial(2 * (TERMS - 1) + k)
    for j in reversed(range(TERMS - 1)):
        total = total * x + (-1) ** j / factorial(2 * j + k)
    return total
