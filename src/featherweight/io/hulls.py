"""Convex hulls of meshes, with few vertices: the farthest points in many directions, those first that are missed most.

A vertex that is the farthest in a direction is one of the hull's, and few of them enclose nearly as much as all. So no
library for hulls is needed, and what is left out is known: the largest gap between the two support functions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from featherweight.io.mesh_files import triangles_of
from featherweight.io.mesh_points import directions
from featherweight.model import Geometry, Model
from featherweight.model.collision_shapes import solid_of
from featherweight.spatial import Transform, Vector

MOST = 32  # vertices of a hull
BLOCK = 4096  # vertices that are looked at at once


def hulled(model: Model, most: int = MOST) -> Model:
    """The model with convex hulls in place of collision meshes; notes tell which meshes cannot be used, and why."""
    notes: list[str] = []
    geometry = []
    for g in model.geometry:
        if g.role == "collision" and g.kind == "mesh":
            hull = _hull(g, most)
            if isinstance(hull, str):
                notes.append(f"the mesh {g.mesh!r} of {g.link!r} touches nothing: {hull}")
            geometry.append(g if isinstance(hull, str) else hull)
        else:
            geometry.append(g)
    told = (note for note in dict.fromkeys(notes) if note not in model.notes)
    return replace(model, geometry=tuple(geometry), notes=(*model.notes, *told))


def _hull(g: Geometry, most: int) -> Geometry | str:
    """The hull around its own middle; or why there is none."""
    parts = None if g.path is None else triangles_of(g.path)
    if not parts:
        return "its file was not found; load the robot with roots=[…]" if g.path is None else "its file cannot be read"
    vertices = np.concatenate([part.vertices for part in parts]) * g.size
    vertices = hull_vertices(vertices, most)
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    size = tuple((vertices - middle).ravel().tolist())
    if solid_of("convex", size) is None:
        return "it is flat"
    X = Transform(g.X.E, g.X.r + g.X.E.transposed_times(Vector(*middle.tolist())))
    return replace(g, kind="convex", size=size, X=X, mesh="", path=None)


def hull_vertices(vertices: np.ndarray, most: int = MOST) -> np.ndarray:
    """At most so many of the vertices (n, 3) of a convex hull, in their order (k, 3).

    With support functions h(d) = max v·d of all and h'(d) of those chosen, the next is the farthest where h - h' is
    largest; the first are the farthest along the axes.
    """
    d = np.concatenate([np.eye(3), -np.eye(3), directions()])
    blocks = range(0, len(vertices), BLOCK)
    farthest = np.unique([k + (vertices[k : k + BLOCK] @ d.T).argmax(axis=0) for k in blocks])
    reach = vertices[farthest] @ d.T
    best, h = reach.argmax(axis=0), reach.max(axis=0)
    chosen = list(dict.fromkeys(best[:6].tolist()))
    scale = float(np.abs(vertices).max())
    while len(chosen) < most:
        gap = h - reach[chosen].max(axis=0)
        worst = int(gap.argmax())
        if gap[worst] <= 1e-9 * scale:
            break
        chosen.append(int(best[worst]))
    return vertices[farthest[sorted(chosen)]]
