"""A cached property without a lock: what is computed once of an object that does not change.

`functools.cached_property` holds a lock while it computes, one for all objects of a class, up to Python 3.11. A child
that is forked meanwhile finds it held by a thread that is not there, and waits for ever.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class cached_property(functools.cached_property[T_co]):
    """Computed when first asked for, then kept in the object's dictionary; two threads may both compute it."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T_co]: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T_co: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(str(self.attrname), self.func(instance))
