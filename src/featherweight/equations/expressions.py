"""SymPy expressions as graphs: a common subexpression is visited once, however often it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from sympy import Expr, Matrix, Rational, S, Symbol

from featherweight import scalar
from featherweight.equations.structural_zero import STRUCTURAL_ZERO, sparse
from featherweight.model.symbols import is_symbolic
from featherweight.spatial import Vector

PIECE = 100  # values in a region of a traced program
LONG_NUMBER = 12  # digits of a float that is a root or a cosine, not something a person wrote


def exact(x: Any) -> Expr:
    """A model's number as an exact one: 9.81 is 981/100, 0.7071067811865476 is √2/2."""
    if x is STRUCTURAL_ZERO or (not is_symbolic(x) and x == 0):
        return STRUCTURAL_ZERO
    if is_symbolic(x):
        floats = x.atoms(sympy.Float)
        return x.xreplace({f: exact(float(f)) for f in floats}) if floats else x
    if isinstance(x, int) or float(x).is_integer():
        return sympy.Integer(int(x))
    text = repr(float(x))
    if len(text) > LONG_NUMBER:
        square = Fraction(x * x).limit_denominator(1000)
        root = sympy.sqrt(Rational(square.numerator, square.denominator))
        if abs(float(root) - abs(x)) <= 2e-16 * abs(x):
            return root if x > 0 else -root
    return Rational(text)


class Rate:
    """d/dt of expressions, when some symbols change at given rates: Σ ∂e/∂s ṡ. Remembers what it has seen.

    With the rate 1 for one symbol it is the partial derivative.
    """

    def __init__(self, rates: Mapping[Symbol, Any]) -> None:
        self._known: dict[Expr, Expr] = {s: sympy.sympify(rate) for s, rate in rates.items()}

    def __call__(self, e: Expr) -> Expr:
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._rate(e)
        return known

    def _rate(self, e: Expr) -> Expr:
        if not e.args:  # numbers, and symbols that do not change
            return S.Zero
        if e.is_Add:
            return sympy.Add(*(self(a) for a in e.args))
        if e.is_Mul:
            rates = [self(a) for a in e.args]
            return sympy.Add(
                *(sympy.Mul(*e.args[:k], r, *e.args[k + 1 :]) for k, r in enumerate(rates) if r is not S.Zero)
            )
        if e.is_Pow and self(e.exp) is S.Zero:
            rate = self(e.base)
            return S.Zero if rate is S.Zero else e.exp * e.base ** (e.exp - 1) * rate
        if isinstance(e, sympy.sign):  # constant but for a jump
            return S.Zero
        if e.is_Function and not e.is_Piecewise:
            return sympy.Add(*(e.fdiff(k + 1) * self(a) for k, a in enumerate(e.args) if self(a) is not S.Zero))
        if e.is_Piecewise:
            return sympy.Piecewise(*((self(piece), condition) for piece, condition in e.args))
        raise ValueError(f"{e}: there is no derivative of {type(e).__name__} here")

    def vector(self, v: Vector) -> Vector:
        """The rate of each component."""
        return v.lift(self).lift(sparse)


class Substitution:
    """Expressions with some symbols replaced; nothing is expanded."""

    def __init__(self, replaced: Mapping[Symbol, Any]) -> None:
        self._known: dict[Any, Any] = {s: sympy.sympify(x) for s, x in replaced.items()}

    def __call__(self, e: Any) -> Any:
        known = self._known.get(e)
        if known is None:
            args = [self(a) for a in e.args]
            if e.is_Mul and S.Zero in args:
                known = S.Zero
            else:
                known = e.func(*args) if args else e
            self._known[e] = known
        return known

    def matrix(self, M: Matrix) -> Matrix:
        """Each entry."""
        return M.applyfunc(self)


def gradient(e: Expr, symbols: Iterable[Symbol]) -> list[Expr]:
    """∂e/∂s for each symbol."""
    return [Rate({s: S.One})(e) for s in symbols]


COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    sympy.StrictLessThan: lambda a, b: a < b,
    sympy.LessThan: lambda a, b: a <= b,
    sympy.StrictGreaterThan: lambda a, b: a > b,
    sympy.GreaterThan: lambda a, b: a >= b,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.sin: scalar.sin,
    sympy.cos: scalar.cos,
    sympy.tan: lambda x: scalar.sin(x) / scalar.cos(x),
    sympy.sqrt: scalar.sqrt,
    sympy.atan2: scalar.atan2,
    sympy.sign: scalar.sign,
    sympy.Abs: scalar.absolute,
    sympy.Min: scalar.minimum,
    sympy.Max: scalar.maximum,
}


class Evaluation:
    """Values of expressions over any scalar: floats, NumPy arrays, trace nodes, intervals.

    `mark` is called every now and then, for scalars that want to know where a piece of the program ends.
    """

    def __init__(
        self,
        values: Mapping[Symbol, Any],
        functions: Mapping[Any, Callable[..., Any]] = FUNCTIONS,
        mark: Callable[[], None] | None = None,
    ) -> None:
        self._known: dict[Any, Any] = dict(values)
        self._functions = functions
        self._mark = mark

    def __call__(self, e: Expr) -> Any:
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._value(e)
            if self._mark is not None and len(self._known) % PIECE == 0:
                self._mark()
        return known

    def _value(self, e: Expr) -> Any:
        if e.is_Symbol:
            raise ValueError(f"there is no value for the symbol {e}")
        if e.is_Number or e.is_NumberSymbol:
            return float(e) if not e.is_Integer else int(e)
        if e.is_Add or e.is_Mul:
            total = self(e.args[0])
            for a in e.args[1:]:
                total = total + self(a) if e.is_Add else total * self(a)
            return total
        if e.is_Pow:
            return self._power(self(e.base), e.exp)
        if e.is_Piecewise:
            return self._pieces(e)
        function = self._functions.get(e.func)
        if function is None:
            raise ValueError(f"there is no numeric {e.func.__name__} here, in {e}")
        return function(*map(self, e.args))

    def _power(self, base: Any, exponent: Expr) -> Any:
        if not (2 * exponent).is_Integer:
            raise ValueError(f"expected a whole or half power, got {exponent}")
        whole, half = divmod(abs(int(2 * exponent)), 2)
        result: Any = self._functions[sympy.sqrt](base) if half else 1
        for _ in range(whole):
            result = result * base
        return 1 / result if exponent < 0 else result

    def _pieces(self, e: Expr) -> Any:
        *pieces, (value, _) = [(self(piece), condition) for piece, condition in e.args]
        for piece, condition in reversed(pieces):
            holds = COMPARISONS[type(condition)](*map(self, condition.args))
            value = scalar.where(holds, piece, value)
        return value


def column(entries: Iterable[Any]) -> Matrix:
    """A column of expressions."""
    return sympy.ImmutableMatrix([[sympy.sympify(x)] for x in entries])


def square(rows: Iterable[Iterable[Any]]) -> Matrix:
    """A matrix of expressions, by rows."""
    return sympy.ImmutableMatrix([[sympy.sympify(x) for x in row] for row in rows])


def solve_positive(M: Matrix, right: Matrix) -> list[Expr]:
    """M⁻¹ r of a positive definite matrix by L D Lᵀ, without searching for pivots and without expanding anything."""
    n = M.rows
    L, D = [[S.Zero] * n for _ in range(n)], [S.Zero] * n
    for j in range(n):
        D[j] = M[j, j] - sympy.Add(*(L[j][k] ** 2 * D[k] for k in range(j)))
        for i in range(j + 1, n):
            L[i][j] = (M[i, j] - sympy.Add(*(L[i][k] * L[j][k] * D[k] for k in range(j)))) / D[j]
    y = [S.Zero] * n
    for i in range(n):
        y[i] = right[i] - sympy.Add(*(L[i][k] * y[k] for k in range(i)))
    x = [S.Zero] * n
    for i in reversed(range(n)):
        x[i] = y[i] / D[i] - sympy.Add(*(L[k][i] * x[k] for k in range(i + 1, n)))
    return x
