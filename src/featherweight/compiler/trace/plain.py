"""A trace as plain arrays, and back: what was traced can be written to a file and compiled in another process.

A trace is a table already: of each node the operation, its arguments, and the region it stands in. Nothing of the
functions that were traced is in it, so that a file can carry what a user's controller does without carrying its code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from featherweight.compiler.trace.graph import Graph
from featherweight.compiler.trace.operations import OPERATIONS
from featherweight.compiler.trace.structure import Repeat

Arrays = dict[str, np.ndarray]


def to_arrays(graph: Graph, entries: Sequence[int | float]) -> Arrays:
    """A trace and its results (nodes, or numbers) as arrays of numbers and of text, as bytes."""
    names = sorted(set(graph.op))
    number = {name: k for k, name in enumerate(names)}
    literals = [args[0] for op, args in zip(graph.op, graph.args, strict=True) if op == "constant"]
    rows = [() if op == "constant" else args for op, args in zip(graph.op, graph.args, strict=True)]
    repeats = [(node, *astuple(repeat)) for node, repeat in graph.repeats.items()]
    return {
        "operations": np.frombuffer("\n".join(names).encode(), dtype=np.uint8),
        "op": np.array([number[op] for op in graph.op], dtype=np.int32),
        "argument_counts": np.array([len(args) for args in rows], dtype=np.int32),
        "arguments": np.array(list(chain.from_iterable(rows)), dtype=np.int32),
        "literals": np.frombuffer(b"".join(literals), dtype=np.int64),  # the bits of doubles
        "region": np.array(graph.region, dtype=np.int32),
        "scope_of": np.array(graph.scope_of, dtype=np.int32),
        "parent": np.array(graph.parent, dtype=np.int32),
        "repeats": np.array(repeats, dtype=np.int32).reshape(-1, 6),
        "array_of": np.array(list(graph.array_of.items()), dtype=np.int32).reshape(-1, 2),
        "lookup_sizes": np.array([len(table) for table in graph.lookups], dtype=np.int32),
        "lookups": np.frombuffer(b"".join(graph.lookups), dtype=np.uint8),
        "table": np.array(graph.table, dtype=float),
        "result_is_node": np.array([not isinstance(x, float) for x in entries], dtype=np.uint8),
        "result_node": np.array([0 if isinstance(x, float) else x for x in entries], dtype=np.int32),
        "result_number": np.array([x if isinstance(x, float) else 0.0 for x in entries], dtype=float),
    }


def from_arrays(arrays: Mapping[str, np.ndarray]) -> tuple[Graph, list[int | float]]:
    """What `to_arrays` wrote, for a plan to be made of. ValueError if an operation is not known here."""
    names = arrays["operations"].tobytes().decode().split("\n")
    if unknown := [name for name in names if name not in OPERATIONS]:
        raise ValueError(f"the trace has operations that are not known here: {', '.join(unknown)}")
    graph = Graph()
    graph.op = [names[k] for k in arrays["op"].tolist()]
    literals = iter(_cut(arrays["literals"].tobytes(), [8] * len(arrays["literals"])))
    rows = _cut(arrays["arguments"].tolist(), arrays["argument_counts"].tolist())
    graph.args = [(next(literals),) if op == "constant" else tuple(row) for op, row in zip(graph.op, rows, strict=True)]
    graph.region, graph.scope_of = arrays["region"].tolist(), arrays["scope_of"].tolist()
    graph.parent, graph.table = arrays["parent"].tolist(), arrays["table"].tolist()
    graph.repeats = {node: Repeat(*rest) for node, *rest in arrays["repeats"].tolist()}
    graph.array_of = dict(arrays["array_of"].tolist())
    graph.lookups = _cut(arrays["lookups"].tobytes(), arrays["lookup_sizes"].tolist())
    results = (arrays[name].tolist() for name in ("result_is_node", "result_node", "result_number"))
    return graph, [node if is_node else x for is_node, node, x in zip(*results, strict=True)]


def _cut(data: Any, sizes: Sequence[int]) -> list[Any]:
    """Pieces of these sizes, one after the other."""
    return [data[begin:end] for begin, end in pairwise(accumulate(sizes, initial=0))]
