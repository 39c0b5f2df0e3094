"""Compiled expressions equal interpreted ones: signs, fused multiply-adds, operation counts, random programs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from featherweight.compiler import Argument, Graph, Kernel, interpret
from featherweight.compiler.plan.fuse import fuse
from featherweight.scalar import cos, maximum, minimum, sin, sqrt, where

EPS = 2.0**-53


def kernel(function, n, m, **options):
    """A kernel of n inputs and m outputs from `function(list) -> list`."""
    return Kernel(
        "test", [Argument("x", (n,), "n")], [(m,)], lambda s, *_: ([function(s[0])], 0), lambda _: "", **options
    )


def operations(function, n):
    return kernel(lambda x: [function(*x)], n, 1).plan.operations


def one_and_pack(k, x):
    """Results for all rows of x as a batch; each must have the bits it has alone."""
    (batch,) = k(x)
    for row, expected in zip(x[:3], batch[:3], strict=True):
        assert k(row)[0].tobytes() == expected.tobytes()
    return batch


# ---- operation counts


def test_a_dot_product_with_a_plain_term_costs_one_operation_a_product():
    assert operations(lambda a, b, c, d, e, f, g: a * b + c * d + e * f + g, 7) == 3
    assert operations(lambda a, b, c, d, e, f, g: g - a * b - c * d - e * f, 7) == 3
    assert operations(lambda a, b, c, d, e, f, g: a * b + c * d + e * f - g, 7) == 3


def test_a_dot_product_alone_costs_one_operation_a_product():
    assert operations(lambda a, b, c, d, e, f: a * b + c * d + e * f, 6) == 3
    assert operations(lambda a, b, c, d, e, f: a * b - c * d + e * f, 6) == 3
    assert operations(lambda a, b, c, d, e, f: -(a * b) - c * d - e * f, 6) == 4


def test_sums_of_sums_are_one_chain():
    assert operations(lambda a, b, c, d: (a * b + c) - (d - a * c), 4) == 3
    assert operations(lambda a, b, c, d: a - (b - (c - d)), 4) == 3


def test_a_shared_sum_is_computed_once():
    def function(x):
        shared = x[0] * x[1] + x[2]
        return [shared + x[3], shared - x[3]]

    assert kernel(function, 4, 2).plan.operations == 3


def test_work_that_no_output_needs_is_dropped():
    def function(x):
        sin(x[0] * x[1]) / x[2]
        return [x[0] + x[1]]

    assert kernel(function, 3, 1).plan.operations == 1


# ---- signs: on small whole numbers every order of operations is exact

A, B, C, D, E, F = range(6)
TERMS = {"plain": ((A,), (B,), (C,), (D,)), "product": ((A, B), (C, D), (B, E), (D, F))}


def signed_sum(x, signs, terms):
    total = None
    for sign, term in zip(signs, terms, strict=True):
        value = x[term[0]] * x[term[1]] if len(term) == 2 else x[term[0]]
        if total is None:
            total = value if sign > 0 else -value
        else:
            total = total + value if sign > 0 else total - value
    return total


def sums(most):
    """Every sum of up to `most` terms: each plain or a product, each added or subtracted."""
    for n in range(1, most + 1):
        for signs in product((1, -1), repeat=n):
            for kinds in product(TERMS, repeat=n):
                yield signs, [TERMS[kind][k] for k, kind in enumerate(kinds)]


def long_sums(count):
    """Random sums of five to twelve terms."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        n = int(rng.integers(5, 13))
        terms = [tuple(rng.choice(6, int(rng.integers(1, 3)), replace=False).tolist()) for _ in range(n)]
        yield rng.choice((1, -1), n).tolist(), terms


@pytest.mark.parametrize("cases", [list(sums(4)), list(long_sums(200))], ids=["up to four terms", "more"])
def test_every_sum_has_the_right_signs(cases):
    k = kernel(lambda x: [signed_sum(x, *case) for case in cases], 6, len(cases))
    x = np.random.default_rng(1).integers(-99, 99, (16, 6)).astype(float)
    expected = np.stack([signed_sum(x.T, *case) for case in cases], axis=-1)
    np.testing.assert_array_equal(one_and_pack(k, x), expected)


