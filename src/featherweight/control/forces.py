"""Contact forces in friction cones: the small QP of a whole-body controller, solved by ADMM.

    minimise  ½ |A f - b|² + ½ ε |f|²   over   f = (f_1 … f_n),  f_i ∈ K_i = {0 ≤ z ≤ most_i, |(x, y)| ≤ μ z}

A has few rows (six for a wrench) and three columns a contact. The alternating direction method of multipliers (Boyd et
al., "Distributed Optimization and Statistical Learning via ADMM", 2011, section 3.4) iterates:

    x = argmin ½ |A x - b|² + ½ ε |x|² + ½ ρ |x - z + u|²,   z = Π_K (α x + (1 - α) z + u),   u += α x + (1 - α) z - z⁺

With few rows the first is cheap: (AᵀA + σ 1)⁻¹ = (1 - Aᵀ (A Aᵀ + σ 1)⁻¹ A) / σ, σ = ε + ρ. What is returned is z, which
is in the cones whatever the number of iterations.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.control.algebra import symmetric_inverse
from featherweight.scalar import maximum, minimum, repeat, sqrt, where

RELAXATION = 1.6  # α
FIRST_RESIDUAL = 1e30


@dataclass(frozen=True)
class Forces:
    """Forces z of the contacts (n, 3) in their cones, scaled multipliers u (n, 3), residual [N] and iterations.

    z and u are the warm start of the next problem.
    """

    z: np.ndarray
    u: np.ndarray
    residual: Any
    turns: Any


@dataclass(frozen=True)
class AdmmIterate:
    """What an iteration hands to the next: z and u (3n,), the residual, iterations so far."""

    z: list[Any]
    u: list[Any]
    residual: Any = FIRST_RESIDUAL
    turns: Any = 0.0


def forces_in_cones(
    A: np.ndarray,
    b: np.ndarray,
    *,
    friction: float,
    most: Sequence[Any],
    warm: tuple[np.ndarray, np.ndarray] | None = None,
    regularisation: float = 1e-3,
    rho: float = 0.1,
    tolerance: float = 1e-3,
    iterations: int = 100,
) -> Forces:
    """Solve the problem above, over any scalar.

    Every number may be a traced value, so an input of your controller; the number of contacts and `iterations` are
    structure.

    Args:
        A: shape (m, 3n); three columns a contact, the third along the normal.
        b: shape (m,).
        friction: μ of all contacts.
        most: limit of each normal force [N], shape (n,); 0 for a contact that is open.
        warm: warm start, z and u of the last problem, shape (n, 3) each.
        regularisation: ε.
        rho: ρ, the penalty that ties the two copies x and z together.
        tolerance: residual [N] at which the iteration stops: the larger of `|x - z|` and `|z⁺ - z|`.
        iterations: most iterations; after them z is taken as it is.
    """
    n, A, b = len(most), np.asarray(A), np.asarray(b)
    _check(A, b, n, friction=friction, regularisation=regularisation, rho=rho)
    sigma = regularisation + rho
    per_sigma, cone = 1.0 / sigma, FrictionCone.of(friction)
    K = symmetric_inverse(A @ A.T + sigma * np.eye(len(A)))
    wanted = A.T @ b

    def turn(last: AdmmIterate) -> AdmmIterate:
        z, u = np.array(last.z, dtype=object), np.array(last.u, dtype=object)
        r = wanted + rho * (z - u)
        x = (r - A.T @ (K @ (A @ r))) * per_sigma
        mixed = RELAXATION * x + (1.0 - RELAXATION) * z
        ahead = mixed + u
        after = [e for i in range(n) for e in cone.nearest(ahead[3 * i : 3 * i + 3], most[i])]
        residual: Any = 0.0
        for k in range(3 * n):
            residual = maximum(residual, maximum(abs(x[k] - after[k]), abs(after[k] - z[k])))
        return AdmmIterate(after, list(ahead - np.array(after, dtype=object)), residual, last.turns + 1.0)

    z_0, u_0 = ([0.0] * (3 * n), [0.0] * (3 * n)) if warm is None else (list(np.ravel(w)) for w in warm)
    last = repeat(turn, AdmmIterate(z_0, u_0), until=lambda iterate: iterate.residual <= tolerance, at_most=iterations)
    z, u = (np.array(rows, dtype=object).reshape(n, 3) for rows in (last.z, last.u))
    return Forces(z, u, last.residual, last.turns)


def _check(A: np.ndarray, b: np.ndarray, n: int, **positive: Any) -> None:
    """Raise ValueError for shapes that do not fit n contacts, and for a number that is negative, or ρ that is zero."""
    if A.ndim != 2 or A.shape[1] != 3 * n or b.shape != A.shape[:1]:
        raise ValueError(f"A, b: expected shapes (m, {3 * n}) and (m,) for {n} contacts, got {A.shape} and {b.shape}")
    for name, number in positive.items():
        if isinstance(number, numbers.Real) and not (float(number) >= 0 and (float(number) > 0 or name != "rho")):
            raise ValueError(f"{name}: expected a number {'> 0' if name == 'rho' else 'of 0 or more'}, got {number!r}")


@dataclass(frozen=True)
class FrictionCone:
    """The cone |(x, y)| ≤ μ z: μ, and 1 / (1 + μ²), which is computed once, before the iteration."""

    friction: Any
    slope: Any

    @classmethod
    def of(cls, friction: Any) -> FrictionCone:
        """The cone of a coefficient of friction."""
        return cls(friction, 1.0 / (1.0 + friction * friction))

    def nearest(self, f: Sequence[Any], most: Any) -> list[Any]:
        """The nearest force with 0 ≤ z ≤ most and |(x, y)| ≤ μ z.

        First onto the cone without an end: itself, the tip, or z = (z + μ |(x, y)|) / (1 + μ²). Where that is beyond
        the end, the nearest point has z = most, and (x, y) is pulled into the disc there.
        """
        x, y, z = f
        square = x * x + y * y
        along = sqrt(square)
        onto = maximum((z + self.friction * along) * self.slope, 0.0)
        height = minimum(where(along <= self.friction * z, z, onto), most)
        radius = self.friction * height
        shrink = where(along > radius, radius / where(along > 0, along, 1.0), 1.0)
        return [x * shrink, y * shrink, height]
