"""What a change of a body's pose at the end of a step changes of its momentum at the beginning: a matrix K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from featherweight.spatial import Force, Matrix, Motion, Transform, Vector


class PropagatedInertia(NamedTuple):
    """[[A, B], [C, D]]: moment and force that a change of pose (angular, linear) takes. Not symmetric."""

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix

    def __add__(self, other: PropagatedInertia) -> PropagatedInertia:  # type: ignore[override]
        return PropagatedInertia(*(a + b for a, b in zip(self, other, strict=True)))

    def __matmul__(self, x: Motion) -> Force:
        return Force(self.A @ x.angular + self.B @ x.linear, self.C @ x.angular + self.D @ x.linear)

    def row(self, x: Motion) -> Force:
        """xᵀ Π."""
        w, v = x
        return Force(
            self.A.transposed_times(w) + self.C.transposed_times(v),
            self.B.transposed_times(w) + self.D.transposed_times(v),
        )

    def minus_outer(self, columns: Sequence[Force], rows: Sequence[Force]) -> PropagatedInertia:
        """Π - Σ u wᵀ."""
        A, B, C, D = self
        for u, w in zip(columns, rows, strict=True):
            A, B = A - outer(u.moment, w.moment), B - outer(u.moment, w.force)
            C, D = C - outer(u.force, w.moment), D - outer(u.force, w.force)
        return PropagatedInertia(A, B, C, D)

    def seen_through(self, X: Transform, X_after: Transform) -> PropagatedInertia:
        """Xᵀ Π X⁺: rotate, then move the origins."""
        E, E_after = X.E.T, X_after.E
        A, B, C, D = (E @ block @ E_after for block in self)
        r, r_after = Matrix.cross(X.r), Matrix.cross(X_after.r)
        A, B = A + r @ C, B + r @ D
        return PropagatedInertia(A - B @ r_after, B, C - D @ r_after, D)


def scaled(A: Matrix, s: Any) -> Matrix:
    return A.lift(lambda a: a * s)


def outer(a: Vector, b: Vector) -> Matrix:
    return Matrix(b * a.x, b * a.y, b * a.z)
