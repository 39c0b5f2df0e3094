"""From a trace to a program: fused multiply-adds chosen by structure, dead code dropped.

The choice is made once, on the whole graph, before it is cut into functions, and LLVM gets no
licence to fuse or reorder anything. So one state, a pack of states, shared and unrolled code
all perform the same roundings: same bits always.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from featherweight.compiler.graph import LEAVES, Graph


@dataclass(frozen=True)
class Program:
    """Live operations in order. Leaves are not operations; `args` refer to them by node number."""

    op: list[str]
    args: list[tuple]
    region: list[int]
    order: list[int]  # live operations, arguments first
    table: list[float]  # values of the model constants


def fuse(graph: Graph, outputs: Iterable[int]) -> Program:
    """Rewrite a*b + c as one rounding wherever the sum has a product, and drop what is not used.

    fma = a*b + c, fms = a*b - c, fnma = c - a*b. Fusing never costs an operation: the sum becomes
    the fma, and a product that nobody else reads disappears. Of two products the one with fewer
    readers is fused, of two alike the right one (sums are written left to right).
    """
    op, args = list(graph.op), list(graph.args)
    outputs = list(outputs)
    readers = [0] * len(op)
    for i in _live(op, args, outputs):
        for a in args[i]:
            readers[a] += 1

    for i, kind in enumerate(op):
        if kind != "add" and kind != "sub":
            continue
        x, y = args[i]
        if op[y] == "mul" and not (op[x] == "mul" and readers[x] < readers[y]):
            op[i], args[i] = ("fma" if kind == "add" else "fnma"), (*args[y], x)
        elif op[x] == "mul":
            op[i], args[i] = ("fma" if kind == "add" else "fms"), (*args[x], y)
    return Program(op, args, graph.region, _live(op, args, outputs), graph.table)


def _live(op: list[str], args: list[tuple], outputs: list[int]) -> list[int]:
    """Operations (not leaves) that the outputs depend on, arguments first."""
    alive = bytearray(len(op))
    for i in outputs:
        alive[i] = 1
    order = []
    for i in range(len(op) - 1, -1, -1):
        if alive[i] and op[i] not in LEAVES:
            order.append(i)
            for a in args[i]:
                alive[a] = 1
    order.reverse()
    return order
