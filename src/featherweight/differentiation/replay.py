"""Replay: a program is run once more, on other scalars; into another trace, or on numbers.

Operations are written in their order, regions as they were; constants that were folded are folded again, so that what
two programs compute of the same numbers is one node in the trace they are both replayed into.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from featherweight.compiler import Graph, Node
from featherweight.compiler.trace.products import IN_TABLE
from featherweight.differentiation.program import Program
from featherweight.scalar import (
    apply,
    array,
    count,
    linear,
    logical_not,
    lookup,
    only_where,
    repeat,
    weave,
    when,
    where,
)


def _reciprocal(x: Any) -> Any:
    return np.float64(1.0) / x if isinstance(x, float) else 1.0 / x  # infinite at 0, as in native code


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "reciprocal": _reciprocal, "abs": abs, "lt": operator.lt, "le": operator.le, "eq": operator.eq,
    "and": operator.and_, "or": operator.or_, "not": logical_not, "select": where,
}  # fmt: skip


def applied(name: str, *args: Any) -> Any:
    """An operation on scalars of any kind."""
    function = OPERATORS.get(name)
    return apply(name, *args) if function is None else function(*args)


def replayed(program: Program, values: Sequence[Any]) -> list[Any]:
    """The outputs of a program for these values of its inputs."""
    run = Replay(program, values)
    run.run(0)
    run.pass_rules_on()
    return run.of(program.outputs)


class Replay:
    """A program that is being run: the values of its nodes."""

    def __init__(self, program: Program, values: Sequence[Any]) -> None:
        self.program, self.graph = program, program.graph
        self.value: dict[int, Any] = dict(zip(program.inputs, values, strict=True))
        self.arrays: dict[int, Any] = {}  # by number
        self.results: dict[int, dict[int, Any]] = {}  # of loops, by node
        self._weave = weave() or (lambda name: None)
        self._part = 0
        self._done: int | None = None  # the node that says who is done in the loop that is open
        self._kept: set[int] = set()  # what loops make by themselves: who is done, and keeps old values

    def go(self, *name: Any) -> None:
        """Write in the region of this name."""
        self._weave((self._part, *name))

    def part(self) -> None:
        """Begin all regions anew, so that none has code before and after a loop: they would wait for each other."""
        self._part += 1

    def of(self, nodes: Sequence[int | float]) -> list[Any]:
        """Values of nodes, or numbers that are known."""
        return [x if isinstance(x, float) else self.get(x) for x in nodes]

    def get(self, i: int) -> Any:
        """The value of a node that was run, or of a leaf."""
        if i not in self.value:
            self.value[i] = self._leaf(i)
        return self.value[i]

    def _leaf(self, i: int) -> Any:
        op, args = self.graph.op[i], self.graph.args[i]
        if op == "constant":
            return self.program.literal(i)
        if op == "undefined":
            return 0.0
        if op != "table":
            raise TypeError("a value of the inside of repeat or when was used outside; let the body return it")
        target, number = Graph.tracing(), self.graph.table[args[0]]
        if target is None:
            return number
        if i not in self.program.folded:
            return target.number(number)
        name, own = self.program.folded[i]
        return target.apply(name, *(target.lift(self.get(a)) for a in own))

    def run(self, scope: int) -> None:
        """Run all operations of a scope."""
        for i in self.program.nodes[scope]:
            self.go("value", self.graph.region[i])
            self.step(i)

    def step(self, i: int) -> None:
        """Run one operation."""
        op, args = self.graph.op[i], self.graph.args[i]
        if op == "repeat":
            self.part()
            self.go("loop")
            self.loop(i)
            self.part()
        elif op == "result":
            if i not in self.graph.array_of:
                self.value[i] = self.results[args[0]][args[1]]
        elif op in ("array", "load", "store", "linear", "after"):
            self._memory(i, op, args)
        elif op == "lookup":
            self.value[i] = lookup(np.frombuffer(self.graph.lookups[args[1]]), self.get(args[0]))
        elif i not in self._kept:
            self.value[i] = applied(op, *[self.get(a) for a in args])

    def _memory(self, i: int, op: str, args: tuple) -> None:
        if op == "array":
            self.arrays[args[-1]] = array([self.get(a) for a in args[:-1]])
        elif op == "load":
            self.value[i] = self.array_of(args[0])[self.get(args[1])]
        elif op == "store":
            self.array_of(args[0])[self.get(args[1])] = self.get(self.stored(i))
        elif op == "linear":
            self._product(args)

    def array_of(self, version: int) -> Any:
        return self.arrays[self.graph.array_of[version]]

    def stored(self, i: int) -> int:
        """What a store writes; those who are done keep their numbers anyway."""
        _, index, new, _ = self.graph.args[i]
        if self.graph.op[new] == "select" and self.graph.args[new][0] == self._done:
            old = self.graph.args[new][1]
            if self.graph.op[old] == "load" and self.graph.args[old][1] == index:
                return self.graph.args[new][2]
        return new

    def _product(self, args: tuple) -> None:
        """y += W x."""
        y, x, W = self.array_of(args[0]), self.array_of(args[1]), self.weights(args)
        sums = linear(W, [x[j] for j in range(W.shape[1])], [y[k] for k in range(len(W))])
        for k, total in enumerate(sums):
            y[k] = total

    def weights(self, args: tuple, value: Callable[[int], Any] | None = None) -> np.ndarray:
        """W (m, n) of a product: numbers of the table, or values of inputs; or others, by their leaves."""
        _, _, leaf, how, m, n, first, block, row, column = args
        own = self.graph.args[leaf]
        places = [first + i // 8 * block + i % 8 * row + j * column for i in range(m) for j in range(n)]
        if how == IN_TABLE:
            return np.array([self.graph.table[own[0] + k] for k in places]).reshape(m, n)
        W = np.empty(m * n, dtype=object)
        W[:] = [(value or self.get)(self.graph._known["input", (own[0], own[1] + k)].id) for k in places]
        return W.reshape(m, n)

    def pass_rules_on(self) -> None:
        """Tell the trace that is written which of its nodes follow rules."""
        target = Graph.tracing()
        if target is None:
            return
        for ruled in self.graph.ruled:
            nodes = [x for x in (*ruled.inputs, *ruled.outputs) if not isinstance(x, float)]
            if ruled.scope == 0 and all(x in self.value for x in nodes):
                inputs, outputs = self.of(ruled.inputs), self.of(ruled.outputs)
                begin = 1 + max((x.id for x in inputs if isinstance(x, Node)), default=-1)
                target.rule(ruled.name, ruled.rule, inputs, outputs, begin)

    # ---- loops

    def loop(self, i: int) -> None:
        """Run a loop: `count`, `when` without values for others, or `repeat`."""
        parts = Loop(self.program, i)
        first = [self.get(parts.first[k]) for k in parts.numbers]
        self.results[i] = dict(zip(parts.numbers, self.turns(parts, first, self.body), strict=True))

    def body(self, parts: Loop, values: list[Any]) -> list[Any]:
        """One turn: from values of the carry to the next ones."""
        self.bind(parts, values)
        self.run(parts.repeat.body)
        return [self.get(parts.next[k]) for k in parts.numbers]

    def bind(self, parts: Loop, values: Sequence[Any]) -> None:
        """Let the leaves of the carry have these values."""
        for k, x in zip(parts.numbers, values, strict=False):
            leaf = self.program.carry(parts.node, k)
            if leaf is not None:
                self.value[leaf] = x

    def turns(self, parts: Loop, first: list[Any], body: Callable[[Loop, list[Any]], list[Any]]) -> list[Any]:
        """All turns of a loop that carries these values, and more if the body takes more."""
        outside = self.enter(parts)

        def turn(values: Any) -> list[Any]:
            target = Graph.tracing()
            self.value[parts.done] = False if target is None else target._done
            return body(parts, list(values))

        def counted(k: Any, values: Any) -> list[Any]:
            return turn([k, *values])[1:]

        try:
            with self._masked(parts, outside):
                if parts.counted:
                    return [0.0, *count(parts.repeat.at_most, counted, first[1:])]
                if parts.undefined:
                    return when(logical_not(self.ends(parts, first)), lambda: turn(first), None)
                return repeat(turn, first, until=lambda x: self.ends(parts, x), at_most=parts.repeat.at_most)
        finally:
            self.leave(outside)

    def ends(self, parts: Loop, values: Sequence[Any]) -> Any:
        """Whether a loop ends before a turn."""
        self._kept |= parts.kept
        self.bind(parts, values)
        self.run(parts.repeat.test)
        return parts.ends is not None and self.get(parts.ends)

    def enter(self, parts: Loop) -> int | None:
        """Go inside a loop; what `leave` wants to know."""
        outside = self._done
        if not parts.counted:
            self._done = parts.done
        self._kept |= parts.kept
        return outside

    def leave(self, outside: int | None) -> None:
        self._done = outside

    def _masked(self, parts: Loop, outside: int | None) -> AbstractContextManager[None]:
        """The mask of `only_where`, if this loop stands in one."""
        if self.graph.op[parts.frozen] == "constant" or parts.frozen == outside:
            return nullcontext()
        return only_where(logical_not(self.get(parts.frozen)))


class Loop:
    """The parts of a loop in a trace."""

    def __init__(self, program: Program, node: int) -> None:
        graph, self.node = program.graph, node
        self.repeat = graph.repeats[node]
        args, n = graph.args[node], self.repeat.size
        self.first, self.frozen, after, self.done = args[:n], args[n], args[n + 1 : -1], args[-1]
        self.numbers = [k for k in range(n) if after[k] not in graph.array_of]  # of the carry; the others are arrays
        self.counted = program.carry(node, 0) in graph.counters
        self.undefined = any(graph.op[a] == "undefined" for a in self.first)
        self.ends = graph.args[self.done][1] if graph.op[self.done] == "or" else None
        self.next = list(after)
        for k in self.numbers:  # without the choice of the old value by those who are done
            a = after[k]
            if graph.op[a] == "select" and graph.args[a][:2] == (self.done, program.carry(node, k)):
                self.next[k] = graph.args[a][2]
        self.kept = {self.done, *(a for a, b in zip(after, self.next, strict=True) if a != b)}
