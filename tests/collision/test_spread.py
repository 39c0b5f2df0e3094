"""Four of many contact points, beside the documented choice written down for one state."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.collision import FAR
from featherweight.collision.spread import STEEP, Candidate, spread

APART = 1e-3


def chosen(points: np.ndarray, gaps: np.ndarray, there: np.ndarray) -> list[tuple[float, float, float]]:
    """The deepest; the farthest from it; the farthest to the left and to the right of the line between them: height
    above the deepest counts as so much less distance, five times over. Those nearer to it than `APART` are none."""
    if not there.any():
        return []
    index = np.flatnonzero(there)
    first = index[np.argmin(gaps[index])]
    way, rise = points - points[first], STEEP * (gaps - gaps[first])
    second = index[np.argmax((way**2).sum(axis=1)[index] - rise[index] ** 2)]
    found, line = [first], way[second]
    length = np.abs(line).sum()
    if length > APART:
        found.append(second)
    left = np.array([-line[1], line[0]])
    for side in (1.0, -1.0):
        third = index[np.argmax(side * (way @ left)[index] - length * rise[index])]
        if abs(way[third] @ left) > APART * length:
            found.append(third)
    return [(*points[k], gaps[k]) for k in found]


@pytest.mark.parametrize("size", [1.0, 1e-3])
@pytest.mark.parametrize("height", [0.0, 0.01, 0.3])
def test_the_four_points_are_the_documented_ones(size: float, height: float) -> None:
    rng, numbers = np.random.default_rng(0), set()
    for _ in range(400):
        n = rng.integers(1, 9)
        points, gaps = size * rng.normal(size=(n, 2)), size * height * rng.normal(size=n)
        there = rng.random(n) < 0.8
        candidates = [
            Candidate(float(u), float(v), float(gap), bool(here))
            for (u, v), gap, here in zip(points, gaps, there, strict=True)
        ]
        found = [tuple(map(float, x)) for x in spread(candidates, APART)]
        expected = chosen(points, gaps, there)
        assert [x for x in found if x[2] < FAR] == expected
        assert len(found) == 4
        numbers.add(len(expected))
    assert numbers >= {0, 1, 2, 3}
