"""The derivative column of the table of operations: each row against differences with many digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from differentiation.exactly import differences, jacobians, program_of, same
from featherweight import scalar
from featherweight.compiler.trace.operations import OPERATIONS
from featherweight.scalar import apply, where

SMOOTH = {
    "sqrt": (0.1, 3.0), "sin": (-3.0, 3.0), "cos": (-3.0, 3.0), "exp": (-2.0, 2.0), "log": (0.1, 3.0),
    "tanh": (-2.0, 2.0), "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "atan": (-3.0, 3.0), "abs": (-2.0, 2.0),
    "neg": (-2.0, 2.0), "reciprocal": (0.3, 2.0), "floor": (0.1, 0.9), "ceil": (0.1, 0.9), "round": (0.6, 1.4),
}  # fmt: skip
OF_TWO = ("add", "sub", "mul", "div", "atan2", "min", "max", "mod", "plus", "times")
FLAT = {"random", "random_centre", "random_normal", "lookup"}  # steps: their derivative is zero
AFTER_LOWERING = {"fma", "fms", "fnma", "power_of_two", "exponent", "significand"}  # of no trace of a user
STRUCTURE = {row.name for row in OPERATIONS.values() if not row.llvm and row.value.__name__ == "_no_value"}
OPERATORS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": lambda a: -a, "reciprocal": lambda a: 1 / a, "abs": abs,
}  # fmt: skip


def function_of(name):
    return OPERATORS.get(name, lambda *x: apply(name, *x))


def test_every_operation_of_numbers_has_a_derivative():
    missing = {
        row.name
        for row in OPERATIONS.values()
        if row.gives == "r" and row.derivative is None and row.chooses is None and row.name not in STRUCTURE
    }
    assert missing == AFTER_LOWERING
    tested = {*SMOOTH, *OF_TWO, *FLAT, "select"}
    assert {row.name for row in OPERATIONS.values() if row.derivative or row.chooses} == tested


@pytest.mark.parametrize("name", SMOOTH)
def test_a_function_of_one_number(name):
    program = program_of(lambda x: [function_of(name)(x[0])], 1)
    for x in np.random.default_rng(0).uniform(*SMOOTH[name], 5):
        for found in jacobians(program, [x]):
            assert same(found, differences(program, [x]), 1e-14)


@pytest.mark.parametrize("name", OF_TWO)
def test_a_function_of_two_numbers(name):
    program = program_of(lambda x: [function_of(name)(x[0], x[1])], 2)
    for x in np.random.default_rng(1).uniform(0.2, 2.0, (5, 2)):
        for found in jacobians(program, x):
            assert same(found, differences(program, x), 1e-14)


@pytest.mark.parametrize("name", ["mul", "div", "atan2", "min", "max", "add", "sub"])
def test_an_argument_that_is_given_twice(name):
    program = program_of(lambda x: [function_of(name)(x[0], x[0]) * x[0]], 1)
    for found in jacobians(program, [0.7]):
        assert same(found, differences(program, [0.7]), 1e-14)


def test_steps_have_no_slope():
    table = np.array([1.0, 4.0, 9.0])
    program = program_of(
        lambda x: [scalar.lookup(table, x[0]) * x[1], scalar.random(1, x[0]) * x[1], scalar.floor(x[0]) * x[1]], 2
    )
    for found in jacobians(program, [1.5, 2.0]):
        assert found[:, 0].tolist() == [0.0, 0.0, 0.0]
        assert found[0, 1] == 4.0


def test_conventions_at_kinks():
    """|x| as from above; of two that are equal the second one's."""
    program = program_of(
        lambda x: [abs(x[0]), scalar.minimum(x[0], x[1]), scalar.maximum(x[0], x[1]), where(x[0] < x[1], x[0], x[1])], 2
    )
    for found in jacobians(program, [0.0, 0.0]):
        assert found.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "singular",
    [
        lambda x, y: scalar.sqrt(x) * y,
        lambda x, y: y / x,
        lambda x, y: scalar.log(x) * y,
        lambda x, y: scalar.atan2(x, x) * y,
        lambda x, y: scalar.sin(1 / x) / x * y * y,
        lambda x, y: where(x < 1, scalar.sqrt(x) / x, x) * y,
    ],
)
def test_the_side_that_is_not_taken_is_never_looked_at(singular):
    """There are divisions by zero on it: 0 · ∞ must not come back."""
    program = program_of(lambda x: [where(x[0] > 0, singular(x[0], x[1]), x[0] * 3.0 + x[1]) * x[1]], 2)
    for found in jacobians(program, [0.0, 2.0]):
        assert found.tolist() == [[6.0, 4.0]]
    for found in jacobians(program, [0.3, 2.0]):
        assert same(found, differences(program, [0.3, 2.0]))


def test_operations_of_others_say_that_they_have_none():
    from featherweight.compiler.trace.operations import Operation, add

    add(Operation("no_slope", value=lambda x: x, array=lambda x: x, llvm="{out} = fadd {T} {0}, {0}"))
    program = program_of(lambda x: [apply("no_slope", x[0])], 1)
    for mode in range(2):
        with pytest.raises(TypeError, match=r"operation 'no_slope' has no derivative: give its row one"):
            jacobians(program, [1.0])[mode]


# ---- random expressions

UNARY = ("sin", "cos", "tanh", "atan", "abs")
BINARY = ("add", "sub", "mul", "min", "max", "atan2")


@st.composite
def expressions(draw):
    """A program of up to 25 operations on three numbers, some of whose results are read several times."""
    steps = draw(
        st.lists(
            st.tuples(st.sampled_from((*UNARY, *BINARY, "div", "sqrt", "select")), *[st.integers(0, 10**6)] * 4),
            min_size=3,
            max_size=25,
        )
    )

    def function(x):
        values = list(x)
        for name, *places in steps:
            a, b, c, d = (values[p % len(values)] for p in places)
            if name == "select":
                y = where(a < b, c, d)
            elif name == "div":
                y = a / (b * b + 0.5)
            elif name == "sqrt":
                y = scalar.sqrt(a * a + b * b + 0.1)
            else:
                y = function_of(name)(*((a, b) if name in BINARY else (a,)))
            values.append(scalar.tanh(y) if len(values) % 6 == 0 else y)
        return [values[-1], values[-2] * values[len(values) // 2]]

    return function


@settings(max_examples=40, deadline=None)
@given(expressions(), st.integers(0, 10**6))
def test_random_expressions(function, seed):
    program = program_of(function, 3)
    x = np.random.default_rng(seed).normal(size=3)
    expected = differences(program, x)
    if np.abs(expected).max() < 1e6:  # beyond, rounding of values counts
        for found in jacobians(program, x):
            assert same(found, expected, 1e-9)
