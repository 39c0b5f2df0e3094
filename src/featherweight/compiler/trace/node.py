"""Scalars that are not numbers yet: arithmetic on them is written down in a graph."""

from __future__ import annotations

import operator
import struct
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from featherweight.compiler.trace.operations import CONSTANTS, OPERATIONS

if TYPE_CHECKING:
    from featherweight.compiler.trace.graph import Graph


class Node:
    """A scalar that is not a number yet: arithmetic on it adds operations to the trace."""

    __slots__ = ("graph", "id")
    __array_ufunc__ = None  # NumPy scalars leave the arithmetic to us

    def __init__(self, graph: Graph, id: int) -> None:
        self.graph = graph
        self.id = id

    def _folded(self, op: str) -> Node:
        g = self.graph
        return g._folded(op, (self.id,)) if g.op[self.id] in CONSTANTS else g._node(op, (self.id,))

    def _is(self, op: str) -> bool:
        return self.graph.op[self.id] == op

    def value(self) -> float | None:
        """The number of a constant leaf, None for everything else."""
        return self.graph.table[self.graph.args[self.id][0]] if self._is("table") else self.literal()

    def literal(self) -> float | None:
        """The number of a literal, which is part of the structure; None for everything else."""
        return struct.unpack("<d", self.graph.args[self.id][0])[0] if self._is("constant") else None

    def _arg(self, k: int) -> Node:
        return Node(self.graph, self.graph.args[self.id][k])

    def _each(self, array: np.ndarray, op: Callable[[Any, Any], Any]) -> np.ndarray:
        """With every entry of an array, as NumPy does for numbers."""
        result = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            result[index] = op(self, array[index])
        return result

    def __add__(self, other: Any) -> Any:
        g = self.graph
        if type(other) is not Node:
            if type(other) is np.ndarray:
                return self._each(other, operator.add)
            if other == 0:
                return self
        other = g.lift(other)
        if g.op[other.id] == "neg":
            return self - other._arg(0)
        if g.op[self.id] == "neg":
            return other - self._arg(0)
        return g._binary("add", self.id, other.id)

    def __radd__(self, other: Any) -> Any:
        if type(other) is np.ndarray:
            return self._each(other, operator.add)
        if other == 0:
            return self
        return self.graph.lift(other) + self

    def __sub__(self, other: Any) -> Any:
        g = self.graph
        if type(other) is not Node:
            if type(other) is np.ndarray:
                return self._each(other, operator.sub)
            if other == 0:
                return self
        other = g.lift(other)
        if self.id == other.id:
            return 0.0
        if g.op[other.id] == "neg":
            return self + other._arg(0)
        if g.op[self.id] == "neg":
            return -(self._arg(0) + other)
        return g._binary("sub", self.id, other.id)

    def __rsub__(self, other: Any) -> Any:
        if type(other) is np.ndarray:
            return self._each(other, lambda x, y: y - x)
        if other == 0:
            return -self
        return self.graph.lift(other) - self

    def __mul__(self, other: Any) -> Any:
        g = self.graph
        if type(other) is not Node:
            if type(other) is np.ndarray:
                return self._each(other, operator.mul)
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other == -1:
                return -self
        other = g.lift(other)
        a, b = self.id, other.id
        x, y = g.op[a], g.op[b]
        if x == "neg":
            return -(self._arg(0) * other)
        if y == "neg":
            return -(self * other._arg(0))
        if (x == "reciprocal" and g.args[a][0] == b) or (y == "reciprocal" and g.args[b][0] == a):
            return 1.0
        return g._binary("mul", a, b)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        if type(other) is not Node:
            if type(other) is np.ndarray:
                return self._each(other, operator.truediv)
            if other == 1:
                return self
            if other == -1:
                return -self
        other = self.graph.lift(other)
        if self.id == other.id:
            return 1.0
        if other._is("neg"):
            return -(self / other._arg(0))
        return self.graph._binary("div", self.id, other.id)

    def __rtruediv__(self, other: Any) -> Any:
        if type(other) is np.ndarray:
            return self._each(other, lambda x, y: y / x)
        if other == 0:
            return 0.0
        if self._is("neg"):
            return -(other / self._arg(0))
        if other == 1:
            return self._folded("reciprocal")
        return self.graph.lift(other) / self

    def __neg__(self) -> Node:
        if self._is("neg"):
            return self._arg(0)
        return self._folded("neg")

    def __pos__(self) -> Node:
        return self

    def __pow__(self, exponent: int) -> Any:
        if exponent == 2:
            return self * self
        raise TypeError(f"a traced value can only be raised to the power 2, not {exponent!r}; write out the product")

    def __abs__(self) -> Node:
        return self.graph.apply("abs", self)

    def __lt__(self, other: Any) -> Condition:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> Condition:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> Condition:
        return self.graph.lift(other)._compare("lt", self)

    def __ge__(self, other: Any) -> Condition:
        return self.graph.lift(other)._compare("le", self)

    def __eq__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._compare("eq", other)

    def __ne__(self, other: Any) -> Condition:  # type: ignore[override]
        return ~self._compare("eq", other)

    __hash__ = object.__hash__

    def _compare(self, op: str, other: Any) -> Condition:
        g = self.graph
        return Condition(g, g._node(op, (self.id, g.lift(other).id)).id)

    def __bool__(self) -> NoReturn:
        raise _no_truth_value()

    def __float__(self) -> NoReturn:
        frame = sys._getframe(1)
        raise TypeError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: a traced value is not a number yet; "
            "use featherweight.scalar (sin, cos, sqrt, where …) in place of math or numpy"
        )

    def __repr__(self) -> str:
        return f"<traced {self.graph.op[self.id]} {self.id}>"


