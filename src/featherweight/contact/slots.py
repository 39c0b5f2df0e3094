"""Slots: many pairs of shapes that may touch, few contacts. The nearest ones become rows of the solver.

A loop over tables looks at all pairs: code for one pair of each combination of kinds, however many there are. It keeps
the nearest contact points. Which ones these are may differ from state to state, so the rows of a slot push joints, not
bodies: τ = Jᵀ f, with the axes of all joints that move one body of some pair, times 1, -1 or 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.collision import FAR, Placed, touches
from featherweight.contact.candidates import Ground
from featherweight.contact.coefficients import pair_table
from featherweight.contact.pair import Pairs
from featherweight.contact.surfaces import frame
from featherweight.contact.touching import SLACK, TouchingPair, placed, touching_pairs
from featherweight.forces import Kinematics, Push
from featherweight.model import Model, Tree
from featherweight.model.collision_shapes import CollisionShape
from featherweight.scalar import array, count, lookup, maximum, when, where
from featherweight.shapes import Shape
from featherweight.spatial import Matrix, Motion, Transform, Vector

FASTEST = 20.0  # [m/s]: faster than this shapes of slots do not approach each other unseen
LEAST, PER_ROOT = 8, 4  # slots in all, and for each body that moves in the world


def slots_for(tree: Tree, pairs: Sequence[TouchingPair], given: int | None) -> int:
    """How many slots pairs get; 0: each contact point has rows of its own, which is less code."""
    points = sum(pair.count for pair in pairs)
    if given is not None:
        return min(given, points) if given else 0
    bodies = {body for pair in pairs for body in pair.bodies if body}
    roots = {tree.path(body)[-1] for body in bodies}
    slots = max(LEAST, PER_ROOT * len(roots))
    direct = sum(pair.count * sum(len(tree.path(body)) for body in pair.bodies) for pair in pairs)
    together = len({i for body in bodies for i in tree.path(body)})
    return slots if 2 * slots * together < direct else 0


@dataclass(frozen=True)
class Arrangement:
    """Pairs whose contact points have rows of their own; pairs that share slots, and how many slots there are."""

    direct: list[TouchingPair]
    shared: list[TouchingPair]
    slots: int


def arranged(model: Model, pairs: Pairs, surfaces: int, slots: int | None) -> Arrangement:
    """Which pairs of a model share slots: all pairs of shapes, or none."""
    key = ("arranged", pairs, surfaces, slots)
    if key not in model.cache.facts:
        every = touching_pairs(model, pairs, surfaces)
        shared = [pair for pair in every if not isinstance(pair.b, int)]
        number = slots_for(model.over_floats, shared, slots) if shared else 0
        direct = [pair for pair in every if isinstance(pair.b, int)] if number else every
        model.cache.facts[key] = Arrangement(direct, shared if number else [], number)
    return model.cache.facts[key]


@dataclass(frozen=True)
class Slot:
    """A contact point of any of the pairs, as `Touching` is one of a certain pair. `signs`: by body, 1 if it is the
    first of the two, -1 if the second, 0 if none; `number` that of the contact point, -1 if there is none."""

    signs: dict[int, Any]
    friction: Any
    restitution: Any
    gap: Any
    axes: Matrix
    point: Vector
    closing: Any
    number: Any

    @property
    def bodies(self) -> tuple[int, ...]:
        """All that may be pushed."""
        return tuple(self.signs)

    def push(self, at: Kinematics, force: Vector) -> Push:
        """A force in the world's axes on the first body, and its reaction on the second, as forces at joints."""
        return Push(joints=_at_joints(at, self.signs, self.point, force))


@dataclass(frozen=True)
class Slots:
    """The nearest contact points, and how many of those that touch found no slot."""

    slots: list[Slot]
    missed: Any


