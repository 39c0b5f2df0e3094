"""Copies of arrays in single precision that native code keeps: floats that lead doubles, and floats that follow."""

from __future__ import annotations

import ctypes
import functools
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler.native.target import host
from featherweight.compiler.runtime.arguments import address_of
from featherweight.compiler.runtime.shared import load

_TABLE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # releases the interpreter lock
_PLACES = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@functools.cache
def _functions() -> tuple[Any, Any, Any]:
    """`to_double`, `to_single` and `run_between`: see `llvm/singles.py`."""

    def emit() -> str:
        from featherweight.compiler.llvm.singles import emit_singles
        from featherweight.compiler.llvm.support import attributes

        return emit_singles() + attributes(host())

    found = load("singles", host(), emit)
    return _TABLE(found["to_double"]), _TABLE(found["to_single"]), _PLACES(found["run_between"])


class Singles:
    """float32 arrays beside the double-precision views that they lead or follow.

    A view is (count, …), with its rows each in one piece.
    """

    def __init__(self) -> None:
        self._leading: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._following: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._tables = [_table(()), _table(())]
        self._places = (ctypes.c_int64 * 2)(*map(ctypes.addressof, self._tables))

    def of(self, name: str, view: np.ndarray, *, leads: bool) -> np.ndarray:
        """The array for a view, the same each time."""
        both = self._leading if leads else self._following
        if name not in both:
            both[name] = view, view.astype(np.float32)
            self._tables = [_table(copies.values()) for copies in (self._leading, self._following)]
            self._places[:] = [ctypes.addressof(table) for table in self._tables]
        return both[name][1]

    def read(self) -> None:
        """Before steps: take what was written into those that lead."""
        if self._leading:
            _functions()[0](self._places[0])

    def write(self) -> None:
        """After steps: show what is new in those that follow."""
        if self._following:
            _functions()[1](self._places[1])

    @property
    def address(self) -> int:
        """Where native code finds the tables of both."""
        return ctypes.addressof(self._places)

    @property
    def run_between(self) -> Any:
        """A native function of where five words are, (address, run, call, workspace, rows taken): reads, runs a loop on
        this thread, writes. One argument, because a call of five takes 0.3 us longer."""
        return _functions()[2]


def _table(copies: Any) -> Any:
    """The table of these copies that native code reads."""
    words = [len(copies)]
    for view, single in copies:
        columns = prod(view.shape[1:])
        words += [address_of(view), address_of(single), len(view), columns]
        words += [view.strides[0], single.itemsize * columns]
    return (ctypes.c_int64 * len(words))(*words)
