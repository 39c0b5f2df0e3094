"""Numbers in memory, read and written by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.compiler import Graph, Lanes, Node, plain
from featherweight.compiler.trace.arrays import InputArray, TracedArray
from featherweight.compiler.trace.number_array import NumberArray, position


def array(values: Sequence[Any]) -> Any:
    """Numbers in memory: `a[i]` reads entry ⌊i⌋ (the first or last one if there is none), `a[i] = x` replaces it.

    The index of a read may differ from state to state. That of a write must be the same for all: a number, or one that
    is made of the counter of `count`. In loops, states that are done keep their numbers.
    """
    if not len(values):
        raise ValueError("array: expected at least one number, got none")
    graph = Graph.tracing()
    return NumberArray(values) if graph is None else TracedArray(graph, values)


def lookup(table: Any, index: Any) -> Any:
    """Entry ⌊index⌋ of a table of numbers, or of an array; the first or the last one where there is none."""
    if isinstance(table, (TracedArray, InputArray, NumberArray)):
        return table[index]
    values = np.asarray(table, dtype=float, order="C")
    if values.ndim != 1 or not values.size:
        raise ValueError(f"table: expected numbers, shape (n,), got shape {values.shape}")
    if isinstance(index, Node):
        return index.graph.lookup(values, index)
    found = values[position(plain(index), len(values))]
    return Lanes(found) if isinstance(index, Lanes) else found if isinstance(found, np.ndarray) else float(found)
