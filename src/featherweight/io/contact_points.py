"""Contact points from collision shapes: what may touch the ground, whatever file the shapes came from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from featherweight.errors import ModelError
from featherweight.io.limits import POINTS
from featherweight.model.description import Description, Link, LinkPoint, Shape
from featherweight.model.spelling import Origin, Three
from featherweight.spatial import Vector

RIM = 4  # points on each rim of a cylinder


def contact_points(description: Description, contact: bool | Sequence[str], taken: set[str]) -> list[LinkPoint]:
    """Points of the collision shapes of all links, of the links that are named, or frames that are named.

    Their names are not among those `taken`, and are taken from now on.
    """
    if contact is False:
        return []
    wanted = None if contact is True else set(contact)
    points: list[LinkPoint] = []
    for link in description.links:
        if wanted is not None and link.name not in wanted:
            continue
        own = _points_of(link)
        if wanted is not None and not own:
            own = [((0.0, 0.0, 0.0), 0.0)]
        if len(points) + len(own) > POINTS:
            message = f"the collision shapes up to here have more than {POINTS} contact points"
            fix = "contact=False takes none, contact=[…] those of some links"
            raise ModelError(f"{message}; {fix}", line=link.line, element=link.where)
        for k, (position, radius) in enumerate(own):
            name = new_name(f"{link.name}_contact{k}", taken)
            points.append(LinkPoint(name, link.name, position, radius, link.source))
    if wanted is not None:
        for name in sorted(wanted - {link.name for link in description.links}):
            points.append(LinkPoint(new_name(f"{name}_contact", taken), name))
    return points


def new_name(name: str, taken: set[str]) -> str:
    """A name that is not taken; it is, from now on."""
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _points_of(link: Link) -> list[tuple[Three, float]]:
    """Positions in the link's frame, and radii."""
    points = []
    for shape in link.shapes:
        if shape.role == "collision":
            X = (shape.origin or Origin()).transform
            points += [
                (tuple(X.r + X.E.transposed_times(Vector(*position))), radius) for position, radius in points_of(shape)
            ]
    return points


def points_of(shape: Shape) -> list[tuple[Three, float]]:
    """Centre of a sphere, corners of a box, ends of a capsule, points on the rims of a cylinder; none of a mesh.

    Positions are in the shape's frame; with a radius, a point is the centre of a ball.
    """
    if shape.kind == "sphere":
        return [((0.0, 0.0, 0.0), shape.size[0])]
    if shape.kind == "box":
        x, y, z = (s / 2 for s in shape.size)
        return [((a * x, b * y, c * z), 0.0) for a, b, c in product((1, -1), repeat=3)]
    if shape.kind == "capsule":
        radius, length = shape.size
        return [((0.0, 0.0, end * length / 2), radius) for end in (1, -1)]
    if shape.kind == "cylinder":
        radius, length = shape.size
        turns = [2 * math.pi * k / RIM for k in range(RIM)]
        return [((radius * math.cos(t), radius * math.sin(t), end * length / 2), 0.0) for end in (1, -1) for t in turns]
    return []
