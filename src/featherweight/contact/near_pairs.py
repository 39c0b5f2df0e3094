"""The nearest contact points of many pairs of shapes: a loop over tables, with code for one pair of each two kinds.

Most pairs are far apart, and cost a comparison of bounding balls. Those are taken in bunches, so that a bunch in which
none is near costs one branch. The shapes of what is left are looked at, and contact points within their margin are
kept: first those with the smallest gap at the end of the step, gap - h u where they approach each other at u. What is
fast may pass through while what is nearer stays.

A contact acts across a gap up to h (REACH + h g + LOOK_AHEAD u), u the speed at which the two approach each other there
(`shapes_touch`). A shape whose centre moves at v and which turns at ω has no point faster than
|v| + |ω| reach ≤ √(2 v² + 2 ω² reach²), so that u is at most the sum of these speeds of the two: what is beyond cannot
act of its own. (Where something faster makes all contacts of an island reach as far, a pair beyond this waits for the
next step.) Speeds are relative to the base of a robot, whose motion brings none of its shapes nearer to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from featherweight.collision import FAR, Placed, may_be_within, touches
from featherweight.contact.signorini import LOOK_AHEAD, reach_from_rest
from featherweight.contact.touching import TouchingPair, placed
from featherweight.forces import Kinematics
from featherweight.model import Tree
from featherweight.model.collision_shapes import CollisionShape
from featherweight.scalar import array, count, lookup, maximum, minimum, sqrt, when, where
from featherweight.shapes import Shape
from featherweight.spatial import Matrix, Motion, Transform, Vector

BUNCH = 8  # pairs that one branch passes over
WIDER = 1.2  # times the reach: contact points are between two shapes, outside of both
STILL = 1e-12  # [(m/s)²], a speed that is none: roots have a slope there
POSE = 19  # numbers of a shape: its pose, its margin, its velocity
EACH = 9  # numbers of a contact point: gap after the step, gap, number, normal, place


@dataclass(frozen=True)
class ShapeBound:
    """A shape in the world, and how far [m] it may move towards another within what a step looks ahead; the velocity of
    its centre and its angular velocity, relative to the base, in its body's axes."""

    X: Transform
    margin: Any
    velocity: Motion

    @property
    def numbers(self) -> list[Any]:
        """All of it: rows of E, r, the margin, the velocity."""
        return [
            *self.X.E.x, *self.X.E.y, *self.X.E.z, *self.X.r, self.margin, *self.velocity.linear,
            *self.velocity.angular,
        ]  # fmt: skip


@dataclass(frozen=True)
class NearContact:
    """A contact point: its gap [m] at the end of the step, if it goes on as it is, and now; its number among all, -1 if
    there is none; normal and place."""

    ahead: Any
    gap: Any
    number: Any
    normal: Vector
    point: Vector


NONE = NearContact(FAR, FAR, -1.0, Vector(0.0, 0.0, 1.0), Vector(0.0, 0.0, 0.0))


