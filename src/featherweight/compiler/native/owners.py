"""Native things that live as long as a Python object does."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
FEW = 100  # things among which we look for those of nobody, and again when they have doubled


class Owned(Generic[T]):
    """Things by their owner, freed some time after the owner is gone.

    Not at once: Python drops an owner in the midst of anything, at the bottom of a recursion or in another thread,
    where no lock may be waited for; and a fork must not find anybody at it. All but `reference` is done with the
    compile lock held. A thing may be freed twice, if an exception of a signal handler comes right after the first time.
    """

    def __init__(self, free: Callable[[T], object]) -> None:
        self._free = free
        self._gone: deque[weakref.ref[Any]] = deque()
        self._look_through_at = FEW
        self.things: dict[weakref.ref[Any], T] = {}

    def reference(self, owner: object) -> weakref.ref[Any]:
        """The key for a thing of this owner."""
        return weakref.ref(owner, self._gone.append)

    def free_what_nobody_owns(self) -> None:
        if len(self.things) > self._look_through_at:  # Python does not tell us of one that goes where the stack is full
            self._gone.extend([owner for owner in self.things if owner() is None])
            self._look_through_at = FEW + 2 * len(self.things)
        while self._gone:
            owner = self._gone[0]
            if owner in self.things:
                self._free(self.things[owner])
                del self.things[owner]
            del self._gone[0]
