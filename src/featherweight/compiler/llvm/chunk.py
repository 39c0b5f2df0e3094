"""LLVM IR of one chunk: a function of the workspace, for one lane or a pack.

The text is the same for every width but for the type: `double` for one state, `<8 x double>` for
a pack of eight. No fast-math flags: what `fuse` decided is what the machine does.
"""

from __future__ import annotations

import re
import struct
from itertools import zip_longest

from featherweight.compiler.llvm import memory
from featherweight.compiler.llvm.lanes import LaneTypes
from featherweight.compiler.llvm.places import Place, Places
from featherweight.compiler.llvm.products import call_product
from featherweight.compiler.llvm.straight import Leaving
from featherweight.compiler.llvm.vectors import WIDEST, Vectors, are_one, operands, side_by_side
from featherweight.compiler.plan.steps import Chunk
from featherweight.compiler.trace.arrays import LANES, ROWS, UNIFORM
from featherweight.compiler.trace.operations import OPERATIONS

# what a chunk reads it does not write, but for slots in `Chunk.over`: such loads wait for no store (decision 42)
CONSTANT = ", !tbaa !0"
CONSTANT_METADATA = '!0 = !{!1, !1, i64 0, i64 1}\n!1 = !{!"slot", !2, i64 0}\n!2 = !{!"workspace"}\n'
LOOKUPS = {UNIFORM: memory.lookup_uniform, LANES: memory.lookup}
VECTORS = {n: LaneTypes(n) for n in range(2, WIDEST + 1)}  # of operations of one lane that are done at once
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
        self.values: dict[int, str] = {}  # of the operations
        self.loaded: dict[tuple, str] = {}  # by reference, and vectors by those of their numbers
        self.vectors = Vectors(chunk, lanes.at_once)
        self.made_at_once: dict[int, str] = {}  # vectors, by number of the first operation
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
        over, goals = self.chunk.over, self._goals()
        waiting: list[int] = []  # to be stored where something has still to be read
        for k, (op, *refs) in enumerate(self.chunk.code):
            n = self.vectors.width(k)
            if n > 1:
                self._at_once(k, n, op)
                self._store_at_once(range(k, k + n), goals)
            elif n == 1:
                self.values[k] = self._operation(k, op, refs)
                for place in goals.get(k, ()):
                    self._store(self.lanes, self._as_number(k), place)
            if k in over:
                waiting.append(k)
            for ready in [j for j in waiting if over[j] in self.loaded]:
                waiting.remove(ready)
                self._store(self.lanes, self._as_number(ready), self._own_place(ready))

    def _goals(self) -> dict[int, list[Place]]:
        """Where values are stored as soon as they are known: in results, and in slots that nobody reads here."""
        chunk, leaving = self.chunk, self.leaving
        goals: dict[int, list[Place]] = {}
        for n, (k, _, _) in enumerate(leaving.values, start=self.left):
            goals.setdefault(k, []).append(self.places.where[n])
        for k in chunk.stores:
            if k not in leaving.unread and k not in chunk.over:
                goals.setdefault(k, []).append(self._own_place(k))
        return goals

    def _own_place(self, k: int) -> Place:
        """The slot of a value that later steps read."""
        block, number = self.chunk.stores[k]
        base, distance = self.places.where[self.own + block]
        return base, distance + self.lanes.bytes * number

    # ---- several operations at once

    def _at_once(self, k: int, n: int, op: str) -> None:
        """Write n operations from this one on as one on vectors."""
        types = VECTORS[n]
        x = [self._vector(refs, types) for refs in operands(self.chunk.code[k : k + n])]
        self.made_at_once[k] = self._called(types, OPERATIONS[op].llvm, x)

    def _vector(self, refs: tuple, types: LaneTypes) -> str:
        """The vector of these numbers."""
        T = types.real
        if self.vectors.hold(refs):
            return self.made_at_once[refs[0][1]]
        if refs in self.loaded:
            return self.loaded[refs]
        if side_by_side(refs) and self.replaced.isdisjoint(refs):
            vector = self._made(f"load {T}, ptr {self._slot_address(*refs[0][1:])}, align 8{CONSTANT}")
        elif are_one(refs):
            vector = self._spread(self._value(refs[0]), types)
        else:
            vector = "poison"
            for j, ref in enumerate(refs):
                vector = self._made(f"insertelement {T} {vector}, double {self._value(ref)}, i32 {j}")
        self.loaded[refs] = vector
        return vector

    def _spread(self, scalar: str, types: LaneTypes) -> str:
        """The same number in all lanes."""
        T, n = types.real, types.width
        first = self._made(f"insertelement {T} poison, double {scalar}, i32 0")
        return self._made(f"shufflevector {T} {first}, {T} poison, <{n} x i32> zeroinitializer")

    def _local(self, k: int) -> str:
        """What an operation gave, taken out of its vector where it has to be."""
        if k not in self.values:
            first, j, n = self.vectors.lanes["local", k]
            self.values[k] = self._made(f"extractelement {VECTORS[n].real} {self.made_at_once[first]}, i32 {j}")
        return self.values[k]

    def _store_at_once(self, run: range, goals: dict[int, list[Place]]) -> None:
        """Store what was computed at once, as vectors where it goes side by side."""
        for places in zip_longest(*[goals.get(k, ()) for k in run]):
            base, distance = places[0] or ("", 0)
            if all(place == (base, distance + 8 * j) for j, place in enumerate(places)):
                self._store(VECTORS[len(run)], self.made_at_once[run[0]], places[0])
                continue
            for k, place in zip(run, places, strict=True):
                if place is not None:
                    self._store(self.lanes, self._local(k), place)

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
            return self._local(ref[1])
        if kind == "literal":
            return self.lanes.literal(struct.unpack("<d", ref[1])[0])
        if ref not in self.loaded:
            self.loaded[ref] = self._number(ref[1]) if kind == "table" else self._slot(ref)
        return self.loaded[ref]

    def _number(self, k: int) -> str:
        scalar = self._made(f"load double, ptr {self._number_address(k)}{CONSTANT}")
        return scalar if self.lanes.width == 1 else self._spread(scalar, self.lanes)

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
            return self._local(ref[1])
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
            x = [self._local(ref[1]) if ref[0] == "local" else self._value(ref) for ref in refs]
        return self._called(self.lanes, row.llvm, x)

    def _called(self, types: LaneTypes, llvm: str, x: list[str]) -> str:
        """Write an operation with these operands; the name of its result."""
        write, n = types.numbered(llvm, len(x))
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
            return self._local(k)
        one, zero = (f"{self.lanes.real} {self.lanes.literal(x)}" for x in (1.0, 0.0))
        return self._made(f"select {self.lanes.bool} {self._local(k)}, {one}, {zero}")

    def _store(self, types: LaneTypes, value: str, place: Place) -> None:
        base, distance = place
        pointer = self._made(f"getelementptr i8, ptr {base}, i64 {distance}") if distance else base
        self.lines.append(f"store {types.real} {value}, ptr {pointer}, align {self.lanes.bytes}")
