"""Memory allocation: every value that crosses from one step to another gets a slot of the workspace, one lane vector.

Values with the same last reader form a block; its slots are reused after that reader.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from math import copysign

from featherweight.compiler.plan.inplace import in_place
from featherweight.compiler.plan.program import Program
from featherweight.compiler.plan.refer import refer
from featherweight.compiler.plan.slots import Slots
from featherweight.compiler.plan.steps import Chunk, Elementary, Source, Step, Turn
from featherweight.compiler.trace.operations import ARITY, CONSTANTS

LINE = 64  # bytes of a cache line
ALIGN = 8  # slots; puts inputs and the arguments of elementary functions on whole vectors


@dataclass(frozen=True)
class Input:
    """An input array: its size, and where its parts begin. Equal code may read other parts. If it is `read_by_index` it
    is not moved into slots: there is one, for the places of the rows in memory."""

    size: int
    parts: tuple[int, ...] = (0,)
    read_by_index: bool = False

    @property
    def slots(self) -> int:
        return 1 if self.read_by_index else self.size


@dataclass(frozen=True)
class Plan:
    """Steps in order, with the workspace they work in."""

    steps: list[Step]
    base: dict[Source, int]  # first slot of every block
    literals: list[float | int]  # the literal block, written once: values, or places in the table of the trace
    numbers: list[int]  # places in the table of the trace, in the order in which the chunks take them
    size: int  # slots in all
    outputs: list[int]  # slot of every output entry
    argument_slots: dict[int, list[int]]  # slots of the arguments of each elementary level
    operations: int
    lookups: list[bytes]
    by_index: frozenset[int]  # numbers of the inputs that stay where they are

    @property
    def cost(self) -> int:
        """Of one state, in operations: computing, and moving the results, which takes four times as long."""
        return self.operations + 4 * len(self.outputs)

    def first_number(self, width: int) -> int:
        """Where the numbers begin in a workspace for so many lanes, behind its slots [bytes]."""
        return -(-8 * width * self.size // LINE) * LINE

    @property
    def zero(self) -> int | None:
        """The slot that holds +0 for good, if there is one."""
        signs = [isinstance(x, float) and (x, copysign(1.0, x)) for x in self.literals]
        return self.base["literal",] + signs.index((0.0, 1.0)) if (0.0, 1.0) in signs else None


def place(program: Program, steps: list[Step], inputs: list[Input], outputs: list[int | float], carried: int) -> Plan:
    """The steps with their slots. The first `carried` inputs are replaced by the first outputs, as in a time loop."""
    return _Layout(program, steps, inputs, outputs, carried).plan()


class _Layout:
    """The layout: block and index of each value, first slot of each block."""

    def __init__(
        self, program: Program, steps: list[Step], inputs: list[Input], outputs: list[int | float], carried: int
    ) -> None:
        self.program, self.steps, self.inputs, self.outputs = program, steps, inputs, outputs
        self.loops = _loops(steps)
        self.reads = [self._reads(step) for step in steps]
        self.in_place = in_place(program, steps, self.loops, self.reads, outputs, self._replaced(carried))
        self.where: dict[int, tuple[Source, int]] = {}  # block and index of every value that crosses
        self.base: dict[Source, int] = {}
        self.literals: dict[str | int, int] = {}  # by place in the table, or hexadecimal text: 0 and -0 are two
        self.top = 0

    def plan(self) -> Plan:
        array_of = self.program.array_of
        self._find_places()
        for step in self.steps:
            if isinstance(step, Chunk):
                refer(self.program, step, self.where, self.in_place)
        self._find_leaving()
        places = [self._place(o) for o in self.outputs]
        moved = [
            [None if self.program.op[a] == "undefined" or a in array_of else self._place(a) for a in step.values]
            if isinstance(step, Turn)
            else []
            for step in self.steps
        ]
        self._reserve_blocks(places)
        for step, of_step in zip(self.steps, moved, strict=True):
            if isinstance(step, Turn):
                self._write_turn(step, [place and self._slot(place) for place in of_step])
        return Plan(
            steps=self.steps,
            base=self.base,
            literals=[float.fromhex(x) if isinstance(x, str) else x for x in self.literals],
            numbers=[k for step in self.steps if isinstance(step, Chunk) for k in step.constants],
            size=self.top,
            outputs=[self._slot(place) for place in places],
            argument_slots={
                step.level: [self._slot(self._place(a)) for a in step.arguments]
                for step in self.steps
                if isinstance(step, Elementary)
            },
            operations=self._operations(),
            lookups=self.program.lookups,
            by_index=frozenset(k for k, array in enumerate(self.inputs) if array.read_by_index),
        )

    def _find_leaving(self) -> None:
        """Note in each chunk which of its values are entries of the output."""
        read = {a for reads in self.reads for a in reads}
        made = {i: (step, k) for step in self.steps if isinstance(step, Chunk) for k, i in enumerate(step.nodes)}
        for entry, node in enumerate(self.outputs):
            if not isinstance(node, float) and node in made:
                step, k = made[node]
                step.leaves.setdefault(k, []).append(entry)
                if node not in read:
                    step.unread.add(k)

    def _operations(self) -> int:
        """Of the whole program; a product has one for each of its weights."""
        products = [self.program.args[i] for i in self.program.order if self.program.op[i] == "linear"]
        return len(self.program.order) + sum(m * n for *_, m, n, _, _, _, _ in products)

    def _read_until(self, s: int, home: int | None) -> int:
        """End of the live range of a value from step `home` that step s reads: s itself, or the end of the outermost
        loop around s that does not compute the value in each iteration."""
        if not self.loops[s]:
            return s
        outer = [end for begin, end in self.loops[s] if home is None or not begin <= home <= end]
        return max(outer, default=s)

    def _reads(self, step: Step) -> list[int]:
        """The nodes of other steps that a step reads."""
        if isinstance(step, Elementary):
            return step.arguments
        if isinstance(step, Turn):
            return list(step.values)
        op, args = self.program.op, self.program.args
        read = dict.fromkeys([a for i in step.nodes for a in args[i][: ARITY[op[i]]]])
        own = set(step.nodes)
        return [a for a in read if a not in own]

    def _replaced(self, carried: int) -> list[tuple[int | float, int | None, tuple[Source, int]]]:
        """Outputs that replace inputs in a loop: the output, the input's node if it is read, and its place."""
        node = {args: i for i, args in enumerate(self.program.args) if self.program.op[i] == "input"}
        entries = ((k, j) for k, array in enumerate(self.inputs[:carried]) for j in range(array.size))
        whole = {args[0] for op, args in zip(self.program.op, self.program.args, strict=True) if op == "span"}
        return [
            (o, node.get(e), self._input(*e))
            for o, e in zip(self.outputs, entries, strict=False)
            if e[0] not in whole  # read as a matrix, whose entries are no nodes
        ]

    def _input(self, array: int, position: int) -> tuple[Source, int]:
        """Where an entry of an input is."""
        parts = self.inputs[array].parts
        start = parts[bisect_right(parts, position) - 1]
        return ("input", array, start), position - start

    def _find_places(self) -> None:
        """Block and index of every value that crosses from one step to another."""
        op, args, where, array_of = self.program.op, self.program.args, self.where, self.program.array_of
        home: dict[int, int] = {}
        last_reader: dict[int, int] = {}
        for s, step in enumerate(self.steps):
            if isinstance(step, Chunk):
                home.update(dict.fromkeys(step.nodes, s))
        for s, reads in enumerate(self.reads):
            for a in reads:
                until = self._read_until(s, home.get(a)) if self.loops[s] else s
                if until >= last_reader.get(a, 0):
                    last_reader[a] = until
        last_reader.update(dict.fromkeys((o for o in self.outputs if not isinstance(o, float)), len(self.steps)))
        for s, step in enumerate(self.steps):
            if isinstance(step, Elementary):
                starts, number = self._elementary_parts(step), {a: k for k, a in enumerate(step.arguments)}
                for i in step.nodes:
                    k = number[args[i][0]]
                    where[i] = (op[i], step.level, starts[k]), k - starts[k]
            elif isinstance(step, Chunk):
                by_reader: dict[int, list[int]] = defaultdict(list)
                for i in step.nodes:
                    if i in self.in_place.made:
                        where[i] = self.in_place.made[i]
                    elif i in last_reader and i not in array_of:
                        by_reader[last_reader[i]].append(i)
                step.blocks = [by_reader[reader] for reader in sorted(by_reader)]
                for b, block in enumerate(step.blocks):
                    where.update({i: (("chunk", s, b), k) for k, i in enumerate(block)})
        size_of = {repeat.number: repeat.size for repeat in self.program.repeats.values()}
        where.update({i: (("array", k), 0) for i, k in array_of.items()})
        for i in last_reader:
            if i in array_of:
                continue
            if op[i] == "input":
                where[i] = self._input(*args[i])
            elif op[i] == "rows":
                where[i] = ("input", args[i][0], 0), 0
            elif op[i] == "span":
                where[i] = ("input", args[i][0], 0), args[i][1]
            elif op[i] == "carry":
                where[i] = self.in_place.block(args[i][0]), args[i][1] % (size_of[args[i][0]] + 1)
            elif op[i] == "result":
                where[i] = self.in_place.block(self.program.repeats[args[i][0]].number), args[i][1]

    def _elementary_parts(self, step: Elementary) -> list[int]:
        """For each argument of an elementary level the number of the first that is in the same part of an input: equal
        limbs read their own sines alike, wherever those of their ancestors are."""
        op, args = self.program.op, self.program.args
        parts = [self._input(*args[a])[0] if op[a] == "input" else None for a in step.arguments]
        starts: list[int] = []
        for k, part in enumerate(parts):
            starts.append(starts[-1] if k and part == parts[k - 1] else k)
        return starts

    def _place(self, value: int | float) -> tuple[Source, int]:
        """Where a value is found; a number known while tracing gets a slot of its own."""
        if not isinstance(value, float):
            op, args = self.program.op[value], self.program.args[value]
            if op not in CONSTANTS:
                return self.where[value]
            value = args[0] if op == "table" else struct.unpack("<d", args[0])[0]
        key = value.hex() if isinstance(value, float) else value
        return ("literal",), self.literals.setdefault(key, len(self.literals))

    def _slot(self, place: tuple[Source, int]) -> int:
        return self.base[place[0]] + place[1]

    def _reserve(self, source: Source, slots: int) -> None:
        self.base[source] = self.top
        self.top += -(-slots // ALIGN) * ALIGN

    def _reserve_blocks(self, outputs: list[tuple[Source, int]]) -> None:
        """Give every block its slots; those of a chunk or a repeat are used again once their last reader is done."""
        self._reserve(("literal",), len(self.literals))
        for k, array in enumerate(self.inputs):
            self._reserve(("input", k), array.slots)
            self.base.update({("input", k, start): self.base["input", k] + start for start in array.parts})
        for i, k in self.program.array_of.items():
            if self.program.op[i] == "array":
                self._reserve(("array", k), len(self.program.args[i]) - 1)
        for step in self.steps:
            if isinstance(step, Elementary):
                starts = self._elementary_parts(step)
                for name in ("argument", "sin", "cos"):
                    self._reserve((name, step.level), len(step.arguments))
                    first = self.base[name, step.level]
                    self.base.update({(name, step.level, start): first + start for start in starts})

        ends: dict[int, list[Source]] = defaultdict(list)
        for source, s in self._last_readers(outputs).items():
            ends[s].append(source)
        memory = Slots(self.top)
        size_of: dict[Source, int] = {}
        begins = self._begins()
        for s in range(len(self.steps)):
            for source, size in begins[s]:
                size_of[source] = size
                self.base[source] = memory.take(size)
            for source in ends[s]:
                memory.give(self.base[source], size_of[source])
        self.top = memory.top

    def _begins(self) -> list[list[tuple[Source, int]]]:
        """The blocks that begin with each step, and their sizes."""
        begins: list[list[tuple[Source, int]]] = [[] for _ in self.steps]
        first: dict[Source, int] = {}  # where something is made in the block of a repeat
        for s, step in enumerate(self.steps):
            if isinstance(step, Chunk):
                begins[s] += [(("chunk", s, b), len(block)) for b, block in enumerate(step.blocks)]
                for source, _ in step.targets:
                    first.setdefault(source, s)
            elif isinstance(step, Turn) and step.kind == "begin" and step.repeat.number not in self.in_place.goes_on:
                source = self.in_place.block(step.repeat.number)
                begins[first.get(source, s)].append((source, step.repeat.size + 1))
        return begins

    def _last_readers(self, outputs: list[tuple[Source, int]]) -> dict[Source, int]:
        """The step after which a block of a chunk or a repeat is not needed."""
        made: dict[Source, int] = {}
        last: dict[Source, int] = {}
        for s, step in enumerate(self.steps):
            if isinstance(step, Turn) and step.kind == "end":
                source = self.in_place.block(step.repeat.number)
                made[source] = last[source] = s
        for s, reads in enumerate(self.reads):
            for a in reads:
                source = self.where[a][0] if a in self.where else ("literal",)
                home = source[1] if source[0] == "chunk" else made.get(source)
                if home is not None and home != s:
                    until = self._read_until(s, home) if self.loops[s] else s
                    if until >= last.get(source, 0):
                        last[source] = until
        last.update({source: len(self.steps) for source, _ in outputs if source[0] in ("chunk", "repeat")})
        return last

    def _write_turn(self, turn: Turn, slots: list[int | None]) -> None:
        """The copies at a place of a repeat: into the slots of its carry."""
        if turn.kind == "test":
            turn.slot = slots[0] or 0
            return
        if turn.kind == "end" and turn.repeat.at_most == 1:
            slots = slots[: turn.repeat.size]  # nobody asks any more whether a lane is done
        first = self.base[self.in_place.block(turn.repeat.number)]
        turn.copies = [(slot, first + k) for k, slot in enumerate(slots) if slot is not None and slot != first + k]


def _loops(steps: list[Step]) -> list[list[tuple[int, int]]]:
    """For each step, where the repeats around it begin and end."""
    around: list[list[tuple[int, int]]] = [[] for _ in steps]
    begun: list[int] = []
    for s, step in enumerate(steps):
        if isinstance(step, Turn) and step.kind == "begin":
            begun.append(s)
        elif isinstance(step, Turn) and step.kind == "end":
            begin = begun.pop()
            for inside in range(begin + 1, s + 1):
                around[inside].append((begin + 1, s))
    return around
