"""The logarithm of a displacement, and the derivative of it on momenta: dlog, in closed form.

With X = (ω, v) = log Δ, θ = |ω| and u the vector part of Δ's quaternion, |u|² = y = sin²(θ/2):

    ω = a u,                              a = θ / sin(θ/2)
    v = (1 - ½ ω̂ + k ω̂²) p,               k = (1 - (θ/2) cot(θ/2)) / θ²
    dlog = [[A, 0], [N, A]],              A = 1 - ½ ω̂ + k ω̂²
    N = -½ v̂ + k (ω̂ v̂ + v̂ ω̂) + 2 k' (ω·v) ω̂²,   k' = dk/dθ².

a, k and k' are polynomials in y for θ ≤ 60°: no square root, no arc sine, no division, and exact at zero. A body that
turns more in one step is beyond what a step can do; `Log.within` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from featherweight.spatial import Displacement, Force, Motion

LARGEST_Y = 0.25  # sin²(θ/2) of the largest turn in a step: 60°
LEAST_W = 0.75**0.5  # cos(θ/2) of it

# interpolated at Chebyshev points of y with 50 digits: a to 1e-16, k to 4e-16, k' to 4e-16; the first is the value at 0
A = (
    2.0, 0.333333333333333, 0.15000000000041527, 0.08928571420684729, 0.06076389473419696, 0.04474409526348902,
    0.034710519911572646, 0.027859305804653265, 0.023750988765273845, 0.015605898954706635, 0.03207102869829764,
    -0.021498100679395615, 0.05633843612176283,
)  # fmt: skip
K = (
    0.08333333333333333, 0.005555555555554191, 0.002380952382042315, 0.0013932979169047224, 0.0009400959647473547,
    0.0006884817314779467, 0.0005350101263003709, 0.00040370037312623705, 0.00047823441420007156,
    -8.854536776823694e-05, 0.0008492111175476776,
)  # fmt: skip
K_RATE = (
    0.001388888888888889, 0.00026455026455162524, 0.00012786596031876888, 7.88307276582652e-05, 5.4769880747128864e-05,
    4.096539319638211e-05, 3.117383227915898e-05, 3.1439335803264944e-05, 1.7822567285564685e-06, 5.343295222865745e-05,
)  # fmt: skip


class Log(NamedTuple):
    """X = log Δ: h times the mean velocity of a step, in the body's axes; with k and k' of its angle."""

    X: Motion
    k: Any
    k_rate: Any

    @staticmethod
    def of(move: Displacement) -> Log:
        u, p = move.turn.vector, move.p
        y = u.dot(u)
        k = _polynomial(K, y)
        omega = u * _polynomial(A, y)
        turned = omega.cross(p)
        return Log(Motion(omega, p - turned * 0.5 + omega.cross(turned) * k), k, _polynomial(K_RATE, y))

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


def _polynomial(coefficients: Sequence[float], y: Any) -> Any:
    """Σ c_j y^j, by Horner's rule."""
    total: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * y + c
    return total
