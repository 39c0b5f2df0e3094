"""The logarithm of a displacement, and the derivative of it on momenta: dlog, in closed form.

With X = (ω, v) = log Δ, θ = |ω|, and u and w the vector part of Δ's quaternion and the other one, w = cos(θ/2):

    ω = a u,                              a = θ / sin(θ/2)
    v = (1 - ½ ω̂ + k ω̂²) p,               k = (1 - (θ/2) cot(θ/2)) / θ²
    dlog = [[A, 0], [N, A]],              A = 1 - ½ ω̂ + k ω̂²
    N = -½ v̂ + k (ω̂ v̂ + v̂ ω̂) + 2 k' (ω·v) ω̂²,   k' = dk/dθ².

a, k and k' are polynomials in z = 1 - w for θ ≤ 60°: no square root, no arc sine, no division; in z they need fewer
terms than in sin²(θ/2). A body that turns more in one step is beyond what a step can do: w < `LEAST_W` says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from featherweight.integrators.variational.propagated_inertia import PropagatedInertia, scaled
from featherweight.spatial import Displacement, Force, Matrix, Motion, MotionMatrix, RigidInertia, Vector, polynomial

LARGEST_Y = 0.25  # sin²(θ/2) of the largest turn in a step: 60°
LEAST_W = 0.75**0.5  # cos(θ/2) of it

# interpolated at Chebyshev points of z with 60 digits: a to 6e-18 of its size, k θ² to 2e-17, 2 k' θ³ to 4e-17
A = (
    2.0, 0.6666666666666667, 0.2666666666665757, 0.11428571430378705, 0.05079364941402389, 0.023088075719130196,
    0.010654886728214059, 0.004986822132179247, 0.00223940587870305, 0.0014880033099478366,
)  # fmt: skip
K = (
    0.08333333333333333, 0.01111111111111105, 0.0039682539683114195, 0.0016225749469258664, 0.0007027956809686949,
    0.0003142780618394025, 0.00014368429722224786, 6.42921668834797e-05, 4.0229893071127606e-05,
)  # fmt: skip
K_RATE = (
    0.0013888888888888744, 0.0005291005291143755, 0.0002469135780822914, 0.00011918135888320788, 5.8273179721332e-05,
    2.8742394727536468e-05, 1.3667734673394955e-05, 9.222514796388295e-06,
)  # fmt: skip


class Log(NamedTuple):
    """X = log Δ: h times the mean velocity of a step, in the body's axes; with k and k' of its angle."""

    X: Motion
    k: Any
    k_rate: Any

    @staticmethod
    def of(move: Displacement) -> Log:
        u, p = move.turn.vector, move.p
        z = 1 - move.turn.w
        k = polynomial(K, z)
        omega = u * polynomial(A, z)
        turned = omega.cross(p)
        return Log(Motion(omega, p - turned * 0.5 + omega.cross(turned) * k), k, polynomial(K_RATE, z))

    def momenta(self, P: Force) -> tuple[Force, Force]:
        """dlogᵀ_X P and dlogᵀ_-X P: the momentum P of a step, felt where it begins and where it ends.

        The second is the first seen from the new frame, Adᵀ_Δ dlogᵀ_X P. They differ in the odd part of dlog alone.
        """
        (omega, v), (m, f) = self.X, P
        w_f = omega.cross(f)
        both = omega.cross(m) + v.cross(f)
        w_w_f = omega.cross(w_f)
        moment = m + (omega.cross(both) + v.cross(w_f)) * self.k + w_w_f * (2 * self.k_rate * omega.dot(v))
        even, odd = Force(moment, f + w_w_f * self.k), Force(both * 0.5, w_f * 0.5)
        return even + odd, even - odd

    @property
    def turn(self) -> Vector:
        """The angular part of X."""
        return self.X.angular

    def momentum(self, I: RigidInertia, spin: Force) -> Force:
        """P = I X, with that of rotors that the body carries."""
        return I @ self.X + spin

    def felt(self, I: RigidInertia, P: Force) -> Force:
        """P, felt where the step begins."""
        return self.momenta(P)[0]

    def change(self, I: RigidInertia, P: Force) -> PropagatedInertia:
        """K = ∂(dlogᵀ_X P)/∂X · dlog_-X: of the series of dlog, terms to the second order in X."""
        k = 1 / 12
        (omega, v), one = self.X, Matrix.identity()
        W, V = Matrix.cross(omega), Matrix.cross(v)
        WW, mixed = W @ W, W @ V + V @ W
        # dlog_±X = 1 ∓ ½ ad + ad² / 12 = [[A, 0], [N, A]]
        forward = MotionMatrix(one - scaled(W, 0.5) + scaled(WW, k), scaled(mixed, k) - scaled(V, 0.5))
        backward = MotionMatrix(one + scaled(W, 0.5) + scaled(WW, k), scaled(mixed, k) + scaled(V, 0.5))
        # dlogᵀ G, and what X in dlog itself changes: -½ B(P) + (B(adᵀ P) + adᵀ B(P)) / 12, B(f) Y = adᵀ_Y f
        H, mass = Matrix.cross(I.h), Matrix.diagonal(I.m, I.m, I.m)
        A_T, N_T = forward.A.T, forward.N.T
        A, B = A_T @ I.I.matrix - N_T @ H, A_T @ H + scaled(N_T, I.m)
        C, D = -(A_T @ H), A_T @ mass
        m, f = P
        M, F = Matrix.cross(m), Matrix.cross(f)
        turned = Force(-(omega.cross(m) + v.cross(f)), -omega.cross(f))  # adᵀ P
        M_2, F_2 = Matrix.cross(turned.moment), Matrix.cross(turned.force)
        A = A - scaled(M, 0.5) + scaled(M_2 - W @ M - V @ F, k)
        B = B - scaled(F, 0.5) + scaled(F_2 - W @ F, k)
        C = C - scaled(F, 0.5) + scaled(F_2 - W @ F, k)
        # · dlog_-X
        return PropagatedInertia(
            A @ backward.A + B @ backward.N, B @ backward.A, C @ backward.A + D @ backward.N, D @ backward.A
        )
