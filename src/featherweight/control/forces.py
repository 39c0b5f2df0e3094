"""Contact forces within friction cones that come as near as possible to what is wanted of them: a small QP by ADMM.

    minimise  ½ |A f - b|² + ½ ε |f|²   over   f = (f_1 … f_n),  f_i ∈ K_i = {0 ≤ z ≤ most_i, |(x, y)| ≤ μ z}

A has few rows (six for a wrench) and three columns a contact. The alternating direction method of multipliers (Boyd et
al., "Distributed Optimization and Statistical Learning via ADMM", 2011, section 3.4) takes turns:

    x = argmin ½ |A x - b|² + ½ ε |x|² + ½ ρ |x - z + u|²,   z = Π_K (α x + (1 - α) z + u),   u += α x + (1 - α) z - z⁺

With few rows the first is cheap: (AᵀA + σ 1)⁻¹ = (1 - Aᵀ (A Aᵀ + σ 1)⁻¹ A) / σ, σ = ε + ρ. What is returned is z, which
is in the cones whatever the number of turns.
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
    """Forces of the contacts (n, 3) in their cones, the scaled multipliers u to begin the next time with, and how far
    the last turn moved [N]."""

    z: np.ndarray
    u: np.ndarray
    residual: Any
    turns: Any


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

    Args:
        A: shape (m, 3n); three columns a contact, the third along the normal.
        b: shape (m,).
        friction: μ of all contacts.
        most: normal force [N] that a contact may have, shape (n,); 0 for a contact that is not there.
        warm: z and u of the last time, shape (n, 3) each.
        regularisation: ε.
        rho: ρ, how stiffly the two copies x and z are tied together.
        tolerance: [N], by which x may miss z, and z may move in the last turn.
        iterations: turns after which the answer is taken as it is.
    """
    n = len(most)
    if np.ndim(A) != 2 or np.shape(A)[1] != 3 * n or np.shape(b) != (np.shape(A)[0],):
        raise ValueError(
            f"A, b: expected shapes (m, {3 * n}) and (m,) for {n} contacts, got {np.shape(A)} and {np.shape(b)}"
        )
    for name, number in (("friction", friction), ("regularisation", regularisation), ("rho", rho)):
        if isinstance(number, numbers.Real) and not (number >= 0 and (number > 0 or name != "rho")):
            raise ValueError(f"{name}: expected a number {'> 0' if name == 'rho' else 'of 0 or more'}, got {number!r}")
    A, b = np.asarray(A), np.asarray(b)
    sigma = regularisation + rho
    K = symmetric_inverse(A @ A.T + sigma * np.eye(len(A)))
    wanted = A.T @ b

    def turn(carry: list[Any]) -> list[Any]:
        z, u = np.array(carry[: 3 * n], dtype=object), np.array(carry[3 * n : 6 * n], dtype=object)
        r = wanted + rho * (z - u)
        x = (r - A.T @ (K @ (A @ r))) * (1.0 / sigma)
        mixed = RELAXATION * x + (1.0 - RELAXATION) * z
        ahead = mixed + u
        after = [e for i in range(n) for e in in_cone(ahead[3 * i : 3 * i + 3], friction, most[i])]
        residual: Any = 0.0
        for k in range(3 * n):
            residual = maximum(residual, maximum(abs(x[k] - after[k]), abs(after[k] - z[k])))
        return [*after, *(ahead - np.array(after, dtype=object)), residual, carry[-1] + 1.0]

    first = [0.0] * (6 * n) if warm is None else [*np.ravel(warm[0]), *np.ravel(warm[1])]
    last = repeat(turn, [*first, FIRST_RESIDUAL, 0.0], until=lambda carry: carry[-2] <= tolerance, at_most=iterations)
    z, u = (np.array(last[k : k + 3 * n], dtype=object).reshape(n, 3) for k in (0, 3 * n))
    return Forces(z, u, last[-2], last[-1])


def in_cone(f: Sequence[Any], friction: float, most: Any) -> list[Any]:
    """The nearest force with 0 ≤ z ≤ most and |(x, y)| ≤ μ z.

    First onto the cone without an end: itself, the tip, or z = (z + μ |(x, y)|) / (1 + μ²). Where that is beyond the
    end, the nearest point has z = most, and (x, y) is pulled into the disc there.
    """
    x, y, z = f
    square = x * x + y * y
    along = sqrt(square)
    onto = maximum((z + friction * along) * (1.0 / (1.0 + friction * friction)), 0.0)
    height = minimum(where(along <= friction * z, z, onto), most)
    radius = friction * height
    shrink = where(along > radius, radius / where(along > 0, along, 1.0), 1.0)
    return [x * shrink, y * shrink, height]
