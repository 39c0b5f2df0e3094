"""Where the search for a step begins: δ from q, v and, if there were steps before this one, what they were like.

Differences ∇ʲx of a smooth sequence x get smaller with j until they are made of rounding errors, which grow with j. Where
they are smallest, at j = n, the sequence is known best: the parabola of degree n - 1 that fits the last n + 1 values best
(least squares) goes on with

    x + ∇x + … + ∇ⁿ⁻¹x - n / (n + 1) ∇ⁿx,

which has a third to a half of the rounding errors of the one through n values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree
from featherweight.scalar import where

GUESSES = ("rest", "velocity", "dynamics", "extrapolated")
LEVELS = 8  # differences that are kept, from the 0th on
EACH = LEVELS + 1  # numbers that are kept of a coordinate: the differences up to the last value but one, and the last
SIZES = LEVELS - 1  # numbers that are kept of all together: Σ (∇ʲx)², j from 1 on


def memory_size(nv: int) -> int:
    """Numbers that are remembered."""
    return EACH * nv + SIZES


def expected(tree: Tree, memory: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The next of a sequence, coordinate by coordinate; and what is remembered, up to the last value."""
    weights = _weights(memory[-SIZES:])
    kept, following = list(memory), [0] * tree.nv
    sizes: list[Any] = [0.0] * LEVELS
    for k in tree.coordinates():
        begin = EACH * k
        level = memory[begin + LEVELS]
        for j, weight in enumerate(weights):
            kept[begin + j] = level
            following[k] = following[k] + weight * level
            sizes[j] = sizes[j] + level * level
            level = level - memory[begin + j]
    kept[-SIZES:] = sizes[1:]
    return following, kept


def remembered(tree: Tree, kept: Sequence[Any], latest: Sequence[Any]) -> list[Any]:
    """The same after one more value."""
    memory = list(kept)
    for k in tree.coordinates():
        memory[EACH * k + LEVELS] = latest[k]
    return memory


def _weights(sizes: Sequence[Any]) -> list[Any]:
    """Of each difference in the next value."""
    least, n = sizes[0], 1.0
    for j, size in enumerate(sizes[1:], start=2):
        less = size < least
        least, n = where(less, size, least), where(less, float(j), n)
    last = -n / (n + 1.0)
    return [1.0, *(where(n > j, 1.0, where(n == j, last, 0.0)) for j in range(1, LEVELS))]