def nearest(pairs: Sequence[TouchingPair], slots: int, ground: Ground, at: Kinematics, h: Any) -> Slots:
    """The nearest contact points of all pairs in this state."""
    shapes = list(dict.fromkeys(shape for pair in pairs for shape in _both(pair)))
    poses = [placed(shape, at).X for shape in shapes]
    table = array([x for X in poses for x in (*X.E.x, *X.E.y, *X.E.z, *X.r)])
    found = _Found([FAR] * slots, [-1.0] * slots, 0.0)
    places: list[Any] = []
    first = 0
    for group in _groups(pairs):
        at.tree.mark()
        apart = array([_apart(pair, dict(zip(shapes, poses, strict=True)), at.tree, h) for pair in group])
        at.tree.mark()
        found, own = _look(group, shapes, table, apart, found, first)
        places.append((first, own))
        first += len(group) * group[0].count
    ordered = [pair for group in _groups(pairs) for pair in group]
    at.tree.mark()
    return Slots(
        [
            _slot(gap, number, ordered, places, ground, at)
            for gap, number in zip(found.gaps, found.numbers, strict=True)
        ],
        maximum(found.touching - float(slots), 0.0),
    )


def numbered(pairs: Sequence[TouchingPair]) -> list[tuple[TouchingPair, int]]:
    """The pair of each contact point, and its number among those of the pair, in the order of their numbers."""
    return [(pair, k) for group in _groups(pairs) for pair in group for k in range(pair.count)]


@dataclass(frozen=True)
class _Found:
    """Gaps of the nearest contact points, in order, their numbers, and how many touch."""

    gaps: list[Any]
    numbers: list[Any]
    touching: Any

    def with_one(self, gap: Any, number: Any) -> _Found:
        """With one more: it takes the place of the first that is farther, which moves on."""
        gaps, numbers = [], []
        touches = where(gap <= 0, 1.0, 0.0)
        for own, name in zip(self.gaps, self.numbers, strict=True):
            nearer = gap < own
            gaps.append(where(nearer, gap, own))
            numbers.append(where(nearer, number, name))
            gap, number = where(nearer, own, gap), where(nearer, name, number)
        return _Found(gaps, numbers, self.touching + touches)


def _both(pair: TouchingPair) -> tuple[CollisionShape, CollisionShape]:
    if isinstance(pair.b, int):
        raise TypeError("slots: expected pairs of shapes, got a shape and the ground")
    return pair.a, pair.b


def _groups(pairs: Sequence[TouchingPair]) -> list[list[TouchingPair]]:
    """Pairs of the same kinds together, the first shape's kind first."""
    groups: dict[Any, list[TouchingPair]] = {}
    for pair in pairs:
        a, b = _both(pair)
        numbers = [len(_numbers(shape.shape)) for shape in (a, b)]
        groups.setdefault((a.shape.kind, b.shape.kind, *numbers), []).append(pair)
    return list(groups.values())


def _numbers(shape: Shape) -> list[float]:
    """All numbers of a shape."""
    numbers: list[float] = []
    shape.lifted(lambda x: numbers.append(x) or x)  # type: ignore[func-returns-value]
    return numbers


def _apart(pair: TouchingPair, poses: dict[CollisionShape, Transform], tree: Tree, h: Any) -> Any:
    """Not positive where the bounding balls of two shapes are near each other."""
    a, b = _both(pair)
    between = poses[a].r - poses[b].r
    most = tree.lift(SLACK * (a.shape.reach + b.shape.reach)) + h * FASTEST
    return between.dot(between) - most * most


