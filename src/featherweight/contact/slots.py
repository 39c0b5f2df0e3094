"""Slots: many pairs of shapes that may touch, few contacts. The nearest ones become rows of the solver.

A loop over tables looks at all pairs and keeps the nearest contact points (`near_pairs`). Which ones these are may
differ from state to state, so the rows of a slot push joints, not bodies: τ = Jᵀ f, with the axes of all joints that
move one body of some pair, times 1, -1 or 0. Where no contact point is near, none of this is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from featherweight.contact.candidates import Ground
from featherweight.contact.coefficients import pair_table
from featherweight.contact.near_pairs import NearContact, groups, near_pairs
from featherweight.contact.pair import Pairs
from featherweight.contact.surfaces import frame
from featherweight.contact.touching import TouchingPair, touching_pairs
from featherweight.forces import Kinematics, Push
from featherweight.model import Model, Tree
from featherweight.scalar import lookup, maximum, when, where
from featherweight.spatial import Matrix, Motion, Vector

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
class Ends:
    """The two bodies of each contact point by its number, and the axes of all joints in the world, which are known
    where some contact point is near."""

    bodies: list[np.ndarray]
    axes: list[Motion]

    @property
    def all(self) -> list[int]:
        """All that may be pushed."""
        return sorted({int(x) for table in self.bodies for x in table} - {0})

    def signs(self, number: Any) -> dict[int, Any]:
        """By body, 1 if it is the first of the two, -1 if the second, 0 if none."""
        first, second = (lookup(table, maximum(number, 0.0)) for table in self.bodies)
        return {
            body: where(first == float(body), 1.0, 0.0) - where(second == float(body), 1.0, 0.0) for body in self.all
        }


@dataclass(frozen=True)
class Slot:
    """A contact point of any of the pairs, as `Touching` is one of a certain pair; `number` is that of the contact
    point, -1 if there is none."""

    ends: Ends
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
        return tuple(self.ends.all)

    def push(self, at: Kinematics, force: Vector) -> Push:
        """A force in the world's axes on the first body, and its reaction on the second, as forces at joints; of a
        contact point that is there."""
        return Push(joints=_at_joints(at, self.ends, self.number, self.point, force))


@dataclass(frozen=True)
class Slots:
    """The nearest contact points, and how many of those that touch, or will within the step, found no slot."""

    slots: list[Slot]
    missed: Any


def nearest(pairs: Sequence[TouchingPair], slots: int, ground: Ground, at: Kinematics, h: Any) -> Slots:
    """The nearest contact points of all pairs in this state."""
    near = near_pairs(pairs, slots, at, h)
    contacts, touching = near.contacts, near.touching
    ordered = [pair for group in groups(pairs) for pair in group]
    at.tree.mark()
    axes = when(contacts[0].number >= 0, partial(_axes, at), None)
    ends = Ends(
        [np.array([float(pair.bodies[side]) for pair in ordered for _ in range(pair.count)]) for side in (0, 1)], axes
    )
    own = ground.friction if at.tree.ground_friction is None else at.tree.ground_friction
    found = []
    for m in contacts:
        at.tree.mark()
        closing = when(m.number >= 0, partial(_closing, m, ends, at), 0.0)
        friction = pair_table(ordered, "friction", own, m.number)
        restitution = pair_table(ordered, "restitution", ground.restitution, m.number)
        found.append(Slot(ends, friction, restitution, m.gap, frame(m.normal), m.point, closing, m.number))
    return Slots(found, maximum(touching - float(slots), 0.0))


def numbered(pairs: Sequence[TouchingPair]) -> list[tuple[TouchingPair, int]]:
    """The pair of each contact point, and its number among those of the pair, in the order of their numbers."""
    return [(pair, k) for group in groups(pairs) for pair in group for k in range(pair.count)]


def _closing(m: NearContact, ends: Ends, at: Kinematics) -> Any:
    """The speed at which two bodies approach each other at a contact point [m/s]."""
    rate: Any = 0.0
    for d, force in _at_joints(at, ends, m.number, m.point, m.normal).items():
        rate = rate + at.v[d] * force
    return maximum(-rate, 0.0)


def _at_joints(at: Kinematics, ends: Ends, number: Any, point: Vector, force: Vector) -> dict[int, Any]:
    """Jᵀ f by degree of freedom, of a force at a place in the world on the first body of a contact point, and its
    reaction on the second."""
    moment, through = point.cross(force), ends.signs(number)
    for i in range(len(at.tree.parent) - 1, 0, -1):  # a joint moves all bodies beyond it
        parent = at.tree.parent[i]
        if i in through and parent > 0:
            through[parent] = through[parent] + through[i] if parent in through else through[i]
    pushes: dict[int, Any] = {}
    for (i, d), axis in zip(_dofs(at.tree), ends.axes, strict=True):
        if i in through:
            own = through[i] * (axis.angular.dot(moment) + axis.linear.dot(force))
            pushes[d] = pushes[d] + own if d in pushes else own
    return pushes


def _dofs(tree: Tree) -> list[tuple[int, int]]:
    """Body and degree of freedom of each axis of each joint."""
    return [(i, d) for i, _, joint in tree.outward() for d in joint.dofs]


def _axes(at: Kinematics) -> list[Motion]:
    """The axis of each of them, as a motion about the origin of the world, in its axes."""
    found = []
    for i, _, joint in at.tree.outward():
        X = at.pose[i]
        for axis in joint.subspace(at.q):
            angular = X.E.transposed_times(axis.angular)
            found.append(Motion(angular, X.E.transposed_times(axis.linear) + X.r.cross(angular)))
    return found