NESTED = (
    lambda a, b, c, d, e, f: a - (b - (c - (d - (e - f)))),
    lambda a, b, c, d, e, f: -(a - (b + (c - d * e))) - f,
    lambda a, b, c, d, e, f: -(-(-a * b - c) - d) - -(e * f),
    lambda a, b, c, d, e, f: (a * b - c * d) - (e * f - a * d),
    lambda a, b, c, d, e, f: -((a + b) + (c + d)) - (e + f),
    lambda a, b, c, d, e, f: -(a * b) - -(c * d) - (-e - f),
    lambda a, b, c, d, e, f: (a - b) * (c - d) - (e - f) * (a + b),
    lambda a, b, c, d, e, f: -(a * a) - b * b - c * c - d * d - e * e - f,
    lambda a, b, c, d, e, f: 3.0 - a - 2.0 * b - (5.0 - c * d) - 7.0 * (e - f),
    lambda a, b, c, d, e, f: -3.0 - a * b - 4.0,
)


def test_nested_sums_have_the_right_signs():
    k = kernel(lambda x: [f(*x) for f in NESTED], 6, len(NESTED))
    x = np.random.default_rng(2).integers(-99, 99, (16, 6)).astype(float)
    np.testing.assert_array_equal(one_and_pack(k, x), np.stack([f(*x.T) for f in NESTED], axis=-1))


# ---- roundings


def test_a_product_and_a_sum_are_rounded_once():
    """x*y ± z is the correctly rounded value, also where x*y ≈ z cancels all but the product's last bits."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 64))
    rows = np.stack([x, y, np.where(rng.random(64) < 0.7, x * y, rng.normal(size=64))], axis=-1)
    k = kernel(lambda v: [v[0] * v[1] - v[2], v[2] - v[0] * v[1], v[0] * v[1] + v[2]], 3, 3)
    exact = [[Fraction(a) * Fraction(b), Fraction(c)] for a, b, c in rows.tolist()]
    expected = [[float(p - c), float(c - p), float(p + c)] for p, c in exact]
    np.testing.assert_array_equal(one_and_pack(k, rows), expected)


def test_min_max_abs_and_conditions_are_exact():
    def function(x):
        a, b, c = x
        inside = (a < b) & (b <= c)
        outside = ~inside | (a > c)
        chosen = [where(inside, a, b), where(outside, b, c), where(a >= 0.25, c, -c)]
        return [minimum(a, b), maximum(a, b), abs(c), minimum(a, 0.5), maximum(-0.5, b), *chosen]

    x = np.random.default_rng(4).integers(-4, 5, (64, 3)) / 4
    k = kernel(function, 3, 8)
    np.testing.assert_array_equal(one_and_pack(k, x), np.stack(function(list(x.T)), axis=-1))


def test_numbers_known_while_tracing_are_outputs_too():
    k = kernel(lambda x: [0.0, x[0], 2.5, x[0] - x[0], -0.0, x[0]], 1, 6)
    (alone,) = k(np.array([3.0]))
    np.testing.assert_array_equal(alone, [0.0, 3.0, 2.5, 0.0, 0.0, 3.0])
    assert np.signbit(alone).tolist() == [False, False, False, False, True, False]


def test_a_condition_known_while_tracing_joins_one_that_is_not():
    def function(x):
        a, b = x
        return [where((a - a < 1) & (b < 0), a, b), where((b < 0) | (a - a < 1), a, b)]

    x = np.random.default_rng(5).normal(size=(32, 2))
    k = kernel(function, 2, 2)
    with interpret():
        (expected,) = k(x)
    np.testing.assert_array_equal(one_and_pack(k, x), expected)


@pytest.mark.parametrize(
    "function", [lambda a, b: where(a < 0, b < 0, b > 1), lambda a, b: (a < b) * 3.0, lambda a, b: a * (a < b)]
)
def test_a_condition_is_not_a_number(function):
    k = kernel(lambda v: [function(*v)], 2, 1)
    with pytest.raises(TypeError, match=r"condition|unsupported operand"):
        k(np.zeros(2))


FUNCTIONS = {
    "of an input": lambda a, b: sin(a),
    "of a sum": lambda a, b: sin(a + b),
    "of a product, used again": lambda a, b: cos(a * b) + a * b,
    "of a function": lambda a, b: sin(cos(sin(a)) - b),
    "of a function and of an input": lambda a, b: sin(b * cos(a)) * cos(b),
    "of a choice": lambda a, b: cos(where(a < b, a * a, sqrt(abs(b)))),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_sine_and_cosine_of_anything_compile(case):
    function = FUNCTIONS[case]
    x = np.random.default_rng(6).normal(size=(19, 2))
    k = kernel(lambda v: [function(*v)], 2, 1)
    np.testing.assert_allclose(one_and_pack(k, x)[:, 0], function(*x.T), rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 17])
def test_every_number_of_inputs_and_outputs_is_carried_whole(n):
    k = kernel(lambda x: [*x, *reversed(x)], n, 2 * n)
    x = np.random.default_rng(n).normal(size=(21, n))
    np.testing.assert_array_equal(one_and_pack(k, x), np.concatenate([x, x[:, ::-1]], axis=1))


def test_an_output_without_entries_writes_nothing():
    """A robot without joints: nothing of a neighbour's memory may be touched, in or out."""
    k = Kernel("empty", [Argument("x", (2,), "2")], [(0,)], lambda s, *_: ([[]], 0), lambda _: "")
    memory = np.full(64, 5.0)
    k(np.ones(2), out=memory[8:8])
    k(np.ones((9, 2)), out=as_strided(memory, (9, 0), (0, 8)))
    assert (memory == 5.0).all()


