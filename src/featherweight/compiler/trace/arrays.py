"""Arrays in a trace: numbers in memory, read at any index and written at one that is the same in all lanes.

Memory has a history: each store makes a *version* of its array, a node whose value nobody reads, and a load reads one
version. So a load is a value like any other, equal loads are one node, and the order of loads and stores follows from
their arguments. A version that a loop touches is carried by it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from featherweight.compiler.trace.node import Condition, Node
from featherweight.compiler.trace.operations import CONSTANTS, OPERATIONS, operands

if TYPE_CHECKING:
    from featherweight.compiler.trace.graph import Graph

UNIFORM, LANES, ROWS = 0, 1, 2  # how a load finds its entry: one for all lanes, one for each, in a row of an input
NO_INDEX = "store: expected an index that is the same for all states: a number, or one made of the counter of a loop"


class states_done:
    """Mask of a loop or branch that runs on numbers: the states that are done, or do not take it."""

    _now = threading.local()

    def __init__(self, done: Any) -> None:
        self._done = done

    @classmethod
    def now(cls) -> tuple[Any, ...]:
        """Masks of all loops and branches that are open in this thread: booleans or arrays of them."""
        return getattr(cls._now, "done", ())

    def __enter__(self) -> None:
        self._before = self.now()
        self._now.done = (*self._before, self._done)

    def __exit__(self, *error: object) -> None:
        self._now.done = self._before


@dataclass
class ArrayFrame:
    """A loop that is being traced: size of its carry, and current versions of the arrays it uses."""

    number: int
    size: int  # of the carry
    done: Condition | None = None  # in the lanes that are done
    versions: dict[int, int] = field(default_factory=dict)  # node of each array's version
    loads: dict[int, list[int]] = field(default_factory=dict)  # of that version
    carried: dict[int, int] = field(default_factory=dict)  # arrays from outside, with the versions it begins with

    def ordered(self, graph: Graph, array: int) -> int:
        """The version of an array, ordered after all loads of it."""
        version = self.versions[array]
        for load in self.loads.pop(array, ()):
            version = graph.version("after", (version, load), array)
        self.versions[array] = version
        return version

    def begin(self, graph: Graph) -> None:
        """Order an inner loop after all loads so far."""
        for array in list(self.loads):
            self.ordered(graph, array)


class TracedArray:
    """Numbers in the workspace: `array[i]` is one of them, `array[i] = x` replaces it."""

    def __init__(self, graph: Graph, values: Sequence[Any]) -> None:
        self.graph, self.size, self.number = graph, len(values), len(graph.arrays)
        graph.arrays.append(self)
        self._home = graph.frames[-1]
        nodes = tuple(graph.lift(x).id for x in values)
        self._home.versions[self.number] = graph.version("array", (*nodes, self.number), self.number)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Node:
        """Entry ⌊index⌋, the first or last one if there is none."""
        graph, frame, node = self.graph, self.frame(), self.graph.lift(index)
        how = UNIFORM if is_uniform(graph, node.id) else LANES
        value = graph._node("load", (frame.versions[self.number], node.id, self.size, how))
        loads = frame.loads.setdefault(self.number, [])
        if value.id not in loads:
            loads.append(value.id)
        return value

    def __setitem__(self, index: Any, value: Any) -> None:
        """Replace an entry; lanes that are done in a loop around this keep theirs."""
        graph, node = self.graph, self.graph.lift(index)
        if not is_uniform(graph, node.id):
            raise TypeError(NO_INDEX)
        if any(done is True for done in states_done.now()):  # a branch that is known not to be taken
            return
        frame = self.frame()
        inside = graph.frames[graph.frames.index(self._home) + 1 :]
        done = next((f.done for f in reversed(inside) if f.done is not None), None)
        new = graph.lift(value) if done is None else done.select(self[index], value)
        args = (frame.ordered(graph, self.number), node.id, new.id, self.size)
        frame.versions[self.number] = graph.version("store", args, self.number)

    def frame(self) -> ArrayFrame:
        """The innermost open loop; it and those around it carry this array from now on."""
        graph, frames = self.graph, self.graph.frames
        if self._home not in frames:
            raise TypeError("an array of the inside of a loop was used outside; let the body return its numbers")
        home = frames.index(self._home)
        for outer, inner in zip(frames[home:-1], frames[home + 1 :], strict=True):
            if self.number not in inner.versions:
                inner.carried[self.number] = outer.versions[self.number]
                inner.versions[self.number] = graph.version("carry", (inner.number, inner.size), self.number)
                inner.size += 1
        return frames[-1]


class InputArray:
    """An input that is not copied into slots: `array[i]` reads the row of each lane in the caller's memory."""

    def __init__(self, graph: Graph, number: int, size: int) -> None:
        self.graph, self.size = graph, size
        self.rows = graph._node("rows", (number,)).id

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Node:
        """Entry ⌊index⌋, the first or last one if there is none."""
        return self.graph._node("load", (self.rows, self.graph.lift(index).id, self.size, ROWS))


def is_uniform(graph: Graph, node: int) -> bool:
    """Is a node uniform: made of constants, tables and loop counters only, so equal in all lanes?"""
    stack, seen = [node], set[int]()
    while stack:
        i = stack.pop()
        if i in seen or i in graph.counters or graph.op[i] in CONSTANTS:
            continue
        seen.add(i)
        args = operands(graph.op[i], graph.args[i])
        if not args or not (OPERATIONS[graph.op[i]].llvm or graph.op[i] == "lookup"):
            return False
        stack += args
    return True
