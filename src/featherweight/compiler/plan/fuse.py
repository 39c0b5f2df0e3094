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

from featherweight.compiler.plan.live import live
from featherweight.compiler.plan.program import Program
from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.operations import ARITY, LEAVES, operands

SUMS = frozenset(("add", "sub"))
NEAR = 4  # terms among which a chain looks for a plain one to begin with; further ones may be regions away


# of a sum: is it subtracted, its node, and the region of the sum on the spine that adds it
Term = tuple[bool, int, int]


def fuse(graph: Graph, outputs: list[int | float]) -> tuple[Program, list[int | float]]:
    """The program for these outputs (nodes, or numbers), and the outputs in it."""
    op, args, region = graph.op, graph.args, graph.region
    wanted = [o for o in outputs if not isinstance(o, float)]
    order = live(op, args, wanted)
    inner = _inner(graph, order, wanted)
    program = Program(graph.table, scope_of=graph.scope_of, parent=graph.parent, lookups=graph.lookups)
    new: dict[int, int] = {}
    for i in order:
        if op[i] in LEAVES:
            new[i] = program.append(op[i], args[i], region[i])
        elif op[i] in SUMS:
            if not inner[i]:
                new[i] = _chain(program, _terms(graph, inner, i), new, graph)
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


def _terms(graph: Graph, inner: bytearray, root: int) -> list[Term]:
    """The terms of a sum in the order in which the chain adds them."""
    op, args = graph.op, graph.args
    added: list[list[Term]] = []  # by each sum on the spine, the outermost first
    minus, i = False, root
    while True:
        region = graph.region[i]
        (x, y), y_minus = args[i], minus ^ (op[i] == "sub")
        right = inner[y] and op[x] == "mul"
        spine, side = ((y_minus, y), (minus, x)) if right else ((minus, x), (y_minus, y))
        terms = [] if inner[spine[1]] else [(*spine, region)]
        stack = [side]
        while stack:
            side_minus, a = stack.pop()
            if inner[a]:
                stack += [(side_minus ^ (op[a] == "sub"), args[a][1]), (side_minus, args[a][0])]
            else:
                terms.append((side_minus, a, region))
        added.append(terms)
        if not inner[spine[1]]:
            return terms if len(added) == 1 else [term for terms in reversed(added) for term in terms]
        minus, i = spine


def _chain(program: Program, terms: list[Term], new: dict[int, int], graph: Graph) -> int:
    """Operations for a sum. As long as nothing was added yet, only subtracted, the chain holds minus the total."""
    product = [graph.op[node] == "mul" for _, node, _ in terms]
    first = min(range(min(NEAR, len(terms))), key=lambda k: (product[k], terms[k][0]))
    negative, node, region = terms[first]
    total, last = new[node], first
    for k, (minus, i, here) in enumerate(terms):
        if k == first:
            continue
        if k > last:
            last, region = k, here
        turns = negative and not minus  # x - total
        negative = negative and minus
        if product[k]:
            op = "fms" if turns else "fma" if minus == negative else "fnma"
            a, b = graph.args[i]
            args: tuple[int, ...] = (new[a], new[b], total)
        else:
            op = "sub" if turns or minus != negative else "add"
            args = (new[i], total) if turns else (total, new[i])
        total = program.append(op, args, region)
    return program.append("neg", (total,), region) if negative else total
