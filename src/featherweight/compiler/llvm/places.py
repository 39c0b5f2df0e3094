"""Where functions find what they refer to: at fixed places if it is there in all calls, else through a table.

Places that move together from call to call, like all entries of a limb's columns in a matrix, need one pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Place = tuple[str, int]  # a pointer, and how far from it [bytes]


@dataclass(frozen=True)
class Places:
    """Where a function finds each of its places; and of each pointer that it takes from a table, %place0, %place1 …,
    what it counts from, and how far it is from there in each call."""

    where: list[Place]
    pointers: list[str]
    table: list[list[int]]


def together(calls: Sequence[Sequence[Place]]) -> Places:
    """The places of a function that is called so many times, in the same order in each call."""
    groups: dict[tuple, list[int]] = {}  # those that move together
    first = calls[0]
    for n, of_calls in enumerate(zip(*calls, strict=True)):
        base, begin = of_calls[0]
        groups.setdefault((base, *[place - begin for _, place in of_calls]), []).append(n)
    where = list(first)
    pointers: list[str] = []
    lowest: list[int] = []  # of the places that a pointer serves
    for (base, *moves), members in groups.items():
        if any(moves):
            low = min(members, key=lambda n: first[n][1])
            for n in members:
                where[n] = f"%place{len(pointers)}", first[n][1] - first[low][1]
            pointers.append(base)
            lowest.append(low)
    return Places(where, pointers, [[call[n][1] for n in lowest] for call in calls])
