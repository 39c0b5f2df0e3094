"""Where the search for a step begins: δ from q, v and, if there were steps before this one, what they were like.

Of a smooth sequence the next one is x + ∇x + ∇²x + …: the differences ∇ʲx get smaller until they are made of rounding
errors, which grow. The sum goes up to the smallest, ∇ⁿx, as the differences of the step before have it. Through n + 1
values there is one polynomial of degree n; the one that fits n + 2 values best (least squares) has half of the rounding
errors, and is the same sum with -(n + 1) / (n + 2) ∇ⁿ⁺¹x added to it.
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


def extrapolated(tree: Tree, v: Sequence[Any], h: Any, memory: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """h v and the next of what steps had beyond it; and what is remembered, up to the last step.

    Of a coordinate that is x, ∇x, ∇²x … up to the last step but one, all but x with the other sign, and -x of the last
    step: each new number is made in the place of an old one, and nothing is moved.
    """
    weights = _weights(memory[-LEVELS:])
    kept, delta = list(memory), [0] * tree.nv
    sizes: list[Any] = [0.0] * LEVELS
    for k in tree.coordinates():
        begin = EACH * k
        level = memory[begin + LEVELS]  # -∇ʲx
        kept[begin] = -level
        delta[k] = h * v[k] - level
        sizes[0] = sizes[0] + level * level
        for j in range(1, LEVELS):
            before = memory[begin + j - 1]
            level = level + before if j == 1 else level - before
            kept[begin + j] = level
            delta[k] = delta[k] - weights[j] * level
            sizes[j] = sizes[j] + level * level
    kept[-LEVELS:] = sizes
    return delta, kept


def remembered(tree: Tree, v: Sequence[Any], h: Any, kept: Sequence[Any], delta: Sequence[Any]) -> list[Any]:
    """The same after one more step."""
    memory = list(kept)
    for k in tree.coordinates():
        memory[EACH * k + LEVELS] = h * v[k] - delta[k]
    return memory


def _weights(sizes: Sequence[Any]) -> list[Any]:
    """Of each difference in the next value."""
    least, n = sizes[0], 0.0
    for j, size in enumerate(sizes[1:], start=1):
        less = size < least
        least, n = where(less, size, least), where(less, float(j), n)
    return [1.0, *(where(n >= j, 1.0, where(n == j - 1.0, -j / (j + 1.0), 0.0)) for j in range(1, LEVELS))]
