"""Products with matrices in a trace: y += W x as one operation on arrays, a loop over memory in native code.

W stands in the table of numbers, so that other weights are bound to the same code; or in an input: its slots, or its
rows in memory where it is read by index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.trace.arrays import InputArray, TracedArray
from featherweight.compiler.trace.node import Node

if TYPE_CHECKING:
    from featherweight.compiler.trace.graph import Graph

BLOCK = 8  # rows of W that stand side by side in the table, and chains of sums that run at once
AT_ONCE = 4  # entries that a turn of a loop changes
IN_TABLE, IN_SLOTS, IN_ROWS = 0, 1, 2  # where W stands


@dataclass(frozen=True)
class Weights:
    """Where W (m, n) stands: entry (i, j) is at first + ⌊i / 8⌋ block + (i mod 8) row + j column."""

    how: int
    leaf: int  # node
    m: int  # filled up to whole blocks in the table
    n: int
    first: int
    block: int
    row: int
    column: int


@dataclass(frozen=True)
class InputMatrix:
    """A part of an input that is read by index, as a matrix by rows."""

    table: InputArray
    shape: tuple[int, int]
    first: int


def in_table(graph: Graph, W: np.ndarray) -> Weights:
    """Numbers, bound to the code: blocks of eight rows, each by columns."""
    m, n = W.shape
    blocks = np.zeros((-(-m // BLOCK), BLOCK, n))
    blocks.reshape(-1, n)[:m] = W
    leaf = graph.numbers(blocks.transpose(0, 2, 1).ravel().tolist())
    return Weights(IN_TABLE, leaf, BLOCK * len(blocks), n, 0, BLOCK * n, 1, BLOCK)


def in_rows(W: InputMatrix) -> Weights:
    """A part of an input that stays where it is."""
    m, n = W.shape
    return Weights(IN_ROWS, W.table.rows, m, n, W.first, BLOCK * n, n, 1)


def in_slots(graph: Graph, W: np.ndarray) -> Weights | None:
    """Entries of one input at equal distances, as a part of it by rows, by columns, turned over; None for others."""
    nodes = W.ravel()
    if not all(isinstance(w, Node) and w._is("input") for w in nodes):
        return None
    arrays, places = np.array([graph.args[w.id] for w in nodes]).T
    m, n = W.shape
    grid = places.reshape(m, n)
    row, column = int(grid[-1, 0] - grid[0, 0]) // max(m - 1, 1), int(grid[0, -1] - grid[0, 0]) // max(n - 1, 1)
    regular = grid[0, 0] + row * np.arange(m)[:, None] + column * np.arange(n)
    if (arrays != arrays[0]).any() or (grid != regular).any():
        return None
    leaf = graph._node("span", (int(arrays[0]), int(grid[0, 0]))).id
    return Weights(IN_SLOTS, leaf, m, n, 0, BLOCK * row, row, column)


def product(graph: Graph, W: Weights, x: Sequence[Any], b: Sequence[Any]) -> TracedArray:
    """b + W x, an array in the workspace, filled up to whole blocks by zeros."""
    y = TracedArray(graph, [*b, *[0.0] * (-len(b) % BLOCK)])
    given = _array_of(graph, x) or TracedArray(graph, x)
    frame, frame_x = y.frame(), given.frame()
    args = (frame.ordered(graph, y.number), frame_x.versions[given.number], W.leaf)
    sizes = (W.how, W.m, W.n, W.first, W.block, W.row, W.column)
    version = frame.versions[y.number] = graph.version("linear", (*args, *sizes), y.number)
    frame_x.loads.setdefault(given.number, []).append(version)
    return y


def _array_of(graph: Graph, x: Sequence[Any]) -> TracedArray | None:
    """The array of which these are the first entries, in order and as they are now."""
    if not all(isinstance(entry, Node) and entry._is("load") for entry in x):
        return None
    loads = [graph.args[entry.id] for entry in x]
    version = loads[0][0]
    known = [graph.constant(float(k)).id for k in range(len(x))]
    if any(load[:2] != (version, k) for load, k in zip(loads, known, strict=True)) or version not in graph.array_of:
        return None
    array = graph.arrays[graph.array_of[version]]
    return array if array.frame().versions[array.number] == version else None


def mapped(y: TracedArray, function: Callable[[Any], Any]) -> None:
    """y_i = function(y_i), some at a time in a loop."""

    def turn(k: Node, _: list[Any]) -> list[Any]:
        places = [k * float(AT_ONCE) + float(r) for r in range(AT_ONCE)]
        for place, value in zip(places, [function(x) for x in [y[place] for place in places]], strict=True):
            y[place] = value
        return []

    y.graph.count(len(y) // AT_ONCE, turn, [])
