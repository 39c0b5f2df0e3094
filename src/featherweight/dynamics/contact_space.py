"""Inertia at points and frames: what a contact or an end effector feels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.compiler.runtime.arguments import as_array
from featherweight.dynamics.evaluate import NO_FAST_PATH, Quantity, Results, Scalars, divides, evaluate, flat
from featherweight.dynamics.kinematics import coordinates, frame_on
from featherweight.model import Model, Tree
from featherweight.model.placement import real_numbers
from featherweight.scalar import minimum, reciprocal, where
from featherweight.spatial import Vector

Parameters = Mapping[str, Any] | None
Point = str | tuple[Any, Sequence[float]]
Place = tuple[int, tuple[float, float, float]]  # body, position in its frame


def _place(tree: Tree, place: Place) -> tuple[int, Vector]:
    return place[0], Vector(*place[1]).lift(tree.lift)


def _delassus(model: Model, tree: Tree, x: Scalars, places: tuple[Place, ...]) -> Results:
    return [flat(algorithms.delassus(tree, x["q"], [_place(tree, p) for p in places]))], []


def _contact(model: Model, tree: Tree, x: Scalars, place: Place) -> Results:
    body, position = _place(tree, place)
    return [[algorithms.contact_inertia_inverse(tree, x["q"], body, position, Vector(*x["direction"]))]], []


def _response(model: Model, tree: Tree, x: Scalars, place: Place) -> Results:
    body, position = _place(tree, place)
    return [algorithms.unit_force_response(tree, x["q"], body, position, Vector(*x["direction"]))], []


def _operational(model: Model, tree: Tree, x: Scalars, in_: str, frames: tuple[str, ...]) -> Results:
    inertia, factors, diagonal = algorithms.operational_inertia(
        tree, x["q"], [frame_on(model, tree, f) for f in frames], in_
    )
    # a pivot that is gone but for rounding, which earlier small ones have made larger: the frames cannot move freely
    singular: list[Any] = []
    smallest: Any = 1.0
    for d, g in zip(factors.d, diagonal, strict=True):
        left = d * reciprocal(g)
        singular.append(where(left * smallest > 1e-14, 0.0, math.inf))
        smallest = minimum(smallest, left)
    return [flat(inertia)], singular


DELASSUS = Quantity(
    "delassus", ("q",), lambda model, places: [(3 * len(places), 3 * len(places))], _delassus, pivots=divides
)
CONTACT_INERTIA = Quantity("contact_inertia", ("q", "direction"), lambda model, _: [()], _contact, pivots=divides)
UNIT_FORCE_RESPONSE = Quantity(
    "unit_force_response", ("q", "direction"), lambda model, _: [(model.nv,)], _response, pivots=divides
)
OPERATIONAL_INERTIA = Quantity(
    "operational_inertia",
    ("q",),
    lambda model, in_, frames: [(6 * len(frames), 6 * len(frames))],
    _operational,
    pivots=divides,
)


def _resolve(model: Any, point: Any) -> Place:
    """A point by name, or (body, xyz) with xyz in the frame of that body, link or other frame."""
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    if isinstance(point, str):
        frame, xyz = model.frame(point), Vector.zero()
    else:
        try:
            body, position = point
        except (TypeError, ValueError):
            raise TypeError(f"point: expected a name or (body, xyz), got {point!r}") from None
        if not isinstance(body, str):
            model.children(body)  # is it a body's number?
            body = model.names[body]
        frame, xyz = model.frame(body), Vector(*real_numbers("point: xyz", position, (3,)).tolist())
    x, y, z = frame.X.r + frame.X.E.transposed_times(xyz)
    return frame.body, (float(x), float(y), float(z))


def _unit(direction: Any) -> np.ndarray:
    """Directions (…, 3) with length 1."""
    array = as_array("direction", direction, (3,), "3")
    with np.errstate(all="ignore"):
        length = np.sqrt(np.sum(array * array, axis=-1, keepdims=True))
    if np.any(length == 0):
        raise ValueError("direction: expected a direction, got the zero vector")
    with np.errstate(all="ignore"):
        return array / length


def delassus(
    model: Model, q: Any, points: Sequence[Point], *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The Delassus matrix G = J M⁻¹ Jᵀ of points: their accelerations for unit forces at each other.

    Forces are carried across free joints to the root, so M is never formed and a pair of points costs time
    proportional to the depth of the tree.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        points: names of frames or contact points, or (body, xyz) with xyz [m] in the body's frame.
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        G [1/kg], shape (…, 3n, 3n): three rows a point, in the world's axes.

    >>> import featherweight as fw
    >>> fw.delassus(fw.robots.cartpole(cart_mass=2.0), [0.0, 0.0], [("cart", (0, 0, 0))])[0]
    array([0.5, 0. , 0. ])
    """
    key = tuple(points) if isinstance(points, (list, tuple)) else points
    if out is None and parameters is None:
        try:
            result = model.cache.entries["delassus"][key](q)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    if isinstance(points, (str, bytes)) or not hasattr(points, "__iter__"):
        raise TypeError(f"points: expected a sequence of names or (body, xyz), got {points!r}")
    places = tuple(_resolve(model, p) for p in points)
    G = evaluate(DELASSUS, model, {"q": q}, out, (places,), parameters)[0]
    entries = model.cache.entries.get("delassus", {})
    if places in entries and isinstance(key, tuple) and all(isinstance(p, str) for p in key):
        entries[key] = entries[places]  # find it by the names next time
    return G