class Nearest:
    """The nearest contact points so far, in memory, the nearest first; and how many touch, or will within the step."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._memory = array([*_flat(NONE) * slots, 0.0])

    @property
    def contacts(self) -> list[NearContact]:
        """One for each slot."""
        return [_contact([self._memory[float(EACH * k + j)] for j in range(EACH)]) for k in range(self._slots)]

    @property
    def touching(self) -> Any:
        """How many touch, or will within the step, with a slot or without."""
        return self._memory[float(EACH * self._slots)]

    def add(self, contact: NearContact) -> None:
        """One more: it takes the place of the first that is farther, which moves on."""
        self._memory[float(EACH * self._slots)] = self.touching + where(contact.ahead <= 0, 1.0, 0.0)

        def place(k: Any, new: list[Any]) -> list[Any]:
            own = [self._memory[k * float(EACH) + float(j)] for j in range(EACH)]
            nearer = new[0] < own[0]
            for j, (x, y) in enumerate(zip(new, own, strict=True)):
                self._memory[k * float(EACH) + float(j)] = where(nearer, x, y)
            return [where(nearer, y, x) for x, y in zip(new, own, strict=True)]

        count(self._slots, place, _flat(contact))


def _flat(contact: NearContact) -> list[Any]:
    return [contact.ahead, contact.gap, contact.number, *contact.normal, *contact.point]


def _contact(numbers: Sequence[Any]) -> NearContact:
    ahead, gap, number = numbers[:3]
    return NearContact(ahead, gap, number, Vector(*numbers[3:6]), Vector(*numbers[6:]))


def near_pairs(pairs: Sequence[TouchingPair], slots: int, at: Kinematics, h: Any) -> Nearest:
    """The nearest contact points of all pairs in this state, for a step of h."""
    shapes = list(dict.fromkeys(shape for pair in pairs for shape in both(pair)))
    bounds = _bounds(shapes, at, h)
    table = array([x for bound in bounds for x in bound.numbers])
    nearest, first, rest = Nearest(slots), 0, reach_from_rest(at.tree, h)
    for group in groups(pairs):
        own = _Group(group, shapes, table, nearest, first, rest, h)
        at.tree.mark()
        own.look(_apart(group, dict(zip(shapes, bounds, strict=True)), at.tree, rest))
        at.tree.mark()
        first += len(group) * group[0].count
    return nearest


def both(pair: TouchingPair) -> tuple[CollisionShape, CollisionShape]:
    """The two shapes of a pair."""
    if isinstance(pair.b, int):
        raise TypeError("slots: expected pairs of shapes, got a shape and the ground")
    return pair.a, pair.b


def groups(pairs: Sequence[TouchingPair]) -> list[list[TouchingPair]]:
    """Pairs of the same kinds together, the first shape's kind first."""
    found: dict[Any, list[TouchingPair]] = {}
    for pair in pairs:
        a, b = both(pair)
        numbers = [len(_numbers(shape.shape)) for shape in (a, b)]
        found.setdefault((a.shape.kind, b.shape.kind, *numbers), []).append(pair)
    return list(found.values())


def _numbers(shape: Shape) -> list[float]:
    """All numbers of a shape."""
    numbers: list[float] = []
    shape.lifted(lambda x: numbers.append(x) or x)  # type: ignore[func-returns-value]
    return numbers


def _bounds(shapes: Sequence[CollisionShape], at: Kinematics, h: Any) -> list[ShapeBound]:
    """Of each shape where it is, and how far it may come: h LOOK_AHEAD √(2 v² + 2 ω² reach²)."""
    tree = at.tree
    roots = {tree.path(shape.body)[-1] for shape in shapes if shape.body}
    base = roots.pop() if len(roots) == 1 else 0
    result = []
    for shape in shapes:
        X, V = placed(shape, at).X, _relative(shape.body, base, at)
        v = V.linear + V.angular.cross(shape.X.r.lift(tree.lift))
        w = V.angular * tree.lift(WIDER * shape.shape.reach)
        margin = (h * LOOK_AHEAD) * sqrt(2.0 * (v.dot(v) + w.dot(w)) + STILL)
        result.append(ShapeBound(X, margin, Motion(V.angular, v)))
    return result


def _relative(body: int, base: int, at: Kinematics) -> Motion:
    """The velocity of a body relative to the base, in the body's frame."""
    if body == base:
        return Motion.zero()
    own = at.velocity[body] if body else Motion.zero()
    if not base:
        return own
    return own - at.pose[body] @ (at.pose[base].inverse @ at.velocity[base])


def _apart(group: Sequence[TouchingPair], bounds: dict[CollisionShape, ShapeBound], tree: Tree, rest: Any) -> list[Any]:
    """Of each pair: not positive where the balls around two shapes, each with its margin, are near each other."""
    result = []
    for pair in group:
        a, b = both(pair)
        between = bounds[a].X.r - bounds[b].X.r
        reach = tree.lift(a.shape.reach + b.shape.reach) + rest
        most = reach + (bounds[a].margin + bounds[b].margin)
        result.append(between.dot(between) - most * most)
    return result


class _Moving(NamedTuple):
    """A shape that moves: where it is, its margin [m], and the velocity of its centre, in the world's axes."""

    at: Placed[Shape]
    margin: Any
    linear: Vector
    angular: Vector

    def velocity(self, place: Vector) -> Vector:
        """Of it at a place in the world."""
        return self.linear + self.angular.cross(place - self.at.X.r)


