"""Structural zero: a 0 known from the structure of a mechanism; products with it are 0 without any work.

SymPy, told to multiply 0 and a long expression, first proves that the expression is finite, which takes longer than the
rest of a derivation. Zeros of vectors and matrices (axes, offsets, gravity) are this one; SymPy takes it for its own.
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, S


class Nought:
    """0 with trivial arithmetic, and the attributes that walks over expressions read of a number."""

    _op_priority = 100.0  # SymPy leaves arithmetic with it to this class
    args: tuple[()] = ()
    free_symbols: frozenset[Any] = frozenset()
    is_Atom = is_Number = is_Integer = is_Rational = is_number = True
    is_Symbol = is_NumberSymbol = is_Add = is_Mul = is_Pow = is_Piecewise = is_Function = False
    p, q = 0, 1

    def _sympy_(self) -> Expr:
        return S.Zero

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __rsub__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __mul__(self, other: Any) -> Any:
        return self

    __rmul__ = __truediv__ = __mul__

    def __neg__(self) -> Any:
        return self

    def __pow__(self, exponent: Any) -> Any:
        return S.Zero**exponent

    def __abs__(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is self or bool(S.Zero == other)

    def __hash__(self) -> int:
        return hash(0)

    def __int__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __repr__(self) -> str:
        return "0"


STRUCTURAL_ZERO: Any = Nought()


def sparse(x: Any) -> Any:
    """An expression, or structural_zero if it is zero."""
    return STRUCTURAL_ZERO if x == 0 else x
