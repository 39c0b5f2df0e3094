"""Elementary functions for any scalar: float, NumPy array, trace node, mpmath or SymPy number.

Arithmetic works on all of them by itself. These are the functions that need to know the type.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from featherweight.compiler import Condition, Node


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


def _unary(name: str, x: Any) -> Any:
    if isinstance(x, Node):
        return x.unary(name)
    if isinstance(x, (float, int)):
        return getattr(math, name)(x)
    if isinstance(x, (np.ndarray, np.generic)):
        return getattr(np, name)(x)
    return getattr(_library(x), name)(x)


def sin(x: Any) -> Any:
    """Sine of an angle [rad]."""
    return _unary("sin", x)


def cos(x: Any) -> Any:
    """Cosine of an angle [rad]."""
    return _unary("cos", x)


def sqrt(x: Any) -> Any:
    """Square root; the argument must not be negative, also in a branch that is not taken."""
    return _unary("sqrt", x)


def reciprocal(x: Any) -> Any:
    """1/x; infinite for a known zero, whatever the scalar."""
    return math.inf if isinstance(x, (float, int)) and x == 0 else 1 / x


def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where the condition holds, else `if_false`; both are evaluated. Combine conditions with & and |."""
    if isinstance(condition, Condition):
        return condition.select(if_true, if_false)
    if isinstance(condition, (np.ndarray, np.generic)):
        return np.where(condition, if_true, if_false)
    if isinstance(condition, bool):
        return if_true if condition else if_false
    sympy = _library(condition)
    return sympy.Piecewise((if_true, condition), (if_false, True))


def _choose(op: str, a: Any, b: Any) -> Any:
    if isinstance(a, Node):
        return a.binary(op, b)
    if isinstance(b, Node):
        return b.graph.lift(a).binary(op, b)
    if isinstance(a, (np.ndarray, np.generic)) or isinstance(b, (np.ndarray, np.generic)):
        return np.minimum(a, b) if op == "min" else np.maximum(a, b)
    if any(type(x).__module__.startswith("sympy") for x in (a, b)):
        sympy = _library(a if type(a).__module__.startswith("sympy") else b)
        return sympy.Min(a, b) if op == "min" else sympy.Max(a, b)
    return min(a, b) if op == "min" else max(a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    return _choose("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    return _choose("max", a, b)


def absolute(x: Any) -> Any:
    """|x|."""
    return abs(x)
