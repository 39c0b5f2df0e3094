"""The trace: a hash-consed graph of scalar operations, folded while it is built.

An algorithm that runs on `Node`s writes down what it does. Structure is known while tracing,
so zeros and ones vanish, equal expressions are one node, and what is left is the work that
depends on the state. A node's arguments always have smaller numbers than the node itself.
"""

from __future__ import annotations

import hashlib
import marshal
import struct
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from featherweight.compiler.trace.arrays import LANES, UNIFORM, ArrayFrame, TracedArray, is_uniform
from featherweight.compiler.trace.node import Condition, Node, other_trace
from featherweight.compiler.trace.operations import CONSTANTS, FOLD, LEAVES, OPERATIONS
from featherweight.compiler.trace.structure import DONE, Repeat, Ruled

LARGEST_LOOKUP = 1 << 20  # entries
_now = threading.local()


class Graph:
    """Operations in the order they were traced; `op[i]`, `args[i]`, `region[i]` describe node i."""

    def __init__(self) -> None:
        self.op: list[str] = []
        self.args: list[tuple] = []
        self.region: list[int] = []
        self.table: list[float] = []  # values of the model constants
        self.repeats: dict[int, Repeat] = {}  # by node
        self.lookups: list[bytes] = []  # tables of numbers that can be indexed
        self.scope_of: list[int] = [0]  # of each region
        self.parent: list[int] = [0]  # of each scope; 0 is the outermost
        self._known: dict[tuple, Node] = {}
        self._own: dict[int, list[tuple]] = {}  # keys that were added in each scope that is open
        self._keys: list[tuple] | None = None  # those of the scope that is written in; of the outermost nobody asks
        self._begun = 0  # repeats
        self._done: Condition | None = None  # in the repeat that is open: which lanes are done
        self.array_of: dict[int, int] = {}  # number of the array that a node is a version of
        self.frames = [ArrayFrame(-1, 0)]  # loops that are open, the outermost first; before them the whole trace
        self.counters: set[int] = set()  # leaves that count the turns of a loop
        self.arrays: list[TracedArray] = []  # by number
        self.ruled: list[Ruled] = []  # inner ones before those that they are in
        self._region = 0
        self._scope = 0

    @contextmanager
    def written(self) -> Iterator[Graph]:
        """Make this the thread's current trace."""
        before, _now.graph = Graph.tracing(), self
        try:
            yield self
        finally:
            _now.graph = before

    @staticmethod
    def tracing() -> Graph | None:
        """The thread's current trace, if any."""
        return getattr(_now, "graph", None)

    def mark(self) -> None:
        """Begin a new region: code that may become a function of its own."""
        self._region = len(self.scope_of)
        self.scope_of.append(self._scope)

    def weave(self) -> Callable[[Hashable], None]:
        """Like `mark`, but by name: a region that was begun before, in this scope, goes on."""
        regions: dict[tuple, int] = {}

        def mark(name: Hashable) -> None:
            key = self._scope, name
            if key not in regions:
                self.mark()
                regions[key] = self._region
            self._region = regions[key]

        return mark

    def input(self, array: int, position: int) -> Node:
        """Leaf: entry `position` of input array number `array`."""
        return self._node("input", (array, position))

    def constant(self, value: float) -> Node:
        """Leaf: a literal number, equal literals are one node."""
        return self._node("constant", (struct.pack("<d", value),))

    def model_constant(self, value: float) -> Node | float:
        """Leaf: a number of the robot. It keeps its identity, so that equal limbs stay equal in
        structure whatever their numbers are; only 0 and ±1 are structure themselves."""
        if value in (0.0, 1.0, -1.0):
            return float(value)
        return self.number(value)

    def number(self, value: float) -> Node:
        """Leaf: a number that is bound to the code, whatever it is."""
        self.table.append(float(value))
        return self._node("table", (len(self.table) - 1,))

    def numbers(self, values: Sequence[float]) -> int:
        """Leaf: numbers side by side, which are bound to the code."""
        self.table.extend(values)
        return self._node("weights", (len(self.table) - len(values), len(values))).id

    def _node(self, op: str, args: tuple) -> Node:
        key = (op, args)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = Node(self, len(self.op))
            if self._keys is not None and op not in LEAVES:
                self._keys.append(key)
            self.op.append(op)
            self.args.append(args)
            self.region.append(self._region)
        return node

    def apply(self, op: str, *args: Any) -> Any:
        """An operation on nodes and numbers; of constants alone, what its row folds them to."""
        nodes = tuple([self.lift(x).id for x in args])
        if op not in FOLD or not all(self.op[a] in CONSTANTS for a in nodes):
            return self._node(op, nodes)
        if OPERATIONS[op].own_leaf:
            return self._folded(op, nodes)
        return self._computed(op, nodes)

    def _computed(self, op: str, args: tuple[int, ...]) -> Node | float:
        """Constant folding: of literals a number, of model constants a new model constant."""
        known = self._known.get((op, args))
        if known is not None:
            return known
        value = FOLD[op](*(Node(self, a).value() for a in args))
        number = self.model_constant(value) if any(self.op[a] == "table" for a in args) else value
        if isinstance(number, Node):
            self._known[op, args] = number
        return number

    def _binary(self, op: str, a: int, b: int) -> Node:
        """A sum, difference, product or quotient. The order stays as written: fused operations are chosen by
        it, never by node numbers. Of two constants the result is a constant."""
        if self.op[a] in CONSTANTS and self.op[b] in CONSTANTS:
            return self._folded(op, (a, b))
        known = self._known.get((op, (b, a))) if op == "mul" or op == "add" else None
        return self._node(op, (a, b)) if known is None else known

    def _folded(self, op: str, args: tuple[int, ...]) -> Node:
        """Constant folding of arithmetic: the result is a new model constant."""
        node = self._known.get((op, args))
        if node is None:
            self.table.append(FOLD[op](*(Node(self, a).value() for a in args)))
            node = self._known[op, args] = self._node("table", (len(self.table) - 1,))
        return node

    def lift(self, value: Any) -> Node:
        """A node for a number."""
        if type(value) is Node:
            if value.graph is not self:
                raise other_trace()
            return value
        if type(value) is Condition:
            raise TypeError("a condition is not a number; use featherweight.scalar.where(condition, 1.0, 0.0)")
        return self.constant(float(value))

    def rewritten(self) -> Graph:
        """An empty graph with the same constants, tables, regions and scopes, for a pass to write."""
        new = Graph()
        new.table, new.lookups, new.scope_of, new.parent = list(self.table), self.lookups, self.scope_of, self.parent
        return new

    def go_on(self, region: int) -> None:
        """Write in this region from now on, as a pass over a graph does."""
        self._region = region
        if self.scope_of[region] != self._scope:
            self._enter(self.scope_of[region])

    def _enter(self, scope: int) -> None:
        """Enter a scope; nodes of scopes that do not enclose it can no longer be reused."""
        around, s = {scope}, scope
        while s:
            s = self.parent[s]
            around.add(s)
        for left in [s for s in self._own if s not in around]:
            for key in self._own.pop(left):
                del self._known[key]
        self._scope = scope
        self._keys = self._own.setdefault(scope, []) if scope else None

    def structure(self) -> str:
        """Structural hash: the whole trace but the values of model constants; the same in every process."""
        rows = [OPERATIONS[op] for op in sorted(set(self.op))]  # operations may come from outside
        code = [(row.name, row.takes, row.gives, row.numbers, row.vectors, row.llvm) for row in rows]
        repeats = [(node, *astuple(repeat)) for node, repeat in self.repeats.items()]
        regions = self.region, self.scope_of, self.parent
        parts = self.op, self.args, regions, repeats, list(self.array_of.items()), self.lookups, code
        return hashlib.sha256(marshal.dumps(parts, 2)).hexdigest()  # later formats tell objects of one value apart

    def digest(self) -> str:
        """Hash of the whole trace, values included; the same in every process."""
        numbers = struct.pack(f"<{len(self.table)}d", *self.table)
        return hashlib.sha256(self.structure().encode() + numbers).hexdigest()

    # ---- structured operations

    def repeat(
        self,
        body: Callable[[list[Any]], Sequence[Any]],
        carry: Sequence[Any] | None,
        until: Callable[[list[Any]], Any] | None,
        at_most: int,
    ) -> list[Any]:
        """carry = body(carry) until until(carry) holds, at most so many times, in each lane for itself; without `until`
        so many times in all lanes.

        Without a carry, what the body returns is left undefined in lanes that are done before the first turn.
        """
        frame = ArrayFrame(self._begun, len(carry or ()))
        self._begun += 1
        values = [self._node("carry", (frame.number, k)) for k in range(frame.size)]
        outside, enclosing = self._scope, self._done
        self.frames[-1].begin(self)
        self.frames.append(frame)
        try:
            test = self._open(outside)
            done = self._test(frame, until, values)
            if done is None:  # known to end before the first turn
                return list(carry or ())
            inside = self._open(test)
            after = [self.lift(x) for x in body(list(values))]
            if carry is not None and len(after) != len(values):
                raise ValueError(
                    f"repeat: expected the body to return {len(values)} values, as it was given, got {len(after)}"
                )
            if carry is not None and until is not None:
                after = [self._kept(done, old, new, inside) for old, new in zip(values, after, strict=True)]
        finally:
            self._done = enclosing
            self.frames.pop()
            self._enter(outside)
            self.mark()
        first = [self.lift(x).id for x in carry] if carry is not None else [self._node("undefined", ()).id] * len(after)
        return self._repeated(frame, first, [x.id for x in after], done, Repeat(frame.number, test, inside, 0, at_most))

    def _test(
        self, frame: ArrayFrame, until: Callable[[list[Any]], Any] | None, values: Sequence[Any]
    ) -> Condition | None:
        """Which lanes are done before a turn; None: all of them, before the first one."""
        ends = False if until is None else until(list(values))
        if not isinstance(ends, (Condition, bool, np.bool_)):
            raise TypeError(f"repeat: expected until to return a condition, got {type(ends).__name__}")
        before = Condition(self, self._node("carry", (frame.number, DONE)).id)
        done = before | (bool(ends) if isinstance(ends, np.bool_) else ends)
        if not isinstance(done, Condition):
            return None
        if until is not None:
            self._done = frame.done = done
        return done

    def _repeated(
        self, frame: ArrayFrame, first: list[int], after: list[int], done: Condition, repeat: Repeat
    ) -> list[Any]:
        """The node of a loop, and its results. The versions of arrays stand after the carry."""
        size = frame.size - len(frame.carried)
        first[size:size], after[size:size] = frame.carried.values(), [frame.versions[a] for a in frame.carried]
        frozen = self.constant(0.0).id if self._done is None else self._done.id
        node = self._node("repeat", (*first, frozen, *after, done.id))
        self.repeats[node.id] = replace(repeat, size=len(after))
        for k, array in enumerate(frame.carried, start=size):
            self.frames[-1].versions[array] = self.version("result", (node.id, k), array)
        results = [k for k in range(len(after)) if not size <= k < frame.size]
        return [self._node("result", (node.id, k)) for k in results]

    def count(self, n: int, body: Callable[[Node, list[Any]], Sequence[Any]], carry: Sequence[Any]) -> list[Any]:
        """carry = body(k, carry) for k = 0 … n - 1, in all lanes alike."""

        def turn(values: list[Any]) -> list[Any]:
            self.counters.add(values[0].id)
            return [values[0] + 1.0, *body(values[0], values[1:])]

        return self.repeat(turn, [0.0, *carry], None, n)[1:]

    def rule(self, name: str, rule: Any, inputs: Sequence[Any], outputs: Sequence[Any], begin: int) -> None:
        """Attach a rule to the outputs of the nodes traced since `begin`. The program does not change."""
        before, after = (tuple(x.id if isinstance(x, Node) else float(x) for x in xs) for xs in (inputs, outputs))
        self.ruled.append(Ruled(name, rule, before, after, range(begin, len(self.op)), self._scope))

    def version(self, op: str, args: tuple, array: int) -> int:
        """A node that stands for a version of an array."""
        node = self._node(op, args).id
        self.array_of[node] = array
        return node

    @contextmanager
    def only_where(self, condition: Condition) -> Iterator[None]:
        """Mask: repeats inside begin with the other lanes done."""
        before, stopped = self._done, ~condition
        both = stopped if before is None else before | stopped
        self._done = both if isinstance(both, Condition) else stopped
        try:
            yield
        finally:
            self._done = before

    def _kept(self, done: Condition, old: Node, new: Node, scope: int) -> Node:
        """Next value of a carry: the old one in lanes that are done. In the region of the new one."""
        if new is old:
            return old
        here = self._region
        if self.op[new.id] not in LEAVES and self.scope_of[self.region[new.id]] == scope:
            self._region = self.region[new.id]
        node = done.select(old, new)
        self._region = here
        return node

    def _open(self, parent: int) -> int:
        """A new scope."""
        self.parent.append(parent)
        self._enter(len(self.parent) - 1)
        self.mark()
        return self._scope

    def lookup(self, table: np.ndarray, index: Node) -> Node:
        """Entry ⌊index⌋ of a table of numbers, the first or last one if there is none."""
        if table.size > LARGEST_LOOKUP:
            raise ValueError(f"table: expected at most {LARGEST_LOOKUP} numbers, got {table.size}")
        data = table.tobytes()
        if data not in self.lookups:
            self.lookups.append(data)
        how = UNIFORM if is_uniform(self, index.id) else LANES
        return self._node("lookup", (index.id, self.lookups.index(data), how))
