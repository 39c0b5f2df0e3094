"""Coefficients of what touches. Of two shapes friction is the geometric mean of both, restitution the larger one; of a
shape and the ground nothing is combined: the surface's own, else the shape's own, else the contact model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.contact.surfaces import Surface
from featherweight.scalar import lookup, maximum, sqrt, where

if TYPE_CHECKING:
    from featherweight.contact.touching import TouchingPair

Lift = Callable[[float], Any]


def friction_of_pair(pair: TouchingPair, surfaces: Sequence[Surface], own: Any, lift: Lift) -> Any:
    """μ = √(μ_a μ_b) of two shapes, each the contact model's `own` where a shape has none; `pair` may have one."""
    if pair.friction is not None:
        return lift(pair.friction)
    if isinstance(pair.b, int):
        surface = surfaces[pair.b]
        if surface.friction is not None:
            return surface.friction
        return own if pair.a.friction is None else lift(pair.a.friction)
    a, b = (own if shape.friction is None else lift(shape.friction) for shape in (pair.a, pair.b))
    return a if a is b or pair.a.friction == pair.b.friction else friction_of_two(a, b)


def restitution_of_pair(pair: TouchingPair, surfaces: Sequence[Surface], own: Any, lift: Lift) -> Any:
    """e = max(e_a, e_b) of two shapes, each the contact model's `own` where a shape has none; `pair` may have one."""
    if pair.restitution is not None:
        return _present(pair.restitution, lift)
    if isinstance(pair.b, int):
        surface = surfaces[pair.b]
        if surface.restitution is not None:
            return surface.restitution
        return own if pair.a.restitution is None else _present(pair.a.restitution, lift)
    a, b = (own if shape.restitution is None else _present(shape.restitution, lift) for shape in (pair.a, pair.b))
    return a if a is b or pair.a.restitution == pair.b.restitution else maximum(a, b)


def pair_table(pairs: Sequence[TouchingPair], name: str, own: Any, number: Any) -> Any:
    """Friction or restitution of the contact point with this number, over all contact points of pairs of shapes; `own`
    where neither shape has any."""
    combine = friction_of_two if name == "friction" else maximum
    given = [getattr(pair, name) for pair in pairs]
    ends = [[getattr(shape, name) for shape in (pair.a, pair.b)] for pair in pairs]
    if all(x is None for x in given) and all(x is None for two in ends for x in two):
        return own
    columns = []
    for side in (0, 1):
        each = [x if x is not None else two[side] for x, two in zip(given, ends, strict=True)]
        numbers = [
            -1.0 if x is None else float(x) for x, pair in zip(each, pairs, strict=True) for _ in range(pair.count)
        ]
        found = lookup(np.array(numbers), maximum(number, 0.0))
        columns.append(where(found < 0, own, found))
    return combine(*columns)


def friction_of_two(a: Any, b: Any) -> Any:
    """√(μ_a μ_b)."""
    return sqrt(a * b)


def _present(x: float, lift: Lift) -> Any:
    """A number that is absent if it is 0."""
    return 0.0 if x == 0 else lift(x)
