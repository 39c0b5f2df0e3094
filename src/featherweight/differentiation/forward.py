"""Forward mode: tangents of a program's outputs along given directions, sparse.

Values are replayed, tangents follow: of each node in the directions that it depends on and in no other. They are
written direction after direction, so that code of one direction may use what an earlier one has and never the other way
round (regions of the program that wait for each other could not be put in order). Loops carry tangents beside their
values; a state that is done keeps both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from featherweight.compiler.trace.operations import OPERATIONS, operands
from featherweight.differentiation.program import Program, traced
from featherweight.differentiation.replay import Loop, Replay
from featherweight.differentiation.rules import Piece, Tangents, directions, partials, pieces
from featherweight.scalar import array, linear, where


def pushed_forward(
    program: Program, values: Sequence[Any], tangents: Sequence[Tangents]
) -> tuple[list[Any], list[dict[int, Any]]]:
    """The outputs of a program, and their tangents by direction, from values and tangents of its inputs."""
    run = Forward(program, values, tangents)
    run.run(0)
    of_outputs = [{} if isinstance(o, float) else run.tangent.get(o, {}) for o in program.outputs]
    return run.of(program.outputs), of_outputs


def pushforward(
    function: Callable[[list[Any]], Sequence[Any]], values: Sequence[Any], tangents: Sequence[Tangents]
) -> list[dict[int, Any]]:
    """Tangents of a function of a list of scalars, where it has these values and they these tangents."""
    program = traced(function, values, [bool(t) for t in tangents])
    places = program.places
    return pushed_forward(program, [values[k] for k in places], [tangents[k] for k in places])[1]


class Forward(Replay):
    """A replay with tangents."""

    def __init__(self, program: Program, values: Sequence[Any], tangents: Sequence[Tangents]) -> None:
        super().__init__(program, values)
        seeds = {i: dict(own) for i, own in zip(program.inputs, tangents, strict=True)}
        self.tangent: dict[int, dict[int, Any]] = {i: own for i, own in seeds.items() if own}
        found = pieces(program, "pushforward")
        self.bits = directions(program, {i: _set(own) for i, own in self.tangent.items()}, found)
        self.last = {max(piece.outputs): piece for piece in found}  # the output with which a piece is complete
        self.ruled = {o for piece in found for o in piece.outputs}
        self.shadows: dict[int, dict[int, Any]] = {}  # tangents of arrays, by number and direction

    def run(self, scope: int) -> None:
        pending: list[int] = []
        for i in self.program.nodes[scope]:
            if self.graph.op[i] == "repeat" and self._moves(i):
                pending = self._flush(pending)
            self.go("value", self.graph.region[i])
            self.step(i)
            if i in self.last:
                pending = self._flush(pending, self.last[i])
                self._follow(self.last[i])
            elif i not in self.ruled and self._is_pending(i):
                pending.append(i)
        self._flush(pending)

    def _is_pending(self, i: int) -> bool:
        op = self.graph.op[i]
        if op in ("repeat", "result", "after") or i in self._kept:
            return False
        if op in ("array", "store", "linear"):
            return bool(self.bits.get(("array", self.graph.array_of[i])))
        return bool(self.bits.get(i))

    def _moves(self, i: int) -> bool:
        """Is there anything in a loop that depends on a direction?"""
        return bool(self.graph.arrays) or any((i, k) in self.bits for k in range(self.graph.repeats[i].size))

    def _follow(self, piece: Piece) -> None:
        """Tangents by a rule."""
        ruled = piece.ruled
        inputs, outputs = self.of(ruled.inputs), self.of(ruled.outputs)
        tangents: list[Tangents] = [{} if isinstance(x, float) else self.tangent.get(x, {}) for x in ruled.inputs]
        if not any(tangents):
            return
        self.part()
        self.go("rule")
        found = piece.rule.pushforward(inputs, outputs, tangents)
        for node, k in piece.outputs.items():
            self.tangent[node] = {d: t for d, t in found[k].items() if not is_zero(t)}
        self.part()

    def _flush(self, pending: list[int], before: Piece | None = None) -> list[int]:
        """Tangents of these nodes; those that depend on the piece are left for later, and returned."""
        left = set(before.outputs) if before is not None else set[int]()
        now, later = [], []
        for i in pending:
            if left and any(a in left for a in operands(self.graph.op[i], self.graph.args[i])):
                left.add(i)
                later.append(i)
            else:
                now.append(i)
        self.part()
        slopes = {i: self._slopes(i) for i in now}
        for d in sorted({d for i in now for d in _bits(self._bits_of(i))}):
            for i in now:
                if self._bits_of(i) >> d & 1:
                    self.go(d, self.graph.region[i])
                    self._tangent(i, d, slopes[i])
        return later

    def _bits_of(self, i: int) -> int:
        return self.bits.get(i, 0) | (
            self.bits.get(("array", self.graph.array_of[i]), 0) if i in self.graph.array_of else 0
        )

    def _slopes(self, i: int) -> Any:
        """What all directions need: partial derivatives, or the condition of a choice."""
        op, args = self.graph.op[i], self.graph.args[i]
        if op in ("array", "load", "store", "linear", "result"):
            return None
        self.go("slopes", self.graph.region[i])
        x = [self.get(a) for a in args]
        row = OPERATIONS[op]
        if row.chooses is not None:
            return row.chooses(None, *x)
        return partials(self.program, i, self.get(i), x, self.bits)

    def _tangent(self, i: int, d: int, slopes: Any) -> None:
        """The tangent of a node in one direction."""
        op, args = self.graph.op[i], self.graph.args[i]
        if op in ("array", "load", "store", "linear"):
            self._memory_tangent(i, d)
            return
        if OPERATIONS[op].chooses is not None:
            first, second = (self._of(a, d) for a in args[-2:])
            t = first if first is second else where(slopes, first, second)
        else:
            t = 0.0
            for a, slope in slopes.items():
                own = self._of(a, d)
                if not is_zero(own):
                    t = t + slope * own
        if not is_zero(t):
            self.tangent.setdefault(i, {})[d] = t

    def _of(self, i: int, d: int) -> Any:
        return self.tangent.get(i, {}).get(d, 0.0)

    def _memory_tangent(self, i: int, d: int) -> None:
        """Arrays have an array of tangents for each direction."""
        op, args = self.graph.op[i], self.graph.args[i]
        if op == "array":
            self.shadows.setdefault(args[-1], {})[d] = array([self._of(a, d) for a in args[:-1]])
        elif op == "load":
            self.tangent.setdefault(i, {})[d] = self._shadow(args[0], d)[self.get(args[1])]
        elif op == "store":
            self._shadow(args[0], d)[self.get(args[1])] = self._of(self.stored(i), d)
        else:
            self._product_tangent(args, d)

    def _shadow(self, version: int, d: int) -> Any:
        return self.shadows[self.graph.array_of[version]][d]

    def _product_tangent(self, args: tuple, d: int) -> None:
        """ẏ += W ẋ + Ẇ x."""
        y, W = self._shadow(args[0], d), self.weights(args)
        sums = [y[k] for k in range(len(W))]
        if self.bits.get(("array", self.graph.array_of[args[1]]), 0) >> d & 1:
            x = self._shadow(args[1], d)
            sums = list(linear(W, [x[j] for j in range(W.shape[1])], sums))
        if W.dtype == object:
            x = self.array_of(args[1])
            rates = self.weights(args, lambda leaf: self._of(leaf, d))
            for j in range(W.shape[1]):
                entry = x[j]
                sums = [s if is_zero(r) else s + r * entry for s, r in zip(sums, rates[:, j], strict=True)]
        for k, total in enumerate(sums):
            y[k] = total

    # ---- loops

    def loop(self, i: int) -> None:
        """A loop with the tangents of its carry, in the directions that they depend on."""
        parts = Loop(self.program, i)
        carried = [(k, d) for k in parts.numbers for d in _bits(self.bits.get((i, k), 0))]
        first = [self.get(parts.first[k]) for k in parts.numbers]
        first += [self._of(parts.first[k], d) for k, d in carried]

        def body(parts: Loop, values: list[Any]) -> list[Any]:
            for (k, d), t in zip(carried, values[len(parts.numbers) :], strict=True):
                leaf = self.program.carry(i, k)
                if leaf is not None:
                    self.tangent.setdefault(leaf, {})[d] = t
            after = self.body(parts, values[: len(parts.numbers)])
            return [*after, *(self._of(parts.next[k], d) for k, d in carried)]

        results = self.turns(parts, first, body)
        self.results[i] = dict(zip(parts.numbers, results, strict=False))
        tangents = dict(zip(carried, results[len(parts.numbers) :], strict=True))
        for node in self.program.nodes[self.program.scope(i)]:
            if self.graph.op[node] == "result" and self.graph.args[node][0] == i:
                k = self.graph.args[node][1]
                own = {d: t for (j, d), t in tangents.items() if j == k and not is_zero(t)}
                if own:
                    self.tangent[node] = own


def is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0


def _set(own: Mapping[int, Any]) -> int:
    return sum(1 << d for d in own)


def _bits(bits: int) -> Iterator[int]:
    """The directions of a set."""
    d = 0
    while bits >> d:
        if bits >> d & 1:
            yield d
        d += 1
