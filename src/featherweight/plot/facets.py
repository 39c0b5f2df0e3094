"""Facets of solids for the painter: quads (two triangles merged where they are flat) with normals and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featherweight.visuals import Mesh
from featherweight.visuals.shapes import Color


class Facets(NamedTuple):
    """N of them: `corners` (N, 4, 3), of a triangle two equal ones; `normals` (N, 3), `colors` (N, 3), `body` (N,)."""

    corners: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    body: np.ndarray


def facets_of(solids: Sequence[tuple[int, Mesh, Color]]) -> Facets:
    """The surfaces of solids, each in the frame of its body."""
    corners = [np.empty((0, 4, 3)), *(_quads(mesh) for _, mesh, _ in solids)]
    counts = [len(some) for some in corners[1:]]
    whole = np.concatenate(corners)
    a, b, c, d = np.swapaxes(whole, 0, 1)
    normals = _unit(np.cross(c - a, d - b))
    colors = np.repeat(np.array([color for *_, color in solids]).reshape(-1, 3), counts, axis=0)
    return Facets(whole, normals, colors, np.repeat(np.array([body for body, *_ in solids], dtype=int), counts))


def cut(facets: Facets, longest: float) -> Facets:
    """The same with long ones cut in two across their longest edge, until all are short; twelve times at most."""
    corners, index = facets.corners, np.arange(len(facets.corners))
    for _ in range(12):
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=-1)
        large = edges.max(axis=1, initial=0.0) > longest
        if not large.any():
            break
        along = np.maximum(edges[large, 0], edges[large, 2]) >= np.maximum(edges[large, 1], edges[large, 3])
        turned = np.where(along[:, None, None], corners[large], np.roll(corners[large], -1, axis=1))
        a, b, c, d = np.swapaxes(turned, 0, 1)
        ab, cd = (a + b) / 2, (c + d) / 2
        corners = np.concatenate([corners[~large], np.stack([a, ab, cd, d], axis=1), np.stack([ab, b, c, cd], axis=1)])
        index = np.concatenate([index[~large], index[large], index[large]])
    return Facets(corners, facets.normals[index], facets.colors[index], facets.body[index])


def _quads(mesh: Mesh) -> np.ndarray:
    """Corners (…, 4, 3): (a, b, c) and (a, c, d), one after the other, in a plane and convex together, are a quad."""
    faces, vertices = mesh.faces, mesh.vertices
    corners = vertices[np.column_stack([faces, faces[:, 2]])]
    pairs = (faces[:-1, 0] == faces[1:, 0]) & (faces[:-1, 2] == faces[1:, 1])
    a, b, c = np.swapaxes(corners[:-1, :3], 0, 1)
    d = corners[1:, 2]
    normal = _unit(np.cross(b - a, c - a))
    for left, middle, right in ((a, c, d), (d, a, b), (b, c, d)):  # turns to the left, about that normal
        turn = np.einsum("ij,ij->i", _unit(np.cross(middle - left, right - middle)), normal)
        pairs &= turn > 1 - 1e-9
    first = np.append(pairs, False)
    first[1:] &= ~first[:-1]  # no triangle twice
    corners[first, 3] = corners[np.roll(first, 1), 2]
    return corners[~np.roll(first, 1)]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / (np.linalg.norm(vectors, axis=-1, keepdims=True) + 1e-300)
