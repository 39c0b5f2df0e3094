"""Numbers as inputs: which numbers of an object are arguments of its compiled code, so that others compile nothing.

An object says so in a method `over(numbers)`, which gives the same object over other scalars: it asks `numbers` for
each of its numbers. What it does not ask for (kinds, counts, what is absent) is structure, and shapes the code.

>>> numbers = Numbers()
>>> numbers.optional(0.0), numbers.direction((0.0, 0.6, 0.8)), numbers.values
(0.0, (0.0, Ellipsis, Ellipsis), [0.6, 0.8])
"""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

Thing = TypeVar("Thing")


INPUT = ...  # stands for a number where only the structure of an object is asked for


class Numbers:
    """The numbers of objects, in the order in which they are asked for.

    Without scalars it collects `values` and gives `INPUT` for each: what is left of an object is its structure. With
    scalars it gives these instead.
    """

    def __init__(self, scalars: Iterable[Any] | None = None, tables: Iterable[Any] = ()) -> None:
        self.values: list[float] = []
        self.tables: list[np.ndarray] = []
        self._scalars = None if scalars is None else iter(scalars)
        self._tables = iter(tables)

    def number(self, x: Any) -> Any:
        """A number that is an input whatever it is."""
        self.values.append(_real(x))
        if self._scalars is None:
            return INPUT
        scalar = next(self._scalars, None)
        if scalar is None:
            raise RuntimeError("over: expected to be asked for as many numbers as without scalars, got more")
        return scalar

    def optional(self, x: Any) -> Any:
        """A number that is absent if it is 0 or None: then code for it is left out."""
        if x is None:
            return None
        return 0.0 if _real(x) == 0 else self.number(x)

    def direction(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Components of a direction or rotation: 0, 1 and -1 are structure, for they cost nothing."""
        return tuple(_real(x) + 0.0 if _real(x) in (0.0, 1.0, -1.0) else self.number(x) for x in xs)

    def table(self, values: np.ndarray) -> Any:
        """Many numbers, shape (n,), that are read by `scalar.lookup`; how many they are is structure."""
        self.tables.append(np.ascontiguousarray(values, dtype=float))
        return (INPUT, len(values)) if self._scalars is None else next(self._tables)

    def end(self) -> None:
        """Raise RuntimeError if not all scalars were taken."""
        if self._scalars is not None and next(self._scalars, None) is not None:
            raise RuntimeError("over: expected to be asked for as many numbers as without scalars, got fewer")


def with_fields(thing: Thing, **values: Any) -> Thing:
    """A copy of a frozen object with other values in some fields; nothing is checked or derived again."""
    new = copy.copy(thing)
    for name, value in values.items():
        object.__setattr__(new, name, value)
    return new


def absent(x: Any) -> bool:
    """Is it known to be 0, while a program is traced and ever after?"""
    return isinstance(x, (int, float)) and x == 0


def _real(x: Any) -> float:
    """A number of an object as a float; TypeError for what is none."""
    is_array = isinstance(x, np.ndarray) and x.ndim == 0
    if isinstance(x, bool) or not (is_array or isinstance(x, numbers.Real)):
        raise TypeError(f"expected a real number as an input of compiled code, got {x!r} ({type(x).__name__})")
    return float(x)
