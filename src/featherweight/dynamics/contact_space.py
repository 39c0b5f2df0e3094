"""Operational-space inertia: Delassus matrix, effective mass at points and frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.compiler.runtime.arguments import as_array
from featherweight.dynamics.checks import checked_model, coordinates
from featherweight.dynamics.docstrings import documented
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, divides, evaluate, flat
from featherweight.dynamics.fast_path import fast_path
from featherweight.dynamics.kinematics import frame_named, frame_on
from featherweight.model import Model, Tree
from featherweight.model.placement import real_numbers
from featherweight.scalar import minimum, reciprocal, where
from featherweight.spatial import Vector

Point = str | tuple[str | int, ArrayLike]
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


def _operational(model: Model, tree: Tree, x: Scalars, frames: tuple[str, ...], in_: str) -> Results:
    inertia, factors, diagonal = algorithms.operational_inertia(
        tree, x["q"], [frame_on(model, tree, f) for f in frames], in_
    )
    # a pivot within rounding, which grows with earlier small pivots: the frames cannot move independently
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
    lambda model, frames, in_: [(6 * len(frames), 6 * len(frames))],
    _operational,
    pivots=divides,
)


def _resolve(model: Any, point: Any) -> Place:
    """A point by name, contact points first, or (body, xyz) with xyz in the frame of that body, link or other frame."""
    checked_model(model)
    if isinstance(point, str):
        frame, xyz = model.frame(model.contact_frame(point)), Vector.zero()
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


def _as_key(points: Any) -> Any:
    """A list of names as a tuple, by which an entry point is found."""
    return tuple(points) if isinstance(points, list) else points


def _as_names(frames: Any) -> Any:
    """Names of one or several frames as a tuple, by which an entry point is found."""
    return (frames,) if isinstance(frames, str) else _as_key(frames)


def _unit(direction: Any) -> np.ndarray:
    """Directions (…, 3) with length 1."""
    array = as_array("direction", direction, (3,), "3")
    with np.errstate(all="ignore"):
        length = np.sqrt(np.sum(array * array, axis=-1, keepdims=True))
    if np.any(length == 0):
        raise ValueError("direction: expected a direction, got the zero vector")
    with np.errstate(all="ignore"):
        return array / length


@fast_path(DELASSUS, convert={"points": _as_key})
def delassus(
    model: Model, q: ArrayLike, points: Sequence[Point], *, out: np.ndarray | None = None, parameters: Parameters = None
) -> np.ndarray:
    """The Delassus matrix G = J M⁻¹ Jᵀ of points: their accelerations for unit forces at each other.

    Forces are propagated through free joints to the root: M is never formed, and a pair of points takes time
    proportional to the depth of the tree.

    Args:
        points: names of frames or contact points, or (body, xyz) with xyz [m] in the body's frame.

    Returns:
        G [1/kg], shape (…, 3n, 3n): three rows a point, in the world's axes.

    >>> import featherweight as fw
    >>> fw.delassus(fw.robots.cartpole(cart_mass=2.0), [0.0, 0.0], [("cart", (0, 0, 0))])[0]
    array([0.5, 0. , 0. ])
    """
    if isinstance(points, (str, bytes)) or not hasattr(points, "__iter__"):
        raise TypeError(f"points: expected a sequence of names or (body, xyz), got {points!r}")
    places = tuple(_resolve(model, p) for p in points)
    G = evaluate(DELASSUS, model, {"q": q}, out, (places,), parameters)[0]
    entries, key = model.cache.entries.get("delassus", {}), _as_key(points)
    if places in entries and isinstance(key, tuple) and all(isinstance(p, str) for p in key):
        entries[key] = entries[places]  # find it by the names next time
    return G


@documented
def contact_inertia(
    model: Model, q: ArrayLike, point: Point, direction: ArrayLike, *, parameters: Parameters = None
) -> np.ndarray:
    """The effective mass Λ of a contact: force over acceleration of a point along a direction.

    Args:
        direction: in the world's axes, of any length, shape (…, 3).

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


@documented
def unit_force_response(
    model: Model,
    q: ArrayLike,
    point: Point,
    direction: ArrayLike,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Acceleration M⁻¹ Jᵀ n of all joints for a unit force at a point.

    Args:
        direction: of the force, in the world's axes, of any length, shape (…, 3).

    Returns:
        The acceleration for 1 N, shape (…, nv).

    >>> import featherweight as fw
    >>> fw.unit_force_response(fw.robots.pendulum(mass=4.0), [0.0], ("bob", (0, 0, -1)), [1, 0, 0])
    array([-0.25])
    """
    values = {"q": q, "direction": _unit(direction)}
    return evaluate(UNIT_FORCE_RESPONSE, model, values, out, (_resolve(model, point),), parameters)[0]


@fast_path(OPERATIONAL_INERTIA, convert={"frames": _as_names})
def operational_inertia(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    in_: str = "body",
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The inertia Λ = (J M⁻¹ Jᵀ)⁻¹ of frames: the wrenches that accelerate them.

    Args:
        frames: names of links, joints or contact points.

    Returns:
        Λ, shape (…, 6n, 6n): six rows a frame, linear then angular. Frames that cannot move freely raise ValueError.
    """
    checked_model(model)
    options = (tuple(frame_named(model, name) for name in _as_names(frames)), coordinates(in_))
    return evaluate(OPERATIONAL_INERTIA, model, {"q": q}, out, options, parameters)[0]