def test_an_input_without_entries_reads_nothing():
    k = Kernel("empty", [Argument("x", (0,), "0")], [(1,)], lambda s, *_: ([[1.5]], 0), lambda _: "")
    memory = np.full(64, np.nan)
    assert k(memory[8:8])[0].tolist() == [1.5]
    assert k(as_strided(memory, (9, 0), (0, 8)))[0].tolist() == [[1.5]] * 9


# ---- random programs


class Ball:
    """A NumPy value with a bound on what any order of a sum's terms and any fused product may change.

    `terms` is Σ|t| over the terms of a sum and `count` their number: regrouping a sum costs ulps of
    Σ|t|, not of its value.
    """

    def __init__(self, value, radius, terms=None, count=1):
        self.value, self.radius = value, radius
        self.terms = np.abs(value) if terms is None else terms
        self.count = count

    def plus(self, other, sign):
        terms, count = self.terms + other.terms, self.count + other.count
        value = self.value + other.value if sign > 0 else self.value - other.value
        return Ball(value, self.radius + other.radius + 2 * count * EPS * terms, terms, count)

    def times(self, other):
        value = self.value * other.value
        spread = np.abs(self.value) * other.radius + np.abs(other.value) * self.radius + self.radius * other.radius
        return Ball(value, spread + 2 * EPS * np.abs(value))

    def over(self, other, least):
        """self / (|other| + least)."""
        below = np.abs(other.value) + least
        value = self.value / below
        spread = self.radius + np.abs(value) * (other.radius + 2 * EPS * below)
        return Ball(value, spread / np.maximum(below - other.radius, least) + 2 * EPS * np.abs(value))

    def root(self):
        size = np.abs(self.value)
        spread = np.sqrt(size + self.radius) - np.sqrt(np.maximum(size - self.radius, 0.0))
        return Ball(np.sqrt(size), spread + 2 * EPS * np.sqrt(size))

    def chosen(self, if_true, if_false):
        """`self` is the difference that is compared with zero."""
        value = np.where(self.value < 0, if_true.value, if_false.value)
        radius = if_true.radius + if_false.radius
        unsure = np.abs(self.value) <= self.radius
        return Ball(value, radius + np.where(unsure, np.abs(if_true.value - if_false.value), 0.0))