def _method(op: str) -> Callable[[Node], Any]:
    return lambda x: x.graph.apply(op, x)


for _row in OPERATIONS.values():  # np.sin of an array of traced values asks each of them for its method `sin`
    if getattr(_row.array, "__name__", None) == _row.name and _row.takes == "r":
        setattr(Node, _row.name, _method(_row.name))


class Condition:
    """A comparison of traced values: true in some lanes, false in others. Combine with & | ~."""

    __slots__ = ("graph", "id")
    __array_ufunc__ = None

    def __init__(self, graph: Graph, id: int) -> None:
        self.graph = graph
        self.id = id

    def __and__(self, other: Condition | bool) -> Condition | bool:
        if isinstance(other, (bool, np.bool_)):
            return self if other else False
        return self._combined("and", other)

    def __or__(self, other: Condition | bool) -> Condition | bool:
        if isinstance(other, (bool, np.bool_)):
            return True if other else self
        return self._combined("or", other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        return Condition(self.graph, self.graph._node("not", (self.id,)).id)

    def _combined(self, op: str, other: Condition) -> Condition:
        if other.graph is not self.graph:
            raise other_trace()
        return Condition(self.graph, self.graph._node(op, (self.id, other.id)).id)

    def select(self, if_true: Any, if_false: Any) -> Node:
        """`if_true` where this holds, else `if_false`."""
        g = self.graph
        return g._node("select", (self.id, g.lift(if_true).id, g.lift(if_false).id))

    def __bool__(self) -> NoReturn:
        raise _no_truth_value()

    def __repr__(self) -> str:
        return f"<traced {self.graph.op[self.id]} {self.id}>"


def other_trace() -> TypeError:
    return TypeError("a traced value was kept from an earlier trace; compute it anew inside the function")


def _no_truth_value() -> TypeError:
    frame = sys._getframe(2)
    return TypeError(
        f"{frame.f_code.co_filename}:{frame.f_lineno}: a traced value has no truth value yet, because this code "
        "becomes a program for any state; use featherweight.scalar.where(condition, a, b) in place of if, "
        "and & | ~ in place of and, or, not"
    )
