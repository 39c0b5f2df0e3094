"""Elementary functions for any scalar: float, NumPy array, trace node, mpmath or SymPy number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from featherweight.compiler import Condition, Lanes, Node, elementwise, plain
from featherweight.compiler.trace.operations import OPERATIONS

TRACED = (Node, Condition)


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
        if isinstance(x, Node) and (len(args) == 1 or not _are_arrays(args)):
            return x.graph.apply(name, *args)
    if _are_arrays(args):
        return elementwise(lambda *xs: apply(name, *xs), *args)
    if any(isinstance(x, Lanes) for x in args):
        return Lanes(row.array(*map(plain, args)))
    if any(isinstance(x, (np.ndarray, np.generic)) for x in args):  # before float: NumPy's numbers are floats, too
        return row.array(*args)
    others = [x for x in args if not isinstance(x, (float, int))]
    if not others:
        return row.value(*args)
    function = getattr(_library(others[0]), row.symbol or name, None)
    return (function or row.others or row.value)(*args)


def by_itself(x: Any) -> Any:
    """x, rounded whatever stands around it: no sum that it is part of takes its terms in, so what is made of it has the
    same bits whoever else reads it."""
    return apply("plus", x, -0.0)


def _are_arrays(args: tuple[Any, ...]) -> bool:
    """Is there an array of objects, or one beside a traced value?"""
    arrays = [x for x in args if isinstance(x, np.ndarray)]
    return bool(arrays) and (any(x.dtype == object for x in arrays) or any(isinstance(x, TRACED) for x in args))


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


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y) [rad], from -π to π; 0 at the origin."""
    return apply("atan2", y, x)


def asin(x: Any) -> Any:
    """The angle whose sine is x [rad], from -π/2 to π/2; NaN beyond ±1, a complex number of mpmath and SymPy."""
    return apply("asin", x)


def acos(x: Any) -> Any:
    """The angle whose cosine is x [rad], from 0 to π; NaN beyond ±1, a complex number of mpmath and SymPy."""
    return apply("acos", x)


def atan(x: Any) -> Any:
    """The angle whose tangent is x [rad], from -π/2 to π/2."""
    return apply("atan", x)


def floor(x: Any) -> Any:
    """⌊x⌋, the largest whole number that is not larger."""
    return apply("floor", x)


def ceil(x: Any) -> Any:
    """⌈x⌉, the smallest whole number that is not smaller."""
    return apply("ceil", x)


def round(x: Any) -> Any:
    """The nearest whole number; of two the even one, so 0.5 gives 0 and 1.5 gives 2."""
    return apply("round", x)


def mod(x: Any, y: Any) -> Any:
    """x - y ⌊x / y⌋: the remainder, which has the sign of y as in Python: mod(-1, 3) = 2.

    The digits are those of Python's %. Where |x / y| ≥ 2^53, x has no digits left for a remainder, which is 0 then. It
    is NaN if y is 0 or x infinite.
    """
    return apply("mod", x, y)


def clip(x: Any, low: Any, high: Any) -> Any:
    """x, or the bound that it is beyond; NaN stays NaN. Where low > high the result is high."""
    if _are_arrays((x, low, high)):
        return elementwise(clip, x, low, high)
    above = where(x < low, low, x)
    return where(above > high, high, above)


def norm(x: Iterable[Any]) -> Any:
    """√Σ x_k² of the components of a vector, 0 if there are none; squares beyond 1e308 overflow."""
    total: Any = 0.0
    for component in x:
        total = total + component * component
    return sqrt(total)


def reciprocal(x: Any) -> Any:
    """1/x; infinite for a known zero, whatever the scalar."""
    return math.inf if isinstance(x, (float, int)) and x == 0 else 1 / x


def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where the condition holds, else `if_false`; both are evaluated. Combine conditions with & and |."""
    if isinstance(condition, Condition):
        if isinstance(if_true, np.ndarray) or isinstance(if_false, np.ndarray):
            return elementwise(where, condition, if_true, if_false)
        return condition.select(if_true, if_false)
    if _are_arrays((condition, if_true, if_false)):
        return elementwise(where, condition, if_true, if_false)
    if isinstance(condition, (np.ndarray, np.generic)):
        if isinstance(if_true, Lanes) or isinstance(if_false, Lanes):
            return Lanes(np.where(condition, plain(if_true), plain(if_false)))
        return np.where(condition, if_true, if_false)
    if isinstance(condition, bool):
        return if_true if condition else if_false
    sympy = _library(condition)
    return sympy.Piecewise((if_true, condition), (if_false, True))


def logical_not(condition: Any) -> Any:
    """Where the condition does not hold: ~ of a bool would be a number."""
    if isinstance(condition, Condition):
        return ~condition
    if _are_arrays((condition,)):
        return elementwise(logical_not, condition)
    if isinstance(condition, (np.ndarray, np.generic)):
        return np.logical_not(condition)
    if isinstance(condition, bool):
        return not condition
    return _library(condition).Not(condition)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    return apply("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    return apply("max", a, b)


def absolute(x: Any) -> Any:
    """`|x|`."""
    return abs(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    if _are_arrays((x,)):
        return elementwise(sign, x)
    return where(x > 0, 1, where(x < 0, -1, 0))
