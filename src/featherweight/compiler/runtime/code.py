"""Compiled code at work: a loaded module, its workspaces, the threads that run it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.llvm.calls import BLOCK, COUNT, WORTH_A_THREAD
from featherweight.compiler.native import cache
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.target import Target, host
from featherweight.compiler.runtime.arguments import address_of
from featherweight.compiler.runtime.pool import Team, pool, thread_count
from featherweight.compiler.runtime.shared import cache_key, support

if TYPE_CHECKING:
    from featherweight.compiler.llvm.module import Module
    from featherweight.compiler.plan.place import Plan

PART = 300_000  # characters of IR that are worth a thread: LLVM takes about a tenth of a second for them

# run(call, workspace, taken, k, n) releases the interpreter lock
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)


class Code:
    """A loaded module for one width, from the cache under its fingerprint or emitted and compiled now."""

    def __init__(
        self,
        width: int,
        fingerprint: str | None,
        emit: Callable[[Target], tuple[Plan, Module]],
        symbols: tuple[str, ...] = ("rows",),
    ) -> None:
        target = host()
        name = cache_key(target, fingerprint, str(width)) if fingerprint is not None else None
        stored = cache.read(name) if name else None
        self.from_cache = stored is not None
        if stored is not None:
            facts, objects = stored
        else:
            plan, module = emit(target)
            objects = target.object_codes(module.parts(_side_by_side(module, target)))
            facts = {
                "size": plan.size,
                "literals": plan.literals,
                "first_literal": plan.base["literal",],
                "cost": plan.cost,
            }
        self.width = width
        self.cost: int = facts["cost"]
        self._slots: int = facts["size"]
        self._literals: tuple[int, list[float]] = facts["first_literal"], facts["literals"]
        self.symbols = symbols
        self.library = Library(objects, ("run", *symbols), support(width, target))
        self._run = self.library["run"]
        self.run = _RUN(self._run)
        self.entry: Any = None
        self._teams: dict[int, Team] = {}
        self._workspaces: list[np.ndarray] = []  # not in use: calls from several Python threads have one each
        if name and stored is None:
            cache.write(name, facts, objects)

    @property
    def few(self) -> int:
        """So many rows are not worth a thread."""
        return max(2, WORTH_A_THREAD // self.cost)

    def workspace(self) -> np.ndarray:
        """Zeroed, on a cache line, with the literal block written."""
        n = self._slots * self.width
        memory = np.zeros(n + 8)
        start = (-memory.ctypes.data % 64) // 8
        ws = memory[start : start + n]
        first, literals = self._literals
        values = np.repeat(literals, self.width)
        ws[first * self.width : first * self.width + len(values)] = values
        return ws

    def run_rows(self, call: int, count: int, repeated: int = 1) -> bool:
        """The rows of the call at this address, on as many threads as they are worth; is any of them bad?"""
        n = 1
        if self.cost * count * repeated > WORTH_A_THREAD:
            n = min(thread_count(), -(-count // BLOCK))
        bad = None
        if n > 1:
            team = self._teams.get(n)
            if team is None:
                team = self._teams.setdefault(n, Team(self._run, [self.workspace() for _ in range(n)]))
            bad = pool().run(team, call)
        if bad is None:  # one thread is enough, or the others are at work
            try:
                ws = self._workspaces.pop()
            except IndexError:
                ws = self.workspace()
            bad = self.run(call, address_of(ws), ctypes.byref(ctypes.c_int64()), 0, 1)
            self._workspaces.append(ws)
        return bad > 0

    def run_many(self, call: int) -> bool | None:
        """For the entry point: run the rows of the call at this address; None if all are good."""
        return self.run_rows(call, ctypes.c_int64.from_address(call + 8 * COUNT).value) or None


def _side_by_side(module: Module, target: Target) -> int:
    """In so many parts a module is compiled."""
    if not target.links_modules:
        return 1
    return min(thread_count(), 1 + sum(map(len, module.functions)) // PART)