# how each operation is done on any scalar, and on balls
SCALAR = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "div": lambda a, b: a / (abs(b) + 1.5),
    "reciprocal": lambda a: 1 / (abs(a) + 0.5),
    "sqrt": lambda a: sqrt(abs(a)),
    "min": minimum,
    "max": maximum,
    "where": lambda a, b, c, d: where(a < b, c, d),
    "sin": sin,
    "cos": cos,
}
BALL = {
    "add": lambda a, b: a.plus(b, 1),
    "sub": lambda a, b: a.plus(b, -1),
    "mul": Ball.times,
    "neg": lambda a: Ball(-a.value, a.radius, a.terms, a.count),
    "div": lambda a, b: a.over(b, 1.5),
    "reciprocal": lambda a: Ball(1.0, 0.0).over(a, 0.5),
    "sqrt": Ball.root,
    "min": lambda a, b: Ball(np.minimum(a.value, b.value), a.radius + b.radius),
    "max": lambda a, b: Ball(np.maximum(a.value, b.value), a.radius + b.radius),
    "where": lambda a, b, c, d: a.plus(b, -1).chosen(c, d),
    "sin": lambda a: Ball(np.sin(a.value), a.radius + 4 * EPS),
    "cos": lambda a: Ball(np.cos(a.value), a.radius + 4 * EPS),
}
ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "min": 2, "max": 2, "where": 4}
# sums and products are what `fuse` rearranges: have many of them
CHOICES = ("add", "sub", "mul") * 6 + tuple(SCALAR)
INPUTS, STEPS, OUTPUTS = 9, 160, 40
CONSTANTS = (0.37, -1.9, 2.5)  # numbers of a robot: table entries while tracing


def random_program(seed):
    """Steps (operation, places of its arguments); the first places are inputs and constants, most are recent."""
    rng = np.random.default_rng(seed)
    leaves = INPUTS + len(CONSTANTS)
    steps = []
    for k in range(leaves, leaves + STEPS):
        op = str(rng.choice(CHOICES))
        recent = rng.random(ARITY.get(op, 1)) < 0.6
        steps.append((op, [int(rng.integers(max(0, k - 25), k) if r else rng.integers(leaves)) for r in recent]))
    return steps


def run(steps, leaves, operations, mark=lambda: None, every=16):
    values = list(leaves)
    for k, (op, places) in enumerate(steps):
        if k % every == 0:
            mark()
        values.append(operations[op](*(values[p] for p in places)))
    return values[-OUTPUTS:]


@pytest.mark.parametrize("chunk_limit", [7, 10**9])
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_equal_numpy(seed, chunk_limit):
    steps = random_program(seed)
    x = np.random.default_rng(100 + seed).normal(size=(67, INPUTS))
    balls = [Ball(c, np.zeros(67)) for c in (*x.T, *(np.full(67, c) for c in CONSTANTS))]
    balls = run(steps, balls, BALL)
    expected = np.stack([ball.value for ball in balls], axis=-1)
    bound = np.stack([ball.radius for ball in balls], axis=-1)

    def function(scalars, lift, mark):
        return [run(steps, [*scalars[0], *map(lift, CONSTANTS)], SCALAR, mark)], 0

    k = Kernel("random", [Argument("x", (INPUTS,), "n")], [(OUTPUTS,)], function, lambda _: "", chunk_limit)
    with interpret():
        np.testing.assert_allclose(k(x)[0], expected, rtol=1e-14)
    error = np.abs(one_and_pack(k, x) - expected)
    assert (error <= bound).all()
    # the bounds are tight enough to mean something
    assert np.median(bound / (1e-300 + np.abs(expected))) < 1e-12


# ---- marks


def test_marks_change_no_bit():
    """Marks say where code may be cut; what is computed does not follow from them."""
    x = np.random.default_rng(9).normal(size=(67, INPUTS))
    for seed in range(4):
        steps, results = random_program(seed), []
        for every in (1, 3, 16, 10**9):

            def function(scalars, lift, mark, steps=steps, every=every):
                return [run(steps, [*scalars[0], *map(lift, CONSTANTS)], SCALAR, mark, every)], 0

            k = Kernel("marked", [Argument("x", (INPUTS,), "n")], [(OUTPUTS,)], function, lambda _: "", 40)
            results.append((k.plan.operations, one_and_pack(k, x).tobytes()))
        assert len(set(results)) == 1


def test_a_sum_goes_on_where_it_is_added_to():
    """A chain is made region by region, so that what it adds need not cross from one to the other."""
    graph = Graph()
    a, b, c, d, e, f = (graph.input(0, k) for k in range(6))
    total = a * b + c
    graph.mark()
    total = total + d * e + f
    program, _ = fuse(graph, [total.id])
    chain = [(program.op[i], program.region[i]) for i in program.order]
    assert chain == [("fma", 0), ("fma", 1), ("add", 1)]
