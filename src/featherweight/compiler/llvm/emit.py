"""LLVM IR of a plan's chunks, for one lane or a pack of lanes.

The text is the same for every width but for the type: `double` for one state, `<8 x double>` for
a pack of eight. No fast-math flags: what `fuse` decided is what the machine does.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence

from featherweight.compiler.llvm.turns import emit_turn, move_tables
from featherweight.compiler.plan.plan import Plan
from featherweight.compiler.plan.schedule import Chunk, Elementary, Turn
from featherweight.compiler.trace.graph import BOOLEANS, COMPARISONS

# slots read by a chunk are not written by it, but for those in `Chunk.over`: let loads move past stores
ALIAS_METADATA = "!0 = !{!0}\n!1 = !{!1, !0}\n!2 = !{!1}\n"
LINE = 64  # bytes that memory moves at once


class Lanes:
    """Spelling of types, intrinsics and literals for a number of lanes."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.bytes = 8 * width
        vector = width > 1
        self.real = f"<{width} x double>" if vector else "double"
        self.int = f"<{width} x i64>" if vector else "i64"
        self.bool = f"<{width} x i1>" if vector else "i1"
        self.pointer = f"<{width} x ptr>" if vector else "ptr"
        self.suffix = f"v{width}f64" if vector else "f64"

    def literal(self, value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.width == 1 else f"splat (double {text})"

    def integer(self, value: int) -> str:
        return str(value) if self.width == 1 else f"splat (i64 {value})"

    def declarations(self) -> str:
        T, s = self.real, self.suffix
        gather = f"declare {T} @llvm.masked.gather.{s}.v{self.width}p0({self.pointer}, i32, {self.bool}, {T})\n"
        return (
            f"declare {T} @llvm.fma.{s}({T}, {T}, {T})\n"
            f"declare {T} @llvm.sqrt.{s}({T})\n"
            f"declare {T} @llvm.fabs.{s}({T})\n"
            f"declare {T} @llvm.roundeven.{s}({T})\n"
        ) + (gather if self.width > 1 else "")


def emit_steps(plan: Plan, lanes: Lanes, fetch: str = "", offsets: Sequence[int] = ()) -> tuple[list[str], str]:
    """Functions of chunks that need no table; and the rest, with `@step(ptr %ws, ptr %rows, i64 %stride)`, which runs
    the plan once on a workspace.

    Meanwhile memory fetches, by the function `fetch`, the cache lines at these offsets of a pack of rows that will be
    written afterwards."""
    uses = Counter(step.signature() for step in plan.steps if isinstance(step, Chunk))
    free: list[str] = []
    bound: list[str] = []  # to the tables that they look things up in
    names: dict[tuple, str] = {}
    calls: list[str] = []
    places: list[int] = []
    constants: list[float] = []
    for k, step in enumerate(plan.steps):
        if isinstance(step, Elementary):
            calls.append(_elementary_call(plan, step, lanes))
            continue
        if isinstance(step, Turn):
            calls += emit_turn(step, lanes)
            continue
        signature = step.signature()
        own = [plan.base["chunk", k, b] for b in range(len(step.blocks))]
        own += [plan.base[source] + first for source, first in step.targets]
        functions = bound if any(operation[0] == "lookup" for operation in step.code) else free
        if uses[signature] == 1:
            functions.append(_Function(step, lanes, plan.lookups, plan, own).text(f"@chunk{k}"))
            calls.append(f"call void @chunk{k}(ptr %ws)")
            continue
        if signature not in names:
            names[signature] = f"@shared{k}"
            functions.append(_Function(step, lanes, plan.lookups).text(names[signature]))
        calls.append(
            f"call void {names[signature]}(ptr %ws, ptr getelementptr (i64, ptr @places, i64 {len(places)}), "
            f"ptr getelementptr (double, ptr @constants, i64 {len(constants)}))"
        )
        places += [lanes.bytes * (plan.base[source] + k) for source, k in step.sources] + [lanes.bytes * b for b in own]
        constants += step.constants

    scalar = Lanes(1)
    counters = [
        f"%turns{step.repeat.number} = alloca i64"
        for step in plan.steps
        if isinstance(step, Turn) and step.kind == "begin" and step.repeat.at_most > 1
    ]
    body = "\n  ".join([*counters, *_spread(calls, fetch, offsets)])
    tables = [
        _table("@places", "i64", [str(p) for p in places]),
        _table("@constants", "double", [scalar.literal(c) for c in constants]),
        *(
            _table(f"@arguments{level}", "i64", [str(lanes.bytes * slot) for slot in slots])
            for level, slots in plan.argument_slots.items()
        ),
        *(_bytes(f"@lookup{k}", data) for k, data in enumerate(plan.lookups)),
        *(_table(name, "i32", [str(x) for x in moves]) for name, moves in move_tables(plan, lanes)),
    ]
    run = f"define internal void @step(ptr %ws, ptr %rows, i64 %stride) noinline #0 {{\n  {body}\n  ret void\n}}\n"
    return free, "".join((*tables, *bound, run))


def _spread(body: list[str], fetch: str, offsets: Sequence[int]) -> list[str]:
    """Fetches of cache lines, evenly between the calls: all at once they would have to wait for each other."""
    calls = [k for k, text in enumerate(body) if text.startswith("call")]
    before: dict[int, list[str]] = {}
    for n, offset in enumerate(offsets if calls else ()):
        text = f"call void @{fetch}(ptr %rows, i64 %stride, i64 {offset})"
        before.setdefault(calls[n * len(calls) // len(offsets)], []).append(text)
    return [line for k, text in enumerate(body) for line in (*before.get(k, ()), text)]


def emit_fetch(lanes: Lanes) -> str:
    """One cache line of each row of a pack, which will be written: `@fetch` into the first cache, `@fetch_far` into the
    second. Past the last row they do nothing."""
    places = ["%p0 = getelementptr i8, ptr %rows, i64 %offset"]
    places += [f"%p{r} = getelementptr i8, ptr %p{r - 1}, i64 %stride" for r in range(1, lanes.width)]
    functions = []
    for name, to_write, cache in (("fetch", 1, 3), ("fetch_far", 0, 2)):
        fetches = [
            f"call void @llvm.prefetch.p0(ptr %p{r}, i32 {to_write}, i32 {cache}, i32 1)" for r in range(lanes.width)
        ]
        body = "\n  ".join([*places, *fetches, "ret void"])
        functions.append(f"define void @{name}(ptr %rows, i64 %stride, i64 %offset) noinline #0 {{\n  {body}\n}}\n")
    return "".join(functions)


def _table(name: str, kind: str, values: list[str]) -> str:
    items = ", ".join(f"{kind} {v}" for v in values)
    body = f"[{items}]" if values else "zeroinitializer"
    return f"{name} = internal constant [{len(values)} x {kind}] {body}, align 64\n"


def _bytes(name: str, data: bytes) -> str:
    text = "".join(f"\\{byte:02X}" for byte in data)
    return f'{name} = internal constant [{len(data)} x i8] c"{text}", align 64\n'


def _elementary_call(plan: Plan, step: Elementary, lanes: Lanes) -> str:
    argument, sin, cos = (lanes.bytes * plan.base[name, step.level] for name in ("argument", "sin", "cos"))
    return (
        f"call void @sincos_slots(ptr %ws, ptr @arguments{step.level}, i64 {len(step.arguments)}, "
        f"i64 {argument}, i64 {sin}, i64 {cos})"
    )


class _Function:
    """One chunk as a function: fixed places and literal constants if it is called once (`plan` and its
    own places are given), places and constants from tables if it is shared."""

    def __init__(
        self, chunk: Chunk, lanes: Lanes, lookups: list[bytes], plan: Plan | None = None, own: Sequence[int] = ()
    ) -> None:
        self.chunk, self.lanes, self.lookups, self.plan, self.own = chunk, lanes, lookups, plan, own
        self.lines: list[str] = []
        self.loaded: dict[tuple, str] = {}
        self.is_bool = [op[0] in BOOLEANS for op in chunk.code]

    def text(self, name: str) -> str:
        waiting: list[int] = []  # to be stored where something has still to be read
        for k, (op, *refs) in enumerate(self.chunk.code):
            self._operation(f"%v{k}", op, refs)
            if k in self.chunk.stores:
                waiting.append(k)
            for ready in [j for j in waiting if self.chunk.over.get(j) in (None, *self.loaded)]:
                waiting.remove(ready)
                self._store(ready, *self.chunk.stores[ready])
        parameters = "ptr noalias %ws"
        if self.plan is None:
            parameters += ", ptr noalias %places, ptr noalias %constants"
        body = "\n  ".join([*self._block_pointers(), *self.lines])
        return f"define internal void {name}({parameters}) noinline #0 {{\n  {body}\n  ret void\n}}\n"

    def _block_pointers(self) -> list[str]:
        """Shared code finds its blocks through a table of places."""
        if self.plan is not None:
            return []
        lines = []
        sources, own = len(self.chunk.sources), len(self.chunk.blocks) + len(self.chunk.targets)
        for s, block in enumerate([*(f"%block{s}" for s in range(sources)), *(f"%own{b}" for b in range(own))]):
            lines += [
                f"{block}q = getelementptr i64, ptr %places, i64 {s}",
                f"{block}o = load i64, ptr {block}q, !alias.scope !2",
                f"{block} = getelementptr i8, ptr %ws, i64 {block}o",
            ]
        return lines

    def _address(self, block: str, place: int) -> str:
        pointer = f"%p{len(self.lines)}"
        self.lines.append(f"{pointer} = getelementptr i8, ptr {block}, i64 {self.lanes.bytes * place}")
        return pointer

    def _value(self, ref: tuple) -> str:
        """The operand of a reference, loaded on first use."""
        kind = ref[0]
        if kind == "local":
            return f"%v{ref[1]}"
        if kind == "literal":
            return self.lanes.literal(struct.unpack("<d", ref[1])[0])
        if kind == "table" and self.plan is not None:
            return self.lanes.literal(self.chunk.constants[ref[1]])
        if ref not in self.loaded:
            name = self.loaded[ref] = f"%x{len(self.loaded)}"
            if kind == "table":
                self._load_constant(name, ref[1])
            else:
                self._load_slot(name, *ref[1:])
        return self.loaded[ref]

    def _load_constant(self, name: str, k: int) -> None:
        T, w = self.lanes.real, self.lanes.width
        scalar = name if w == 1 else f"{name}s"
        self.lines.append(f"{name}p = getelementptr double, ptr %constants, i64 {k}")
        self.lines.append(f"{scalar} = load double, ptr {name}p, !alias.scope !2")
        if w > 1:
            self.lines.append(f"{name}i = insertelement {T} poison, double {scalar}, i32 0")
            self.lines.append(f"{name} = shufflevector {T} {name}i, {T} poison, <{w} x i32> zeroinitializer")

    def _load_slot(self, name: str, s: int, offset: int) -> None:
        if self.plan is None:
            pointer = self._address(f"%block{s}", offset)
        else:
            source, first = self.chunk.sources[s]
            pointer = self._address("%ws", self.plan.base[source] + first + offset)
        load = f"load {self.lanes.real}, ptr {pointer}, align {self.lanes.bytes}, !alias.scope !2"
        self.lines.append(f"{name} = {load}")

    def _truth(self, ref: tuple) -> str:
        """A condition: they cross between chunks as 0 and 1."""
        if ref[0] == "local":
            return f"%v{ref[1]}"
        x, name = self._value(ref), f"%t{len(self.lines)}"
        self.lines.append(f"{name} = fcmp une {self.lanes.real} {x}, {self.lanes.literal(0.0)}")
        return name

    def _operation(self, out: str, op: str, refs: list[tuple]) -> None:
        lanes = self.lanes
        if op in ("and", "or"):
            a, b = map(self._truth, refs)
            self.lines.append(f"{out} = {op} {lanes.bool} {a}, {b}")
        elif op == "not":
            ones = "true" if lanes.width == 1 else "splat (i1 true)"
            a = self._truth(refs[0])
            self.lines.append(f"{out} = xor {lanes.bool} {a}, {ones}")
        elif op == "select":
            c, a, b = self._truth(refs[0]), self._value(refs[1]), self._value(refs[2])
            self.lines.append(f"{out} = select {lanes.bool} {c}, {lanes.real} {a}, {lanes.real} {b}")
        elif op == "lookup":
            table = refs[1][1]
            self.lines += _lookup(out, self._value(refs[0]), f"@lookup{table}", len(self.lookups[table]) // 8, lanes)
        else:
            x = [self._value(r) for r in refs]
            self.lines += _arithmetic(out, op, x, lanes)

    def _store(self, k: int, block: int, place: int) -> None:
        T, out = self.lanes.real, f"%v{k}"
        if self.is_bool[k]:
            one, zero = self.lanes.literal(1.0), self.lanes.literal(0.0)
            self.lines.append(f"%s{k} = select {self.lanes.bool} {out}, {T} {one}, {T} {zero}")
            out = f"%s{k}"
        if self.plan is None:
            pointer = self._address(f"%own{block}", place)
        else:
            pointer = self._address("%ws", self.own[block] + place)
        apart = "" if k in self.chunk.over else ", !noalias !2"
        self.lines.append(f"store {T} {out}, ptr {pointer}, align {self.lanes.bytes}{apart}")


BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
CONDITION = {"lt": "olt", "le": "ole", "eq": "oeq"}


def _arithmetic(out: str, op: str, x: list[str], lanes: Lanes) -> list[str]:
    """Instructions for one arithmetic operation."""
    T, s = lanes.real, lanes.suffix
    if op in BINARY:
        return [f"{out} = {BINARY[op]} {T} {x[0]}, {x[1]}"]
    if op == "fma":
        return [f"{out} = call {T} @llvm.fma.{s}({T} {x[0]}, {T} {x[1]}, {T} {x[2]})"]
    if op == "fms":
        return [
            f"{out}n = fneg {T} {x[2]}",
            f"{out} = call {T} @llvm.fma.{s}({T} {x[0]}, {T} {x[1]}, {T} {out}n)",
        ]
    if op == "fnma":
        return [
            f"{out}n = fneg {T} {x[0]}",
            f"{out} = call {T} @llvm.fma.{s}({T} {out}n, {T} {x[1]}, {T} {x[2]})",
        ]
    if op == "neg":
        return [f"{out} = fneg {T} {x[0]}"]
    if op == "reciprocal":
        return [f"{out} = fdiv {T} {lanes.literal(1.0)}, {x[0]}"]
    if op == "sqrt":
        return [f"{out} = call {T} @llvm.sqrt.{s}({T} {x[0]})"]
    if op == "abs":
        return [f"{out} = call {T} @llvm.fabs.{s}({T} {x[0]})"]
    if op == "round":
        return [f"{out} = call {T} @llvm.roundeven.{s}({T} {x[0]})"]
    if op in BITS:
        return BITS[op](out, x[0], lanes)
    if op in COMPARISONS:
        return [f"{out} = fcmp {CONDITION[op]} {T} {x[0]}, {x[1]}"]
    if op in ("min", "max"):
        order = "olt" if op == "min" else "ogt"
        return [
            f"{out}c = fcmp {order} {T} {x[0]}, {x[1]}",
            f"{out} = select {lanes.bool} {out}c, {T} {x[0]}, {T} {x[1]}",
        ]
    raise NotImplementedError(f"the compiler has no operation {op!r}")


def _power_of_two(out: str, k: str, lanes: Lanes) -> list[str]:
    """2^k of a whole number from -1022 to 1023: added to 3 · 2^51, it stands in the last bits."""
    sum_ = f"{out}k = fadd {lanes.real} {k}, {lanes.literal(1.5 * 2.0**52 + 1023)}"
    return [sum_, *_on_bits(out, f"{out}k", lanes, ("shl", 52))]


def _exponent(out: str, x: str, lanes: Lanes) -> list[str]:
    """The whole number k of x = 2^k m with m from 1 to 2, for a positive x with all its digits."""
    number = _on_bits(f"{out}k", x, lanes, ("lshr", 52), ("or", 0x433 << 52))  # 2^52 + k + 1023
    return [*number, f"{out} = fsub {lanes.real} {out}k, {lanes.literal(2.0**52 + 1023)}"]


def _significand(out: str, x: str, lanes: Lanes) -> list[str]:
    """The m of x = 2^k m."""
    return _on_bits(out, x, lanes, ("and", (1 << 52) - 1), ("or", 0x3FF << 52))


def _on_bits(out: str, x: str, lanes: Lanes, *operations: tuple[str, int]) -> list[str]:
    """Operations with integers on the bits of a number, one after the other."""
    T, I = lanes.real, lanes.int
    lines = [f"{out}b0 = bitcast {T} {x} to {I}"]
    for k, (operation, number) in enumerate(operations):
        lines.append(f"{out}b{k + 1} = {operation} {I} {out}b{k}, {lanes.integer(number)}")
    return [*lines, f"{out} = bitcast {I} {out}b{len(operations)} to {T}"]


BITS = {"power_of_two": _power_of_two, "exponent": _exponent, "significand": _significand}


def _lookup(out: str, index: str, table: str, size: int, lanes: Lanes) -> list[str]:
    """Entry ⌊index⌋ of a table; below, above and NaN are the first, the last and the first entry."""
    T, w = lanes.real, lanes.width
    zero, last = lanes.literal(0.0), lanes.literal(size - 1.0)
    load = f"load double, ptr {out}p"
    if w > 1:
        load = (
            f"call {T} @llvm.masked.gather.{lanes.suffix}.v{w}p0({lanes.pointer} {out}p, i32 8, {lanes.bool} "
            f"splat (i1 true), {T} poison)"
        )
    return [
        f"{out}g = fcmp oge {T} {index}, {zero}",
        f"{out}a = select {lanes.bool} {out}g, {T} {index}, {T} {zero}",
        f"{out}l = fcmp olt {T} {out}a, {last}",
        f"{out}b = select {lanes.bool} {out}l, {T} {out}a, {T} {last}",
        f"{out}i = fptosi {T} {out}b to {lanes.int}",
        f"{out}p = getelementptr double, ptr {table}, {lanes.int} {out}i",
        f"{out} = {load}",
    ]
