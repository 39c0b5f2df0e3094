"""Elementary functions for any scalar: float, NumPy array, trace node, mpmath or SymPy number.

Arithmetic works on all of them by itself. These are the functions that need to know the type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from featherweight.compiler import Condition, Graph, Lanes, Node, plain
from featherweight.compiler.trace.arrays import InputArray, TracedArray, states_done
from featherweight.compiler.trace.nesting import Nesting, flattened, rows
from featherweight.compiler.trace.nesting import structural as structural
from featherweight.compiler.trace.number_array import NumberArray, position
from featherweight.compiler.trace.operations import OPERATIONS


def _library(x: Any) -> Any:
    """The module whose functions take this scalar: mpmath or SymPy, which are loaded if one gets here."""
    module = type(x).__module__.partition(".")[0]
    if module == "mpmath":
        import mpmath

        return mpmath
    if module == "sympy":
        import sympy

        return sympy
    raise TypeError(f"{type(x).__name__} is not a scalar: use float, NumPy, mpmath, SymPy or a traced value")


def apply(name: str, *args: Any) -> Any:
    """An operation of the compiler's table on scalars of any kind."""
    row = OPERATIONS[name]
    if len(args) == 1 and type(args[0]) in (float, int):  # as a rule, where models are looked at
        return row.value(args[0])
    for x in args:
        if isinstance(x, Node):
            return x.graph.apply(name, *args)
    if any(isinstance(x, Lanes) for x in args):
        return Lanes(row.array(*map(plain, args)))
    if any(isinstance(x, (np.ndarray, np.generic)) for x in args):  # before float: NumPy's numbers are floats, too
        return row.array(*args)
    others = [x for x in args if not isinstance(x, (float, int))]
    if not others or (row.symbol and not any(type(x).__module__.startswith("sympy") for x in others)):
        return row.value(*args)
    return getattr(_library(others[0]), row.symbol or name)(*args)


def sin(x: Any) -> Any:
    """Sine of an angle [rad]."""
    return apply("sin", x)


def cos(x: Any) -> Any:
    """Cosine of an angle [rad]."""
    return apply("cos", x)


def sqrt(x: Any) -> Any:
    """Square root; the argument must not be negative, also in a branch that is not taken."""
    return apply("sqrt", x)


def exp(x: Any) -> Any:
    """e^x."""
    return apply("exp", x)


def log(x: Any) -> Any:
    """The natural logarithm; the argument must be positive, also in a branch that is not taken."""
    return apply("log", x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent, from -1 to 1."""
    return apply("tanh", x)


def reciprocal(x: Any) -> Any:
    """1/x; infinite for a known zero, whatever the scalar."""
    return math.inf if isinstance(x, (float, int)) and x == 0 else 1 / x


def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where the condition holds, else `if_false`; both are evaluated. Combine conditions with & and |."""
    if isinstance(condition, Condition):
        return condition.select(if_true, if_false)
    if isinstance(condition, (np.ndarray, np.generic)):
        if isinstance(if_true, Lanes) or isinstance(if_false, Lanes):
            return Lanes(np.where(condition, plain(if_true), plain(if_false)))
        return np.where(condition, if_true, if_false)
    if isinstance(condition, bool):
        return if_true if condition else if_false
    sympy = _library(condition)
    return sympy.Piecewise((if_true, condition), (if_false, True))


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


def array(values: Sequence[Any]) -> Any:
    """Numbers in memory: `a[i]` reads entry ⌊i⌋ (the first or last one if there is none), `a[i] = x` replaces it.

    The index of a read may differ from state to state. That of a write must be the same for all: a number, or one that
    is made of the counter of `count`. In loops, states that are done keep their numbers.
    """
    if not len(values):
        raise ValueError("array: expected at least one number, got none")
    graph = Graph.tracing()
    return NumberArray(values) if graph is None else TracedArray(graph, values)


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


def only_where(condition: Any) -> AbstractContextManager[None]:
    """While this is open, loops that are traced begin with all states done but those for which the condition holds."""
    graph = Graph.tracing()
    return nullcontext() if graph is None else graph.only_where(condition)


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


def known(x: Any) -> bool:
    """Is it a number already while a program is traced, and so a part of its structure?"""
    return Graph.tracing() is not None and not isinstance(x, Node)


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


def weave() -> Callable[[Hashable], None] | None:
    """While a program is traced: what is to be told where which named piece of it goes on."""
    graph = Graph.tracing()
    return None if graph is None else graph.weave()


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


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    return apply("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    return apply("max", a, b)


def absolute(x: Any) -> Any:
    """|x|."""
    return abs(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return where(x > 0, 1, where(x < 0, -1, 0))


def logical_not(condition: Any) -> Any:
    """Where the condition does not hold: ~ of a bool would be a number."""
    if isinstance(condition, Condition):
        return ~condition
    if isinstance(condition, (np.ndarray, np.generic)):
        return np.logical_not(condition)
    if isinstance(condition, bool):
        return not condition
    return _library(condition).Not(condition)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y) [rad], from -π to π; 0 at the origin."""
    return apply("atan2", y, x)
