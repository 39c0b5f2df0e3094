"""Trigonometric polynomials in normal form: equal expressions become equal, and short.

An expression is a sum of products of symbols, of cosines and sines of independent angles, and of anything else taken
as it is. sin² = 1 - cos² (and w² = 1 - x² - y² - z² for unit quaternions) makes the sum unique. It is kept as a
dictionary from exponents to coefficients; the exponents of a product are packed into one integer, eight bits for each
generator, so that multiplying monomials is adding integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy import Expr, Rational, S, Symbol
from sympy.external.gmpy import MPQ

from featherweight.equations.present import presented

BITS = 8
DIGIT, HALF = (1 << BITS) - 1, 1 << (BITS - 1)
COMMON_FACTORS = 400  # pairs of terms up to which fractions are cancelled
BUDGET = 100_000  # products of terms after which an expression is left as it is

Polynomial = dict[int, Any]


class TooLargeError(Exception):
    """The expression is too long to expand within the budget."""


class Ring:
    """The ring: generators, and relations that reduce squares (sin² = 1 - cos², unit quaternions)."""

    def __init__(
        self,
        angles: Sequence[Expr],
        *,
        q: Iterable[Symbol] = (),
        v: Iterable[Symbol] = (),
        quaternions: Iterable[Sequence[Symbol]] = (),
    ) -> None:
        self.angles = list(angles)
        self.q, self.v = set(q), set(v)  # configuration and velocity: they are written apart from parameters
        self.generators: list[Expr] = []
        self.budget = BUDGET
        self._index: dict[Expr, int] = {}
        self._known: dict[Expr, Polynomial] = {}
        self._squares = 0  # where a reduced generator's exponent is 2 or more
        self._rules: dict[int, tuple[int, tuple[tuple[int, int], ...]]] = {}
        for angle in self.angles:
            cosine, sine = self._place(sympy.cos(angle)), self._place(sympy.sin(angle))
            self._reduce(sine, [cosine])
        for *xyz, w in quaternions:
            places = [self._place(x) for x in xyz]
            self._reduce(self._place(w), places)

    @staticmethod
    def of(expressions: Iterable[Expr], **symbols: Any) -> Ring:
        """The ring whose angles are those in the expressions."""
        return Ring(independent(angles_in(expressions)), **symbols)

    def _place(self, generator: Expr) -> int:
        """The packed monomial of a generator, its exponent 1."""
        if generator not in self._index:
            self._index[generator] = len(self.generators)
            self.generators.append(generator)
        return 1 << (BITS * self._index[generator])

    def _reduce(self, generator: int, others: list[int]) -> None:
        """From now on generator² = 1 - Σ others²."""
        bit = 2 * generator
        self._squares |= bit
        self._rules[bit] = (2 * generator, ((0, 1), *((2 * other, -1) for other in others)))

    # ---- arithmetic

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """The product, reduced."""
        self.budget -= len(a) * len(b)
        if self.budget < 0:
            raise TooLargeError
        result: Polynomial = {}
        squares, left = self._squares, []
        for k, x in a.items():
            for l, y in b.items():
                key = k + l
                if key & squares:
                    left.append((key, x * y))
                else:
                    result[key] = result.get(key, 0) + x * y
        while left:
            key, x = left.pop()
            high = key & squares
            power, replaced = self._rules[high & -high]
            for other, sign in replaced:
                if (key - power + other) & squares:
                    left.append((key - power + other, sign * x))
                else:
                    result[key - power + other] = result.get(key - power + other, 0) + sign * x
        return {key: x for key, x in result.items() if x}

    @staticmethod
    def plus(*terms: Polynomial) -> Polynomial:
        """The sum."""
        result: Polynomial = {}
        for polynomial in terms:
            for key, x in polynomial.items():
                result[key] = result.get(key, 0) + x
        return {key: x for key, x in result.items() if x}

    def polynomial(self, e: Expr) -> Polynomial:
        """The normal form of an expression."""
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._polynomial(e)
        return known

    def _polynomial(self, e: Expr) -> Polynomial:
        if e.is_Rational:
            return {0: int(e) if e.is_Integer else MPQ(e.p, e.q)} if e else {}
        if e.is_Add:
            return self.plus(*(self.polynomial(a) for a in e.args))
        if e.is_Mul:
            result: Polynomial = {0: 1}
            for factor in sorted((self.polynomial(a) for a in e.args), key=len):
                result = self.times(result, factor)
            return result
        if e.is_Pow and e.exp.is_Integer:
            return self._power(e.base, int(e.exp))
        if isinstance(e, (sympy.cos, sympy.sin)):
            combination = combine(e.args[0], self.angles)
            if combination is not None:
                cosine, sine = self._whole(combination)
                return cosine if isinstance(e, sympy.cos) else sine
        if e.is_Pow and e.exp.is_Rational:  # x^(p/q) = x^n root^r
            whole, left = divmod(e.exp.p, e.exp.q) if e.exp > 0 else (0, e.exp.p)
            root = {left * self._place(self.short(e.base) ** Rational(1, e.exp.q)): 1}
            return self.times(self._power(e.base, whole), root) if whole else root
        if e.args:
            return {self._place(e.func(*(self.short(a) if isinstance(a, Expr) else a for a in e.args))): 1}
        return {self._place(e): 1}

    def _power(self, base: Expr, n: int) -> Polynomial:
        polynomial = self.polynomial(base)
        if n < 0:
            if len(polynomial) != 1:
                return {-n * -self._place(self.expression(polynomial)): 1}
            ((key, x),) = polynomial.items()
            if self._reduced(key):
                return {-n * -self._place(self.expression(polynomial)): 1}
            return {n * key: MPQ(1) / MPQ(x) ** -n}
        result: Polynomial = {0: 1}
        for _ in range(n):
            result = self.times(result, polynomial)
        return result

    def _reduced(self, key: int) -> bool:
        """Whether a cosine, a sine or a quaternion is in a monomial: their exponents are never negative."""
        trigonometric = (1 << (BITS * 2 * len(self.angles))) - 1
        return bool(key & trigonometric) or any(key & 3 * (bit // 2) for bit in self._rules)

    def _whole(self, combination: tuple[int, ...]) -> tuple[Polynomial, Polynomial]:
        """Cosine and sine of a sum of whole multiples of the angles."""
        cosine: Polynomial = {0: 1}
        sine: Polynomial = {}
        for k, multiple in enumerate(combination):
            c = {1 << (BITS * 2 * k): 1}
            s = {1 << (BITS * (2 * k + 1)): 1 if multiple > 0 else -1}
            minus = {key: -x for key, x in s.items()}
            for _ in range(abs(multiple)):
                cosine, sine = (
                    self.plus(self.times(cosine, c), self.times(sine, minus)),
                    self.plus(self.times(sine, c), self.times(cosine, s)),
                )
        return cosine, sine

    # ---- back to expressions

    def equal(self, x: Expr, y: Expr) -> bool:
        """Whether two expressions are equal for all values of their symbols."""
        return not self._cleared(self.plus(self.polynomial(x), {key: -n for key, n in self.polynomial(y).items()}))

    def _cleared(self, polynomial: Polynomial) -> Polynomial:
        """The expression times its denominators (sums and roots), expanded: zero if and only if it was zero."""
        for k in range(2 * len(self.angles), len(self.generators)):
            generator = self.generators[k]
            root = generator.is_Pow and generator.exp == Rational(1, 2)
            if not (generator.is_Add or root):
                continue
            powers = [dict(self.exponents(key)).get(k, 0) for key in polynomial]
            least = min([0, *powers])
            if least == 0 and max([0, *powers]) < 2:
                continue
            place = 1 << (BITS * k)
            total: Polynomial = {}
            inner = self.polynomial(generator.base if root else generator)
            for (key, x), n in zip(polynomial.items(), powers, strict=True):
                whole, odd = divmod(n - least, 2) if root else (n - least, 0)
                term = {key - (n - odd) * place: x}
                for _ in range(whole):
                    term = self.times(term, inner)
                total = self.plus(total, term)
            polynomial = total
        return polynomial

    def short(self, e: Expr) -> Expr:
        """The expression, collected; unchanged if that would exceed the budget."""
        if e.is_Atom:
            return e
        before, self.budget = self.budget, BUDGET
        try:
            return self.expression(self.polynomial(e))
        except TooLargeError:
            return e
        finally:
            self.budget = before - (BUDGET - self.budget)

    def expanded(self, e: Expr) -> Expr:
        """The same expression as a plain sum of products: quick to make, and to differentiate."""
        before, self.budget = self.budget, BUDGET
        try:
            polynomial = self.polynomial(e)
        except TooLargeError:
            return e
        finally:
            self.budget = before - (BUDGET - self.budget)
        terms = []
        for key, x in polynomial.items():
            powers = (self.generators[k] ** n for k, n in self.exponents(key))
            terms.append(sympy.Mul(Rational(int(MPQ(x).numerator), int(MPQ(x).denominator)), *powers))
        return sympy.Add(*terms)

    def expression(self, polynomial: Polynomial) -> Expr:
        """A readable expression of a normal form."""
        return presented(self, polynomial)

    def exponents(self, key: int) -> list[tuple[int, int]]:
        """Generators of a monomial by number, with their exponents."""
        found, k = [], 0
        while key:
            digit = key & DIGIT
            if digit >= HALF:
                digit -= DIGIT + 1
            key = (key - digit) >> BITS
            if digit:
                found.append((k, digit))
            k += 1
        return found


def short_fraction(ring: Ring, numerator: Expr, denominator: Expr) -> Expr:
    """A fraction; common factors are cancelled if both sides are short."""
    if len(ring.polynomial(numerator)) * len(ring.polynomial(denominator)) < COMMON_FACTORS:
        above, below = sympy.fraction(sympy.cancel(sympy.expand(numerator) / sympy.expand(denominator)))
        return ring.short(above) / ring.short(below)
    return numerator / denominator


def angles_in(expressions: Iterable[Expr]) -> list[Expr]:
    """The arguments of all sines and cosines."""
    seen: set[Any] = set()
    angles: dict[Expr, None] = {}
    stack = list(expressions)
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, (sympy.cos, sympy.sin)):
            angles[e.args[0]] = None
        stack.extend(a for a in e.args if isinstance(a, Expr))
    return list(angles)


def independent(angles: Sequence[Expr]) -> list[Expr]:
    """A basis of the angles: all others are integer combinations. Sums of many angles first, then simple ones."""
    best: list[Expr] = []
    for order in (-1, 1):
        chosen: list[Expr] = []
        whole = True
        for angle in sorted(
            angles, key=lambda a: (order * len(_linear(a)), sum(map(abs, _linear(a).values())), str(a))
        ):
            vectors = [_linear(a) for a in chosen]
            solution = _solve(vectors, _linear(angle))
            if solution is None:
                chosen.append(angle)
            elif any(x.denominator != 1 for x in solution):
                whole = False
        best = chosen
        if whole:
            break
    return best


def combine(angle: Expr, basis: Sequence[Expr]) -> tuple[int, ...] | None:
    """Integer coefficients of an angle in the basis, if there are any."""
    for k, other in enumerate(basis):
        if angle == other:
            return tuple(int(j == k) for j in range(len(basis)))
    solution = _solve([_linear(a) for a in basis], _linear(angle))
    if solution is None or any(x.denominator != 1 for x in solution):
        return None
    return tuple(int(x) for x in solution)


def _linear(angle: Expr) -> dict[Expr, Fraction]:
    """An angle as multiples of its terms: symbols, π, or 1."""
    found: dict[Expr, Fraction] = {}
    for term in sympy.Add.make_args(angle):
        factor, rest = term.as_coeff_Mul()
        if not factor.is_Rational:
            factor, rest = S.One, term
        found[rest] = found.get(rest, Fraction(0)) + Fraction(factor.p, factor.q)
    return found


def _solve(vectors: list[dict[Expr, Fraction]], target: dict[Expr, Fraction]) -> list[Fraction] | None:
    """x with Σ x_k vector_k = target for independent vectors, or None."""
    rows = list({key for v in (*vectors, target) for key in v})
    matrix = [[v.get(row, Fraction(0)) for v in (*vectors, target)] for row in rows]
    n = len(vectors)
    pivots: list[int] = []
    for j in range(n):
        r = next((i for i in range(len(pivots), len(rows)) if matrix[i][j]), None)
        if r is None:
            return None
        top = len(pivots)
        matrix[top], matrix[r] = matrix[r], matrix[top]
        matrix[top] = [x / matrix[top][j] for x in matrix[top]]
        for i in range(len(rows)):
            if i != top and matrix[i][j]:
                factor = matrix[i][j]
                matrix[i] = [x - factor * y for x, y in zip(matrix[i], matrix[top], strict=True)]
        pivots.append(j)
    if any(row[n] for row in matrix[n:]):
        return None
    return [matrix[k][n] for k in range(n)]
