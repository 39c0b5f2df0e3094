"""Shapes that touch: contact points of two bodies, or of a body and the ground, and the pairs that may have some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from featherweight.collision import FAR, Placed, Touch, ground_touch_count, ground_touches, touch_count, touches
from featherweight.contact.candidates import Ground
from featherweight.contact.coefficients import friction_of_pair, restitution_of_pair
from featherweight.contact.pair import Pairs
from featherweight.contact.surfaces import frame
from featherweight.forces import Kinematics, Push
from featherweight.model import Model
from featherweight.model.collision_pairs import used_pairs
from featherweight.model.collision_shapes import CollisionShape
from featherweight.scalar import maximum, sqrt, when
from featherweight.spatial import Force, Matrix, Vector

SLACK = 1.2  # times the radii of two bounding balls: nearer than this, shapes are looked at


@dataclass(frozen=True)
class TouchingPair:
    """Two shapes of a model by their numbers in `model.shapes`, or a shape and a surface of the ground by its number;
    coefficients of this pair if it has its own."""

    a: CollisionShape
    b: CollisionShape | int
    friction: float | None = None
    restitution: float | None = None

    @property
    def count(self) -> int:
        """How many contact points there may be."""
        shape, other = self.a.shape, self.b
        return ground_touch_count(shape) if isinstance(other, int) else touch_count(shape, other.shape)

    @property
    def bodies(self) -> tuple[int, int]:
        """Those that touch; the world is 0."""
        return self.a.body, 0 if isinstance(self.b, int) else self.b.body


def touching_pairs(model: Model, pairs: Pairs, surfaces: int) -> list[TouchingPair]:
    """What may touch what: shapes and surfaces of the ground, then shapes and shapes.

    Two shapes are one pair however often they are named; of their coefficients those that were given last count.
    """
    if pairs == "none":
        return []
    found = [TouchingPair(shape, k) for shape in model.ground_shapes if shape.body for k in range(surfaces)]
    if not isinstance(pairs, tuple):
        word = pairs or ("auto" if model.added else "ground")
        return found + [TouchingPair(model.shapes[a], model.shapes[b]) for a, b in used_pairs(model, word)]
    named: dict[tuple[int, int], TouchingPair] = {}
    for pair in pairs:
        for a, b in used_pairs(model, [(pair.a, pair.b)]):
            key = min(a, b), max(a, b)
            before = named.get(key, TouchingPair(model.shapes[a], model.shapes[b]))
            own = {name: getattr(pair, name) for name in ("friction", "restitution") if getattr(pair, name) is not None}
            named[key] = replace(before, **own)
    return [*found, *named.values()]


@dataclass(frozen=True)
class Touching:
    """A contact point of two bodies in a state.

    The gap between them [m], negative inside; the place where they touch and rows of axes there, the first from `other`
    to `body`, all in the world; and the speed at which the two approach each other there, or at another of their
    contact points [m/s].
    """

    body: int
    other: int
    friction: Any
    restitution: Any
    gap: Any
    axes: Matrix
    point: Vector
    closing: Any

    @property
    def bodies(self) -> tuple[int, ...]:
        """Those that move."""
        return tuple(i for i in (self.body, self.other) if i)

    def velocity(self, at: Kinematics) -> Vector:
        """Of the body relative to the other one, where they touch, in the world's axes [m/s]."""
        total = Vector.zero()
        for number, sign in ((self.body, 1.0), (self.other, -1.0)):
            if number > 0:
                X = at.pose[number]
                total = total + at.point_velocity(number, X.E @ (self.point - X.r)) * sign
        return total

    def pushes(self, at: Kinematics, force: Vector) -> dict[int, Force]:
        """A force in the world's axes on the body, and its reaction on the other one."""
        return both_ways(at, self.body, self.other, self.point, force)

    def push(self, at: Kinematics, force: Vector) -> Push:
        """The same as a push."""
        return Push(self.pushes(at, force))


