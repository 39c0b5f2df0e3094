"""The triangles that solids are painted of, with the normals that light falls on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featherweight.visuals import Mesh, creased
from featherweight.visuals.shapes import Color


class Facets(NamedTuple):
    """N triangles: `corners` (N, 3, 3) [m], `normals` (N, 3, 3) at the corners, `colors` (N, 3), `body` (N,)."""

    corners: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    body: np.ndarray

    def some(self, which: np.ndarray) -> Facets:
        """Those of these numbers, or where a mask is true."""
        return Facets(*(array[which] for array in self))


def facets_of(solids: Sequence[tuple[int, Mesh, Color]]) -> Facets:
    """The surfaces of solids, each in the frame of its body."""
    none = np.empty((0, 3, 3))
    smooth = [creased(mesh) for _, mesh, _ in solids]
    counts = [len(mesh.faces) for mesh in smooth]
    return Facets(
        np.concatenate([none, *(mesh.vertices[mesh.faces] for mesh in smooth)]),
        np.concatenate([none, *(mesh.normals()[mesh.faces] for mesh in smooth)]),
        np.repeat(np.array([color for *_, color in solids]).reshape(-1, 3), counts, axis=0),
        np.repeat(np.array([body for body, *_ in solids], dtype=int), counts),
    )
