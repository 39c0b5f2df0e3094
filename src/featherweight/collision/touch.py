"""Two shapes in the world, and a point where they touch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from featherweight.collision.geometry import chosen
from featherweight.scalar import where
from featherweight.shapes import Shape
from featherweight.spatial import Transform, Vector

FAR = 1e3  # [m], the gap of a point that is not there

Kind = TypeVar("Kind", bound=Shape, covariant=True)


@dataclass(frozen=True)
class Placed(Generic[Kind]):
    """A shape in the world; X goes from the world's frame to the shape's: X.r is its place, X.E turns into its axes."""

    shape: Kind
    X: Transform


@dataclass(frozen=True)
class Touch:
    """A contact point of two shapes a and b, in the world.

    Args:
        gap: signed distance [m] along the normal, negative where they overlap; `FAR` if this point is not there.
        normal: unit vector from b to a.
        point: the middle between the two surfaces (of the overlap), where forces act on both.
    """

    gap: Any
    normal: Vector
    point: Vector


def either(condition: Any, x: Touch, y: Touch) -> Touch:
    """One of two contact points."""
    normal, point = chosen(condition, x.normal, y.normal), chosen(condition, x.point, y.point)
    return Touch(where(condition, x.gap, y.gap), normal, point)


def only_if(condition: Any, x: Touch) -> Touch:
    """A contact point that is there only where the condition holds."""
    return replace(x, gap=where(condition, x.gap, FAR))
