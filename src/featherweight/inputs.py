"""Numbers as inputs: which numbers of an object are arguments of its compiled code, so that others compile nothing.

An object says so in a method `over(numbers)`, which gives the same object over other scalars: it asks `numbers` for
each of its numbers. What it does not ask for (kinds, counts, what is absent) is structure, and shapes the code.

>>> numbers = Numbers()
>>> numbers.optional(0.0), numbers.direction((0.0, 0.6, 0.8)), numbers.values
(0.0, (0.0, Ellipsis, Ellipsis), [0.6, 0.8])
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Thing = TypeVar("Thing")


INPUT = ...  # stands for a number where only the structure of an object is asked for


class Numbers:
    """The numbers of objects, in the order in which they are asked for.

    Without scalars it collects `values` and gives `INPUT` for each: what is left of an object is its structure. With
    scalars it gives these instead.
    """

    def __init__(self, scalars: Iterable[Any] | None = None) -> None:
        self.values: list[float] = []
        self._scalars = None if scalars is None else iter(scalars)

    def number(self, x: Any) -> Any:
        """A number that is an input whatever it is."""
        self.values.append(float(x) if isinstance(x, (int, float)) else x)
        return INPUT if self._scalars is None else next(self._scalars)

    def optional(self, x: Any) -> Any:
        """A number that is absent if it is 0 or None: then code for it is left out."""
        return x if x is None or _is_any_of(x, (0.0,)) else self.number(x)

    def direction(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Components of a direction or rotation: 0, 1 and -1 are structure, for they cost nothing."""
        return tuple(x if _is_any_of(x, (0.0, 1.0, -1.0)) else self.number(x) for x in xs)


def with_fields(thing: Thing, **values: Any) -> Thing:
    """A copy of a frozen object with other values in some fields; nothing is checked or derived again."""
    new = copy.copy(thing)
    for name, value in values.items():
        object.__setattr__(new, name, value)
    return new


def absent(x: Any) -> bool:
    """Is it known to be 0, while a program is traced and ever after?"""
    return _is_any_of(x, (0.0,))


def _is_any_of(x: Any, values: tuple[float, ...]) -> bool:
    return isinstance(x, (int, float)) and x in values
