"""Whether functions are interpreted: for a thread, as long as its `with` lasts."""

from __future__ import annotations

import weakref
from contextvars import ContextVar

from featherweight.compiler.llvm.calls import OFF

# Those that hold here, by weak references: if an exception of a signal handler keeps one from being left, it holds
# until it is dropped and no longer.
_entered: ContextVar[tuple[weakref.ref[interpret], ...]] = ContextVar("featherweight.interpret", default=())


class interpret:
    """Run featherweight's functions on NumPy, line by line, without compiling: `with fw.interpret(): …`.

    For debuggers and for machines without a code generator. It holds for the thread (or asynchronous task) that is in
    it. Meanwhile calls from other threads are compiled as always, but take the slow path into native code.
    """

    _depth = 0  # how often it is entered

    def __enter__(self) -> interpret:
        self._depth += 1
        OFF.value += 1
        _entered.set((*_entered.get(), weakref.ref(self)))
        return self

    def __exit__(self, *error: object) -> None:
        entered = _entered.get()
        mine = [k for k, other in enumerate(entered) if other() is self]
        for k in mine[-1:]:  # not if it was entered in another thread
            _entered.set(entered[:k] + entered[k + 1 :])
        self._depth -= 1
        OFF.value -= 1

    def __del__(self) -> None:
        OFF.value -= self._depth


def interpreting() -> bool:
    """Are functions interpreted here?"""
    return bool(_entered.get()) and any(other() is not None for other in _entered.get())
