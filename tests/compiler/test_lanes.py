"""Lanes are arrays as scalars: the same numbers, and zeros that are known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from featherweight import scalar
from featherweight.compiler import Lanes, plain

X, Y = np.array([0.3, -1.2, 2.5]), np.array([1.5, -1.2, 0.7])
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le, operator.gt, operator.ge,
    operator.eq, operator.ne, scalar.minimum, scalar.maximum, scalar.atan2,
]  # fmt: skip
OTHERS = [Lanes(Y), Y, 2.0, 3, 1, 1.0, np.float64(0.7)]


@pytest.mark.parametrize("other", OTHERS, ids=repr)
@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
def test_an_operation_is_that_of_arrays(f: Callable[[Any, Any], Any], other: Any) -> None:
    """On either side, whatever the other one is."""
    for found, right in ((f(Lanes(X), other), f(X, plain(other))), (f(other, Lanes(X)), f(plain(other), X))):
        assert isinstance(found, Lanes if right.dtype == float else np.ndarray)
        assert np.array_equal(plain(found), right)


def test_functions_are_those_of_arrays() -> None:
    lanes, positive = Lanes(X), Lanes(Y * Y)
    for f in (operator.neg, operator.pos, abs, scalar.sin, scalar.cos, scalar.absolute, scalar.sign, lambda x: x**2):
        assert np.array_equal(plain(f(lanes)), f(X))
    assert np.array_equal(scalar.sqrt(positive).values, np.abs(Y))
    assert np.array_equal(scalar.reciprocal(lanes).values, 1 / X)
    assert np.array_equal(scalar.lookup([4.0, 5.0, 6.0], lanes).values, [4.0, 4.0, 6.0])
    assert np.array_equal(scalar.where(lanes > 0, positive, 7).values, [2.25, 7.0, 0.7 * 0.7])
    assert np.array_equal(scalar.where(lanes > 0, 7, positive).values, [7.0, 1.44, 7.0])
    halved = scalar.repeat(lambda x: [x[0] / 2], [positive], until=lambda x: x[0] < 1, at_most=9)
    assert np.array_equal(halved[0].values, [0.5625, 0.72, 0.7 * 0.7])


def test_zeros_and_ones_are_known() -> None:
    x = Lanes(X)
    for zero in (0, 0.0):
        assert type(zero * x) is type(x * zero) is type(zero / x) is int
        assert x + zero is zero + x is x - zero is x
        assert np.array_equal((zero - x).values, -X)
    for one in (1, 1.0):
        assert x * one is one * x is x


def test_lanes_are_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match="several states are neither true nor false"):
        bool(Lanes(X))
    assert repr(Lanes(X)) == "Lanes([ 0.3 -1.2  2.5])"
