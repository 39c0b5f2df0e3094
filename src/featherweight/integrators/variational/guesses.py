"""Where the search for a step begins: δ from q, v and, if there were steps before this one, what they were like.

Of a smooth sequence the next one is x + ∇x + ∇²x + …: the more differences, the better, until they are made of rounding
errors, which grow from one difference to the next where smooth ones get smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree
from featherweight.scalar import where

GUESSES = ("rest", "velocity", "dynamics", "extrapolated")
MEMORY = 8  # differences that are kept, from the 0th on
SURE = 5  # of them are always used, the others if the last is smaller than the first of them


def extrapolated(tree: Tree, past: Sequence[Any]) -> list[Any]:
    """The next of a sequence, coordinate by coordinate, from the differences of the last one."""
    sure: list[Any] = [0] * tree.nv
    more: list[Any] = [0] * tree.nv
    first: Any = 0
    last: Any = 0
    for k in tree.coordinates():
        own = past[MEMORY * k : MEMORY * (k + 1)]
        sure[k], more[k] = _sum(own[:SURE]), _sum(own[SURE:])
        first, last = first + own[SURE] * own[SURE], last + own[-1] * own[-1]
    smooth = last < first
    for k in tree.coordinates():
        sure[k] = sure[k] + where(smooth, more[k], 0.0)
    return sure


def remembered(tree: Tree, past: Sequence[Any], latest: Sequence[Any]) -> list[Any]:
    """The differences after one more."""
    kept = list(past)
    for k in tree.coordinates():
        level = latest[k]
        for j in range(MEMORY * k, MEMORY * (k + 1)):
            kept[j], level = level, level - past[j]
    return kept


def _sum(values: Sequence[Any]) -> Any:
    total = values[0]
    for x in values[1:]:
        total = total + x
    return total