def _look(
    group: Sequence[TouchingPair], shapes: Sequence[CollisionShape], poses: Any, apart: Any, found: _Found, first: int
) -> tuple[_Found, Any]:
    """All pairs of a group: the nearest contact points so far, and where gap, normal and place of each stand. `apart`
    tells of each pair whether its bounding balls are."""
    points, ends = group[0].count, [_both(pair) for pair in group]
    indices = [np.array([float(shapes.index(pair[side])) for pair in ends]) for side in (0, 1)]
    sizes = [np.array([_numbers(pair[side].shape) for pair in ends]) for side in (0, 1)]
    kept = array([0.0] * (7 * points * len(group)))

    def shape_at(k: Any, side: int) -> Placed[Shape]:
        begin = lookup(indices[side], k) * 12.0
        x = [poses[begin + float(j)] for j in range(12)]
        columns = iter([lookup(sizes[side][:, j], k) for j in range(sizes[side].shape[1])])
        shape = ends[0][side].shape.lifted(lambda _: next(columns))
        return Placed(shape, Transform(Matrix(Vector(*x[:3]), Vector(*x[3:6]), Vector(*x[6:9])), Vector(*x[9:])))

    def look(k: Any, now: _Found) -> _Found:
        for j, touch in enumerate(touches(shape_at(k, 0), shape_at(k, 1))):
            for n, x in enumerate((touch.gap, *touch.normal, *touch.point)):
                kept[k * float(7 * points) + float(7 * j + n)] = x
            now = now.with_one(touch.gap, k * float(points) + float(first + j))
        return now

    def turn(k: Any, now: _Found) -> _Found:
        return when(apart[k] <= 0, lambda: look(k, now), now)

    return count(len(group), turn, found), kept


def _slot(
    gap: Any, number: Any, pairs: Sequence[TouchingPair], places: Sequence[Any], ground: Ground, at: Kinematics
) -> Slot:
    """A contact point by its number, which may be another one in each state."""
    at.tree.mark()
    normal, point = _read(number, places)
    own = ground.friction if at.tree.ground_friction is None else at.tree.ground_friction
    bodies = [np.array([float(pair.bodies[side]) for pair in pairs for _ in range(pair.count)]) for side in (0, 1)]
    first, second = (lookup(table, maximum(number, 0.0)) for table in bodies)
    there = where(number >= 0, 1.0, 0.0)
    signs = {
        body: there * (where(first == float(body), 1.0, 0.0) - where(second == float(body), 1.0, 0.0))
        for body in sorted({int(x) for table in bodies for x in table} - {0})
    }
    rate: Any = 0.0
    for d, force in _at_joints(at, signs, point, normal).items():
        rate = rate + at.v[d] * force
    friction = pair_table(pairs, "friction", own, number)
    restitution = pair_table(pairs, "restitution", ground.restitution, number)
    return Slot(signs, friction, restitution, gap, frame(normal), point, maximum(-rate, 0.0), number)


def _read(number: Any, places: Sequence[tuple[int, Any]]) -> tuple[Vector, Vector]:
    """Normal and place of a contact point."""
    numbers: list[Any] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    for first, kept in places:
        begin = maximum(number - float(first), 0.0) * 7.0
        is_here = number >= float(first)
        numbers = [where(is_here, kept[begin + float(j + 1)], x) for j, x in enumerate(numbers)]
    return Vector(*numbers[:3]), Vector(*numbers[3:])


def _at_joints(at: Kinematics, signs: dict[int, Any], point: Vector, force: Vector) -> dict[int, Any]:
    """Jᵀ f by degree of freedom, of a force at a place in the world that acts on bodies with these signs."""
    moment, through = point.cross(force), dict(signs)
    for i in range(len(at.tree.parent) - 1, 0, -1):  # a joint moves all bodies beyond it
        parent = at.tree.parent[i]
        if i in through and parent > 0:
            through[parent] = through[parent] + through[i] if parent in through else through[i]
    pushes: dict[int, Any] = {}
    for i, d, axis in at.once("axes of joints in the world", lambda: _axes(at)):
        if i in through:
            own = through[i] * (axis.angular.dot(moment) + axis.linear.dot(force))
            pushes[d] = pushes[d] + own if d in pushes else own
    return pushes


def _axes(at: Kinematics) -> list[tuple[int, int, Motion]]:
    """Body, degree of freedom and axis of each joint, as a motion about the origin of the world, in its axes."""
    found = []
    for i, _, joint in at.tree.outward():
        X = at.pose[i]
        for d, axis in zip(joint.dofs, joint.subspace(at.q), strict=True):
            angular = X.E.transposed_times(axis.angular)
            found.append((i, d, Motion(angular, X.E.transposed_times(axis.linear) + X.r.cross(angular))))
    return found
