"""Fewer triangles that look the same: vertices of a cell become one, where their planes meet.

Vertex clustering with quadric error metrics (Lindstrom, Out-of-core simplification of large polygonal models, 2000).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featherweight.io.mesh_files import Triangles

FLAT = 1e-3  # planes of a cell whose moments differ more than this have no common point across the smaller one
TRIES = 12  # to find the size of the cells


def reduced(solids: Sequence[Triangles], most: int) -> list[Triangles]:
    """The same solids with about `most` triangles together, if they have more.

    Cells are larger in larger solids, by the square root of their sizes: small ones, like fingers, keep their shape.
    """
    if sum(len(solid.faces) for solid in solids) <= most:
        return list(solids)
    sizes = [float(np.linalg.norm(np.ptp(solid.vertices[solid.faces].reshape(-1, 3), axis=0))) for solid in solids]
    roots = np.sqrt(np.maximum(sizes, 1e-9))
    low, high = 0.0, float(np.sqrt(max(sizes)))  # of the factor before the root
    factor = high / 100
    for _ in range(TRIES):
        count = sum(len(_cells(solid, factor * root)[1]) for solid, root in zip(solids, roots, strict=True))
        if count > most:
            low = factor
        else:
            high = factor
            if count > 0.9 * most:
                break
        guess = factor * np.sqrt(count / (0.95 * most)) if count else 0.0  # a surface has triangles by its area
        factor = guess if low < guess < high else (low + high) / 2
    return [clustered(solid, high * root) for solid, root in zip(solids, roots, strict=True)]


def clustered(solid: Triangles, cell: float) -> Triangles:
    """All vertices of each cube of a grid, with edges of `cell` [m], as one."""
    owner, kept, count = _cells(solid, cell)
    weight = np.bincount(owner, minlength=count)
    mean = np.stack([np.bincount(owner, x, count) for x in solid.vertices.T], axis=1) / weight[:, None]

    # planes through the triangles at a cell: sum of n nᵀ, and of n nᵀ (p - mean), by area
    a, b, c = np.moveaxis(solid.vertices[solid.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    normal = normal / np.maximum(area, 1e-300)[:, None]
    cells = owner[solid.faces]
    A, y = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for k in range(3):
        place = cells[:, k]
        offset = np.einsum("ij,ij->i", normal, a - mean[place])
        for i in range(3):
            y[:, i] += np.bincount(place, area * normal[:, i] * offset, count)
            for j in range(3):
                A[:, i, j] += np.bincount(place, area * normal[:, i] * normal[:, j], count)

    # the nearest place to the mean where these planes meet, within reach of the cell
    moments, axes = np.linalg.eigh(A)
    inverse = np.where(moments > FLAT * moments[:, -1:], 1.0 / np.maximum(moments, 1e-300), 0.0)
    move = np.einsum("nij,nj,nkj,nk->ni", axes, inverse, axes, y)
    move *= np.minimum(1.0, 0.7 * cell / np.maximum(np.linalg.norm(move, axis=1), 1e-300))[:, None]
    return Triangles(mean + move, cells[kept], solid.colors[kept])


def _cells(solid: Triangles, cell: float) -> tuple[np.ndarray, np.ndarray, int]:
    """The cell of each vertex, numbers of the triangles that stay, and how many cells there are.

    What lies in one or two cells goes, and so does a second triangle of the same three that looks the same way.
    """
    grid = np.floor((solid.vertices - solid.vertices.min(axis=0)) / cell).astype(np.int64)
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