def contact_inertia(model: Model, q: Any, point: Point, direction: Any, *, parameters: Parameters = None) -> np.ndarray:
    """The inertia Λ that a contact feels: force over acceleration of a point along a direction.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        point: name of a frame or contact point, or (body, xyz) with xyz [m] in the body's frame.
        direction: in the world's axes, of any length, shape (…, 3).
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Λ [kg], shape (…); infinite where the point cannot move along the direction.

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum(mass=3.0)
    >>> float(fw.contact_inertia(pendulum, [0.0], ("bob", (0, 0, -1)), [1, 0, 0]))
    3.0
    >>> float(fw.contact_inertia(pendulum, [0.0], ("bob", (0, 0, -1)), [0, 0, 1]))
    inf
    """
    values = {"q": q, "direction": _unit(direction)}
    inverse = evaluate(CONTACT_INERTIA, model, values, None, (_resolve(model, point),), parameters)[0]
    with np.errstate(divide="ignore"):
        return np.divide(1.0, np.abs(inverse))


def unit_force_response(
    model: Model, q: Any, point: Point, direction: Any, *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """Acceleration M⁻¹ Jᵀ n of all joints for a unit force at a point.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        point: name of a frame or contact point, or (body, xyz) with xyz [m] in the body's frame.
        direction: of the force, in the world's axes, of any length, shape (…, 3).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        The acceleration for 1 N, shape (…, nv).

    >>> import featherweight as fw
    >>> fw.unit_force_response(fw.robots.pendulum(mass=4.0), [0.0], ("bob", (0, 0, -1)), [1, 0, 0])
    array([-0.25])
    """
    values = {"q": q, "direction": _unit(direction)}
    return evaluate(UNIT_FORCE_RESPONSE, model, values, out, (_resolve(model, point),), parameters)[0]


def operational_inertia(
    model: Model,
    q: Any,
    frames: str | Sequence[str],
    in_: str = "body",
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The inertia Λ = (J M⁻¹ Jᵀ)⁻¹ of frames: the wrenches that accelerate them.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        frames: names of links, joints or contact points.
        in_: coordinates of the result: "body" (the frame's own), "world" (at the world's origin) or
            "world_aligned" (at the frame's origin, in the world's axes).
        out: array for the result; what it holds after an error is undefined.
        parameters: arrays (…) for constants that were declared when the model was built, by name.

    Returns:
        Λ, shape (…, 6n, 6n): six rows a frame, linear then angular. Frames that cannot move freely raise ValueError.
    """
    if isinstance(frames, str):
        frames = (frames,)
    names = tuple(frames)
    if out is None and parameters is None:
        try:
            result = model.cache.entries["operational_inertia"][in_][names](q)
            if result is not None:
                return result
        except NO_FAST_PATH:
            pass
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    options = (coordinates(in_), tuple(model.frame(name).name for name in names))
    return evaluate(OPERATIONAL_INERTIA, model, {"q": q}, out, options, parameters)[0]
