"""Whether objects of ours are still what they were: their fields, all the way down, by identity.

Cheaper than writing an `Identity` anew: objects whose parts cannot change inside are the same as long as each field is
the very object that it was.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from operator import is_, itemgetter
from typing import Any

import numpy as np

from featherweight.identity.ours import is_ours
from featherweight.identity.writer import PLAIN


class Fields:
    """The fields of some objects as they are now. `fixed` is false if a part is not one of ours, or can change inside:
    a list, an array that can be written to.

    >>> given = [1.0], (1.0, "text")
    >>> [Fields([x]).fixed for x in given]
    [False, True]
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        self.fixed = True
        self._kept = tuple(objects)
        self._found: dict[int, tuple[Any, Any, tuple[Any, ...]]] = {}  # by id: names, fields, values
        for x in self._kept:
            self._look(x)
        self._all = tuple(self._found.values())
        self._kinds = tuple(map(type, self._kept))

    def unchanged(self) -> bool:
        """Is every field still the same object, and each object of the same kind?"""
        if not all(map(is_, map(type, self._kept), self._kinds)):
            return False
        for names, fields, values in self._all:  # noqa: SIM110 (a generator takes twice as long)
            if not all(map(is_, names(fields), values)):
                return False
        return True

    def _look(self, x: Any) -> None:
        if isinstance(x, (*PLAIN, np.generic, enum.Enum)) or id(x) in self._found:
            return
        if type(x) is tuple:
            for part in x:
                self._look(part)
        elif type(x) is np.ndarray:
            self.fixed = self.fixed and not x.dtype.hasobject and not _writeable(x)
        elif is_ours(type(x)) and dataclasses.is_dataclass(x) and hasattr(x, "__dict__"):
            names = [f.name for f in dataclasses.fields(x) if f.name in x.__dict__]
            if names:
                values = tuple(x.__dict__[name] for name in names)
                many = itemgetter(*names, names[0])  # a tuple also of one
                self._found[id(x)] = many, x.__dict__, (*values, values[0])
                for value in values:
                    self._look(value)
        else:
            self.fixed = self.fixed and is_ours(type(x)) and not getattr(x, "__dict__", None)


def _writeable(array: Any) -> bool:
    """Can its memory be written to, by this array or by one that it is a part of?"""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return array is not None
