"""At most four of many contact points: the deepest, and those that spread widest around it. Masked argmax, no lists."""

from __future__ import annotations

from typing import Any, NamedTuple

from featherweight.collision.touch import FAR
from featherweight.scalar import absolute, where

STEEP = 5.0  # a point that is higher than the deepest one by x counts as nearer to it by 5 x
NOWHERE = -1e9


class Candidate(NamedTuple):
    """A point of a contact patch: its place [m] in the patch, its gap [m], and whether it is there."""

    u: Any
    v: Any
    gap: Any
    exists: Any


def spread(candidates: list[Candidate], apart: Any = 1e-6) -> list[tuple[Any, Any, Any]]:
    """(u, v, gap) of four points: the deepest; the farthest from it; the farthest to the left and right of that line.

    Points that are not there have the gap `FAR`; those nearer than `apart` [m] are one.
    """
    first = _best([where(p.exists, -p.gap, NOWHERE) for p in candidates], candidates)
    far = [(p.u - first.u, p.v - first.v, STEEP * (p.gap - first.gap)) for p in candidates]
    scores = [where(p.exists, u * u + v * v - z * z, NOWHERE) for p, (u, v, z) in zip(candidates, far, strict=True)]
    second = _best(scores, candidates)
    u, v = second.u - first.u, second.v - first.v
    length = absolute(u) + absolute(v)
    sides = [(u * y - v * x, length * z) for x, y, z in far]
    found = [first, second]
    for side in (1.0, -1.0):
        scores = [where(p.exists, side * x - z, NOWHERE) for p, (x, z) in zip(candidates, sides, strict=True)]
        found.append(_best(scores, candidates))
    exists = first.exists, length > apart, *(absolute(_side(first, second, p)) > apart * length for p in found[2:])
    return [(p.u, p.v, where(there & first.exists, p.gap, FAR)) for p, there in zip(found, exists, strict=True)]


def _side(a: Candidate, b: Candidate, p: Candidate) -> Any:
    return (b.u - a.u) * (p.v - a.v) - (b.v - a.v) * (p.u - a.u)


def _best(scores: list[Any], candidates: list[Candidate]) -> Candidate:
    """The candidate with the highest score, the first of equal ones; it exists if any does."""
    most, (u, v, gap, exists) = scores[0], candidates[0]
    for score, p in zip(scores[1:], candidates[1:], strict=True):
        is_best = score > most
        most, u, v, gap = (where(is_best, x, y) for x, y in ((score, most), (p.u, u), (p.v, v), (p.gap, gap)))
        exists = exists | p.exists
    return Candidate(u, v, gap, exists)
