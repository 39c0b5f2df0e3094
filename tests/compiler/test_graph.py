"""The trace: one node for equal expressions, folding, and errors that name the user's line."""

import inspect
import math
import operator

import numpy as np
import pytest

from featherweight.compiler import Condition, Graph, Node
from featherweight.scalar import cos, exp, maximum, sin, sqrt, where


def traced(n=3):
    """A graph with n inputs."""
    graph = Graph()
    return graph, *(graph.input(0, k) for k in range(n))


def is_operation(node, op):
    return isinstance(node, Node) and node.graph.op[node.id] == op


def test_equal_expressions_are_one_node():
    g, x, y, z = traced()
    first = sin(x * y + z) / (x - y)
    size = len(g.op)
    second = sin(x * y + z) / (x - y)
    assert first.id == second.id
    assert len(g.op) == size


def test_sum_and_product_do_not_depend_on_the_order_written():
    _, x, y, _ = traced()
    assert (x + y).id == (y + x).id
    assert (x * y).id == (y * x).id
    assert (x - y).id != (y - x).id
    assert (x / y).id != (y / x).id


def test_equal_literals_are_one_leaf_and_zeros_keep_their_sign():
    g, *_ = traced()
    assert g.constant(2.5).id == g.constant(2.5).id
    assert g.constant(0.0).id != g.constant(-0.0).id


def test_model_constants_keep_their_identity_but_zero_and_one_are_structure():
    g, *_ = traced()
    assert g.model_constant(2.5).id != g.model_constant(2.5).id
    assert [type(g.model_constant(c)) for c in (0, 1, -1.0)] == [float, float, float]


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.float64(0), np.int64(0), False])
def test_times_zero_is_zero_and_plus_zero_is_nothing(zero):
    g, x, *_ = traced()
    size = len(g.op)
    assert x * zero == 0.0
    assert zero * x == 0.0
    assert zero / x == 0.0
    assert (x + zero).id == (zero + x).id == (x - zero).id == x.id
    assert len(g.op) == size
    assert is_operation(zero - x, "neg")


@pytest.mark.parametrize("one", [1, 1.0, np.float64(1), np.float32(1)])
def test_times_one_is_nothing_and_times_minus_one_a_change_of_sign(one):
    _, x, *_ = traced()
    assert (x * one).id == (one * x).id == (x / one).id == x.id
    for minus in (x * -one, -one * x, x / -one):
        assert minus.id == (-x).id
        assert is_operation(minus, "neg")


def test_differences_and_quotients_of_equals_are_numbers():
    _, x, y, _ = traced()
    assert x - x == 0.0
    assert (x * y + 1) - (y * x + 1) == 0.0
    assert x / x == 1.0
    assert x * (1 / x) == 1.0
    assert (1 / x) * x == 1.0


def test_signs_cancel_and_move_into_sums():
    _, x, y, _ = traced()
    minus = -x
    assert (-minus).id == x.id
    assert (+x).id == x.id
    assert (x + -y).id == (-y + x).id == (x - y).id
    assert (x - -y).id == (x + y).id
    assert (-x * -y).id == (x * y).id
    assert (-x - y).id == (-(x + y)).id
    assert (-x * y).id == (x * -y).id == (-(x * y)).id
    assert (x / -y).id == (-(x / y)).id


def test_constants_of_the_model_fold_into_a_new_constant():
    g, *_ = traced()
    a, b = g.model_constant(3.0), g.model_constant(0.7)
    for folded, expected in (
        (a + b, 3.0 + 0.7),
        (a - b, 3.0 - 0.7),
        (a * b, 3.0 * 0.7),
        (a / b, 3.0 / 0.7),
        (-a, -3.0),
        (1 / a, 1 / 3.0),
        (2.0 * a + 0.1, 2.0 * 3.0 + 0.1),
        (a**2, 9.0),
    ):
        assert is_operation(folded, "table")
        assert folded.value() == expected
    assert (a * b).id == (a * b).id
    assert {op for op in g.op if op not in ("input", "constant")} == {"table"}


def test_known_functions_of_literals_are_numbers():
    g, *_ = traced()
    a = g.constant(0.7)
    assert (sin(a), cos(a), sqrt(a)) == (math.sin(0.7), math.cos(0.7), math.sqrt(0.7))


