"""Where the search for a step begins: δ from q, v and, if there were steps before this one, what they were like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GUESSES = ("rest", "velocity", "dynamics", "extrapolated")
MEMORY = 6  # steps before this one


def extrapolated(past: Sequence[Any]) -> Any:
    """The next of a smooth sequence, from its differences: x + ∇x + ∇²x + …"""
    total = past[0]
    for dx in past[1:]:
        total = total + dx
    return total


def remembered(past: Sequence[Any], latest: Any) -> list[Any]:
    """The differences after one more."""
    kept = [latest]
    for old in past[: MEMORY - 1]:
        kept.append(kept[-1] - old)
    return kept
