"""Mesh simplification by vertex clustering: vertices of a cell become one, where the planes of their triangles meet.

The place is the minimum of a quadric error (Lindstrom, Out-of-core simplification of large polygonal models, 2000).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featherweight.io.mesh_files import Triangles

FLAT = 1e-3  # of the largest eigenvalue of a quadric: along smaller ones the surface is flat, and nothing moves
TRIES = 12  # to find the size of the cells


def reduced(solids: Sequence[Sequence[Triangles]], most: int) -> list[list[Triangles]]:
    """The same solids, each in parts, with about `most` triangles together if they have more.

    Cells are larger in larger solids, by the square root of their sizes: small ones, like fingers, keep their shape.
    """
    if sum(len(part.faces) for parts in solids for part in parts) <= most:
        return [list(parts) for parts in solids]
    roots = [np.sqrt(max(_size(parts), 1e-9)) for parts in solids]
    low, high = 0.0, float(max(roots))  # of the factor before the root
    factor = high / 100
    for _ in range(TRIES):
        count = sum(
            len(_cells(part, factor * root)[1]) for parts, root in zip(solids, roots, strict=True) for part in parts
        )
        if count > most:
            low = factor
        else:
            high = factor
            if count > 0.9 * most:
                break
        guess = factor * np.sqrt(count / (0.95 * most)) if count else 0.0  # a surface has triangles by its area
        factor = guess if low < guess < high else (low + high) / 2
    fewer = [[clustered(part, high * root) for part in parts] for parts, root in zip(solids, roots, strict=True)]
    return [[part for part in parts if len(part.faces)] for parts in fewer]


def _size(parts: Sequence[Triangles]) -> float:
    """The diagonal of the box around all of them [m]."""
    vertices = np.concatenate([part.vertices for part in parts])
    return float(np.linalg.norm(np.ptp(vertices, axis=0)))


def clustered(solid: Triangles, cell: float) -> Triangles:
    """All vertices of each cube of a grid, with edges of `cell` [m], as one."""
    owner, kept, count = _cells(solid, cell)
    weight = np.bincount(owner, minlength=count)
    mean = np.stack([np.bincount(owner, x, count) for x in solid.vertices.T], axis=1) / weight[:, None]

    # planes at a cell: of its triangles, and across the edges where the surface ends; sums of n nᵀ and n nᵀ (p - mean)
    points, normals, ends, sizes = _planes(solid)
    A, y = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for place in owner[ends].T:
        offset = sizes * np.einsum("ij,ij->i", normals, points - mean[place])
        for i in range(3):
            y[:, i] += np.bincount(place, offset * normals[:, i], count)
            for j in range(3):
                A[:, i, j] += np.bincount(place, sizes * normals[:, i] * normals[:, j], count)

    # the nearest place to the mean where these planes meet, within reach of the cell
    moments, axes = np.linalg.eigh(A)
    inverse = np.where(moments > FLAT * moments[:, -1:], 1.0 / np.maximum(moments, 1e-300), 0.0)
    move = np.einsum("nij,nj,nkj,nk->ni", axes, inverse, axes, y)
    move *= np.minimum(1.0, 0.7 * cell / np.maximum(np.linalg.norm(move, axis=1), 1e-300))[:, None]
    return Triangles(mean + move, owner[solid.faces][kept], solid.colors[kept])


def _planes(solid: Triangles) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Planes that a surface is made of: a point (n, 3) and the normal (n, 3) of each, three vertices (n, 3) that it
    holds, an area (n,)."""
    corners = solid.vertices[solid.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    normal = normal / np.maximum(area, 1e-300)[:, None]
    begin, end = solid.faces.ravel(), np.roll(solid.faces, -1, axis=1).ravel()
    key = np.minimum(begin, end) * len(solid.vertices) + np.maximum(begin, end)
    _, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    rim = np.flatnonzero(times[inverse] == 1)
    begin, end = begin[rim], end[rim]
    edge = solid.vertices[end] - solid.vertices[begin]
    across = np.cross(edge, normal[rim // 3])  # as long as the edge
    length = np.linalg.norm(across, axis=1)
    return (
        np.concatenate([corners[:, 0], solid.vertices[begin]]),
        np.concatenate([normal, across / np.maximum(length, 1e-300)[:, None]]),
        np.concatenate([solid.faces, np.stack([begin, end, end], axis=1)]),
        np.concatenate([area, length**2]),
    )


def _cells(solid: Triangles, cell: float) -> tuple[np.ndarray, np.ndarray, int]:
    """The cell of each vertex, numbers of the triangles that stay, and how many cells there are.

    What lies in one or two cells goes, and so does a second triangle of the same three that looks the same way.
    """
    grid = np.floor(solid.vertices / cell).astype(np.int64)  # the same for parts that touch
    grid -= grid.min(axis=0)
    span = grid.max(axis=0) + 1
    _, owner = np.unique((grid[:, 0] * span[1] + grid[:, 1]) * span[2] + grid[:, 2], return_inverse=True)
    count = int(owner.max()) + 1
    faces = owner[solid.faces]
    a, b, c = faces.T
    whole = np.flatnonzero((a != b) & (b != c) & (c != a))
    faces = faces[whole]
    first = faces.argmin(axis=1)
    a, b, c = (faces[np.arange(len(faces)), (first + k) % 3] for k in range(3))
    _, once = np.unique((a * count + b) * count + c, return_index=True)
    return owner, whole[np.sort(once)], count
