"""Pieces of a trace with a rule of their own: the trace knows them, the program does not change."""

import numpy as np

from featherweight.compiler import Argument, Graph, Kernel, interpret
from featherweight.compiler.native.target import host
from featherweight.scalar import repeat, ruled, sin, when

STATES = np.random.default_rng(0).normal(size=(19, 2)) + 3


def root(inputs):
    """√x by Newton's method."""
    x = inputs["x"]
    (y,) = repeat(lambda c: [0.5 * (c[0] + x / c[0])], [x], until=lambda c: abs(c[0] * c[0] - x) < 1e-14, at_most=30)
    return (y, 1.0)


def implicit(x, y):
    """A rule: dy/dx."""
    return 0.5 / y


def plain(a, b):
    y, one = root({"x": a * b, "scale": 2.0})
    return [y + one, sin(y) * a]


def with_rule(a, b):
    y, one = ruled("square root", root, {"x": a * b, "scale": 2.0}, implicit)
    return [y + one, sin(y) * a]


def kernel(function):
    return Kernel("test", [Argument("x", (2,), "2")], [(2,)], lambda s, *_: ([list(function(*s[0]))], 0), lambda _: "")


def traced(function):
    graph = Graph()
    with graph.written():
        function(graph.input(0, 0), graph.input(0, 1))
    return graph


def test_a_trace_remembers_the_rule():
    graph = traced(with_rule)
    (found,) = graph.ruled
    assert (found.name, found.rule, found.scope) == ("square root", implicit, 0)
    product, scale = found.inputs
    assert graph.op[product] == "mul"
    assert scale == 2.0
    result, one = found.outputs
    assert graph.op[result] == "result"
    assert one == 1.0
    assert product not in found.written
    assert result in found.written
    assert [graph.op[i] for i in found.written].count("repeat") == 1
    assert all(graph.op[i] != "sin" for i in found.written)


def test_the_program_and_its_bits_stay():
    one, other = traced(plain), traced(with_rule)
    assert (one.op, one.args, one.region, one.digest()) == (other.op, other.args, other.region, other.digest())
    assert kernel(plain).module(1, host()).text == kernel(with_rule).module(1, host()).text
    assert kernel(plain)(STATES)[0].tobytes() == kernel(with_rule)(STATES)[0].tobytes()
    with interpret():
        assert kernel(plain)(STATES)[0].tobytes() == kernel(with_rule)(STATES)[0].tobytes()


def test_rules_may_stand_in_rules_and_in_branches():
    def outer(inputs):
        a, b = inputs
        return when(a > b, lambda: [ruled("inner", lambda x: [x[0] * x[1]], [a, b], None)[0]], [a])

    graph = traced(lambda a, b: ruled("outer", outer, [a, b], "rule"))
    inner, around = graph.ruled
    assert (inner.name, around.name, around.rule) == ("inner", "outer", "rule")
    assert set(inner.written) < set(around.written)
    assert inner.scope > around.scope == 0
    assert inner.inputs == around.inputs == (0, 1)


def test_numbers_need_no_rule():
    assert with_rule(2.0, 4.5) == plain(2.0, 4.5)
