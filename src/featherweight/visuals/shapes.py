"""How a robot looks: the shapes of its file, or ones derived from its tree, masses and contact points."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from featherweight.io.mesh_files import Triangles, triangles_of
from featherweight.model import Geometry, Model
from featherweight.spatial import Transform
from featherweight.visuals.hull import hull
from featherweight.visuals.palette import painted
from featherweight.visuals.reduce import reduced
from featherweight.visuals.solids import Mesh, ball, box, capsule, cylinder

DENSITY = 1500.0  # of what robots are drawn of [kg/m³]
HUBS = (0.36, 0.42, 0.50)  # colours: of bodies that carry several others,
LIMBS = ((0.33, 0.60, 0.78), (0.95, 0.58, 0.24))  # of links, in turn,
FEET = (0.16, 0.17, 0.20)  # of contact points,
PLAIN = (0.68, 0.70, 0.73)  # and of shapes whose file has none
FACES = 30_000  # triangles of a robot's meshes that are drawn: pages and browsers without a GPU have to carry them
KEPT = 64  # mesh files that are remembered as they are drawn

Color = tuple[float, ...]  # red, green, blue, from 0 to 1


@dataclass(frozen=True)
class DrawnShape:
    """A solid that moves with a body, in the body's frame."""

    body: int
    mesh: Mesh
    color: Color


def shapes_of(model: Model, faces: int = FACES) -> list[DrawnShape]:
    """What there is to see of a robot: visual shapes of a body; else those it touches with; else ones made up for it.

    Of several robots in one world each that has no shapes at all gets made up ones. A link of a robot that has some is
    left as bare as it is.

    Meshes are reduced to about so many `faces` together. A body whose meshes were not found or cannot be read gets the
    next of these, with a warning.
    """
    seen = {g.body for g in model.geometry if g.role == "visual"}
    drawn = [g for g in model.geometry if g.role == "visual" or g.body not in seen]
    shapes, missing = _read(drawn, faces)
    if missing:
        names = sorted({g.mesh for g in missing})
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lost = "; load it with roots=[folder] (--root)" if any(g.path is None for g in missing) else ""
        message = f"{model.name}: the mesh {names[0]!r}{more} cannot be shown; simple shapes are{lost}"
        warnings.warn(message, stacklevel=3)
    bare = {g.body for g in missing} - {shape.body for shape in shapes}
    shapes += _read([g for g in model.geometry if g.role == "collision" and g.body in bare], faces)[0]
    bare -= {shape.body for shape in shapes} | {0}
    bare |= _without_shapes(model)
    return shapes + [shape for i in sorted(bare) for shape in _derived(model, i)]


def _without_shapes(model: Model) -> set[int]:
    """Bodies of robots, all that hangs on one body in the world, of which no body has any shape."""
    root = [0] * len(model.parent)
    for i in range(1, len(model.parent)):
        root[i] = root[model.parent[i]] if model.parent[i] else i
    shown = {root[g.body] for g in model.geometry}
    return {i for i in range(1, len(root)) if root[i] not in shown}


def _read(geometries: Iterable[Geometry], most: int) -> tuple[list[DrawnShape], list[Geometry]]:
    """Shapes of a file, with about `most` triangles of meshes; and those whose mesh is not to be had."""
    shapes, meshes, missing = [], [], []
    for geometry in geometries:
        if geometry.kind != "mesh":
            color = tuple(geometry.color[:3]) or PLAIN
            shapes.append(DrawnShape(geometry.body, _placed(_solid(geometry), geometry.X), color))
            continue
        parts = [] if geometry.path is None else _parts(geometry.path, most)
        if parts:
            meshes.append((geometry, [part.moved(np.diag([*geometry.size, 1.0])) for part in parts]))
        else:
            missing.append(geometry)
    solids = reduced([parts for _, parts in meshes], most)
    for (geometry, _), parts in zip(meshes, solids, strict=True):
        for part in parts:
            colored = _by_color(part, tuple(geometry.color[:3]) or PLAIN)
            shapes += [DrawnShape(geometry.body, _placed(mesh, geometry.X), own) for mesh, own in colored]
    return shapes, missing


def _parts(path: str, most: int) -> list[Triangles]:
    """Of a mesh file, with at most about as many triangles as its robot may have; none if it cannot be read."""
    try:
        status = os.stat(path)
    except OSError:
        return []
    return _parts_of(path, status.st_mtime_ns, status.st_size, most)


@functools.lru_cache(maxsize=KEPT)
def _parts_of(path: str, changed: int, size: int, most: int) -> list[Triangles]:
    """The same, remembered until the file has changed."""
    return reduced([triangles_of(path) or ()], most)[0]


def _solid(geometry: Geometry) -> Mesh:
    """A shape of a file that is no mesh."""
    if geometry.kind == "box":
        return box(geometry.size)
    if geometry.kind == "sphere":
        return ball(geometry.size[0])
    if geometry.kind == "convex":
        return hull(np.reshape(geometry.size, (-1, 3)))
    radius, length = geometry.size
    return cylinder(radius, length) if geometry.kind == "cylinder" else capsule(radius, length)


