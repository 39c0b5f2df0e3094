"""Lanes: a number of each of several states, in a NumPy array; what programs compute with when they are interpreted.

NumPy takes a microsecond for an operation on a few numbers, also if one side is a zero. Most products of a robot's
constants are, so here 0 · x, 1 · x and x + 0 are known, as they are in a trace. Comparisons give arrays of bool.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from featherweight.compiler.trace.remainder import mod_of_arrays

NUMBERS = (int, float)


class Lanes:
    """An array as a scalar."""

    __slots__ = ("values",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Any) -> None:
        self.values = values

    def __add__(self, other: Any) -> Lanes:
        if type(other) is Lanes:
            return Lanes(self.values + other.values)
        if type(other) in NUMBERS and other == 0:
            return self
        return Lanes(self.values + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Lanes:
        if type(other) is Lanes:
            return Lanes(self.values - other.values)
        if type(other) in NUMBERS and other == 0:
            return self
        return Lanes(self.values - other)

    def __rsub__(self, other: Any) -> Lanes:
        if type(other) in NUMBERS and other == 0:
            return Lanes(-self.values)
        return Lanes(other - self.values)

    def __mul__(self, other: Any) -> Any:
        if type(other) is Lanes:
            return Lanes(self.values * other.values)
        if type(other) in NUMBERS:
            if other == 0:
                return 0
            if other == 1:
                return self
        return Lanes(self.values * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Lanes:
        return Lanes(self.values / plain(other))

    def __rtruediv__(self, other: Any) -> Any:
        if type(other) in NUMBERS and other == 0:
            return 0
        return Lanes(other / self.values)

    def __pow__(self, exponent: int) -> Lanes:
        return Lanes(self.values**exponent)

    def __neg__(self) -> Lanes:
        return Lanes(-self.values)

    def __pos__(self) -> Lanes:
        return self

    def __abs__(self) -> Lanes:
        return Lanes(abs(self.values))

    def __lt__(self, other: Any) -> Any:
        return self.values < plain(other)

    def __le__(self, other: Any) -> Any:
        return self.values <= plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.values > plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.values >= plain(other)

    def __eq__(self, other: Any) -> Any:
        return self.values == plain(other)

    def __ne__(self, other: Any) -> Any:
        return self.values != plain(other)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions, and its numbers and arrays on the left of an operator."""
        if method != "__call__" or options:
            return NotImplemented
        result = ufunc(*map(plain, inputs))
        return result if result.dtype == bool else Lanes(result)

    def __mod__(self, other: Any) -> Lanes:
        return Lanes(mod_of_arrays(self.values, plain(other)))

    def __rmod__(self, other: Any) -> Lanes:
        return Lanes(mod_of_arrays(other, self.values))

    def __floordiv__(self, other: Any) -> Lanes:
        return Lanes(np.floor(self.values / plain(other)))

    def __rfloordiv__(self, other: Any) -> Lanes:
        return Lanes(np.floor(other / self.values))

    def __floor__(self) -> Lanes:
        return Lanes(np.floor(self.values))

    def __ceil__(self) -> Lanes:
        return Lanes(np.ceil(self.values))

    def __bool__(self) -> NoReturn:
        raise TypeError("numbers of several states are neither true nor false: use featherweight.scalar.where")

    def __repr__(self) -> str:
        return f"Lanes({np.array2string(np.asarray(self.values))})"


def plain(x: Any) -> Any:
    """The array, or what is no array anyway."""
    return x.values if type(x) is Lanes else x
