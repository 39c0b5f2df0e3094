"""LLVM IR of a plan's chunks, for one lane or a pack of lanes.

The text is the same for every width but for the type: `double` for one state, `<8 x double>` for
a pack of eight. No fast-math flags: what `fuse` decided is what the machine does.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from featherweight.compiler.llvm import memory
from featherweight.compiler.llvm.lanes import LaneTypes
from featherweight.compiler.llvm.products import call_product
from featherweight.compiler.llvm.straight import Leaving, Straight
from featherweight.compiler.llvm.turns import emit_turn, move_tables
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Chunk, Elementary, Turn
from featherweight.compiler.trace.arrays import LANES, ROWS, UNIFORM
from featherweight.compiler.trace.operations import OPERATIONS

# slots read by a chunk are not written by it, but for those in `Chunk.over`: let loads move past stores
ALIAS_METADATA = "!0 = !{!0}\n!1 = !{!1, !0}\n!2 = !{!1}\n"
TINY = 4  # operations that stand in @step themselves
LINE = 64  # bytes that memory moves at once
LOOKUPS = {UNIFORM: memory.lookup_uniform, LANES: memory.lookup}
LOADS = {UNIFORM: memory.load_uniform, LANES: memory.load_lanes, ROWS: memory.load_rows}


def emit_steps(
    plan: Plan, lanes: LaneTypes, fetches: Fetches | None = None, straight: Straight | None = None
) -> tuple[list[str], str]:
    """Functions of chunks that need no table; and the rest, with `@step(ptr %ws, …)`, which runs the plan once on a
    workspace.

    Meanwhile memory fetches cache lines of rows that will be written afterwards. Values of results that go `straight`
    to their rows are stored there. For both @step has a pointer to the row of each, or the first of those of a pack."""
    chunks = {k: step for k, step in enumerate(plan.steps) if isinstance(step, Chunk)}
    nothing = Leaving([], {}, frozenset())
    leaving = {k: straight.leaving(chunk) if straight else nothing for k, chunk in chunks.items()}
    first: dict[tuple, int] = {}  # step of each function
    like = list(range(len(plan.steps)))
    for k, chunk in chunks.items():
        like[k] = first.setdefault((chunk.signature(), leaving[k].pattern), k)
    uses = Counter(like)
    free: list[str] = []
    bound: list[str] = []  # to the tables that they look things up in
    calls: list[str] = []
    places: list[int] = []
    number = plan.first_number(lanes.width)  # where the next chunk finds its numbers [bytes]
    for k, step in enumerate(plan.steps):
        if isinstance(step, Elementary):
            calls.append(_elementary_call(plan, step, lanes))
            continue
        if isinstance(step, Turn):
            calls += emit_turn(step, lanes)
            continue
        own = [plan.base["chunk", k, b] for b in range(len(step.blocks))]
        own += [plan.base[source] + first for source, first in step.targets]
        pointers = leaving[k].pointers
        functions = bound if any(operation[0] == "lookup" for operation in step.code) else free
        small = len(step.code) <= TINY and not pointers and functions is free
        if small or uses[like[k]] == 1:
            function = _Function(step, lanes, plan.lookups, plan, own, number, leaving=leaving[k])
            calls += function.inlined(f".{k}") if small else [f"call void @chunk{k}(ptr %ws{pointers})"]
            functions += [] if small else [function.text(f"@chunk{k}", pointers)]
            number += 8 * len(step.constants)
            continue
        if like[k] == k:
            function = _Function(step, lanes, plan.lookups, leaving=leaving[k])
            functions.append(function.text(f"@shared{k}", pointers))
        calls += [
            f"%numbers{k} = getelementptr i8, ptr %ws, i64 {number}",
            f"call void @shared{like[k]}(ptr %ws, ptr getelementptr (i64, ptr @places, i64 {len(places)}), "
            f"ptr %numbers{k}{pointers})",
        ]
        places += [lanes.bytes * slot for slot in (*(plan.base[source] + n for source, n in step.sources), *own)]
        places += leaving[k].places
        number += 8 * len(step.constants)

    counters = [
        f"%turns{step.repeat.number} = alloca i64"
        for step in plan.steps
        if isinstance(step, Turn) and step.kind == "begin" and step.repeat.at_most > 1
    ]
    body = "\n  ".join([*counters, *_spread(calls, fetches)])
    arguments = "" if (rows := fetches or straight) is None else rows.pointers
    run = f"define internal void @step(ptr %ws{arguments}) noinline #0 {{\n  {body}\n  ret void\n}}\n"
    return free, "".join((*_tables(plan, lanes, places), *bound, run))


def _tables(plan: Plan, lanes: LaneTypes, places: list[int]) -> list[str]:
    """Constants that functions look places up in."""
    return [
        _table("@places", "i64", [str(p) for p in places]),
        *(
            _table(f"@arguments{level}", "i64", [str(lanes.bytes * slot) for slot in slots])
            for level, slots in plan.argument_slots.items()
        ),
        *(_bytes(f"@lookup{k}", data) for k, data in enumerate(plan.lookups)),
        *(_table(name, "i32", [str(x) for x in moves]) for name, moves in move_tables(plan, lanes)),
    ]


def _spread(body: list[str], fetches: Fetches | None) -> list[str]:
    """Fetches of cache lines, evenly between the calls: all at once they would have to wait for each other."""
    calls = [k for k, text in enumerate(body) if text.startswith("call")]
    before: dict[int, list[str]] = {}
    lines = fetches.lines if fetches is not None and calls else []
    for n, (j, offset) in enumerate(lines):
        text = f"call void @{fetches.function}(ptr %result{j}, i64 %stride{j}, i64 {offset})" if fetches else ""
        before.setdefault(calls[n * len(calls) // len(lines)], []).append(text)
    return [line for k, text in enumerate(body) for line in (*before.get(k, ()), text)]


@dataclass(frozen=True)
class Fetches:
    """Cache lines to be fetched while a pack is computed: by which function, of which results and at which offsets of
    their rows [bytes]."""

    function: str
    lines: list[tuple[int, int]]

    @property
    def results(self) -> list[int]:
        return sorted({j for j, _ in self.lines})

    @property
    def pointers(self) -> str:
        """Arguments of @step: the first row of a pack and the step from row to row, of each of these results."""
        return "".join(f", ptr %result{j}, i64 %stride{j}" for j in self.results)


def emit_fetch(lanes: LaneTypes) -> str:
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


def _elementary_call(plan: Plan, step: Elementary, lanes: LaneTypes) -> str:
    argument, sin, cos = (lanes.bytes * plan.base[name, step.level] for name in ("argument", "sin", "cos"))
    return (
        f"call void @sincos_slots(ptr %ws, ptr @arguments{step.level}, i64 {len(step.arguments)}, "
        f"i64 {argument}, i64 {sin}, i64 {cos})"
    )


class _Function:
    """One chunk as a function: everything at fixed places of the workspace if it is called once (`plan`, its
    own places and that of its numbers are given), places from a table and a pointer to its numbers if it is shared."""

    def __init__(
        self,
        chunk: Chunk,
        lanes: LaneTypes,
        lookups: list[bytes],
        plan: Plan | None = None,
        own: Sequence[int] = (),
        number: int = 0,
        *,
        leaving: Leaving,
    ) -> None:
        self.chunk, self.lanes, self.lookups, self.plan, self.own = chunk, lanes, lookups, plan, own
        self.number, self.leaving = number, leaving
        self.lines: list[str] = []
        self.loaded: dict[tuple, str] = {}

    def inlined(self, mark: str) -> list[str]:
        """The same to stand among others, its values with a mark. Each may read what one before it has stored."""
        self.text("")
        text = re.sub(r"%(?!ws\b)\w+", lambda name: name[0] + mark, "\n".join(self.lines))
        return re.sub(r", !(alias\.scope|noalias) !2", "", text).split("\n")

    def text(self, name: str, pointers: str = "") -> str:
        stores, over = self.chunk.stores, self.chunk.over
        leaves = self.leaving.leaves
        waiting: list[int] = []  # to be stored where something has still to be read
        for k, (op, *refs) in enumerate(self.chunk.code):
            self._operation(f"%v{k}", op, refs)
            for row, place in leaves.get(k, ()):
                self._leave(k, row, place)
            if k in stores and k not in self.leaving.unread:
                waiting.append(k)
            if waiting:
                for ready in [j for j in waiting if j not in over or over[j] in self.loaded]:
                    waiting.remove(ready)
                    self._store(ready, *stores[ready])
        parameters = "ptr noalias %ws"
        if self.plan is None:
            parameters += ", ptr noalias %places, ptr noalias %numbers"
        parameters += pointers
        body = "\n  ".join([*self._block_pointers(), *self.lines])
        return f"define internal void {name}({parameters}) noinline #0 {{\n  {body}\n  ret void\n}}\n"

    def _block_pointers(self) -> list[str]:
        """Shared code finds its blocks through a table of places."""
        if self.plan is not None:
            return []
        lines = []
        sources, own = len(self.chunk.sources), len(self.chunk.blocks) + len(self.chunk.targets)
        found = [*((f"%block{s}", "%ws") for s in range(sources)), *((f"%own{b}", "%ws") for b in range(own))]
        for g, (result, _) in enumerate(self.leaving.rows):
            found.append((f"%row{g}", f"%result{result}"))
        for s, (block, base) in enumerate(found):
            lines += [
                f"{block}q = getelementptr i64, ptr %places, i64 {s}",
                f"{block}o = load i64, ptr {block}q, !alias.scope !2",
                f"{block} = getelementptr i8, ptr {base}, i64 {block}o",
            ]
        return lines

    def _leave(self, k: int, row: int, place: int) -> None:
        """Store a value where it stands in a result."""
        result, begin = self.leaving.rows[row]
        shared = self.plan is None
        block = f"%row{row}" if shared else f"%result{result}"
        pointer = self._address(block, place if shared else begin + place)
        self.lines.append(f"store double {self._as_number(k)}, ptr {pointer}, !noalias !2")

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
        base = "%numbers" if self.plan is None else "%ws"
        self.lines.append(f"{name}p = getelementptr i8, ptr {base}, i64 {self.number + 8 * k}")
        self.lines.append(f"{scalar} = load double, ptr {name}p, !alias.scope !2")
        if w > 1:
            self.lines.append(f"{name}i = insertelement {T} poison, double {scalar}, i32 0")
            self.lines.append(f"{name} = shufflevector {T} {name}i, {T} poison, <{w} x i32> zeroinitializer")

    def _slot_address(self, s: int, offset: int) -> str:
        if self.plan is None:
            return self._address(f"%block{s}", offset)
        source, first = self.chunk.sources[s]
        return self._address("%ws", self.plan.base[source] + first + offset)

    def _load_slot(self, name: str, s: int, offset: int) -> None:
        pointer = self._slot_address(s, offset)
        load = f"load {self.lanes.real}, ptr {pointer}, align {self.lanes.bytes}, !alias.scope !2"
        self.lines.append(f"{name} = {load}")

    def _pointer(self, ref: tuple) -> str:
        """The place of a slot, or of a number."""
        if ref[0] != "table":
            return self._slot_address(*ref[1:])
        pointer, base = f"%p{len(self.lines)}", "%numbers" if self.plan is None else "%ws"
        self.lines.append(f"{pointer} = getelementptr i8, ptr {base}, i64 {self.number + 8 * ref[1]}")
        return pointer

    def _truth(self, ref: tuple) -> str:
        """A condition: they cross between chunks as 0 and 1."""
        if ref[0] == "local":
            return f"%v{ref[1]}"
        x, name = self._value(ref), f"%t{len(self.lines)}"
        self.lines.append(f"{name} = fcmp une {self.lanes.real} {x}, {self.lanes.literal(0.0)}")
        return name

    def _operation(self, out: str, op: str, refs: list[tuple]) -> None:
        row = OPERATIONS[op]
        if row.llvm:
            if "c" in (takes := row.takes or ""):
                x = [self._truth(r) if kind == "c" else self._value(r) for kind, r in zip(takes, refs, strict=True)]
            else:
                x = [f"%v{ref[1]}" if ref[0] == "local" else self._value(ref) for ref in refs]
            self.lines.append(self.lanes.template(row.llvm)(*x, out=out))
        elif op != "after":
            self.lines += self._memory(out, op, refs)

    def _memory(self, out: str, op: str, refs: list[tuple]) -> list[str]:
        """An operation on memory."""
        lanes, numbers = self.lanes, [x for kind, x, *_ in refs if kind == "number"]
        if op == "lookup":
            table, how = numbers
            size = len(self.lookups[table]) // 8
            return LOOKUPS[how](out, self._value(refs[0]), f"@lookup{table}", size, lanes)
        if op == "linear":
            y, x, W = map(self._pointer, refs[:3])
            return [call_product(numbers[0], y, x, W, numbers[1:], lanes)]
        block = self._slot_address(*refs[0][1:])
        values = [self._value(ref) for ref in refs[1:] if ref[0] != "number"]
        if op == "array":
            return memory.fill(out, values, block, lanes)
        if op == "store":
            return memory.store_uniform(out, values[0], values[1], block, numbers[0], lanes)
        size, how = numbers
        return LOADS[how](out, values[0], block, size, lanes)

    def _as_number(self, k: int) -> str:
        """A value as it is stored: conditions are 0 and 1."""
        if OPERATIONS[self.chunk.code[k][0]].gives != "c":
            return f"%v{k}"
        name, (one, zero) = f"%s{len(self.lines)}", (self.lanes.literal(x) for x in (1.0, 0.0))
        self.lines.append(f"{name} = select {self.lanes.bool} %v{k}, {self.lanes.real} {one}, {self.lanes.real} {zero}")
        return name

    def _store(self, k: int, block: int, place: int) -> None:
        T, out = self.lanes.real, self._as_number(k)
        if self.plan is None:
            pointer = self._address(f"%own{block}", place)
        else:
            pointer = self._address("%ws", self.own[block] + place)
        apart = "" if k in self.chunk.over else ", !noalias !2"
        self.lines.append(f"store {T} {out}, ptr {pointer}, align {self.lanes.bytes}{apart}")
