"""Coordinate transforms of motions, forces and frames (RBDA, section 2.8 and appendix A)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from featherweight.spatial.motion import Force, Motion
from featherweight.spatial.vector import Matrix, Vector


class Transform(NamedTuple):
    """X from frame A to frame B: E turns A's coordinates into B's, r is B's origin in A."""

    E: Matrix
    r: Vector

    @staticmethod
    def identity() -> Transform:
        return Transform(Matrix.identity(), Vector.zero())

    def __matmul__(self, other: Any) -> Any:
        """X m for a motion m in A; X Y for a transform Y from some frame to A."""
        if isinstance(other, Motion):
            return Motion(self.E @ other.angular, self.E @ (other.linear - self.r.cross(other.angular)))
        return Transform(self.E @ other.E, other.r + other.E.transposed_times(self.r))

    @property
    def inverse(self) -> Transform:
        """X⁻¹, from B to A."""
        return Transform(self.E.T, -(self.E @ self.r))

    def back(self, f: Force) -> Force:
        """Xᵀ f: a force in B, seen from A."""
        force = self.E.transposed_times(f.force)
        return Force(self.E.transposed_times(f.moment) + self.r.cross(force), force)

    def ahead(self, f: Force) -> Force:
        """X⁻ᵀ f: a force in A, seen from B."""
        return Force(self.E @ (f.moment - self.r.cross(f.force)), self.E @ f.force)

    def lift(self, f: Callable[[Any], Any]) -> Transform:
        """The transform with `f` applied to each number."""
        return Transform(self.E.lift(f), self.r.lift(f))
