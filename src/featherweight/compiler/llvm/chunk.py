"""LLVM IR of one chunk: a function of the workspace, for one lane or a pack.

The text is the same for every width but for the type: `double` for one state, `<8 x double>` for
a pack of eight. No fast-math flags: what `fuse` decided is what the machine does.
"""

from __future__ import annotations

import re
import struct

from featherweight.compiler.llvm import memory
from featherweight.compiler.llvm.lanes import LaneTypes
from featherweight.compiler.llvm.places import Places
from featherweight.compiler.llvm.products import call_product
from featherweight.compiler.llvm.straight import Leaving
from featherweight.compiler.plan.steps import Chunk
from featherweight.compiler.trace.arrays import LANES, ROWS, UNIFORM
from featherweight.compiler.trace.operations import OPERATIONS

# what a chunk reads it does not write, but for slots in `Chunk.over`: such loads wait for no store (decision 42)
CONSTANT = ", !tbaa !0"
CONSTANT_METADATA = '!0 = !{!1, !1, i64 0, i64 1}\n!1 = !{!"slot", !2, i64 0}\n!2 = !{!"workspace"}\n'
LOOKUPS = {UNIFORM: memory.lookup_uniform, LANES: memory.lookup}
LOADS = {UNIFORM: memory.load_uniform, LANES: memory.load_lanes, ROWS: memory.load_rows}


