"""Contact points from collision shapes: what may touch the ground, whatever file the shapes came from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from featherweight.errors import ModelError, unknown_name
from featherweight.io.bodies import SpanningTree
from featherweight.io.few_points import MOST, ShapePoint, contacts, few, few_shapes
from featherweight.io.limits import POINTS
from featherweight.io.mesh_points import mesh_points
from featherweight.model.description import Description, Link, LinkPoint, Shape
from featherweight.model.spelling import Origin, Three
from featherweight.spatial import Transform, Vector

RIM = 4  # points on each rim of a cylinder
ALL = "all"


class Touching(NamedTuple):
    """What touches the ground: contact points, and shapes that do as they are, by link and number; notes."""

    points: list[LinkPoint]
    shapes: set[tuple[str, int]]
    notes: list[str]


def contact_points(
    description: Description,
    tree: SpanningTree,
    contact: bool | str | Sequence[str],
    floats: bool,
    paths: Mapping[str, str],
    taken: set[str],
) -> Touching:
    """Points of the collision shapes: a few of them (True), all ("all"), or those of links and frames that are named.

    Cylinders touch as they are, so that wheels roll; where there are too many, a few of them, and points on the rims
    of others. A link that is named has points of its meshes too, whose files are `paths` by their names, and of its
    visual shapes if it has no others. Names of points are not among those `taken`, and are taken from now on. Notes
    tell what was left out, which meshes are missing.
    """
    if contact is False:
        return Touching([], set(), [])
    links = {link.name: link for link in description.links}
    points, notes = _chosen(links, tree, contact, floats, paths)
    if len(points) > POINTS:
        last = links[points[POINTS].link]
        message = f"the collision shapes up to here have more than {POINTS} contact points"
        fix = "contact=False takes none, contact=[…] those of some links"
        raise ModelError(f"{message}; {fix}", line=last.line, element=last.where)
    cylinders = _cylinders(links, points)
    if cylinders and contact is True:
        cylinders = few_shapes(points, cylinders, tree)
    found = [
        LinkPoint(new_name(f"{p.link}_contact{p.number}", taken), p.link, p.position, p.radius, links[p.link].source)
        for p in points
        if p[:2] not in cylinders
    ]
    if not isinstance(contact, (bool, str)):
        frames = sorted(set(contact) - set(links))
        others = {each.name for each in (*description.joints, *description.frames)}
        for name in [name for name in frames if name not in others]:
            hint = str(unknown_name("", name, [*links, *others]).args[0]).partition("; ")[2]
            raise ModelError(f"contact: there is no body or frame {name!r}; {hint}")
        found += [LinkPoint(new_name(f"{name}_contact", taken), name) for name in frames]
    return Touching(found, cylinders, notes)


def _chosen(
    links: Mapping[str, Link],
    tree: SpanningTree,
    contact: bool | str | Sequence[str],
    floats: bool,
    paths: Mapping[str, str],
) -> tuple[list[ShapePoint], list[str]]:
    """The points that are asked for, those on the rims of cylinders too; and notes."""
    if contact is True or contact == ALL:
        points = [point for link in links.values() for point in _of_link(link)]
        if contact == ALL or contacts(points, _cylinders(links, points)) <= MOST:
            return points, []
        total, points = len(points), few(points, tree, floats)
        return points, [
            f"{len(points)} of {total} contact points of collision shapes are used: those at the ends of limbs, "
            "and some far from each other, where cylinders touch as they are; "
            'contact="all" takes all, contact=["LINK", …] those of some links'
        ]
    points, notes = [], []
    asked = set() if isinstance(contact, bool) else set(contact)
    for name in [name for name in links if name in asked]:
        own, missing = _named(links[name], tree, paths)
        points += own
        notes += missing
    return points, notes


def _cylinders(links: Mapping[str, Link], points: Sequence[ShapePoint]) -> set[tuple[str, int]]:
    """The cylinders among the shapes that these are points of."""
    return {p[:2] for p in points if _is_cylinder(links[p.link], p.shape)}


def _is_cylinder(link: Link, k: int) -> bool:
    """Is a shape of a link a cylinder that touches, and has a volume?"""
    if k >= len(link.shapes):  # the origin of a link without shapes
        return False
    shape = link.shapes[k]
    return shape.kind == "cylinder" and shape.role == "collision" and min(shape.size) > 0


def new_name(name: str, taken: set[str]) -> str:
    """A name that is not taken; it is, from now on."""
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _of_link(link: Link) -> list[ShapePoint]:
    """Points of its collision shapes that are no meshes."""
    found: list[ShapePoint] = []
    for k, shape in enumerate(link.shapes):
        if shape.role == "collision":
            found += _placed(link, k, points_of(shape), len(found))
    return found


def _named(link: Link, tree: SpanningTree, paths: Mapping[str, str]) -> tuple[list[ShapePoint], list[str]]:
    """Points of a link's shapes, meshes too; its origin if it has none. Also notes of meshes that cannot be used."""
    role = "collision" if any(shape.role == "collision" for shape in link.shapes) else "visual"
    found: list[ShapePoint] = []
    notes = []
    for k, shape in enumerate(link.shapes):
        if shape.role != role:
            continue
        own: list[tuple[Three, float]] | None = points_of(shape)
        if shape.kind == "mesh":
            X = _frame(shape)
            outward = np.array(X.E, dtype=float) @ _outward(link, tree)
            path = paths.get(shape.mesh)
            own = None if path is None else mesh_points(path, tuple(shape.size), outward)
            if own is None:
                notes.append(f"contact: the mesh {shape.mesh!r} of link {link.name!r} cannot be read: no points of it")
        found += _placed(link, k, own or [], len(found))
    return found or [ShapePoint(link.name, 0, 0, (0.0, 0.0, 0.0), 0.0)], notes


def _placed(link: Link, k: int, points: list[tuple[Three, float]], before: int) -> list[ShapePoint]:
    """Points of the k-th shape, in the link's frame."""
    if not points:
        return []
    X = _frame(link.shapes[k])
    return [
        ShapePoint(link.name, k, before + i, tuple(X.r + X.E.transposed_times(Vector(*position))), radius)
        for i, (position, radius) in enumerate(points)
    ]


def _frame(shape: Shape) -> Transform:
    return (shape.origin or Origin()).transform


def _outward(link: Link, tree: SpanningTree) -> np.ndarray:
    """The direction to a link's origin from the nearest one above that is elsewhere, in the link's axes; 0 of none."""
    above = {joint.child: joint for joint in tree.joints}
    X, name = Transform.identity(), link.name
    while name in above:
        origin = above[name].origin
        X = X if origin is None else X @ origin.transform
        r = np.array(X.E, dtype=float) @ np.array(X.r, dtype=float)
        if np.linalg.norm(r) > 1e-6:
            return r
        name = above[name].parent
    return np.zeros(3)


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
