"""Late lowering: operations without code of their own become programs of those that have it.

Until here exp, log, tanh and atan2 are one node each, which is what differentiation wants to see. Their programs stand
in the rows of the table of operations. The graph is written anew in its order, so that equal expressions are one node.
"""

from __future__ import annotations

from typing import Any

from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.node import Node
from featherweight.compiler.trace.operations import OPERATIONS, operands


def lower(graph: Graph, outputs: list[int | float]) -> tuple[Graph, list[int | float]]:
    """The graph without such operations, and the outputs (nodes, or numbers) in it."""
    if not any(OPERATIONS[op].lower for op in set(graph.op)):
        return graph, outputs
    new, number = graph.rewritten(), list[int]()
    for i, (op, args, region) in enumerate(zip(graph.op, graph.args, graph.region, strict=True)):
        new.go_on(region)
        program, nodes = OPERATIONS[op].lower, [number[a] for a in operands(op, args)]
        if program is None:
            number.append(new._node(op, (*nodes, *args[len(nodes) :])).id)
        else:
            number.append(new.lift(program(*_arguments(new, nodes))).id)
        if i in graph.repeats:
            new.repeats[number[i]] = graph.repeats[i]
        if i in graph.array_of:
            new.array_of[number[i]] = graph.array_of[i]
    return new, [o if isinstance(o, float) else number[o] for o in outputs]


def _arguments(graph: Graph, nodes: list[int]) -> list[Any]:
    """What a program is given: nodes, and literals as the numbers they are, unless there is nothing else."""
    args = [Node(graph, a) for a in nodes]
    if all(x._is("constant") for x in args):
        return args
    return [x.value() if x._is("constant") else x for x in args]
