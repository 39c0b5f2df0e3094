"""Kernel: a traced function as native code, NumPy arrays in, NumPy arrays out.

A kernel is traced when it is first needed, compiled for one lane when it is first called with one
state and for a pack when it is first called with a batch. Both give the same bits.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from featherweight.compiler.llvm.calls import ARRAYS, COUNT, STATUS
from featherweight.compiler.native.cache import key
from featherweight.compiler.native.lock import compiling, uncollected
from featherweight.compiler.native.target import Target, host
from featherweight.compiler.runtime.arguments import (
    address_of,
    as_array,
    as_rows,
    batch_shape,
    checked_out,
    first_not_finite,
)
from featherweight.compiler.runtime.code import Code
from featherweight.compiler.runtime.feedback import told
from featherweight.compiler.runtime.interpretation import interpreting
from featherweight.compiler.runtime.memory import empty
from featherweight.compiler.runtime.shared import entry_point
from featherweight.compiler.trace.arrays import InputArray
from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.lanes import Lanes, plain
from featherweight.compiler.trace.node import Node
from featherweight.compiler.trace.number_array import NumberArray

if TYPE_CHECKING:
    from featherweight.compiler.llvm.module import Module
    from featherweight.compiler.plan.place import Plan

Scalars = list[Any]  # of each array its numbers in a list, or an array that is read by index
Lift = Callable[[float], Any]
# function(inputs, lift, mark) -> flat outputs, and a check that is zero where the inputs are good
Function = Callable[[Scalars, Lift, Callable[[], None]], tuple[Scalars, Any]]
Written = tuple[Graph, list[int | float]]  # a trace, and the function's results as nodes or numbers


@dataclass(frozen=True)
class Traced:
    """A trace in two halves: all that shapes code, as a text, and the model's numbers, which are bound to the code."""

    structure: str
    table: array[float]


@dataclass(frozen=True)
class Argument:
    """An input: its name, the shape of one state's value, and that shape in symbols for messages."""

    name: str
    shape: tuple[int, ...]
    symbols: str
    parts: tuple[int, ...] = (0,)  # where the parts of the flattened value begin
    read_by_index: bool = False  # as an array: it stays where it is, for a table that is too long to be unrolled


