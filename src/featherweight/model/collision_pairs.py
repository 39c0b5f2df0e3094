"""Which shapes of a model may touch which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from featherweight.model.model import Model


def used_pairs(model: Model, pairs: str | Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Pairs of numbers of `model.shapes` for "auto", "ground" or "none", or for pairs of names."""
    shapes = model.shapes
    if pairs in ("ground", "none"):
        return []
    every = [(i, j) for j in range(len(shapes)) for i in range(j)]
    if pairs == "auto":
        parent = model.parent
        return [
            (i, j)
            for i, j in every
            if shapes[i].body != shapes[j].body
            and (0 in (shapes[i].body, shapes[j].body) or parent[shapes[i].body] != shapes[j].body != 0)
            and (0 in (shapes[i].body, shapes[j].body) or parent[shapes[j].body] != shapes[i].body != 0)
        ]
    names = [shape.name for shape in shapes]
    return [(names.index(a), names.index(b)) for a, b in pairs if not isinstance(pairs, str)]
