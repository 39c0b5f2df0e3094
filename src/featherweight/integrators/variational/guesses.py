"""Where the search for a step begins: δ from q, v and, if there were steps before this one, what they were like.

Of a smooth sequence the next one is x + ∇x + ∇²x + …: the differences ∇ʲx get smaller until they are made of rounding
errors, which grow. The sum goes up to the smallest; which one that is, the differences of the step before have said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree
from featherweight.scalar import where

GUESSES = ("rest", "velocity", "dynamics", "extrapolated")
LEVELS = 8  # differences that are kept, from the 0th on
EACH = LEVELS + 1  # numbers that are kept of a coordinate: the differences up to the last value but one, and the last


def memory_size(nv: int) -> int:
    """Numbers that are remembered: for each coordinate, and at last the squares of the differences, all together."""
    return EACH * nv + LEVELS


def expected(tree: Tree, memory: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The next of a sequence, coordinate by coordinate; and what is remembered, up to the last value."""
    weights = _weights(memory[-LEVELS:])
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
    kept[-LEVELS:] = sizes
    return following, kept


def remembered(tree: Tree, kept: Sequence[Any], latest: Sequence[Any]) -> list[Any]:
    """The same after one more value."""
    memory = list(kept)
    for k in tree.coordinates():
        memory[EACH * k + LEVELS] = latest[k]
    return memory


def _weights(sizes: Sequence[Any]) -> list[Any]:
    """Of each difference in the next value: 1 up to the smallest, then 0."""
    least, last = sizes[0], 0.0
    for j, size in enumerate(sizes[1:], start=1):
        less = size < least
        least, last = where(less, size, least), where(less, float(j), last)
    return [1.0, *(where(last >= j, 1.0, 0.0) for j in range(1, LEVELS))]
