"""Products with matrices of weights: layers of neural networks, as loops over memory in native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.compiler import Graph, Lanes, Node, plain, traced_array
from featherweight.compiler.trace.arrays import InputArray
from featherweight.compiler.trace.number_array import NumberArray
from featherweight.compiler.trace.products import InputMatrix, in_rows, in_slots, in_table, mapped, product

FEW = 64  # weights: a product of so many is written out


@dataclass(frozen=True, eq=False)
class Layer:
    """What `dense` tells whoever transforms the trace: W (m, n) if it is numbers, and the activation."""

    shape: tuple[int, int]
    weights: np.ndarray | None
    activation: Callable[[Any], Any] | None


def matrix(table: Any, shape: tuple[int, int], first: int = 0) -> Any:
    """A part of a table of numbers as a matrix (m, n) for `linear` and `dense`: by rows, from an entry on.

    Args:
        table: numbers, shape (k,), or an input that is read by index (`Numbers.table`).
        shape: rows and columns.
        first: the first of its m n entries.
    """
    end = first + shape[0] * shape[1]
    if not 0 <= first <= end <= len(table):
        raise ValueError(f"matrix: expected {shape[0]} by {shape[1]} numbers from {first} on, got {len(table)} in all")
    if isinstance(table, InputArray):
        return InputMatrix(table, (shape[0], shape[1]), first)
    values = table.values if isinstance(table, NumberArray) else list(table)
    return traced_array(values[first:end]).reshape(shape)


def linear(W: Any, x: Sequence[Any], b: Sequence[Any] | None = None) -> np.ndarray:
    """y = W x + b, shape (m,): each y_i is summed from b_i on in the order of the columns.

    In native code it is a loop over memory, however large W is. Numbers in W and b are bound to the code: other ones
    compile nothing. Weights that are parameters of a controller, as a part of `p`, may differ from robot to robot.

    Args:
        W: weights, shape (m, n): numbers, traced values, or a `matrix` of a table.
        x: scalars of any kind, shape (n,).
        b: shape (m,); None: zeros.
    """
    return dense(W, x, b)


def dense(
    W: Any, x: Sequence[Any], b: Sequence[Any] | None = None, activation: Callable[[Any], Any] | None = None
) -> np.ndarray:
    """activation(W x + b), shape (m,): a layer of a neural network; see `linear`.

    The activation is a function of one scalar, such as `tanh`. In native code it is a loop, too: `np.tanh(linear(…))`
    gives the same numbers, but is compiled entry by entry.
    """
    W = W if isinstance(W, InputMatrix) else _matrix(W)
    xs, bs = list(x), [0.0] * W.shape[0] if b is None else list(b)
    if (len(bs), len(xs)) != W.shape:
        raise ValueError(
            f"linear: expected W of shape (m, n), x of (n,) and b of (m,), got {W.shape}, ({len(xs)},) and ({len(bs)},)"
        )
    graph = Graph.tracing()
    if graph is None or not _is_traced(W, xs, bs):
        return _applied(activation, _on_numbers(W, xs, bs))
    weights = in_rows(W) if isinstance(W, InputMatrix) else None
    if weights is None and W.size > FEW:
        weights = in_slots(graph, W) if W.dtype == object else in_table(graph, W)
    bound = [x if isinstance(x, Node) else graph.number(x) for x in bs]
    if weights is None or not xs:
        return _applied(activation, _written_out(graph, W, xs, bound))
    begin = len(graph.op)
    y = product(graph, weights, xs, bound)
    if activation is not None:
        mapped(y, activation)
    results = [y[k] for k in range(len(bound))]
    if not isinstance(W, InputMatrix):
        known = W.dtype != object
        rule = Layer((len(bound), len(xs)), W if known else None, activation)
        graph.rule("dense", rule, [*([] if known else W.flat), *xs, *bound], results, begin)
    return traced_array(results)


def _matrix(W: Any) -> np.ndarray:
    values = np.asarray(W)
    if values.ndim != 2:
        raise ValueError(f"linear: expected W of shape (m, n), got shape {values.shape}")
    if values.dtype == object:
        return values
    if not np.can_cast(values.dtype, float, "same_kind"):
        raise TypeError(f"linear: expected numbers in W, got {values.dtype}")
    return values.astype(float)


def _is_traced(W: Any, x: list[Any], b: list[Any]) -> bool:
    entries = W.flat if isinstance(W, np.ndarray) and W.dtype == object else ()
    return isinstance(W, InputMatrix) or any(isinstance(v, Node) for values in (x, b, entries) for v in values)


def _applied(activation: Callable[[Any], Any] | None, y: np.ndarray) -> np.ndarray:
    if activation is None:
        return y
    values = [activation(entry) for entry in y]
    return traced_array(values) if y.dtype == object else np.array(values)


def _written_out(graph: Graph, W: np.ndarray, x: list[Any], b: list[Any]) -> np.ndarray:
    """The same chains of sums, without a loop."""
    sums = list(b)
    for column, entry in zip(W.T, x, strict=True):
        weights = [w if isinstance(w, Node) else graph.number(w) for w in column]
        sums = [total + w * entry for total, w in zip(sums, weights, strict=True)]
    return traced_array([graph.apply("plus", total, -0.0) for total in sums])  # no sum around takes a chain in


def _on_numbers(W: np.ndarray, x: list[Any], b: list[Any]) -> np.ndarray:
    """In the same order, on numbers or `Lanes`, one after the other; on other scalars."""
    values = [plain(entry) for entry in (*x, *b)]
    if W.dtype == object or not all(isinstance(v, (int, float, np.ndarray, np.generic)) for v in values):
        totals = list(b)
        for column, entry in zip(W.T, x, strict=True):
            totals = [total + w * entry for total, w in zip(totals, column.tolist(), strict=True)]
        return np.array([*totals, None], dtype=object)[:-1]
    *arrays, _ = np.broadcast_arrays(*map(np.asarray, values), 0.0)
    sums = np.array(arrays[len(x) :], dtype=float)
    for column, entry in zip(W.T, arrays, strict=False):
        sums = sums + np.multiply.outer(column, entry)
    if not any(isinstance(entry, Lanes) for entry in (*x, *b)):
        return sums
    return np.array([*map(Lanes, sums), None], dtype=object)[:-1]
