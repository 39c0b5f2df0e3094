"""Creases: vertices are split at sharp edges, so that shading is smooth on each side and not across."""

from __future__ import annotations

import numpy as np

from featherweight.visuals.solids import Mesh

SHARP = np.cos(np.radians(40.0))  # cosine of the crease angle between the normals of two faces


def creased(mesh: Mesh) -> Mesh:
    """The same triangles; those that meet at a sharp edge, or at none, do not share their vertices there."""
    vertices, faces = mesh
    corners = np.arange(faces.size).reshape(-1, 3)
    normals = _unit(mesh.face_normals())

    # pairs of faces at an edge: of equal (lower, higher) vertex, one after the other
    begin, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    first, second = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    swap = begin > end
    low, high = np.where(swap, end, begin), np.where(swap, begin, end)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    one, other = order[:-1][same], order[1:][same]
    smooth = np.einsum("ij,ij->i", normals[one // 3], normals[other // 3]) > SHARP
    one, other = one[smooth], other[smooth]

    # connected components of the corners of a vertex, by smooth edges: each takes the least number of its component
    lows = np.where(swap, second, first), np.where(swap, first, second)  # corners at the lower and the higher vertex
    a = np.concatenate([lows[0][one], lows[1][one]])
    b = np.concatenate([lows[0][other], lows[1][other]])
    label = np.arange(faces.size)
    while True:
        least = np.minimum(label[a], label[b])
        before = label.copy()
        np.minimum.at(label, a, least)
        np.minimum.at(label, b, least)
        label = label[label]
        if (label == before).all():
            break
    kept, numbers = np.unique(label, return_inverse=True)
    return Mesh(vertices[faces.ravel()[kept]], numbers.reshape(-1, 3))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)
