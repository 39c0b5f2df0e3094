"""Reverse mode: cotangents of a program's inputs from weights on its outputs, in a few times the operations of itself.

Values are replayed, then each node is visited once, in the opposite order, and hands its cotangent on to its arguments.

Branches: what one side of a choice hands on holds where that side was taken, and nowhere else. So a cotangent carries
the conditions it stands under (its `context`); they are applied where it meets others. On the side that is not taken
there may be divisions by zero: they are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from featherweight.compiler import Condition
from featherweight.compiler.trace.operations import OPERATIONS, operands
from featherweight.differentiation.program import Program, traced
from featherweight.differentiation.replay import Loop, Replay
from featherweight.differentiation.rules import NotBackward, Piece, directions, partials, pieces
from featherweight.differentiation.stored_turns import Turns, back_through, stored
from featherweight.scalar import where

Context = tuple[tuple[int, bool], ...]  # conditions by their nodes, the outermost first, and whether they hold


def pulled_back(
    program: Program, values: Sequence[Any], weights: Sequence[Any], wanted: Sequence[bool] | None = None
) -> tuple[list[Any], list[Any]]:
    """The outputs of a program, and Σ weight ∂output/∂input for each input that is wanted, zero for others."""
    wanted = [True] * len(program.inputs) if wanted is None else wanted
    run = Reverse(program, values, wanted)
    run.run(0)
    outputs = run.of(program.outputs)
    for o, weight in zip(program.outputs, weights, strict=True):
        if not isinstance(o, float):
            run.give(o, weight, ())
    run.back(0)
    return outputs, [run.total(i) if w else 0.0 for i, w in zip(program.inputs, wanted, strict=True)]


def pullback(
    function: Callable[[list[Any]], Sequence[Any]],
    values: Sequence[Any],
    weights: Sequence[Any],
    wanted: Sequence[bool],
) -> list[Any]:
    """Σ weight ∂function/∂value for each of a list of scalars that is wanted, zero for others."""
    program = traced(function, values, wanted)
    places, found = program.places, [0.0] * len(values)
    back = pulled_back(program, [values[k] for k in places], weights, [wanted[k] for k in places])[1]
    for k, x in zip(places, back, strict=True):
        found[k] = x
    return found


class Reverse(Replay):
    """A replay, and the way back."""

    def __init__(self, program: Program, values: Sequence[Any], wanted: Sequence[bool]) -> None:
        super().__init__(program, values)
        found = pieces(program, "pullback")
        self.bits = directions(program, {i: 1 for i, w in zip(program.inputs, wanted, strict=True) if w}, found)
        self.first = {min(piece.outputs): piece for piece in found}  # visited last
        self.ruled = {o for piece in found for o in piece.outputs}
        self.reached = self._reached(found)
        self.given: dict[int, dict[Context, Any]] = {}  # cotangents, sorted by what they stand under
        self.of_loops: dict[int, dict[int, Any]] = {}  # cotangents of the results of loops
        self.turns_of: dict[int, Turns] = {}
        self.conditions: dict[int, Condition] = {}

    def _reached(self, found: Sequence[Piece]) -> set[int]:
        """The nodes that a cotangent may come to: what is inside of a piece with a rule is left out."""
        graph, piece_of = self.graph, {o: piece for piece in found for o in piece.outputs}
        reached, stack = set[int](), [o for o in self.program.outputs if not isinstance(o, float)]
        while stack:
            i = stack.pop()
            if i not in reached:
                reached.add(i)
                stack += piece_of[i].inputs if i in piece_of else operands(graph.op[i], graph.args[i])
        return reached

    # ---- values of loops

    def loop(self, i: int) -> None:
        parts = Loop(self.program, i)
        moves = i in self.reached and any((i, k) in self.bits for k in parts.numbers)
        if moves and (parts.counted or parts.repeat.at_most > 1):
            self.results[i] = dict(zip(parts.numbers, stored(self, parts), strict=True))
        else:
            super().loop(i)

    # ---- cotangents

    def give(self, i: int, x: Any, context: Context) -> None:
        """Add to the cotangent of a node."""
        if self.bits.get(i) and not is_zero(x):
            own = self.given.setdefault(i, {})
            own[context] = own[context] + x if context in own else x

    def total(self, i: int, context: Context = ()) -> Any:
        """The cotangent of a node under these conditions, which all of its parts stand under."""
        own = dict(self.given.get(i, {}))
        depth = max(map(len, own), default=0)
        while depth > len(context):  # the innermost conditions first
            for at in [c for c in own if len(c) == depth and c in own]:
                if at not in own:
                    continue
                around, (number, holds) = at[:-1], at[-1]
                other = own.pop((*around, (number, not holds)), 0.0)
                x = own.pop(at)
                chosen = where(self.conditions[number], *((x, other) if holds else (other, x)))
                own[around] = own[around] + chosen if around in own else chosen
            depth -= 1
        return own.get(context, 0.0)

    def taken(self, i: int) -> tuple[Any, Context]:
        """The cotangent of a node, and the conditions that all of it stands under."""
        contexts = list(self.given.get(i, {()}))
        shared = contexts[0]
        for other in contexts[1:]:
            n = 0
            while n < min(len(shared), len(other)) and shared[n] == other[n]:
                n += 1
            shared = shared[:n]
        return self.total(i, shared), shared

    # ---- the way back

    def back(self, scope: int) -> None:
        """Visit all operations of a scope, the last one first."""
        for i in reversed(self.program.nodes[scope]):
            if i in self.first:
                self._follow(self.first[i])
            elif i in self.of_loops:
                self.part()
                self.go("loop")
                parts, own = Loop(self.program, i), self.of_loops.pop(i)
                back_through(self, parts, [own.get(k, 0.0) for k in parts.numbers])
                self.part()
            elif i in self.given and i not in self.ruled:
                self.go("back", self.graph.region[i])
                z, context = self.taken(i)
                self._hand_on(i, z, context)

    def _hand_on(self, i: int, z: Any, context: Context) -> None:
        op, args = self.graph.op[i], self.graph.args[i]
        row = OPERATIONS[op]
        if row.chooses is not None:
            x = [self.get(a) for a in args]
            self._choose(args[-2:], row.chooses(None, *x), z, context)
        elif op == "result":
            self.of_loops.setdefault(args[0], {})[args[1]] = self.total(i)
        elif op == "load":
            raise NotBackward(ARRAYS)
        else:
            for a, slope in partials(self.program, i, self.get(i), [self.get(a) for a in args], self.bits).items():
                self.give(a, slope * z if is_zero(slope) or isinstance(slope, float) else z * slope, context)

    def _choose(self, sides: Sequence[int], condition: Any, z: Any, context: Context) -> None:
        first, second = sides
        if first == second:
            self.give(first, z, context)
        elif isinstance(condition, Condition):
            self.conditions[condition.id] = condition
            self.give(first, z, (*context, (condition.id, True)))
            self.give(second, z, (*context, (condition.id, False)))
        else:
            self.give(first if condition else second, z, context)

    def _follow(self, piece: Piece) -> None:
        """Cotangents by a rule."""
        ruled = piece.ruled
        contexts = [c for o in piece.outputs for c in self.given.get(o, {})]
        if not contexts:
            return
        context = contexts[0] if len(set(contexts)) == 1 else ()
        self.part()
        self.go("rule")
        cotangents: list[Any] = [0.0] * len(ruled.outputs)
        for o, k in piece.outputs.items():
            cotangents[k] = self.total(o, context)
        inputs, outputs = self.of(ruled.inputs), self.of(ruled.outputs)
        for x, z in zip(ruled.inputs, piece.rule.pullback(inputs, outputs, cotangents), strict=True):
            if not isinstance(x, float):
                self.give(x, z, context)
        self.part()


ARRAYS = (
    "the derivative back through scalar.array is not there: take it forward, by featherweight.jvp or derivative; or"
    " write its entries as a list"
)


def is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0
