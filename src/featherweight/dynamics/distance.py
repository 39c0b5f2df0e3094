"""The distance of two shapes of a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.collision import Placed, nearest_points
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, evaluate
from featherweight.dynamics.fast_path import fast_path
from featherweight.model import CollisionShape, Model, Tree
from featherweight.model.collision_shapes import unknown_shape
from featherweight.shapes import Shape


class Distance(NamedTuple):
    """How far two shapes are apart.

    Of cylinders and convex hulls with anything but spheres the points are on the shapes, across the normal, to about
    1e-5 m; of two faces of hulls that are nearly parallel, to 0.5 % of their size.

    Args:
        distance: (…) [m], negative where they overlap.
        point_a: (…, 3), the point of a that is nearest to b or deepest in it, in the world [m].
        point_b: (…, 3), that of b.
        normal: (…, 3), unit vector from a to b.
    """

    distance: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    normal: np.ndarray


def _placed(model: Model, tree: Tree, q: list[Any], name: str) -> Placed[Shape]:
    own = _named(model, name)
    X, solid = own.X.lift(tree.lift), own.shape.lifted(tree.lift)
    if own.body == 0:
        return Placed(solid, X)
    return Placed(solid, X @ algorithms.body_motion(tree, own.body, q, [0] * tree.nv, [0] * tree.nv)[0])


def _distance(model: Model, tree: Tree, x: Scalars, a: str, b: str) -> Results:
    found = nearest_points(*(_placed(model, tree, x["q"], name) for name in (a, b)))
    return [[found.distance], list(found.point_a), list(found.point_b), list(found.normal)], []


def _named(model: Model, name: Any) -> CollisionShape:
    found = next((shape for shape in model.shapes if shape.name == name), None)
    if found is None:
        raise unknown_shape("shape", model, name, [shape.name for shape in model.shapes])
    return found


def _names(model: Any, a: Any, b: Any) -> tuple[str, str]:
    for name in (a, b):
        _named(checked_model(model), name)
    if a == b:
        raise ValueError(f"a, b: expected two shapes, got {a!r} twice")
    return a, b


DISTANCE = Quantity("distance", ("q",), lambda model, a, b: [(), (3,), (3,), (3,)], _distance)


@fast_path(DISTANCE, returned=Distance._make)
def distance(model: Model, q: ArrayLike, a: str, b: str, *, parameters: Parameters = None) -> Distance:
    """How far two shapes are apart, and where they are nearest; how deep they are in each other, if they are.

    Of spheres, capsules and boxes in closed form, of others by their support functions, to about 1e-8 m. The depth of
    shapes that are not round is along the direction in which they overlap least nearby.

    Args:
        a: name of a shape, see `model.shapes`.
        b: name of another.

    Returns:
        `distance` (…) [m], negative inside, `point_a` and `point_b` (…, 3) on the shapes [m], and `normal` (…, 3) from
        a to b, in the world.

    >>> import featherweight as fw
    >>> world = fw.Builder("two")
    >>> for name in ("one", "other"):
    ...     _ = world.add_body(name, joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.sphere(1.0, 0.1))
    ...     _ = world.add_geometry(name, fw.shapes.Sphere(0.1))
    >>> float(fw.distance(world.build(), [0.0, 0.5], "one", "other").distance.round(12))
    0.3
    """
    return Distance(*evaluate(DISTANCE, model, {"q": q}, None, _names(model, a, b), parameters))
