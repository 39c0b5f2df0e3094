"""The nearest point of a tetrahedron, by trying all corners, edges and triangles of it in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from featherweight.collision.simplex import nearest
from featherweight.spatial import Vector


def dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def foot(corners: list[list[Fraction]]) -> list[Fraction] | None:
    """Weights, all of them positive, of the point of a corner, edge or triangle at which the origin's perpendicular
    meets it; None if it does not."""
    first, *others = corners
    sides = [[x - y for x, y in zip(other, first, strict=True)] for other in others]
    if len(sides) == 1:
        square = dot(sides[0], sides[0])
        found = [-dot(first, sides[0]) / square] if square else None
    elif len(sides) == 2:
        a, b, c = (dot(sides[i], sides[j]) for i, j in ((0, 0), (0, 1), (1, 1)))
        right = [-dot(first, side) for side in sides]
        determinant = a * c - b * b
        solved = [c * right[0] - b * right[1], a * right[1] - b * right[0]]
        found = [x / determinant for x in solved] if determinant else None
    else:
        found = []
    if found is None:
        return None
    weights = [1 - sum(found, Fraction(0)), *found]
    return weights if all(weight > 0 for weight in weights) else None


def by_trying(points: np.ndarray) -> tuple[float, bool]:
    """The squared distance of four points' hull from the origin outside of it, and whether the first point counts."""
    exact = [[Fraction(float(x)) for x in point] for point in points]
    best: tuple[Any, bool] | None = None
    for size in (1, 2, 3):
        for corners in combinations(range(4), size):
            weights = foot([exact[k] for k in corners])
            if weights is not None:
                at = [dot(weights, [exact[k][j] for k in corners]) for j in range(3)]
                square = dot(at, at)
                if best is None or square < best[0]:
                    best = square, 0 in corners
    assert best is not None
    return float(best[0]), best[1]


def tetrahedra(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Four points, all on one side of the origin."""
    points = rng.normal(size=(4, 3))
    if kind == "slender":
        points[:, ::2] *= 10.0 ** rng.uniform(-5, 0)
    if kind == "small":
        points *= 1e-4
    points[:, 2] += 2.5
    if kind == "coincident":
        points[rng.integers(1, 4)] = points[rng.integers(0, 4)]
    if kind == "one point":
        points[1:] = points[rng.integers(0, 4)]
    if kind == "in a line":
        points[2] = 0.5 * (points[0] + points[1])
    return points[:, rng.permutation(3)]


@pytest.mark.parametrize("kind", ["any", "slender", "small", "coincident", "one point", "in a line"])
def test_weights_are_those_of_the_nearest_point(kind: str) -> None:
    """Where the first point counts, as the new one does in GJK."""
    rng, counted = np.random.default_rng(0), 0
    for _ in range(300):
        points = tetrahedra(kind, rng)
        if not (points > 0).all(axis=0).any():
            continue  # the origin may be inside
        expected, counts = by_trying(points)
        weights = np.array([float(w) for w in nearest([Vector(*map(float, p)) for p in points])])
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert weights.min() >= -1e-12
        if counts:
            counted += 1
            at = weights @ points
            assert at @ at == pytest.approx(expected, rel=1e-12)
    assert counted > 60
