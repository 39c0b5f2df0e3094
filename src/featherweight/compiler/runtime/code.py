"""Loaded machine code: its workspaces, its numbers, and the threads that run it."""

from __future__ import annotations

import ctypes
import logging
import time
import weakref
from array import array
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.llvm.calls import BLOCK, COUNT, WORTH_A_THREAD
from featherweight.compiler.native import cache
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.target import Target, host
from featherweight.compiler.runtime.arguments import address_of
from featherweight.compiler.runtime.feedback import told
from featherweight.compiler.runtime.pool import Team, pool, thread_count
from featherweight.compiler.runtime.shared import cache_key, support

if TYPE_CHECKING:
    from featherweight.compiler.llvm.module import Module
    from featherweight.compiler.runtime.kernel import Kernel, Traced

WORTH_A_WORD = 1.0  # [s] that compiling takes before it is logged
PART = 300_000  # characters of IR that are worth a thread: LLVM takes about a tenth of a second for them

_log = logging.getLogger("featherweight")

Bound = tuple["MachineCode", "array[float]"]  # code, and the numbers it works on
# run(call, workspace, taken, k, n) releases the interpreter lock
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)


class MachineCode:
    """A loaded module: what follows from the structure of a trace. Kernels that differ in numbers alone share it."""

    def __init__(self, facts: dict[str, Any], objects: Sequence[bytes], width: int, symbols: tuple[str, ...]) -> None:
        self.cost: int = facts["cost"]
        self.first_literal: int = facts["first_literal"]
        self.literals: list[float | int] = facts["literals"]  # values, or places in the table of a trace
        self.first_number: int = facts["first_number"]
        self.numbers: list[int] = facts["numbers"]  # places in the table of a trace
        self.library = Library(objects, ("run", *symbols), support(width, host(), facts["support"]))
        self.run = _RUN(self.library["run"])

    def numbers_of(self, table: Sequence[float]) -> array[float]:
        """What this code reads, in its order: the literal block, then what it takes of the table of a trace."""
        literals = (x if isinstance(x, float) else table[x] for x in self.literals)
        return array("d", (*literals, *(table[k] for k in self.numbers)))


class _Spare:
    """A workspace for one call at a time, and the count of blocks that the call has taken."""

    def __init__(self, workspace: np.ndarray) -> None:
        self._taken = ctypes.c_int64()
        self._keep, self._places = workspace, (address_of(workspace), ctypes.addressof(self._taken), 0, 1)

    def run(self, code: Any, call: int) -> int:
        self._taken.value = 0
        return code(call, *self._places)


_loaded: weakref.WeakValueDictionary[str, MachineCode] = weakref.WeakValueDictionary()
_recent: deque[MachineCode] = deque(maxlen=32)  # kept for the next robot, though the last one is gone