def both_ways(at: Kinematics, body: int, other: int, point: Vector, direction: Vector) -> dict[int, Force]:
    """A force at a place, both in the world's axes, on one body, and its reaction on another; none on the world."""
    pushes = {}
    for number, f in ((body, direction), (other, -direction)):
        if number > 0:
            X = at.pose[number]
            pushes[number] = at.force_at(number, X.E @ (point - X.r), f)
    return pushes


@dataclass(frozen=True)
class _Found:
    """A contact point, and the speed at which the two shapes approach each other [m/s]."""

    touch: Touch
    closing: Any


def touching(pairs: Sequence[TouchingPair], ground: Ground, at: Kinematics, margin: Any) -> list[Touching]:
    """The contact points of all pairs, as many of each as its count: those that are not there are far apart.

    Of shapes, those with a gap of no more than the margin [m]: others may be missing.
    """
    result = []
    tree = at.tree
    own = ground.friction if tree.ground_friction is None else tree.ground_friction
    for pair in pairs:
        tree.mark()
        friction = friction_of_pair(pair, ground.surfaces, own, tree.lift)
        restitution = restitution_of_pair(pair, ground.surfaces, ground.restitution, tree.lift)
        body, other = pair.bodies
        for found in _look(pair, ground, at, margin):
            touch = found.touch
            axes = frame(touch.normal)
            result.append(Touching(body, other, friction, restitution, touch.gap, axes, touch.point, found.closing))
    return result


def pair_records(forces: Sequence[Vector]) -> dict[str, list[Any]]:
    """What is recorded of contact points of pairs: the force of each on the first of its bodies [N], world axes."""
    return {"pair_force": [x for force in forces for x in force]} if forces else {}


def placed(shape: CollisionShape, at: Kinematics) -> Placed:
    """A shape where its body has it."""
    lift = at.tree.lift
    return Placed(shape.shape.lifted(lift), shape.X.lift(lift) @ at.pose[shape.body])


def _look(pair: TouchingPair, ground: Ground, at: Kinematics, margin: Any) -> list[_Found]:
    """Contact points of a pair, found where its bounding balls are near each other."""
    a = placed(pair.a, at)
    if isinstance(pair.b, int):
        return _detected(pair, at, partial(ground_touches, a, ground.surfaces[pair.b].height))
    b = placed(pair.b, at)
    apart = a.X.r - b.X.r
    most = at.tree.lift(SLACK * (pair.a.shape.reach + pair.b.shape.reach)) + margin
    far = _Found(Touch(FAR, Vector(0.0, 0.0, 1.0), Vector(0.0, 0.0, 0.0)), 0.0)
    look = partial(_detected, pair, at, partial(touches, a, b, margin))
    return when(apart.dot(apart) <= most * most, look, [far] * pair.count)


def fastest(pairs: Sequence[TouchingPair], at: Kinematics) -> Any:
    """No point of two shapes of any pair approaches another faster [m/s]: |v| of their centres, and |ω| times what they
    reach around them."""
    most: Any = 0.0
    for pair in pairs:
        at.tree.mark()
        velocity, around = Vector.zero(), 0.0
        for shape, sign in ((pair.a, 1.0), (pair.b, -1.0)):
            if isinstance(shape, CollisionShape) and shape.body:
                velocity = velocity + at.point_velocity(shape.body, shape.X.r.lift(at.tree.lift)) * sign
                w = at.velocity[shape.body].angular
                around = around + sqrt(w.dot(w)) * at.tree.lift(shape.shape.reach)
        most = maximum(most, sqrt(velocity.dot(velocity)) + around)
    return most


def _detected(pair: TouchingPair, at: Kinematics, detect: Callable[[], list[Touch]]) -> list[_Found]:
    """Contact points, each with the speed at which the fastest of them closes: what stops one may turn the others."""
    found, fastest = detect(), 0.0
    for touch in found:
        rate: Any = 0.0
        for body, force in both_ways(at, *pair.bodies, touch.point, touch.normal).items():
            rate = rate + at.velocity[body].dot(force)
        fastest = maximum(-rate, fastest)
    return [_Found(touch, fastest) for touch in found]
