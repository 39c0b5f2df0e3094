"""Fusion: sums are written as chains of fused multiply-adds.

A sum of terms, some of them products, is one chain of operations: begin with a plain term, add each product with one
fused multiply-add. So a sum costs one operation a term, less one if there is a plain term to begin with.

A sum that only one other sum of its scope reads is part of that one. The *spine* of a sum is its left side, or its
right side if that is such a part and the left one is a product. The chain begins where the spine does; what is added on
the way follows in the order written, each term in the region where it is added. So the roundings follow from the
expressions alone: where regions are marked, where the program is cut and how many lanes there are change none of them,
and LLVM gets no licence to fuse or reorder anything. Same bits always (docs/decisions/0032).
"""

from __future__ import annotations

from dataclasses import dataclass

from featherweight.compiler.plan.live import live
from featherweight.compiler.plan.program import Program
from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.operations import ARITY, LEAVES, operands

SUMS = frozenset(("add", "sub"))
NEAR = 4  # terms among which a chain looks for a plain one to begin with; further ones may be regions away


@dataclass
class Chain:
    """A sum that is being written: its terms, how many of them are in the total, and where the spine has got to.

    A term is whether it is subtracted, and its node. As long as nothing was added yet, only subtracted, the total is
    negative.
    """

    terms: list[tuple[bool, int]]
    first: int  # the term it begins with
    added: int = 0
    total: int = -1
    negative: bool = False


def fuse(graph: Graph, outputs: list[int | float]) -> tuple[Program, list[int | float]]:
    """The program for these outputs (nodes, or numbers), and the outputs in it."""
    op, args, region = graph.op, graph.args, graph.region
    wanted = [o for o in outputs if not isinstance(o, float)]
    order = live(op, args, wanted)
    spines = _spines(graph, order, _inner(graph, order, wanted))
    program = Program(scope_of=graph.scope_of, parent=graph.parent, lookups=graph.lookups)
    new: dict[int, int] = {}
    for i in order:
        if op[i] in LEAVES:
            new[i] = program.append(op[i], args[i], region[i])
        elif op[i] in SUMS:
            if i in spines:
                new[i] = _go_on(program, *spines[i], new, graph, region[i])
        else:
            nodes = operands(op[i], args[i])
            own = tuple([new[a] for a in nodes])
            own = own if len(nodes) == len(args[i]) else own + args[i][len(nodes) :]
            new[i] = program.append(op[i], own, region[i])
        if i in graph.repeats:
            program.repeats[new[i]] = graph.repeats[i]
        if i in graph.array_of:
            program.array_of[new[i]] = graph.array_of[i]
    results = [o if isinstance(o, float) else new[o] for o in outputs]
    # products that went into a chain are not needed any more
    program.order = [
        i
        for i in live(program.op, program.args, [r for r in results if not isinstance(r, float)])
        if program.op[i] not in LEAVES and program.op[i] != "result"
    ]
    return program, results


def _inner(graph: Graph, order: list[int], wanted: list[int]) -> bytearray:
    """Which nodes are sums that only one other sum of the same scope reads."""
    op, args = graph.op, graph.args
    readers = [0] * len(op)
    for i in order:
        for a in args[i][: ARITY[op[i]]]:
            readers[a] += 1
    for i in wanted:
        readers[i] += 1
    scope_of, region = graph.scope_of, graph.region
    inner = bytearray(len(op))
    for i in order:
        if op[i] in SUMS:
            for a in args[i]:
                if readers[a] == 1 and op[a] in SUMS and scope_of[region[a]] == scope_of[region[i]]:
                    inner[a] = 1
    return inner


def _spines(graph: Graph, order: list[int], inner: bytearray) -> dict[int, tuple[Chain, int]]:
    """For each sum on a spine its chain, and how many terms the chain has there."""
    spines: dict[int, tuple[Chain, int]] = {}
    for root in order:
        if graph.op[root] not in SUMS or inner[root]:
            continue
        added = _added(graph, inner, root)
        terms = [term for _, of_sum in reversed(added) for term in of_sum]
        near = range(min(NEAR, len(terms)))
        chain = Chain(terms, min(near, key=lambda k: (graph.op[terms[k][1]] == "mul", terms[k][0])))
        end = 0
        for i, of_sum in reversed(added):
            end += len(of_sum)
            spines[i] = chain, end
    return spines


def _added(graph: Graph, inner: bytearray, root: int) -> list[tuple[int, list[tuple[bool, int]]]]:
    """The sums on the spine, the outermost first, each with the terms that it adds."""
    op, args = graph.op, graph.args
    added: list[tuple[int, list[tuple[bool, int]]]] = []
    minus, i = False, root
    while True:
        (x, y), y_minus = args[i], minus ^ (op[i] == "sub")
        right = inner[y] and op[x] == "mul"
        spine, side = ((y_minus, y), (minus, x)) if right else ((minus, x), (y_minus, y))
        terms = [] if inner[spine[1]] else [spine]
        stack = [side]
        while stack:
            side_minus, a = stack.pop()
            if inner[a]:
                stack += [(side_minus ^ (op[a] == "sub"), args[a][1]), (side_minus, args[a][0])]
            else:
                terms.append((side_minus, a))
        added.append((i, terms))
        if not inner[spine[1]]:
            return added
        minus, i = spine


def _go_on(program: Program, chain: Chain, end: int, new: dict[int, int], graph: Graph, region: int) -> int:
    """Add terms up to this number, once the one that the chain begins with is among them; the total."""
    if end <= chain.first:
        return -1
    if chain.total < 0:
        chain.negative, node = chain.terms[chain.first]
        chain.total = new[node]
    for k in range(chain.added, end):
        if k == chain.first:
            continue
        minus, i = chain.terms[k]
        turns = chain.negative and not minus  # x - total
        chain.negative = chain.negative and minus
        if graph.op[i] == "mul":
            op = "fms" if turns else "fma" if minus == chain.negative else "fnma"
            a, b = graph.args[i]
            args: tuple[int, ...] = (new[a], new[b], chain.total)
        else:
            op = "sub" if turns or minus != chain.negative else "add"
            args = (new[i], chain.total) if turns else (chain.total, new[i])
        chain.total = program.append(op, args, region)
    chain.added = end
    if chain.negative and end == len(chain.terms):
        chain.total = program.append("neg", (chain.total,), region)
    return chain.total