def _by_color(solid: Triangles, color: Color) -> Iterator[tuple[Mesh, Color]]:
    """A mesh for each of its colours; what its own file gives none has that of the robot's file, as RViz has it."""
    colors = np.where(np.isnan(solid.colors), color, solid.colors)
    a, b, c = np.moveaxis(solid.vertices[solid.faces], 1, 0)
    palette, number = painted(colors, np.linalg.norm(np.cross(b - a, c - a), axis=1))
    for k, own in enumerate(palette):
        used, faces = np.unique(solid.faces[number == k], return_inverse=True)
        if len(used):
            yield Mesh(solid.vertices[used], faces.reshape(-1, 3)), tuple(map(float, own))


def _placed(mesh: Mesh, X: Transform) -> Mesh:
    """From a shape's frame to its body's; X goes the other way."""
    return mesh.moved(np.array(X.E, dtype=float).T, np.array(X.r, dtype=float))


# ---- made up


def _derived(model: Model, i: int) -> list[DrawnShape]:
    """Links as capsules to what they carry; what carries several as a box with its moments; points as balls.

    Small slices between the axes of one joint have no length and are not drawn, nor what has neither length nor mass.
    """
    inertia = model.inertias[i]
    mass = float(inertia.m)
    com = np.array(inertia.h, dtype=float) / mass if mass > 0 else np.zeros(3)
    joints = [np.array(model.X_tree[c].r, dtype=float) for c in model.children(i)]
    points = [point for point in model.contact_points if point.body == i]
    places = [*joints, *(np.array(point.position) for point in points)]
    size = max((float(np.linalg.norm(x)) for x in (com, *places)), default=0.0)
    ends = _distinct([x for x in places if np.linalg.norm(x) > 1e-3 + 0.05 * size])
    is_hub = len(ends) >= 3
    color = HUBS if is_hub else LIMBS[_depth(model, i) % len(LIMBS)]
    solids: list[Mesh] = []
    if is_hub and not joints and all(point.radius for point in points):  # a head is made of the balls around its points
        solids = [_link(np.zeros(3), com, mass / 4)] if np.linalg.norm(com) > 1e-3 * size else []
    elif is_hub and mass > 0:
        solids = [_block(inertia, mass, com, ends)]
    elif ends:
        solids = [_link(np.zeros(3), end, mass / len(ends)) for end in ends]
    elif mass > 0 and not places:
        solids = _alone(inertia, mass, com)
    elif mass > 0 and model.parent[i] == 0:  # a base whose joints are all at its origin
        solids = [_block(inertia, mass, com, [])]
    shapes = [DrawnShape(i, mesh, color) for mesh in solids]
    for point in points:
        if point.radius:
            shapes.append(DrawnShape(i, ball(point.radius).moved(np.eye(3), np.array(point.position)), color))
        elif not is_hub:
            shapes.append(DrawnShape(i, ball(0.085 * size).moved(np.eye(3), np.array(point.position)), FEET))
    return shapes


def _distinct(points: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Points, each once."""
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > 1e-2 * np.linalg.norm(point) for other in kept):
            kept.append(point)
    return kept


def _link(a: np.ndarray, b: np.ndarray, mass: float) -> Mesh:
    """A capsule between two points, as thick as its mass makes it, within reason."""
    length = float(np.linalg.norm(b - a))
    radius = float(np.clip(np.sqrt(mass / (np.pi * DENSITY * length)), 0.06 * length, 0.22 * length))
    return capsule(radius, length).moved(_along(b - a), (a + b) / 2)


def _block(inertia: Any, mass: float, com: np.ndarray, ends: list[np.ndarray]) -> Mesh:
    """A box with the same moments; one that holds the ends if there are none, or if it would be far larger."""
    moments, axes = np.linalg.eigh(_about_com(inertia, mass, com))
    edges = np.sqrt(np.maximum(6 / mass * (moments.sum() - 2 * moments), 0.0))
    reach = 2 * max((float(np.linalg.norm(end - com)) for end in ends), default=0.0)
    if edges.min() <= 0 or (reach and edges.max() > 1.5 * reach):
        edges = np.full(3, (mass / DENSITY) ** (1 / 3))
    if np.linalg.det(axes) < 0:
        axes = axes * [1.0, 1.0, -1.0]
    return box(edges).moved(axes, com)


def _alone(inertia: Any, mass: float, com: np.ndarray) -> list[Mesh]:
    """A body that carries nothing: a rod with its centre half-way, a ball on a thin rod, or a box."""
    distance = float(np.linalg.norm(com))
    if distance < 1e-6:
        return [_block(inertia, mass, com, [])]
    if np.abs(_about_com(inertia, mass, com)).max() > 1e-6 * mass * distance**2:
        return [_link(np.zeros(3), 2 * com, mass)]
    radius = min((3 * mass / (4 * np.pi * DENSITY)) ** (1 / 3), 0.3 * distance)
    rod = cylinder(0.015 * distance, distance).moved(_along(com), com / 2)
    return [rod, ball(radius).moved(np.eye(3), com)]


def _about_com(inertia: Any, mass: float, com: np.ndarray) -> np.ndarray:
    I = np.array(inertia.I.matrix, dtype=float)
    return I - mass * (com @ com * np.eye(3) - np.outer(com, com))


def _along(direction: np.ndarray) -> np.ndarray:
    """A rotation that turns z into this direction."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _depth(model: Model, i: int) -> int:
    """How many links with a length are between a body and the world."""
    path = [i]
    while path[-1] > 0:
        path.append(model.parent[path[-1]])
    return sum(any(model.X_tree[child].r) for child, _ in pairwise(path))
