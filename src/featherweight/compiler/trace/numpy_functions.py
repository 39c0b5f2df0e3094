"""What NumPy's functions do with traced values: the same as with numbers, entry by entry, written down in the trace.

NumPy asks a single value, and an array of our own kind, what a function of it is (`__array_ufunc__`,
`__array_function__`). Of plain arrays of objects it asks each entry for a method; comparisons of these it wants decided
at once, which is an error that names the line.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from featherweight.compiler.trace import misuse
from featherweight.compiler.trace.node import Condition, Node
from featherweight.compiler.trace.operations import OPERATIONS

TRACED = (Node, Condition)


def _operation(name: str) -> Callable[..., Any]:
    """An operation of the table, on nodes or numbers."""

    def call(*args: Any) -> Any:
        for x in args:
            if isinstance(x, TRACED):
                return x.graph.apply(name, *args)
        return OPERATIONS[name].value(*args)

    return call


def _select(condition: Any, if_true: Any, if_false: Any) -> Any:
    if isinstance(condition, Node):
        condition = condition != 0
    if isinstance(condition, Condition):
        return condition.select(if_true, if_false)
    return if_true if condition else if_false


def _clip(x: Any, low: Any, high: Any) -> Any:
    above = x if low is None else _select(x < low, low, x)
    return above if high is None else _select(above > high, high, above)


def _not(condition: Any) -> Any:
    return ~condition if isinstance(condition, Condition) else not condition


_sin, _cos, _sqrt = (_operation(name) for name in ("sin", "cos", "sqrt"))
# by the names of NumPy's functions
BY_OPERATION = {name: name for name in ("sin", "cos", "sqrt", "exp", "log", "tanh", "floor", "ceil")} | {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "rint": "round", "remainder": "mod",
    "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max",
}  # fmt: skip
COMPOSED: dict[str, Callable[..., Any]] = {
    "tan": lambda x: _sin(x) / _cos(x),
    "hypot": lambda x, y: _sqrt(x * x + y * y),
    "sign": lambda x: _select(x > 0, 1.0, _select(x < 0, -1.0, 0.0)),
    "clip": _clip,
    "fabs": lambda x: abs(x),
    "trunc": lambda x: math.trunc(x),
    "deg2rad": lambda x: x * (math.pi / 180),
    "radians": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "degrees": lambda x: x * (180 / math.pi),
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "logical_not": _not,
    "invert": _not,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
# those that are operators of Python, also on arrays of objects
OPERATORS = frozenset((
    "add", "subtract", "multiply", "divide", "negative", "positive", "absolute", "power", "square", "reciprocal",
    "matmul", "floor_divide", "bitwise_and", "bitwise_or", "conjugate", "vecdot", "matvec", "vecmat",
))  # fmt: skip
NOT_THERE = (
    "arcsinh", "arccosh", "arctanh", "sinh", "cosh", "exp2", "expm1", "log2", "log10", "log1p", "cbrt",
)  # fmt: skip
FUNCTIONS = {name: _operation(op) for name, op in BY_OPERATION.items()} | COMPOSED
UFUNCS = {name: np.frompyfunc(f, getattr(np, name).nin if name != "clip" else 3, 1) for name, f in FUNCTIONS.items()}


class NodeArray(np.ndarray):
    """An array of traced values: NumPy's functions of it are traced."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return on_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return on_function(function, args, options)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, TRACED):
            raise misuse.no_index()
        return super().__getitem__(index)


def traced_array(values: Any) -> np.ndarray:
    """An array of traced values; of numbers alone a plain one."""
    array = np.array(values, dtype=object)
    if any(isinstance(x, TRACED) for x in array.flat):
        return array.view(NodeArray)
    return array if any(not isinstance(x, (int, float)) for x in array.flat) else array.astype(float)


def elementwise(function: Callable[..., Any], *args: Any) -> Any:
    """function(…) of single values and of the entries of arrays, broadcast."""
    result = np.frompyfunc(function, len(args), 1)(*map(_plain, args))
    return _wrapped(result) if any(map(_is_traced, args)) else result


def on_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A universal function with traced values among its arguments."""
    name = ufunc.__name__
    function = ufunc if name in OPERATORS else UFUNCS.get(name)
    if function is None:
        raise misuse.no_function(f"numpy.{name}")
    places = [place for place in options.pop("out", None) or () if place is not None]
    if any(place.dtype != object for place in places):
        raise misuse.no_place()
    if places:
        options["out"] = tuple(map(_plain, places))
    if name in ("add", "multiply") and method == "__call__" and type(inputs[1]) is Node:
        inputs = inputs[::-1]  # a sum with one value is written with this first
    result = getattr(function, method)(*map(_plain, inputs), **options)
    return places[0] if places else _wrapped(result)


def on_function(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Any other function of NumPy with traced values among its arguments."""
    if function is np.where and len(args) == 3:
        return elementwise(_select, *args)
    single = [_plain(x).view(NodeArray) if isinstance(x, TRACED) else x for x in args]
    try:
        result = function._implementation(*single, **options)
    except TypeError as error:
        if "traced" in str(error):  # told already
            raise
        raise misuse.no_function(f"{function.__module__}.{function.__name__}") from error
    if isinstance(result, np.ndarray) and result.dtype == object:
        alone = not result.ndim and any(isinstance(x, TRACED) for x in args)
        return result[()] if alone else result.view(NodeArray)
    return result


def _is_traced(x: Any) -> bool:
    return isinstance(x, TRACED) or (isinstance(x, np.ndarray) and any(isinstance(y, TRACED) for y in x.flat))


def _plain(x: Any) -> Any:
    """An array without functions of its own; single values are arrays without axes."""
    if isinstance(x, TRACED):
        array = np.empty((), dtype=object)
        array[()] = x
        return array
    return x.view(np.ndarray) if isinstance(x, NodeArray) else x


def _wrapped(result: Any) -> Any:
    return result.view(NodeArray) if isinstance(result, np.ndarray) and result.dtype == object else result


def _refused(name: str) -> Callable[..., Any]:
    def method(*_: Any) -> Any:
        raise misuse.no_function(f"numpy.{name}")

    return method


# np.sin of a plain array of objects asks each of them for its method `sin`
for _name, _function in FUNCTIONS.items():
    setattr(Node, _name, _function)
for _name in NOT_THERE:
    setattr(Node, _name, _refused(_name))
