"""What a program tells the trace that is being written, and asks it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from featherweight.compiler import Graph, Node
from featherweight.compiler.trace.nesting import flattened, rows


def known(x: Any) -> bool:
    """Is it a number already while a program is traced, and so a part of its structure?"""
    return Graph.tracing() is not None and not isinstance(x, Node)


def model_number(x: float) -> Any:
    """A number of the robot that no tree has: while a program is traced it is bound to the code, not written there."""
    graph = Graph.tracing()
    return x if graph is None else graph.model_constant(x)


def ruled(name: str, function: Callable[[Any], Any], inputs: Any, rule: Any) -> Any:
    """function(inputs). A trace remembers that its results are made of these inputs by a rule, which whoever transforms
    the trace may follow instead of what stands inside: the derivative of a solution is found without its iterations.

    Args:
        name: what it is, for people.
        function: from inputs to results, both nested as you like; it must use nothing else that depends on the state.
        inputs: scalars in lists, tuples, dictionaries or frozen dataclasses.
        rule: whatever the transformation wants to know; the program and its bits do not depend on it.
    """
    graph = Graph.tracing()
    begin = 0 if graph is None else len(graph.op)
    results = function(inputs)
    if graph is not None:
        graph.rule(name, rule, flattened(rows(inputs))[0], flattened(rows(results))[0], begin)
    return results


def weave() -> Callable[[Hashable], None] | None:
    """While a program is traced: what is to be told where which named piece of it goes on."""
    graph = Graph.tracing()
    return None if graph is None else graph.weave()
