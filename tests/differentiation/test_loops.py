"""Derivatives through loops, branches and arrays: those of the turns that were taken."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from differentiation.exactly import differences, forward_program, jacobians, program_of, reverse_program, same
from featherweight import scalar
from featherweight.differentiation import replayed
from featherweight.scalar import array, count, repeat, ruled, when, where

POINTS = [[0.7, 1.3, -0.4], [-0.7, 1.3, 0.4], [0.5, -0.2, 0.9]]


def root(x):
    """|a| by Newton's method, which ends for each state by itself."""
    a, b, _ = x
    step = lambda u: [0.5 * (u[0] + a * a / u[0])]  # noqa: E731
    return repeat(step, [b * b], until=lambda u: abs(u[0] * u[0] - a * a) < 1e-15, at_most=30)


def branches(x):
    a, b, c = x
    y, z = when(c > 0, lambda: [a * c, scalar.sin(b)], [b, a * a])
    (w,) = when(c > 0, lambda: [scalar.sqrt(c) * b], None)
    return [y * z, where(c > 0, w, a)]


def counted(x):
    a, b, c = x
    return count(3, lambda k, u: [u[0] * a + b * k, u[1] * u[0]], [a, c])


def nested(x):
    a, b, c = x

    def turn(k, u):
        inner = lambda p: [p[0] * 0.9 + u[0] * b, p[1] + c * k]  # noqa: E731
        t = repeat(inner, [u[1], 0.0], until=lambda p: abs(p[1]) > 0.5, at_most=4)
        (s,) = when(t[0] > a, lambda: [t[0] * scalar.cos(u[1])], [u[0]])
        return [u[0] + s * a, t[1]]

    return count(3, turn, [a, c])


def at_once(x):
    """A loop that ends before its first turn."""
    return repeat(lambda u: [u[0] * x[1]], [x[0] * x[0]], until=lambda u: x[0] < 10.0, at_most=5)


LOOPS = (root, branches, counted, nested, at_once)


@pytest.mark.parametrize("function", LOOPS)
def test_loops_on_numbers(function):
    program = program_of(function, 3)
    for x in POINTS:
        if function is root:
            expected = np.array([[np.sign(x[0]), 0.0, 0.0]])
        else:
            expected = differences(program, x)
        for found in jacobians(program, x):
            assert same(found, expected, 1e-10)


@pytest.mark.parametrize("function", [root, nested])
def test_loops_in_native_code(function):
    """Also in a batch whose states take different numbers of turns: each has the bits it has alone."""
    f = fw.function(lambda x: np.array(function(x)), inputs={"x": 3})
    J, g = fw.derivative(f), fw.vjp(f)
    x = np.random.default_rng(0).normal(size=(19, 3))
    w = np.ones((19, f.returned.shapes[0][0]))
    program = program_of(function, 3)
    for k in range(3):
        assert same(J(x[k]), jacobians(program, x[k])[0], 1e-12)
        assert same(g(x[k], w[k])[0], w[k] @ jacobians(program, x[k])[1], 1e-12)
    assert np.array_equal(J(x), [J(row) for row in x])
    assert np.array_equal(g(x, w)[0], [g(row, own)[0] for row, own in zip(x, w, strict=True)])


@pytest.mark.parametrize("function", LOOPS)
def test_a_replay_adds_nothing(function):
    program = program_of(function, 3)
    again = program_of(lambda x: replayed(program, x), 3)

    def operations(p):
        return sum(p.graph.op[i] != "not" for nodes in p.nodes.values() for i in nodes)

    assert operations(again) == operations(program)


def stores(x):
    a, b, c = x
    numbers = array([a, b, c])
    numbers[1] = a * b

    def turn(k, u):
        numbers[k] = numbers[k] * u[0]
        return [u[0] + numbers[k]]

    (u,) = count(3, turn, [a])
    return [u * numbers[2], numbers[b * 2]]


def test_arrays_have_tangents():
    program = program_of(stores, 3)
    x = [0.7, 0.6, -0.4]
    found = np.array(replayed(forward_program(program), x), dtype=float).reshape(2, 3)
    assert same(found, differences(program, x), 1e-12)


def test_arrays_are_refused_backwards():
    f = fw.function(stores, inputs={"x": 3})
    with pytest.raises(TypeError, match=r"back through scalar\.array is not there: take it forward"):
        fw.vjp(f)([0.7, 0.6, -0.4], [1.0, 1.0])


def test_long_loops_are_refused_backwards():
    f = fw.function(lambda x: count(10_000, lambda k, u: [u[0] * 0.999, u[1] + u[0]], [x[0], x[0]]), inputs={"x": 1})
    with pytest.raises(TypeError, match=r"would store 30000 numbers.* take fewer turns .*featherweight\.jvp"):
        fw.vjp(f)([1.0], [1.0, 1.0])
    assert np.allclose(fw.jvp(f)([1.0], [1.0]), f([1.0]))


def test_a_jacobian_with_few_rows_is_made_forward_where_it_cannot_be_made_backward():
    f = fw.function(lambda x: array([x[0] * x[1], x[2] * x[3]])[x[0]], inputs={"x": 4})
    assert fw.derivative(f)([0.5, 2.0, 3.0, 4.0]).tolist() == [2.0, 0.5, 0.0, 0.0]


class Implicit:
    """The derivative of |a| from a² = y², which looks at none of the turns."""

    def pushforward(self, inputs, outputs, tangents):
        return [{d: inputs[0] / outputs[0] * t for d, t in tangents[0].items()}]

    def pullback(self, inputs, outputs, cotangents):
        return [inputs[0] / outputs[0] * cotangents[0], 0.0, 0.0]


def test_a_rule_stands_in_place_of_a_loop():
    def function(x):
        (y,) = ruled("|a|", root, [x[0] * x[1], x[1], x[2]], Implicit())
        return [y * x[2] + scalar.sin(y)]

    program = program_of(function, 3)
    assert forward_program(program).graph.repeats  # the value is still found by turns
    for x in POINTS:
        for found in jacobians(program, x):
            assert same(
                found,
                jacobians(program_of(lambda x: [abs(x[0] * x[1]) * x[2] + scalar.sin(abs(x[0] * x[1]))], 3), x)[0],
            )


def test_a_rule_makes_a_loop_of_any_length_differentiable_backwards():
    def function(x):
        turns = lambda i: repeat(lambda u: [u[0]], [i[0]], until=lambda u: u[0] < 0, at_most=10**6)  # noqa: E731
        return ruled("nothing", turns, [x[0] * x[0]], Identity())

    class Identity:
        def pullback(self, inputs, outputs, cotangents):
            return cotangents

    program = program_of(function, 1)

    made = reverse_program(program)
    assert not made.graph.arrays
