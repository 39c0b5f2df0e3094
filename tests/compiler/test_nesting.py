"""Loops carry values with names: tuples, dictionaries and frozen dataclasses, nested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from featherweight import scalar
from featherweight.compiler import Argument, Kernel, interpret
from featherweight.spatial import Vector


@dataclass(frozen=True)
class Search:
    place: Vector
    error: Any
    turns: Any
    axis: int = scalar.structural(default=0)

    def __post_init__(self) -> None:
        if self.axis > 2:
            raise ValueError("axis")


def _halve(x: Any) -> list[Any]:
    """x halved until it is below 1, with how often; on a dataclass with a vector and a structural field."""
    found = scalar.repeat(
        lambda s: Search(s.place * 0.5, abs(s.place[s.axis] * 0.5), s.turns + 1.0, s.axis),
        Search(Vector(1.0, x, 2.0), abs(x), 0.0, 1),
        until=lambda s: s.error < 1.0,
        at_most=50,
    )
    assert found.axis == 1
    return [found.place.y, found.error, found.turns]


def _kernel(function: Any, outputs: int) -> Kernel:
    def traced(scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        return [function(scalars[0][0])], 0

    return Kernel("nested", [Argument("x", (), "")], [(outputs,)], traced, lambda _: "")


X = np.array([0.3, 5.0, -70.0, 1e6, 0.0, 2.0, 3.0, 4.0, 900.0])


def test_a_dataclass_is_carried_with_its_structure_alone_in_packs_and_on_numpy() -> None:
    kernel = _kernel(_halve, 3)
    compiled = kernel(X)[0]
    for x, row in zip(X, compiled, strict=True):
        turns = 0 if abs(x) < 1 else int(np.floor(np.log2(abs(x)))) + 1
        assert row.tolist() == [x / 2**turns, abs(x) / 2**turns, turns]
        assert np.array_equal(kernel(x)[0], row)
    with interpret():
        assert np.array_equal(kernel(X)[0], compiled)


def test_branches_return_what_has_names() -> None:
    def either(x: Any) -> list[Any]:
        found = scalar.when(x > 1, lambda: {"a": (x, [x * 2]), "b": x}, {"a": (0.0, [x]), "b": -1.0})
        maybe = scalar.when(x > -1e9, lambda: (Vector(x, 0, 7.0), x), None)
        assert maybe[0].y == 0  # known while tracing, and outside too
        return [found["a"][0], found["a"][1][0], found["b"], maybe[0].x]

    compiled = _kernel(either, 4)(X)[0]
    expected = [[x, 2 * x, x, x] if x > 1 else [0.0, x, -1.0, x] for x in X]
    assert compiled.tolist() == expected


def test_a_body_that_nests_otherwise_is_refused_by_what_it_returns() -> None:
    def other(x: Any) -> list[Any]:
        return [scalar.repeat(lambda c: (c[1], c[0]), (x, (x,)), until=lambda c: c[0] > 1, at_most=3)[0]]

    with pytest.raises(ValueError, match=r"values nested like \(\., \(\.\)\), as it was given, got \(\(\.\), \.\)"):
        _kernel(other, 1)(1.0)
    with pytest.raises(ValueError, match="expected the body to return 2 values, as it was given, got 1"):
        scalar.repeat(lambda c: [c[0]], [1.0, 2.0], until=lambda c: False, at_most=3)
