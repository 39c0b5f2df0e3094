"""Rigid-body and articulated-body inertia (RBDA, sections 2.13 and 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from featherweight.scalar import reciprocal
from featherweight.spatial.motion import Force, Motion
from featherweight.spatial.transform import Transform
from featherweight.spatial.vector import Matrix, Symmetric, Vector


class RigidInertia(NamedTuple):
    """Mass m [kg], first moment h = m c [kg m] and inertia matrix about the frame's origin [kg m²]."""

    m: Any
    h: Vector
    I: Symmetric

    @staticmethod
    def zero() -> RigidInertia:
        return RigidInertia(0, Vector.zero(), Symmetric.zero())

    @staticmethod
    def about_com(mass: Any, com: Vector, moment: Symmetric) -> RigidInertia:
        """From the inertia matrix about the centre of mass: I = I_c + m (c·c 1 - c cᵀ)."""
        h = com * mass
        square = com.dot(h)
        steiner = Symmetric.diagonal(square, square, square) - Symmetric.outer(com, h)
        return RigidInertia(mass, h, moment + steiner)

    def __add__(self, other: RigidInertia) -> RigidInertia:  # type: ignore[override]
        return RigidInertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, v: Motion) -> Force:
        """I v: momentum of a twist, or force of an acceleration."""
        return Force(self.I @ v.angular + self.h.cross(v.linear), v.linear * self.m - self.h.cross(v.angular))

    def bias_force(self, v: Motion) -> Force:
        """v ×* I v, without the terms that cancel: exactly zero in pure translation."""
        omega, momentum = v.angular, v.linear * self.m - self.h.cross(v.angular)
        moment = omega.cross(self.I @ omega) + self.h.cross(omega.cross(v.linear))
        return Force(moment, omega.cross(momentum))

    def seen_through(self, X: Transform) -> RigidInertia:
        """Xᵀ I X: the same body in the frame that X starts from, where composite bodies are summed."""
        h = X.E.transposed_times(self.h)  # in the new axes, about the old origin
        moved = h + X.r * self.m
        # I + m (r·r 1 - r rᵀ) + (2 h·r 1 - h rᵀ - r hᵀ), written with h and h + m r
        (rx, ry, rz), (bx, by, bz) = X.r, h + moved
        xx, xy, xz, yy, yz, zz = self.I.congruent(X.E)
        I = Symmetric(
            xx + ry * by + rz * bz,
            xy - h.x * ry - rx * moved.y,
            xz - h.x * rz - rx * moved.z,
            yy + rx * bx + rz * bz,
            yz - h.y * rz - ry * moved.z,
            zz + rx * bx + ry * by,
        )
        return RigidInertia(self.m, moved, I)

    @property
    def com(self) -> Vector:
        """The centre of mass [m]; the origin for a massless body."""
        massless = isinstance(self.m, (int, float)) and self.m == 0
        return Vector.zero() if massless else self.h * reciprocal(self.m)

    @property
    def central(self) -> Symmetric:
        """The inertia matrix about the centre of mass [kg m²]: I - m (c·c 1 - c cᵀ)."""
        c, h = self.com, self.h
        square = c.dot(h)
        return self.I - (Symmetric.diagonal(square, square, square) - Symmetric.outer(c, h))

    @property
    def articulated(self) -> ArticulatedInertia:
        return ArticulatedInertia(self.I, Matrix.cross(self.h), Symmetric.diagonal(self.m, self.m, self.m))

    def lift(self, f: Callable[[Any], Any]) -> RigidInertia:
        """The inertia with `f` applied to each number."""
        return RigidInertia(f(self.m), self.h.lift(f), self.I.lift(f))


class ArticulatedInertia(NamedTuple):
    """Articulated inertia I^A = [[I, H], [Hᵀ, M]]: wrench per acceleration of a body with all it carries."""

    I: Symmetric
    H: Matrix
    M: Symmetric

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __matmul__(self, v: Motion) -> Force:
        """I^A a."""
        return Force(self.I @ v.angular + self.H @ v.linear, self.H.transposed_times(v.angular) + self.M @ v.linear)

    def minus_outer(self, W: Sequence[Force], U: Sequence[Force]) -> ArticulatedInertia:
        """I^A - Σ w uᵀ, for columns that make it symmetric: W = U D⁻¹."""
        I, H, M = self
        for w, u in zip(W, U, strict=True):
            I = I - Symmetric.outer(w.moment, u.moment)
            H = H - Matrix(*(u.force * a for a in w.moment))
            M = M - Symmetric.outer(w.force, u.force)
        return ArticulatedInertia(I, H, M)

    def without(self, s: Motion) -> ArticulatedInertia:
        """The same inertia where I^A s = 0 is known: for s along an axis, its row and column are structural zeros."""
        k = s.coordinate
        if k is None:
            return self
        I, H, M = self
        axis = k % 3
        if k < 3:
            return ArticulatedInertia(Symmetric.of(I.matrix.cleared(axis, axis)), H.cleared(axis, None), M)
        return ArticulatedInertia(I, H.cleared(None, axis), Symmetric.of(M.matrix.cleared(axis, axis)))

    def seen_through(self, X: Transform) -> ArticulatedInertia:
        """Xᵀ I^A X: rotate, then move the origin by r."""
        E, r = X
        I, H, M = self.I.congruent(E), self.H.congruent(E), self.M.congruent(E)
        rx = Matrix.cross(r)
        moved = H + rx @ M.matrix
        shift = Symmetric.of(rx @ H.T - moved @ rx)
        return ArticulatedInertia(I + shift, moved, M)