class Kernel:
    """A function of scalars, compiled for arrays of them."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[Argument],
        outputs: Sequence[tuple[int, ...]],
        function: Function,
        explain: Callable[[dict[str, np.ndarray]], str],
        chunk_limit: int | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.function = function
        self.explain = explain  # what is wrong when the check is not zero
        self.chunk_limit = chunk_limit  # operations in a function; None: as usual
        self.fingerprint = fingerprint  # everything the function depends on but this package; None: not known
        self.carried = 0  # of a loop: how many of the inputs the first results replace
        self._plan: tuple[Traced, Plan] | None = None
        self._written: Written | None = None
        self._traced: Traced | None = None
        self._saved: Callable[[], Written] | None = None  # the trace, where it was not made here
        self._code: dict[int, Code] = {}

    # ---- compiling

    def adopt(self, structure: str, table: np.ndarray, saved: Callable[[], Written]) -> None:
        """Take a trace that was made elsewhere: structure and numbers now, the rest when code must be compiled."""
        self._traced, self._saved = Traced(structure, array("d", table.tolist())), saved

    @property
    def plan(self) -> Plan:
        """The program, cut and laid out; traced on first use."""
        return self.planned()[1]

    def planned(self) -> tuple[Traced, Plan]:
        """The trace's structure and numbers, with the plan of that same trace."""
        with compiling:
            if self._plan is None:
                with told(self.name):
                    self._plan = uncollected(self._make_plan)
            self._written = None  # the plan has all of it
            return self._plan

    def _make_plan(self) -> tuple[Traced, Plan]:
        from featherweight.compiler.plan.place import Input  # what only compiles is loaded when something is compiled
        from featherweight.compiler.plan.plan import CHUNK_LIMIT, plan

        graph, entries = self._write()
        inputs = [Input(prod(a.shape), a.parts, a.read_by_index) for a in self.inputs]
        return self.traced(), plan(graph, entries, inputs, self.chunk_limit or CHUNK_LIMIT, self.carried)

    def _write(self) -> Written:
        """What the function does, in operations that have code, and its results as nodes or numbers. It is run once,
        for key and plan: another time it might do something else."""
        if self._written is None and self._saved is not None:
            graph, entries = self._saved()
            if self._structure(graph, entries) != cast(Traced, self._traced).structure:
                raise ValueError(f"{self.name}: the trace that was read is not the one it says it is")
            self._written = graph, entries
        elif self._written is None:
            from featherweight.compiler.plan.lower import lower

            graph = Graph()
            scalars: Scalars = [
                InputArray(graph, k, n) if a.read_by_index else [graph.input(k, j) for j in range(n)]
                for k, (a, n) in enumerate((a, prod(a.shape)) for a in self.inputs)
            ]
            with graph.written():
                results, check = self.function(scalars, graph.model_constant, graph.mark)
            graph, entries = lower(graph, [_entry(value) for value in (*(x for r in results for x in r), check)])
            traced = Traced(self._structure(graph, entries), array("d", graph.table))
            self._traced, self._written = traced, (graph, entries)  # both or none
        return self._written

    def _structure(self, graph: Graph, entries: list[int | float]) -> str:
        """Name of the code that follows from a trace, whatever the numbers of the model are."""
        inputs = [(a.shape, a.parts, a.read_by_index) for a in self.inputs]
        shapes = f"{inputs} {self.outputs} {self.chunk_limit} {self.carried}"
        return key(shapes, str(entries), graph.structure())

    def written(self) -> tuple[Traced, Written]:
        """The whole trace, to be written to a file."""
        with compiling:
            written = uncollected(self._write)
            return self.traced(), written

    def traced(self) -> Traced:
        """Structure of the trace, which determines the code, and its table of numbers."""
        with compiling:
            if self._traced is None:
                uncollected(self._write)
            return cast(Traced, self._traced)

    def forget(self) -> None:
        """Drop the trace when code was found for it: that of a large robot takes megabytes. Code of others is not
        traced another time, since it might do something else."""
        if self.fingerprint is not None:
            self._written = None

    def module(self, width: int, target: Target) -> Module:
        """LLVM IR of this kernel, for any target."""
        from featherweight.compiler.llvm.module import emit_module

        return emit_module(self.plan, [a.shape for a in self.inputs], list(self.outputs), width, target)

    def code(self, width: int) -> Code:
        """Native code for this many lanes, compiled on first use."""
        code = self._code.get(width)
        if code is None:
            with compiling:
                code = self._code.get(width)
                if code is None:
                    code = self._code[width] = uncollected(self._load, width)
        return code

    def _load(self, width: int) -> Code:
        return Code(self, width)

    def entry(self, *, batch: bool, named: type[tuple] | None = None) -> Any:
        """The fast path for one state or for a batch: a builtin that returns None for anything unusual; None
        where there is no such path. Several results come in a tuple, or in one of this class."""
        with compiling:
            from featherweight.compiler.llvm.entry import kinds, sizes
            from featherweight.compiler.runtime.fastcall import make_entry

            code = self.code(host().width if batch else 1)
            if code.entry is None:
                shapes = tuple(a.shape for a in self.inputs)
                code.entry = make_entry(
                    entry_point(*kinds(shapes, self.outputs), batch, host()),
                    self.name,
                    code.workspace(),
                    code.library,
                    self.outputs,
                    run=code.library["rows"],
                    many=code.run_many if batch else None,
                    few=code.few,
                    sizes=sizes(shapes, self.outputs),
                    named=named,
                )
            return code.entry

    # ---- calling

    def __call__(self, *values: Any, out: Any = None) -> tuple[np.ndarray, ...]:
        """The outputs, for any array-like inputs that broadcast over leading axes; in `out`, an array or several."""
        names = [a.name for a in self.inputs]
        ranks = [len(a.shape) for a in self.inputs]
        arrays = [as_array(a.name, v, a.shape, a.symbols) for a, v in zip(self.inputs, values, strict=True)]
        batch = batch_shape(names, arrays, ranks)
        places = None if out is None else checked_out(out, [batch + shape for shape in self.outputs])
        results = self._results(batch, arrays, places)
        given = (out,) if len(self.outputs) == 1 else tuple(out or ())
        count = prod(batch)
        if count == 0:
            return results if out is None else given
        if interpreting():
            bad = self.interpret(arrays, ranks, batch, results)
        else:
            bad = self._run([as_rows(a, r, batch) for a, r in zip(arrays, ranks, strict=True)], results, count)
        if bad:
            raise ValueError(f"{self.name}: {self._reason(names, arrays, results)}")
        for place, result in zip(places or (), results, strict=False):
            if result is not place:
                place[...] = result
        return results if out is None else given

    def _results(
        self, batch: tuple[int, ...], arrays: list[np.ndarray], places: list[np.ndarray] | None
    ) -> tuple[np.ndarray, ...]:
        """Fresh arrays, or those given where rows can be written straight into them."""
        if places is None:
            return tuple(empty(batch + shape) for shape in self.outputs)
        return tuple(
            out if out.flags.carray and not any(np.may_share_memory(out, a) for a in arrays) else empty(out.shape)
            for out in places
        )

    def status(self, *values: Any) -> np.ndarray:
        """Which rows are refused: bits BAD_INPUT, BAD_RESULT, BAD_CHECK of the driver for each, 0 for good ones."""
        arrays = [as_array(a.name, v, a.shape, a.symbols) for a, v in zip(self.inputs, values, strict=True)]
        ranks = [len(a.shape) for a in self.inputs]
        batch = batch_shape([a.name for a in self.inputs], arrays, ranks)
        status = np.zeros(batch, dtype=np.uint8)
        if status.size:
            rows = [as_rows(a, r, batch) for a, r in zip(arrays, ranks, strict=True)]
            self._run(rows, self._results(batch, arrays, None), status.size, status)
        return status

    def _run(
        self,
        rows: list[tuple[np.ndarray, int]],
        results: tuple[np.ndarray, ...],
        count: int,
        status: np.ndarray | None = None,
    ) -> bool:
        code = self.code(1 if count == 1 else host().width)
        call = (ctypes.c_int64 * (ARRAYS + 2 * (len(rows) + len(results))))()
        call[COUNT], call[STATUS] = count, 0 if status is None else address_of(status)
        places = [(address_of(a), stride) for a, stride in rows]
        places += [(address_of(r), 8 * prod(shape)) for r, shape in zip(results, self.outputs, strict=True)]
        for k, (pointer, stride) in enumerate(places):
            call[ARRAYS + 2 * k], call[ARRAYS + 2 * k + 1] = pointer, stride
        return code.run_rows(ctypes.addressof(call), count)

    def interpret(
        self, arrays: list[np.ndarray], ranks: list[int], batch: tuple[int, ...], results: tuple[np.ndarray, ...]
    ) -> bool:
        """The same source on NumPy, into `results`; is any number not finite, or an input refused? Several states are
        `Lanes`, arrays with one entry a state; one state is numbers, which take less time than arrays without axes."""
        scalars: Scalars = []
        for given, rank in zip(arrays, ranks, strict=True):
            flat = given.reshape((*given.shape[: given.ndim - rank], -1))
            scalars.append([Lanes(flat[..., j]) for j in range(flat.shape[-1])] if batch else list(flat))
        scalars = [NumberArray(x) if a.read_by_index else x for a, x in zip(self.inputs, scalars, strict=True)]
        with np.errstate(all="ignore"):  # what is not finite is found below
            values, check = self.function(scalars, float, lambda: None)
        for result, entries in zip(results, values, strict=True):
            flat = result.reshape((*batch, -1))
            if not batch:
                flat[:] = entries
                continue
            for j, x in enumerate(entries):
                flat[..., j] = plain(x)
        finite = all(np.isfinite(a).all() for a in (*arrays, *results))
        return not finite or bool(np.any(plain(check)))

    def _reason(self, names: list[str], arrays: list[np.ndarray], results: tuple[np.ndarray, ...]) -> str:
        """Why a row was refused."""
        reason = first_not_finite(names, arrays) or self.explain(dict(zip(names, arrays, strict=True)))
        if reason:
            return reason
        bad = first_not_finite(["the result"], [results[0]]) or "a number on the way is infinite"
        return f"{bad.split(';')[0]}; the inputs are too large, or the mass matrix is singular there"


def _entry(value: Any) -> int | float:
    """A result: a node, or a number that is the same whatever the model's numbers are."""
    if not isinstance(value, Node):
        return float(value)
    number = value.literal()
    return value.id if number is None else number
