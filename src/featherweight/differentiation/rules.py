"""Rules: pieces of a program that know their own derivative, and which nodes of a program a derivative passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from featherweight.compiler.trace.operations import OPERATIONS, operands
from featherweight.compiler.trace.structure import Ruled
from featherweight.differentiation.program import Program
from featherweight.differentiation.replay import Loop, applied
from featherweight.scalar.products import Layer

Tangents = Mapping[int, Any]  # by direction; what is missing is zero


class NotBackward(TypeError):
    """Reverse mode does not go through something; forward mode does."""


class Rule(Protocol):
    """The derivative of a piece of a program that was written by `scalar.ruled`. Either method may be missing: then the
    derivative goes through the operations of the piece. Inputs and outputs are flat lists of scalars."""

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Tangents]
    ) -> Sequence[Tangents]:
        """Tangents of the outputs from those of the inputs, in all directions."""

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        """Cotangents of the inputs from those of the outputs."""


@dataclass(frozen=True)
class Piece:
    """A piece that a derivative passes by its rule: which outputs it answers for."""

    ruled: Ruled
    rule: Any
    outputs: dict[int, int]  # place among the outputs of the rule, by node

    @property
    def inputs(self) -> list[int]:
        return [x for x in self.ruled.inputs if not isinstance(x, float)]


def pieces(program: Program, method: str) -> list[Piece]:
    """The pieces whose rule has this method, outer ones before those inside. An output of several is the first one's;
    what a piece did not compute itself is left to its operations."""
    found: list[Piece] = []
    taken = set[int]()
    for ruled in reversed(program.graph.ruled):
        rule = _rule(ruled)
        if not hasattr(rule, method):
            continue
        own = {
            o: k
            for k, o in enumerate(ruled.outputs)
            if not isinstance(o, float) and o in program.live and o in ruled.written and o not in taken
            and program.scope(o) == ruled.scope
        }  # fmt: skip
        taken.update(own)
        if own:
            found.append(Piece(ruled, rule, own))
    return found


def _rule(ruled: Ruled) -> Any:
    if not isinstance(ruled.rule, Layer):
        return ruled.rule
    from featherweight.differentiation.layers import LayerRule  # which goes back itself

    return LayerRule(ruled.rule)


def directions(program: Program, seeds: Mapping[int, int], found: Iterable[Piece]) -> dict[Any, int]:
    """The directions that each node depends on, as a set of bits; nodes without any are left out. Those of an array
    stand under ("array", number), those of a loop's carry under (node, k)."""
    graph = program.graph
    piece_of = {o: piece for piece in found for o in piece.outputs}
    loops = {i: Loop(program, i) for nodes in program.nodes.values() for i in nodes if graph.op[i] == "repeat"}
    bits: dict[Any, int] = dict(seeds)
    order = sorted(i for nodes in program.nodes.values() for i in nodes)
    changed = True

    def add(i: Any, more: int) -> None:
        nonlocal changed
        if more & ~bits.get(i, 0):
            bits[i] = bits.get(i, 0) | more
            changed = True

    while changed:  # again for loops, whose carry depends on what comes later
        changed = False
        for i in order:
            if i in piece_of:
                for a in piece_of[i].inputs:
                    add(i, bits.get(a, 0))
            elif i in loops:
                parts = loops[i]
                for k in parts.numbers:
                    leaf = program.carry(i, k)
                    more = bits.get(parts.first[k], 0) | bits.get(parts.next[k], 0)
                    add((i, k), more)
                    if leaf is not None:
                        add(leaf, more)
            elif graph.op[i] == "result" and i not in graph.array_of:
                add(i, bits.get(graph.args[i], 0))
            else:
                _through(program, i, bits, add)
        changed = changed and bool(loops or graph.arrays)
    return bits


def _through(program: Program, i: int, bits: dict[Any, int], add: Any) -> None:
    """The directions of a node from those of its arguments."""
    graph = program.graph
    op, args = graph.op[i], graph.args[i]
    if op == "array":
        for a in args[:-1]:
            add(("array", args[-1]), bits.get(a, 0))
    elif op == "load":
        add(i, bits.get(("array", graph.array_of[args[0]]), 0))
    elif op == "store":
        add(("array", graph.array_of[i]), bits.get(args[2], 0))
    elif op == "linear":
        y, x = (("array", graph.array_of[a]) for a in args[:2])
        add(y, bits.get(x, 0))
        if graph.op[args[2]] == "span":
            for leaf in program.inputs:
                add(y, bits.get(leaf, 0))
    elif OPERATIONS[op].gives == "r" and op not in ("after", "result"):
        for k, a in moving(program, i):
            if known(program, i, k):
                add(i, bits.get(a, 0))


def moving(program: Program, i: int) -> list[tuple[int, int]]:
    """The arguments of an operation that are real numbers: their places among these, and their nodes."""
    op = program.graph.op[i]
    numbers = [
        a
        for a, kind in zip(operands(op, program.graph.args[i]), OPERATIONS[op].takes or "", strict=False)
        if kind == "r"
    ]
    return list(enumerate(numbers))


def known(program: Program, i: int, k: int) -> bool:
    """Does the result change with this argument? Unknown derivatives are found out when they are needed."""
    row = OPERATIONS[program.graph.op[i]]
    return row.derivative is None or row.derivative[k] is not None


def partials(program: Program, i: int, y: Any, x: Sequence[Any], bits: Mapping[Any, int]) -> dict[int, Any]:
    """∂y/∂x of an operation, by argument: those that move. Arguments that are equal count once."""
    row = OPERATIONS[program.graph.op[i]]
    if row.derivative is None:
        raise TypeError(
            f"operation {row.name!r} has no derivative: give its row one, `derivative=(…,)`, or put it in a piece with"
            " a rule by featherweight.scalar.ruled"
        )
    found: dict[int, Any] = {}
    for k, a in moving(program, i):
        slope = row.derivative[k]
        if bits.get(a) and slope is not None:
            value = slope(applied, y, *x)
            found[a] = found[a] + value if a in found else value
    return found