class ChunkFunction:
    """A chunk, or several that are alike, as a function. `places` says where it finds what it refers to: the sources of
    the chunk, its own blocks and targets, its values in results, its numbers."""

    def __init__(self, chunk: Chunk, lanes: LaneTypes, lookups: list[bytes], places: Places, leaving: Leaving) -> None:
        self.chunk, self.lanes, self.lookups, self.places, self.leaving = chunk, lanes, lookups, places, leaving
        self.own = len(chunk.sources)  # the first of its own places
        self.left = self.own + len(chunk.blocks) + len(chunk.targets)
        self.lines: list[str] = []
        self.names = 0  # LLVM's own, %1 and so on: faster to read than those that it has to keep
        self.values: list[str] = []  # of the operations
        self.loaded: dict[tuple, str] = {}
        self.replaced = set(chunk.over.values())

    def text(self, name: str) -> str:
        """The function under a name."""
        self._write()
        body = "\n  ".join([*self._pointers(), *self.lines])
        return f"define internal void {name}({self.parameters}) noinline #0 {{\n  {body}\n  ret void\n}}\n"

    def inlined(self, mark: str) -> list[str]:
        """What it does, to stand among others: its values get a mark, and loads wait for what others have stored."""
        self._write()
        text = re.sub(r"%(?!ws\b)\w+", lambda name: f"%{mark}{name[0][1:]}", "\n".join(self.lines))
        return text.replace(CONSTANT, "").split("\n")

    def _write(self) -> None:
        stores, over, leaving = self.chunk.stores, self.chunk.over, self.leaving
        left: dict[int, list[int]] = {}
        for n, (k, _, _) in enumerate(leaving.values):
            left.setdefault(k, []).append(n)
        waiting: list[int] = []  # to be stored where something has still to be read
        for k, (op, *refs) in enumerate(self.chunk.code):
            self.values.append(self._operation(k, op, refs))
            for n in left.get(k, ()):
                self.lines.append(f"store double {self._as_number(k)}, ptr {self._address(self.left + n, 0)}")
            if k in stores and k not in leaving.unread:
                waiting.append(k)
            if waiting:
                for ready in [j for j in waiting if j not in over or over[j] in self.loaded]:
                    waiting.remove(ready)
                    self._store(ready, *stores[ready])

    @property
    def parameters(self) -> str:
        table = ", ptr noalias %places" if self.places.pointers else ""
        return f"ptr noalias %ws{table}{self.leaving.rows}"

    def _pointers(self) -> list[str]:
        """What is elsewhere in each call is found through a table."""
        lines = []
        for g, base in enumerate(self.places.pointers):
            lines += [
                f"%place{g}q = getelementptr i64, ptr %places, i64 {g}",
                f"%place{g}o = load i64, ptr %place{g}q{CONSTANT}",
                f"%place{g} = getelementptr i8, ptr {base}, i64 %place{g}o",
            ]
        return lines

    def _made(self, instruction: str) -> str:
        """The name of what an instruction computes."""
        self.names += 1
        self.lines.append(f"%{self.names} = {instruction}")
        return f"%{self.names}"

    def _address(self, n: int, offset: int) -> str:
        """So many bytes from a place."""
        base, distance = self.places.where[n]
        distance += offset
        return self._made(f"getelementptr i8, ptr {base}, i64 {distance}") if distance else base

    def _value(self, ref: tuple) -> str:
        """The operand of a reference, loaded on first use."""
        kind = ref[0]
        if kind == "local":
            return self.values[ref[1]]
        if kind == "literal":
            return self.lanes.literal(struct.unpack("<d", ref[1])[0])
        if ref not in self.loaded:
            self.loaded[ref] = self._number(ref[1]) if kind == "table" else self._slot(ref)
        return self.loaded[ref]

    def _number(self, k: int) -> str:
        T, w = self.lanes.real, self.lanes.width
        scalar = self._made(f"load double, ptr {self._number_address(k)}{CONSTANT}")
        if w == 1:
            return scalar
        first = self._made(f"insertelement {T} poison, double {scalar}, i32 0")
        return self._made(f"shufflevector {T} {first}, {T} poison, <{w} x i32> zeroinitializer")

    def _number_address(self, k: int) -> str:
        return self._address(len(self.places.where) - 1, 8 * k)

    def _slot_address(self, s: int, offset: int) -> str:
        return self._address(s, self.lanes.bytes * offset)

    def _slot(self, ref: tuple) -> str:
        pointer = self._slot_address(*ref[1:])
        how = "" if ref in self.replaced else CONSTANT
        return self._made(f"load {self.lanes.real}, ptr {pointer}, align {self.lanes.bytes}{how}")

    def _pointer(self, ref: tuple) -> str:
        """The place of a slot, or of a number."""
        return self._number_address(ref[1]) if ref[0] == "table" else self._slot_address(*ref[1:])

    def _truth(self, ref: tuple) -> str:
        """A condition: they cross between chunks as 0 and 1."""
        if ref[0] == "local":
            return self.values[ref[1]]
        return self._made(f"fcmp une {self.lanes.real} {self._value(ref)}, {self.lanes.literal(0.0)}")

    def _operation(self, k: int, op: str, refs: list[tuple]) -> str:
        """Write an operation; the name of its result."""
        row = OPERATIONS[op]
        if not row.llvm:
            out = f"%v{k}"
            if op != "after":
                self.lines += self._memory(out, op, refs)
            return out
        if "c" in (takes := row.takes or ""):
            x = [self._truth(r) if kind == "c" else self._value(r) for kind, r in zip(takes, refs, strict=True)]
        else:
            x = [self.values[ref[1]] if ref[0] == "local" else self._value(ref) for ref in refs]
        write, n = self.lanes.numbered(row.llvm, len(x))
        begin = self.names + 1
        self.names += n
        self.lines.append(write(*x, *[f"%{name}" for name in range(begin, begin + n)]))
        return f"%{self.names}"

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
            return self.values[k]
        one, zero = (f"{self.lanes.real} {self.lanes.literal(x)}" for x in (1.0, 0.0))
        return self._made(f"select {self.lanes.bool} {self.values[k]}, {one}, {zero}")

    def _store(self, k: int, block: int, place: int) -> None:
        T, out = self.lanes.real, self._as_number(k)
        pointer = self._address(self.own + block, self.lanes.bytes * place)
        self.lines.append(f"store {T} {out}, ptr {pointer}, align {self.lanes.bytes}")
