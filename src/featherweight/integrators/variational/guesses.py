"""Where the search for a step begins: δ from q, v and, if there were steps before this one, what they were like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GUESSES = ("rest", "velocity", "dynamics", "extrapolated")
MEMORY = 6  # steps before this one


def extrapolated(nv: int, past: Sequence[Any]) -> list[Any]:
    """The next of a smooth sequence, from its differences: x + ∇x + ∇²x + …, each of them `nv` numbers."""
    total: list[Any] = list(past[:nv])
    for j in range(1, MEMORY):
        total = [x + dx for x, dx in zip(total, past[j * nv : (j + 1) * nv], strict=True)]
    return total


def remembered(nv: int, past: Sequence[Any], latest: Sequence[Any]) -> list[Any]:
    """The differences after one more."""
    level, kept = list(latest), list(latest)
    for j in range(1, MEMORY):
        level = [x - old for x, old in zip(level, past[(j - 1) * nv : j * nv], strict=True)]
        kept += level
    return kept
