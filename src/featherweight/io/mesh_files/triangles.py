"""Triangles with colours, and what readers of mesh files share: bounds, polygons, files beside a file."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MOST_BYTES = 64_000_000  # of a file: a binary STL of a million triangles has 50 MB
MOST_FACES = 1_000_000
FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
NONE = (np.nan, np.nan, np.nan)  # the colour of what has none


class Triangles(NamedTuple):
    """`vertices` (n, 3) [m], `faces` (m, 3) of their numbers, `colors` (m, 3) from 0 to 1, NaN where there is none."""

    vertices: np.ndarray
    faces: np.ndarray
    colors: np.ndarray

    @staticmethod
    def of(vertices: np.ndarray, faces: np.ndarray, colors: np.ndarray | Sequence[float] = NONE) -> Triangles:
        """With one colour for all, or one for each face."""
        faces = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
        own = np.clip(np.broadcast_to(np.asarray(colors, dtype=float), faces.shape), 0.0, 1.0)
        return Triangles(np.asarray(vertices, dtype=float).reshape(-1, 3), faces, own)

    def merged(self) -> Triangles:
        """Vertices that are equal become one, and those that no triangle has go."""
        used, faces = np.unique(self.faces, return_inverse=True)
        rows = np.ascontiguousarray(self.vertices[used] + 0.0)  # no -0
        _, first, number = np.unique(rows.view([("", float)] * 3).ravel(), return_index=True, return_inverse=True)
        return Triangles(rows[first], number[faces].reshape(-1, 3), self.colors)

    def moved(self, matrix: np.ndarray) -> Triangles:
        """Under an affine map (4, 4); triangles still look outward if it mirrors."""
        vertices = self.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        faces = self.faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0 else self.faces
        return Triangles(vertices, faces, self.colors)


def fans(sizes: np.ndarray) -> np.ndarray:
    """Triangles (m, 3) of convex polygons whose corners stand one after the other: places of the corners."""
    sizes = np.asarray(sizes, dtype=np.int64)
    counts = np.maximum(sizes - 2, 0)
    starts, before = np.cumsum(sizes) - sizes, np.cumsum(counts) - counts
    first = np.repeat(starts, counts)
    k = np.arange(counts.sum()) - np.repeat(before, counts)
    return np.stack([first, first + k + 1, first + k + 2], axis=1)


def strip(size: int) -> np.ndarray:
    """Triangles (size - 2, 3) of a strip: every second one is turned over."""
    k = np.arange(max(size - 2, 0))
    odd = k % 2
    return np.stack([k, k + 1 + odd, k + 2 - odd], axis=1)


def numbers(text: str, kind: type = float) -> np.ndarray:
    """All numbers of a text, separated by white space; ValueError if something else is among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what NumPy says of anything else
        try:
            return np.fromstring(text, kind, sep=" ")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None


def bytes_of(path: str) -> bytes:
    """Of an ordinary file that is not too large; pipes and devices are not waited for."""
    with os.fdopen(os.open(path, FLAGS), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise ValueError(f"{path}: expected an ordinary file of at most {MOST_BYTES} bytes")
        return file.read(status.st_size)


class Beside:
    """What a mesh file may name: files in its own folder or below."""

    def __init__(self, path: str) -> None:
        self._folder = os.path.realpath(os.path.dirname(path) or os.curdir)

    def get(self, name: str, endings: Sequence[str]) -> bytes | None:
        """A file's bytes; None if it is not there, lies elsewhere, or has another ending."""
        place = os.path.realpath(os.path.join(self._folder, name.replace("\\", "/")))
        if not place.lower().endswith(tuple(endings)) or not place.startswith(os.path.join(self._folder, "")):
            return None
        try:
            return bytes_of(place)
        except (OSError, ValueError):
            return None
