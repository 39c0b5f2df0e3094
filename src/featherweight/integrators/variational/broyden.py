"""Broyden's method: quasi-Newton steps that learn from each other (Kelley, Iterative Methods, 1995, section 7.3).

It begins with M(q)⁻¹ in place of the inverse Jacobian, as `riqn` does, and improves it by the steps made so far. These
are kept: with z = -M⁻¹ e and steps s₀ … s_n, z ← z + s_(j+1) (s_j·z) / |s_j|² for j < n, then
s = z / (1 - (s_n·z) / |s_n|²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.scalar import where

KEPT = 6  # steps, after which it begins anew


@dataclass(frozen=True)
class Steps:
    """The steps made so far: `KEPT` of them, zero where there is none yet, and how many they are."""

    made: list[list[Any]]
    count: Any

    @staticmethod
    def none(nv: int) -> Steps:
        """Before the first."""
        return Steps([[0.0] * nv for _ in range(KEPT)], 0.0)

    def next(self, z: Sequence[Any]) -> tuple[list[Any], Steps]:
        """The next step for z = -M⁻¹ e, and the steps with it."""
        z, sizes = list(z), [_dot(step, step) for step in self.made]
        sizes = [where(size > 0, size, 1.0) for size in sizes]
        full = self.count >= KEPT
        fresh = z
        for j in range(KEPT - 1):
            scale = _dot(self.made[j], z) / sizes[j]
            z = [a + scale * b for a, b in zip(z, self.made[j + 1], strict=True)]
        last: Any = 0.0
        for j in range(KEPT):
            last = where(self.count == j + 1, _dot(self.made[j], z) / sizes[j], last)
        rest = 1.0 - last
        step = [where(full, a, b / where(rest != 0, rest, 1.0)) for a, b in zip(fresh, z, strict=True)]
        count = where(full, 0.0, self.count)
        kept = [
            [where(count == j, new, where(full, 0.0, old)) for new, old in zip(step, self.made[j], strict=True)]
            for j in range(KEPT)
        ]
        return step, Steps(kept, count + 1.0)


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    total: Any = 0.0
    for a, b in zip(x, y, strict=True):
        total = total + a * b
    return total
