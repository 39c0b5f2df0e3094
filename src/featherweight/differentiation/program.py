"""A program: the trace of a function of scalars, to be replayed or differentiated."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.cached import cached_property
from featherweight.compiler import Graph, Node
from featherweight.compiler.trace.operations import LEAVES, operands


@dataclass(frozen=True)
class Program:
    """A trace with its inputs (leaves) and outputs (nodes, or numbers that are known)."""

    graph: Graph
    inputs: tuple[int, ...]
    outputs: tuple[int | float, ...]
    places: tuple[int, ...] = ()  # of the inputs among the values that were traced

    @staticmethod
    def of(graph: Graph, inputs: Sequence[Node], results: Sequence[Any], places: tuple[int, ...] = ()) -> Program:
        """The program that computes these results, traced values or numbers."""
        return Program(graph, tuple(x.id for x in inputs), tuple(map(_output, results)), places)

    @cached_property
    def live(self) -> frozenset[int]:
        """The nodes that outputs depend on, also by rules."""
        op, args, alive = self.graph.op, self.graph.args, set[int]()
        asked = {o: ruled for ruled in self.graph.ruled if ruled.rule is not None for o in ruled.outputs}
        stack = [o for o in self.outputs if not isinstance(o, float)]
        while stack:
            i = stack.pop()
            if i not in alive:
                alive.add(i)
                stack += operands(op[i], args[i])
                if i in asked:
                    stack += [x for x in (*asked[i].inputs, *asked[i].outputs) if not isinstance(x, float)]
        return frozenset(alive)

    @cached_property
    def nodes(self) -> dict[int, list[int]]:
        """Live operations of each scope, arguments first."""
        graph = self.graph
        nodes: dict[int, list[int]] = {scope: [] for scope in range(len(graph.parent))}
        for i in sorted(self.live):
            if graph.op[i] not in LEAVES:
                nodes[graph.scope_of[graph.region[i]]].append(i)
        return nodes

    @cached_property
    def folded(self) -> dict[int, tuple[str, tuple[int, ...]]]:
        """Of what each number of the model was folded: operation and arguments."""
        known = self.graph._known.items()
        return {node.id: key for key, node in known if self.graph.op[node.id] == "table" and key[0] != "table"}

    def scope(self, node: int) -> int:
        """The scope that a node stands in."""
        return self.graph.scope_of[self.graph.region[node]]

    def literal(self, node: int) -> float:
        """The number of a literal."""
        return struct.unpack("<d", self.graph.args[node][0])[0]

    def carry(self, repeat: int, k: int) -> int | None:
        """The leaf of entry k of a loop's carry, None if nothing reads it."""
        leaf = self.graph._known.get(("carry", (self.graph.repeats[repeat].number, k)))
        return None if leaf is None else leaf.id


def traced(
    function: Callable[[list[Any]], Sequence[Any]], values: Sequence[Any], moving: Sequence[bool] | None = None
) -> Program:
    """The program of a function of a list of scalars. Its inputs are those that are traced values or `moving`; the
    others are numbers, and known."""
    graph = Graph()
    places = tuple(k for k, x in enumerate(values) if isinstance(x, Node) or (moving is not None and moving[k]))
    leaves = {k: graph.input(0, k) for k in places}
    with graph.written():
        results = function([leaves.get(k, x) for k, x in enumerate(values)])
    return Program.of(graph, list(leaves.values()), results, places)


def _output(value: Any) -> int | float:
    if not isinstance(value, Node):
        return float(value)
    number = value.literal()
    return value.id if number is None else number
