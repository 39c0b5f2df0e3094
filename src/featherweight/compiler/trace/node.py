"""Scalars that are not numbers yet: arithmetic on them is written down in a graph."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from featherweight.compiler.trace import misuse
from featherweight.compiler.trace.operations import CONSTANTS

if TYPE_CHECKING:
    from featherweight.compiler.trace.graph import Graph

POWERS = (0, 0.5, *range(1, 9))


class Node:
    """A scalar that is not a number yet: arithmetic on it adds operations to the trace."""

    __slots__ = ("graph", "id")

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

    def __add__(self, other: Any) -> Any:
        g = self.graph
        if type(other) is not Node:
            if isinstance(other, np.ndarray):
                return NotImplemented
            if other == 0:
                return self
            other = g.lift(other)
        elif other.graph is not g:
            raise other_trace()
        if g.op[other.id] == "neg":
            return self - other._arg(0)
        if g.op[self.id] == "neg":
            return other - self._arg(0)
        return g._binary("add", self.id, other.id)

    def __radd__(self, other: Any) -> Any:
        if other == 0:
            return self
        return self.graph.lift(other) + self

    def __sub__(self, other: Any) -> Any:
        g = self.graph
        if type(other) is not Node:
            if isinstance(other, np.ndarray):
                return NotImplemented
            if other == 0:
                return self
            other = g.lift(other)
        elif other.graph is not g:
            raise other_trace()
        if self.id == other.id:
            return 0.0
        if g.op[other.id] == "neg":
            return self + other._arg(0)
        if g.op[self.id] == "neg":
            return -(self._arg(0) + other)
        return g._binary("sub", self.id, other.id)

    def __rsub__(self, other: Any) -> Any:
        if other == 0:
            return -self
        return self.graph.lift(other) - self

    def __mul__(self, other: Any) -> Any:
        g = self.graph
        if type(other) is not Node:
            if isinstance(other, np.ndarray):
                return NotImplemented
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other == -1:
                return -self
            other = g.lift(other)
        elif other.graph is not g:
            raise other_trace()
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
            if isinstance(other, np.ndarray):
                return NotImplemented
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

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, np.ndarray):
            return NotImplemented
        if isinstance(exponent, Node) or exponent not in POWERS:
            raise misuse.no_power()
        if exponent == 0.5:
            return self.graph.apply("sqrt", self)
        power: Any = 1.0
        for _ in range(int(exponent)):
            power = self * power
        return power

    def __rpow__(self, base: Any) -> NoReturn:
        raise misuse.no_power()

    def __mod__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self.graph.apply("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self.graph.apply("mod", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self.graph.apply("floor", self / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self.graph.apply("floor", other / self)

    def __floor__(self) -> Any:
        return self.graph.apply("floor", self)

    def __ceil__(self) -> Any:
        return self.graph.apply("ceil", self)

    def __trunc__(self) -> Any:
        return (self < 0).select(self.__ceil__(), self.__floor__())

    def __round__(self, digits: int = 0) -> Any:
        scale = 10.0**digits
        return self.graph.apply("round", self * scale) / scale

    def conjugate(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return self.graph.apply("abs", self)

    def __lt__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._compare("lt", other)

    def __le__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._compare("le", other)

    def __gt__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self.graph.lift(other)._compare("lt", self)

    def __ge__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self.graph.lift(other)._compare("le", self)

    def __eq__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self._compare("eq", other)

    def __ne__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else ~self._compare("eq", other)

    __hash__ = object.__hash__

    def _compare(self, op: str, other: Any) -> Condition:
        g = self.graph
        return Condition(g, g._node(op, (self.id, g.lift(other).id)).id)

    def __bool__(self) -> NoReturn:
        raise misuse.no_truth_value()

    def __float__(self) -> NoReturn:
        raise misuse.no_number()

    __int__ = __complex__ = __float__

    def __index__(self) -> NoReturn:
        raise misuse.no_index()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _numpy().on_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _numpy().on_function(function, args, options)

    def __repr__(self) -> str:
        return f"<traced {self.graph.op[self.id]} {self.id}>"


def _numpy() -> Any:
    """The module that knows NumPy's functions; it knows nodes, too."""
    from featherweight.compiler.trace import numpy_functions

    return numpy_functions


class Condition:
    """A comparison of traced values: true in some lanes, false in others. Combine with & | ~."""

    __slots__ = ("graph", "id")
    __array_ufunc__ = Node.__array_ufunc__
    __array_function__ = Node.__array_function__

    def __init__(self, graph: Graph, id: int) -> None:
        self.graph = graph
        self.id = id

    def __and__(self, other: Condition | bool) -> Condition | bool:
        if isinstance(other, (bool, np.bool_)):
            return self if other else False
        return NotImplemented if isinstance(other, np.ndarray) else self._combined("and", other)

    def __or__(self, other: Condition | bool) -> Condition | bool:
        if isinstance(other, (bool, np.bool_)):
            return True if other else self
        return NotImplemented if isinstance(other, np.ndarray) else self._combined("or", other)

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
        raise misuse.no_truth_value()

    def __float__(self) -> NoReturn:
        raise misuse.no_number()

    def __repr__(self) -> str:
        return f"<traced {self.graph.op[self.id]} {self.id}>"


def other_trace() -> TypeError:
    return TypeError("a traced value was kept from an earlier trace; compute it anew inside the function")
