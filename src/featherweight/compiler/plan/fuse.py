"""From a trace to a program: sums written as fused multiply-adds, dead code dropped.

A sum of terms, some of them products, is one chain of operations: begin with a plain term, add
each product with one fused multiply-add. So a sum costs one operation a term, less one if there is
a plain term. The chains follow from the structure of the trace alone, are formed on the whole
graph before it is cut into functions, and LLVM gets no licence to fuse or reorder anything: one
state, a pack of states, shared and unrolled code all perform the same roundings. Same bits always.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from featherweight.compiler.trace.graph import Graph, Repeat
from featherweight.compiler.trace.operations import LEAVES, operands

SUMS = frozenset(("add", "sub"))


@dataclass
class Program:
    """Leaves and live operations, arguments first. fma = a*b + c, fms = a*b - c, fnma = c - a*b."""

    table: list[float]  # values of the model constants
    op: list[str] = field(default_factory=list)
    args: list[tuple] = field(default_factory=list)
    region: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)  # operations without the leaves and results of repeats
    scope_of: list[int] = field(default_factory=lambda: [0])  # of each region
    parent: list[int] = field(default_factory=lambda: [0])  # of each scope
    repeats: dict[int, Repeat] = field(default_factory=dict)  # by node
    lookups: list[bytes] = field(default_factory=list)

    def append(self, op: str, args: tuple, region: int) -> int:
        """A new node; its number."""
        self.op.append(op)
        self.args.append(args)
        self.region.append(region)
        return len(self.op) - 1


def fuse(graph: Graph, outputs: list[int | float]) -> tuple[Program, list[int | float]]:
    """The program for these outputs (nodes, or numbers), and the outputs in it."""
    op, args, region = graph.op, graph.args, graph.region
    wanted = [o for o in outputs if not isinstance(o, float)]
    order = _live(op, args, wanted)
    readers = [0] * len(op)
    for i in order:
        for a in operands(op[i], args[i]):
            readers[a] += 1
    for i in wanted:
        readers[i] += 1

    # a sum that only another sum of the same region reads is part of that one
    inner = bytearray(len(op))
    for i in order:
        if op[i] in SUMS:
            for a in args[i]:
                if op[a] in SUMS and readers[a] == 1 and region[a] == region[i]:
                    inner[a] = 1

    program = Program(graph.table, scope_of=graph.scope_of, parent=graph.parent, lookups=graph.lookups)
    new: dict[int, int] = {}
    for i in order:
        if op[i] in LEAVES:
            new[i] = program.append(op[i], args[i], region[i])
        elif op[i] in SUMS:
            if not inner[i]:
                new[i] = _chain(program, _terms(op, args, inner, i), new, op, args, region[i])
        else:
            nodes = operands(op[i], args[i])
            new[i] = program.append(op[i], (*(new[a] for a in nodes), *args[i][len(nodes) :]), region[i])
        if i in graph.repeats:
            program.repeats[new[i]] = graph.repeats[i]
    results = [o if isinstance(o, float) else new[o] for o in outputs]
    # products that went into a chain are not needed any more
    program.order = [
        i
        for i in _live(program.op, program.args, [r for r in results if not isinstance(r, float)])
        if program.op[i] not in LEAVES and program.op[i] != "result"
    ]
    return program, results


def _terms(op: list[str], args: list[tuple], inner: bytearray, root: int) -> list[tuple[bool, int]]:
    """The terms of a sum in the order written, each with whether it is subtracted."""
    terms: list[tuple[bool, int]] = []
    stack = [(False, root)]
    while stack:
        minus, i = stack.pop()
        if i == root or inner[i]:
            x, y = args[i]
            stack.append((minus ^ (op[i] == "sub"), y))
            stack.append((minus, x))
        else:
            terms.append((minus, i))
    return terms


def _chain(
    program: Program, terms: list[tuple[bool, int]], new: dict[int, int], op: list[str], args: list[tuple], region: int
) -> int:
    """Operations for a sum: plain terms first, then products, each in the order written."""
    plain = [t for t in terms if op[t[1]] != "mul"]
    products = [t for t in terms if op[t[1]] == "mul"]

    # begin with a term that is added; if all are subtracted, add them up and negate the sum
    begin = next((t for t in (*plain, *products) if not t[0]), None)
    negative = begin is None
    if begin is None:
        begin = (*plain, *products)[0]
    (plain if begin in plain else products).remove(begin)
    total = new[begin[1]]
    if op[begin[1]] == "mul" and plain:  # a*b - c in one operation
        a, b = args[begin[1]]
        total = program.append("fms", (new[a], new[b], new[plain.pop(0)[1]]), region)

    for minus, i in plain:
        total = program.append("add" if minus == negative else "sub", (total, new[i]), region)
    for minus, i in products:
        a, b = args[i]
        total = program.append("fma" if minus == negative else "fnma", (new[a], new[b], total), region)
    return program.append("neg", (total,), region) if negative else total


def _live(op: list[str], args: list[tuple], outputs: list[int]) -> list[int]:
    """Nodes that the outputs depend on, arguments first."""
    alive = bytearray(len(op))
    for i in outputs:
        alive[i] = 1
    for i in range(len(op) - 1, -1, -1):
        if alive[i]:
            for a in operands(op[i], args[i]):
                alive[a] = 1
    return [i for i, a in enumerate(alive) if a]
