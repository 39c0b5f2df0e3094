"""A step of a body that floats: its centre of mass moves straight, while it turns.

With d the way of the centre of mass and φ = log R the turn, in the body's axes where the step begins, the discrete
Lagrangian is (½ m |d|² + ½ φᵀ J φ) / h, instead of ½ Xᵀ I X / h with X the logarithm of the whole displacement. That
keeps momentum as well, and it does not matter how fast the robot is as a whole. X is a screw: so bodies move that turn
about something that is held, but not those that fly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from featherweight.integrators.variational.logarithm import A, K
from featherweight.integrators.variational.propagated_inertia import PropagatedInertia, scaled
from featherweight.spatial import Displacement, Force, Matrix, RigidInertia, Vector, polynomial


class StraightLine(NamedTuple):
    """φ, k of its angle (see `logarithm`), and the displacement of the body's frame."""

    turn: Vector
    k: Any
    move: Displacement

    @staticmethod
    def of(move: Displacement) -> StraightLine:
        z = 1 - move.turn.w
        return StraightLine(move.turn.vector * polynomial(A, z), polynomial(K, z), move)

    def momentum(self, I: RigidInertia, spin: Force) -> Force:
        """P = (J φ, m d), with the couple of rotors that the body carries."""
        d = self.move.p + self.move.turned(I.com)
        return Force(I.central @ self.turn + spin.moment, d * I.m)

    def felt(self, I: RigidInertia, P: Force) -> Force:
        """P, felt where the step begins, at the body's origin: dlogᵀ J φ + c × m d, and m d."""
        moment, _ = self._turned(P.moment)
        return Force(moment + I.com.cross(P.force), P.force)

    def momenta(self, couple: Force) -> tuple[Force, Force]:
        """A couple of the step, felt where it begins and where it ends: dlogᵀ_φ and dlogᵀ_-φ of it."""
        begin, end = self._turned(couple.moment)
        return Force(begin, Vector.zero()), Force(end, Vector.zero())

    def _turned(self, m: Vector) -> tuple[Vector, Vector]:
        across = self.turn.cross(m)
        even = m + self.turn.cross(across) * self.k
        return even + across * 0.5, even - across * 0.5

    def change(self, I: RigidInertia, P: Force) -> PropagatedInertia:
        """K: a change ξ of the pose at the end changes φ by dlog_-φ ξ_ω and d by R (ξ_v - c × ξ_ω)."""
        k, one = 1 / 12, Matrix.identity()
        W, M = Matrix.cross(self.turn), Matrix.cross(P.moment)
        dlog = one + scaled(W, 0.5) + scaled(W @ W, k)  # dlogᵀ_φ and dlog_-φ
        own = dlog @ I.central.matrix - scaled(M, 0.5)
        own = own - scaled(Matrix.cross(self.turn.cross(P.moment)) + W @ M, k)
        c, moved = Matrix.cross(I.com), scaled(self.move.turn.rotation, I.m)
        B, C = c @ moved, -(moved @ c)
        return PropagatedInertia(own @ dlog + c @ C, B, C, moved)
