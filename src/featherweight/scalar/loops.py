"""Loops and branches: native ones while a program is traced, plain ones on numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from featherweight.compiler import Graph
from featherweight.compiler.trace.arrays import states_done
from featherweight.compiler.trace.nesting import Nesting, flattened, rows
from featherweight.scalar.functions import logical_not, where
from featherweight.scalar.tracing import known


def repeat(body: Callable[[Any], Any], carry: Any, *, until: Callable[[Any], Any], at_most: int) -> Any:
    """carry = body(carry), until `until(carry)` holds, at most so many times; a loop in native code when it is traced.

    `until` is asked before each turn. Each state of a batch stops for itself and keeps the values it had then, so that
    it does not matter which others are in the batch.

    Args:
        body: from the values of one turn to those of the next, nested alike.
        carry: the first values: scalars in lists, tuples, dictionaries or frozen dataclasses, nested as you like.
        until: whether a state is done.
        at_most: number of turns after which all stop.
    """
    if isinstance(at_most, bool) or not isinstance(at_most, (int, np.integer)) or at_most < 1:
        raise ValueError(f"at_most: expected a whole number of turns > 0, got {at_most!r}")
    values, nesting = flattened(rows(carry))

    def next_values(values: list[Any]) -> list[Any]:
        return _nested_alike("repeat", body(nesting.build(values)), nesting)

    def ends(values: list[Any]) -> Any:
        return until(nesting.build(values))

    graph = Graph.tracing()
    if graph is not None:
        return nesting.build(graph.repeat(next_values, values, ends, int(at_most)))
    return nesting.build(_repeated(next_values, values, ends, at_most))


def count(n: int, body: Callable[[Any, Any], Any], carry: Any) -> Any:
    """carry = body(k, carry) for k = 0, 1 … n - 1, in all states alike; a loop in native code when it is traced.

    Entries of arrays can be read and written at k, or at an index that is made of k and numbers.

    Args:
        n: number of turns.
        body: from the number of a turn and its values to those of the next one, nested alike.
        carry: the first values: scalars in lists, tuples, dictionaries or frozen dataclasses, nested as you like.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"n: expected a whole number of turns ≥ 0, got {n!r}")
    values, nesting = flattened(rows(carry))

    def turn(k: Any, values: list[Any]) -> list[Any]:
        return _nested_alike("count", body(k, nesting.build(values)), nesting)

    graph = Graph.tracing()
    if graph is not None and n:
        return nesting.build(graph.count(int(n), turn, values))
    for k in range(n):
        values = turn(k, values)
    return nesting.build(values)


def _nested_alike(name: str, result: Any, nesting: Nesting) -> list[Any]:
    """The scalars of what a body returns, which must be nested like its carry."""
    after, found = flattened(rows(result))
    if found.looks != nesting.looks:
        expected, got = (f"{n.size} values" for n in (nesting, found))
        if expected == got:
            expected, got = f"values nested like {nesting.looks}", found.looks
        raise ValueError(f"{name}: expected the body to return {expected}, as it was given, got {got}")
    return after


def _repeated(
    body: Callable[[list[Any]], list[Any]], values: list[Any], until: Callable[[list[Any]], Any], at_most: int
) -> list[Any]:
    """The loop on numbers."""
    done: Any = False
    for _ in range(at_most):
        ends = until(values)
        if not isinstance(ends, (bool, np.bool_, np.ndarray)):
            raise TypeError(f"repeat: expected until to be true or false, got {type(ends).__name__}")
        done = done | ends
        if np.all(done):
            break
        with states_done(done):
            after = body(values)
        values = [where(done, x, y) if isinstance(done, np.ndarray) else y for x, y in zip(values, after, strict=True)]
    return values


def when(condition: Any, body: Callable[[], Any], otherwise: Any) -> Any:
    """The values of `body()` where the condition holds, else `otherwise`, nested alike.

    Unlike with `where`, the body is only run if the condition holds for some state of a pack, so that a foot in the air
    does not cost a contact. If `otherwise` is None the values are undefined where the condition does not hold.
    """
    if otherwise is None:
        return _undefined_unless(condition, body)
    return repeat(lambda _: body(), otherwise, until=lambda _: logical_not(condition), at_most=1)


def _undefined_unless(condition: Any, body: Callable[[], Any]) -> Any:
    """The values of `body()`, undefined where the condition does not hold; what is known stays known."""
    graph = Graph.tracing()
    if graph is None or isinstance(condition, (bool, np.bool_)):
        with states_done(not condition if isinstance(condition, (bool, np.bool_)) else logical_not(condition)):
            return rows(body())
    inside: list[tuple[list[Any], Nesting]] = []

    def unknown(_: list[Any]) -> list[Any]:
        inside.append(flattened(rows(body())))
        return [x for x in inside[0][0] if not known(x)]

    results = iter(graph.repeat(unknown, None, lambda _: logical_not(condition), 1))
    values, nesting = inside[0]
    return nesting.build([x if known(x) else next(results) for x in values])


def only_where(condition: Any) -> AbstractContextManager[None]:
    """While this is open, loops that are traced begin with all states done but those for which the condition holds."""
    graph = Graph.tracing()
    return nullcontext() if graph is None or condition is True else graph.only_where(condition)