class Code:
    """A kernel's code for one width: machine code, the numbers it is bound to, workspaces.

    Found on disk by the kernel's fingerprint, which needs no tracing. Else the kernel is traced, and machine code is
    found by the structure of the trace, in this process or on disk, or compiled now.
    """

    def __init__(self, kernel: Kernel, width: int, symbols: tuple[str, ...] = ("rows",), kind: str = "") -> None:
        self.width, self.symbols, self._kind = width, symbols, kind
        self.from_cache = True
        known = kernel.fingerprint and cache_key(host(), f"numbers {kind} {width}", kernel.fingerprint)
        self.machine, self._numbers = (known and self._read(known)) or self._trace(kernel, known)
        if self.machine not in _recent:
            _recent.append(self.machine)
        self.cost = self.machine.cost
        self.library, self.run = self.machine.library, self.machine.run
        self.entry: Any = None
        self._teams: dict[int, Team] = {}
        self._spare: list[_Spare] = []  # workspaces not in use: calls from several Python threads have one each

    def _read(self, known: str) -> Bound | None:
        """Code and numbers cached under a fingerprint; None if either is missing."""
        stored = cache.read(known)
        if stored is None:
            return None
        facts, _ = stored
        machine = self._load(facts["structure"])
        return None if machine is None else (machine, array("d", facts["numbers"]))

    def _trace(self, kernel: Kernel, known: str | None) -> Bound:
        """Code found, or compiled, by the structure of the trace."""
        with told(kernel.name) as notice:
            start = time.perf_counter()
            traced = kernel.traced()
            machine = self._load(traced.structure)
            if machine is None:
                traced, machine = self._compile(kernel)
        seconds = time.perf_counter() - start
        if seconds > WORTH_A_WORD and not self.from_cache:
            level = logging.INFO if notice.shown else logging.WARNING
            _log.log(level, "%s: compiled in %.1f s; the next process finds it in the cache", kernel.name, seconds)
        kernel.forget()
        numbers = machine.numbers_of(traced.table)
        if known:
            cache.touch(cache_key(host(), self._name(traced.structure)) or "")
            cache.write(known, {"structure": traced.structure, "numbers": numbers.tolist()}, ())
        return machine, numbers

    def _load(self, structure: str) -> MachineCode | None:
        """Machine code loaded in this process, or read from the disk cache; None if there is none."""
        machine = _loaded.get(self._name(structure))
        if machine is None:
            name = cache_key(host(), self._name(structure))
            stored = cache.read(name) if name else None
            if stored is not None:
                machine = _loaded[self._name(structure)] = MachineCode(*stored, self.width, self.symbols)
        return machine

    def _compile(self, kernel: Kernel) -> tuple[Traced, MachineCode]:
        self.from_cache = False
        target = host()
        traced, plan = kernel.planned()
        module = kernel.module(self.width, target)
        objects = target.object_codes(module.parts(_side_by_side(module, target)))
        facts = {
            "cost": plan.cost,
            "first_literal": plan.base["literal",],
            "literals": plan.literals,
            "first_number": plan.first_number(self.width),
            "numbers": plan.numbers,
            "support": module.groups,
        }
        machine = _loaded[self._name(traced.structure)] = MachineCode(facts, objects, self.width, self.symbols)
        name = cache_key(target, self._name(traced.structure))
        if name:
            cache.write(name, facts, objects)
        return traced, machine

    def _name(self, structure: str) -> str:
        return f"code {self._kind} {self.width} {structure}"

    @property
    def few(self) -> int:
        """Largest number of rows for which a second thread does not pay."""
        return max(2, WORTH_A_THREAD // self.cost)

    def workspace(self) -> np.ndarray:
        """Zeroed, on a cache line, with the literal block and the numbers written.

        Zeros are written: pages that are read and never written (values that no lane has needed yet) would all be one
        page of the system, at many addresses, which some processors keep only one of in their nearest cache."""
        machine, literals = self.machine, len(self.machine.literals)
        n = machine.first_number // 8 + len(machine.numbers)
        memory = np.empty(n + 8)
        memory.fill(0.0)
        start = (-memory.ctypes.data % 64) // 8
        ws = memory[start : start + n]
        first = machine.first_literal * self.width
        ws[first : first + literals * self.width] = np.repeat(self._numbers[:literals], self.width)
        ws[machine.first_number // 8 :] = self._numbers[literals:]
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
                team = self._teams.setdefault(n, Team(self.library["run"], [self.workspace() for _ in range(n)]))
            bad = pool().run(team, call)
        if bad is None:  # one thread is enough, or the others are at work
            try:
                spare = self._spare.pop()
            except IndexError:
                spare = _Spare(self.workspace())
            bad = spare.run(self.run, call)
            self._spare.append(spare)
        return bad > 0

    def run_many(self, call: int) -> bool | None:
        """For the entry point: run the rows of the call at this address; None if all are good."""
        return self.run_rows(call, ctypes.c_int64.from_address(call + 8 * COUNT).value) or None


def _side_by_side(module: Module, target: Target) -> int:
    """Number of parts in which a module is compiled in parallel."""
    if not target.links_modules:
        return 1
    return min(thread_count(), 1 + sum(map(len, module.functions)) // PART)
