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

from featherweight.compiler.plan.live import live, live_and_readers
from featherweight.compiler.plan.program import Program
from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.operations import ARITY, LEAVES

SUMS = frozenset(("add", "sub"))
NEAR = 4  # terms among which a chain looks for a plain one to begin with; further ones may be regions away


@dataclass(slots=True)
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
    order, readers = live_and_readers(op, args, wanted)
    spines = _spines(graph, order, _inner(graph, order, readers))
    program = Program(scope_of=graph.scope_of, parent=graph.parent, lookups=graph.lookups)
    new_op, new_args, new_region = program.op, program.args, program.region
    new = [-1] * len(op)
    for i in order:
        name, own = op[i], args[i]
        if name in SUMS:
            if i in spines:
                new[i] = _go_on(program, *spines[i], new, graph, region[i])
            continue
        arity = ARITY[name]
        if arity == len(own):
            own = tuple([new[a] for a in own])
        elif name not in LEAVES:
            own = (*[new[a] for a in own[:arity]], *(own[arity:] if arity is not None else ()))
        new[i] = len(new_op)
        new_op.append(name)
        new_args.append(own)
        new_region.append(region[i])
    program.repeats = {new[i]: repeat for i, repeat in graph.repeats.items() if new[i] >= 0}
    program.array_of = {new[i]: array for i, array in graph.array_of.items() if new[i] >= 0}
    results = [o if isinstance(o, float) else new[o] for o in outputs]
    # products that went into a chain are not needed any more
    program.order = [
        i
        for i in live(program.op, program.args, [r for r in results if not isinstance(r, float)])
        if program.op[i] not in LEAVES and program.op[i] != "result"
    ]
    return program, results


def _inner(graph: Graph, order: list[int], readers: list[int]) -> bytearray:
    """Which nodes are sums that only one other sum of the same scope reads."""
    op, args = graph.op, graph.args
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
        terms = [term for _, of_sum in added for term in of_sum]
        near = [(graph.op[node] == "mul", minus) for minus, node in terms[:NEAR]]
        chain = Chain(terms, near.index(min(near)))
        end = 0
        for i, of_sum in added:
            end += len(of_sum)
            spines[i] = chain, end
    return spines


def _added(graph: Graph, inner: bytearray, root: int) -> list[tuple[int, list[tuple[bool, int]]]]:
    """The sums on the spine, the innermost first, each with the terms that it adds."""
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
            added.reverse()
            return added
        minus, i = spine


def _go_on(program: Program, chain: Chain, end: int, new: list[int], graph: Graph, region: int) -> int:
    """Add terms up to this number, once the one that the chain begins with is among them; the total."""
    if end <= chain.first:
        return -1
    terms, total, negative = chain.terms, chain.total, chain.negative
    if total < 0:
        negative, node = terms[chain.first]
        total = new[node]
    for k in range(chain.added, end):
        if k == chain.first:
            continue
        minus, i = terms[k]
        turns = negative and not minus  # x - total
        negative = negative and minus
        if graph.op[i] == "mul":
            a, b = graph.args[i]
            op = "fms" if turns else "fma" if minus == negative else "fnma"
            total = program.append(op, (new[a], new[b], total), region)
        else:
            op = "sub" if turns or minus != negative else "add"
            total = program.append(op, (new[i], total) if turns else (total, new[i]), region)
    if negative and end == len(terms):
        total = program.append("neg", (total,), region)
    chain.added, chain.total, chain.negative = end, total, negative
    return total
