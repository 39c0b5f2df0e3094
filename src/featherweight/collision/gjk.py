"""The direction in which two convex shapes are farthest apart, or overlap least, by support functions alone.

The gap along a unit vector n is g(n) = min n·(x_a - x_b). Its largest value is the distance of shapes that are apart;
of shapes that overlap, the largest value near n is their depth. Each turn moves a along n until the shapes are apart by
a clearance c, and finds the nearest points there (GJK; Gilbert, Johnson, Keerthi 1988): their direction n' has
g(n') ≥ g(n), and n' = n only where the nearest points are along n. So GJK never sees shapes that touch, where it is
inaccurate. For shapes that are apart by more than c, the first turn is the distance itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from featherweight.collision.geometry import chosen, direction
from featherweight.collision.simplex import nearest
from featherweight.scalar import absolute, array, count, maximum, minimum, repeat, sqrt, where
from featherweight.spatial import Matrix, Vector

Support = Callable[[Vector], Vector]
CLEARANCE = 5e-4  # of the width of both shapes along n
TURNS, STEPS = 8, 32  # of moving a, and of GJK in each
TOLERANCE = 1e-10  # of the squared distance


class Nearest(NamedTuple):
    """Nearest points x_a, x_b of two shapes, the unit vector n from b to a, and the gap along n."""

    n: Vector
    gap: Any
    a: Vector
    b: Vector
    bound: Any  # g(n): not more than the distance


@dataclass(frozen=True)
class Search:
    """GJK so far: four points of each shape and their weights; the nearest points found, and their difference y."""

    a: list[Vector]
    b: list[Vector]
    weights: list[Any]
    at_a: Vector
    at_b: Vector
    y: Vector
    done: Any


def separation(a: Support, b: Support, R: Matrix, t: Vector) -> Nearest:
    """How two shapes are apart, in the axes of a.

    Args:
        a, b: support functions, in the same axes.
        R: turns the axes of b into those of a: its columns are tried as directions.
        t: centre of b.
    """

    def difference(n: Vector) -> tuple[Vector, Vector]:
        return a(-n), b(n)

    n, gap, width = _best_axis(difference, R, t)
    clearance = CLEARANCE * width
    x, y = difference(n)
    start = Nearest(n, gap, x, y, gap)

    def turn(carry: tuple[Nearest, Any]) -> tuple[Nearest, Any]:
        old, _ = carry
        push = maximum(clearance - old.bound, 0.0)
        new = _apart(difference, old, push)
        # where they agree, the distance of the nearest points has twice the digits of the gap along their direction
        between = new.n.dot(new.a - new.b)
        gap = where(absolute(between - new.bound) < 1e-4 * width, between, new.bound)
        is_better = new.bound > old.bound + 1e-10 * width
        n, gap = chosen(is_better, new.n, old.n), where(is_better, gap, old.gap)
        # an axis may beat what GJK finds to its digits, but its own support points are anywhere across it
        is_nearer = _slip(new, n * gap) < _slip(old, n * gap)
        kept = Nearest(
            n,
            gap,
            chosen(is_nearer, new.a, old.a),
            chosen(is_nearer, new.b, old.b),
            where(is_better, new.bound, old.bound),
        )
        return kept, where((push > 0) & is_better, 0.0, 1.0)

    return repeat(turn, (start, 0.0), until=lambda carry: carry[1] > 0, at_most=TURNS)[0]


def _slip(found: Nearest, gap: Vector) -> Any:
    """How far two points are from being `gap` apart, squared."""
    off = found.a - found.b - gap
    return off.dot(off)


def _best_axis(difference: Callable[[Vector], tuple[Vector, Vector]], R: Matrix, t: Vector) -> tuple[Vector, Any, Any]:
    """Of the axes of both shapes and the line of their centres, the one with the largest gap; that gap, and the width
    of both shapes along it."""
    axes = [Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0), *R.T, direction(-t)[1]]
    memory = array([x for axis in axes for x in axis])

    def turn(k: Any, carry: tuple[Vector, Any, Any]) -> tuple[Vector, Any, Any]:
        best, most, width = carry
        n = Vector(*(memory[3 * k + j] for j in range(3)))
        ahead, behind = (m.dot(x - y) for m in (n, -n) for x, y in (difference(m),))
        gap = maximum(ahead, behind)
        is_best = gap > most
        own = chosen(ahead >= behind, n, -n)
        return chosen(is_best, own, best), where(is_best, gap, most), where(is_best, -(ahead + behind), width)

    n, gap, width = count(len(axes), turn, (axes[0], -1e30, 1.0))
    return Vector(*n), gap, width


def _apart(difference: Callable[[Vector], tuple[Vector, Vector]], old: Nearest, push: Any) -> Nearest:
    """GJK with a moved by `push` along the old normal."""
    shift = old.n * push

    def turn(s: Search) -> Search:
        x, y = difference(s.y)
        square = s.y.dot(s.y)
        done = square - s.y.dot(x - y + shift) <= TOLERANCE * square
        # the new point is the first; the old first one replaces the one with the least weight
        least = minimum(minimum(s.weights[0], s.weights[1]), minimum(s.weights[2], s.weights[3]))
        free, a, b = s.weights[0] > least, [x], [y]
        for k in (1, 2, 3):
            here = (s.weights[k] <= least) & free
            free = free & (s.weights[k] > least)
            a.append(chosen(here, s.a[0], s.a[k]))
            b.append(chosen(here, s.b[0], s.b[k]))
        weights = nearest([p - q + shift for p, q in zip(a, b, strict=True)])
        at_a, at_b = _sum(a, weights), _sum(b, weights)
        new = at_a - at_b + shift
        stay = done | (new.dot(new) >= square)
        at_a, at_b, new = chosen(stay, s.at_a, at_a), chosen(stay, s.at_b, at_b), chosen(stay, s.y, new)
        return Search(a, b, weights, at_a, at_b, new, where(stay, 1.0, 0.0))

    y = old.a - old.b + shift
    first = Search([old.a] * 4, [old.b] * 4, [1.0, 0.0, 0.0, 0.0], old.a, old.b, y, 0.0)
    s = repeat(turn, first, until=lambda s: s.done > 0, at_most=STEPS)
    n = s.y * (1.0 / sqrt(s.y.dot(s.y)))
    x, y = difference(n)
    bound = n.dot(x - y)
    return Nearest(n, bound, s.at_a, s.at_b, bound)


def _sum(points: list[Vector], weights: list[Any]) -> Vector:
    first, *others = (p * w for p, w in zip(points, weights, strict=True))
    for p in others:
        first = first + p
    return first