def test_known_functions_of_the_models_numbers_are_among_these():
    """They are not part of the structure; but where one is 0 or ±1."""
    structures = set()
    for x in (0.7, 0.8):
        g, q, *_ = traced()
        a = g.model_constant(x)
        made = [sin(a), cos(a), sqrt(a), exp(a), sin(a)]
        assert [y.value() for y in made] == [math.sin(x), math.cos(x), math.sqrt(x), np.exp(x), math.sin(x)]
        assert made[0] is made[4]
        structures.add((g.structure(), [(q * y).id for y in made][-1]))
    assert len(structures) == 1
    g, *_ = traced()
    a = g.model_constant(1e-200)
    assert cos(a) == 1.0
    assert isinstance(cos(a), float)


@pytest.mark.parametrize("scalar", [np.float64(2.5), np.float32(2.5), np.int64(3), np.array(2.5)[()]])
def test_numpy_scalars_on_the_left_give_nodes(scalar):
    _, x, *_ = traced()
    value = float(scalar)
    for left, right in (
        (scalar + x, value + x),
        (scalar - x, value - x),
        (scalar * x, value * x),
        (scalar / x, value / x),
        (scalar < x, value < x),
        (scalar >= x, value >= x),
        (maximum(scalar, x), maximum(value, x)),
    ):
        assert isinstance(left, (Node, Condition))
        assert left.id == right.id


def test_comparisons_written_either_way_are_one_node():
    _, x, y, _ = traced()
    assert (x < y).id == (y > x).id
    assert (x <= y).id == (y >= x).id
    assert (x < 1).id == operator.gt(1, x).id


def line_of(function, text):
    """`file:line` of the line of a function that holds a text."""
    lines, first = inspect.getsourcelines(function)
    return f"{__file__}:{first + next(k for k, line in enumerate(lines) if text in line)}"


def test_truth_of_a_traced_value_raises_with_the_line_and_the_remedy():
    def branches(x):
        if x > 0:  # here
            return x
        return -x

    _, x, *_ = traced()
    with pytest.raises(TypeError) as error:
        branches(x)
    assert line_of(branches, "# here") in str(error.value)
    assert "where(" in str(error.value)


@pytest.mark.parametrize("function", [lambda x: x < 0 and x, lambda x: 0 < x < 1, lambda x: not x, min, max])
def test_every_use_as_a_truth_value_raises(function):
    _, x, y, _ = traced()
    with pytest.raises(TypeError, match="where"):
        function(x, y) if function in (min, max) else function(x)


def test_float_of_a_traced_value_raises_with_the_line_and_the_remedy():
    def calls_math(x):
        return math.sin(x)  # here

    _, x, *_ = traced()
    with pytest.raises(TypeError) as error:
        calls_math(x)
    assert line_of(calls_math, "# here") in str(error.value)
    assert "featherweight.scalar" in str(error.value)
    with pytest.raises(TypeError, match=r"featherweight\.scalar"):
        float(x)


def test_equality_of_a_traced_value_is_never_decided_while_tracing():
    """`if x == 0:` must raise like `if x < 0:`, not take the other branch without a word."""
    _, x, y, _ = traced()
    for equal in (lambda: x == 0, lambda: x == y, lambda: x != 0):
        with pytest.raises(TypeError, match="where"):
            bool(equal())


def test_powers_are_whole_or_roots():
    _, x, y, _ = traced()
    assert x**0 == 1.0
    assert (x**1).id == x.id
    assert (x**2).id == (x * x).id
    assert (x**5).id == (x * (x * (x * (x * x)))).id
    assert (x**0.5).id == sqrt(x).id
    for exponent in (-1, 1.5, 9, y):
        with pytest.raises(TypeError, match=r"whole powers.*featherweight\.scalar\.exp"):
            x**exponent
    with pytest.raises(TypeError, match=r"whole powers.*featherweight\.scalar\.exp"):
        2.0**x


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
    "max": maximum,
    "where": lambda a, b: where(a < 1, a, b),
    "condition": lambda a, b: (a < 1) & (b < 1),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_mixing_nodes_of_two_traces_raises(operation):
    _, a, *_ = traced()
    _, _, b, _ = traced()
    with pytest.raises(TypeError, match="earlier trace"):
        OPERATIONS[operation](a, b)


def test_values_that_are_no_numbers_are_refused():
    g, x, *_ = traced()
    size = len(g.op)
    for wrong in (None, [1.0], 1j, "one"):
        with pytest.raises((TypeError, ValueError)):
            x + wrong
    assert len(g.op) == size