class _Group:
    """Pairs of the same two kinds."""

    def __init__(
        self, group: Sequence[TouchingPair], shapes: Sequence[CollisionShape], poses: Any, nearest: Nearest, first: int,
        rest: Any, h: Any,
    ) -> None:  # fmt: skip
        self._poses, self._nearest, self._first, self._reach, self._h = poses, nearest, first, rest, h
        self._points, ends = group[0].count, [both(pair) for pair in group]
        self._kinds = [shape.shape for shape in ends[0]]
        self._indices = [np.array([float(shapes.index(pair[side])) for pair in ends]) for side in (0, 1)]
        self._sizes = [np.array([_numbers(pair[side].shape) for pair in ends]) for side in (0, 1)]
        self._axes = [np.array([[*E.x, *E.y, *E.z] for E in (pair[side].X.E for pair in ends)]) for side in (0, 1)]

    def look(self, apart: Sequence[Any]) -> None:
        """Look at all pairs whose balls are not apart."""
        bunches = [apart[k : k + BUNCH] for k in range(0, len(apart), BUNCH)]
        least = array([_least(bunch) for bunch in bunches])
        each = array([*apart, *[1.0] * (BUNCH * len(bunches) - len(apart))])

        def pair(k: Any) -> None:
            _only(each[k] <= 0, lambda: self._look(k))

        def bunch(k: Any) -> None:
            _only(least[k] <= 0, lambda: _for(BUNCH, lambda j: pair(k * float(BUNCH) + j)))

        _for(len(bunches), bunch)

    def _look(self, k: Any) -> None:
        """Contact points of a pair whose balls are near each other, if the shapes are."""
        a, b = (self._shape(k, side) for side in (0, 1))
        most = self._reach + (a.margin + b.margin)
        _only(may_be_within(a.at, b.at, most), lambda: self._keep(k, a, b, most))

    def _keep(self, k: Any, a: _Moving, b: _Moving, most: Any) -> None:
        """Those of its contact points that are no farther than `most` [m]."""
        for j, touch in enumerate(touches(a.at, b.at, most)):
            number = k * float(self._points) + float(self._first + j)
            closing = -touch.normal.dot(a.velocity(touch.point) - b.velocity(touch.point))
            ahead = touch.gap - self._h * maximum(closing, 0.0)
            contact = NearContact(ahead, touch.gap, number, touch.normal, touch.point)
            _only(touch.gap <= most, partial(self._nearest.add, contact))

    def _shape(self, k: Any, side: int) -> _Moving:
        """A shape of pair k."""
        begin = lookup(self._indices[side], k) * float(POSE)
        x = [self._poses[begin + float(j)] for j in range(POSE)]
        X = Transform(_matrix(x[:9]), Vector(*x[9:12]))
        columns = iter(_row(self._sizes[side], k))
        shape = Placed(self._kinds[side].lifted(lambda _: next(columns)), X)
        axes = _matrix(_row(self._axes[side], k))  # of the body -> of the shape
        linear, angular = (X.E.transposed_times(axes @ Vector(*part)) for part in (x[13:16], x[16:19]))
        return _Moving(shape, x[12], linear, angular)


def _row(table: np.ndarray, k: Any) -> list[Any]:
    """Row k of a table."""
    return [lookup(table[:, j], k) for j in range(table.shape[1])]


def _matrix(x: Sequence[Any]) -> Matrix:
    return Matrix(Vector(*x[:3]), Vector(*x[3:6]), Vector(*x[6:9]))


def _least(values: Sequence[Any]) -> Any:
    least = values[0]
    for x in values[1:]:
        least = minimum(least, x)
    return least


def _for(n: int, body: Callable[[Any], None]) -> None:
    """Turns that change nothing but arrays."""

    def turn(k: Any, now: list[Any]) -> list[Any]:
        body(k)
        return now

    count(n, turn, [])


def _only(condition: Any, body: Callable[[], None]) -> None:
    """What is done to arrays where the condition holds."""

    def taken() -> list[Any]:
        body()
        return []

    _ = taken() if condition is True else when(condition, taken, [])
