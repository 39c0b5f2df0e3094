"""Two shapes that may touch, by name, and coefficients of this pair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

from featherweight.contact.surfaces import check_friction, check_restitution

WORDS = ("ground", "auto", "none")
Pairs = Union[str, "tuple[Pair, ...]", None]  # which shapes may touch which, checked


@dataclass(frozen=True)
class Pair:
    """Two shapes, or all shapes of two links, that may touch.

    Args:
        a, b: names of shapes or links.
        friction: μ of this pair; None: the geometric mean of both shapes' own.
        restitution: e of this pair; None: the larger one of both shapes' own.
    """

    a: str
    b: str
    friction: float | None = None
    restitution: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.a, str) or not isinstance(self.b, str):
            raise TypeError(f"Pair: expected two names of shapes or links, got {self.a!r} and {self.b!r}")
        if self.friction is not None:
            check_friction("Pair: friction", self.friction)
        if self.restitution is not None:
            check_restitution("Pair: restitution", self.restitution)


def checked_pairs(pairs: Any) -> Pairs:
    """What was given, with pairs as a tuple of `Pair`; TypeError or ValueError for anything else."""
    if pairs is None or (isinstance(pairs, str) and pairs in WORDS):
        return pairs
    expected = "'ground', 'auto', 'none', or pairs of names of shapes or links"
    if isinstance(pairs, (str, Pair)) or not isinstance(pairs, Iterable):
        raise ValueError(f"pairs: expected {expected}, got {pairs!r}")
    return tuple(_pair(one, expected) for one in pairs)


def _pair(given: Any, expected: str) -> Pair:
    if isinstance(given, Pair):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return Pair(*given)
    raise ValueError(f"pairs: expected {expected}, got {given!r} among them")
