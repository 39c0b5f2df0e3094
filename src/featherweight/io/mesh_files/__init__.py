"""Triangles and colours of mesh files, which may be anybody's: a few formats, of bounded size.

Beside the file itself nothing is opened but what it names in its own folder: materials, buffers, pictures.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from featherweight.io.mesh_files import collada, gltf, obj, ply, stl
from featherweight.io.mesh_files.triangles import MOST_FACES, Beside, Triangles, bytes_of

__all__ = ["KINDS", "Triangles", "triangles_of"]

KINDS: dict[str, Callable[[bytes, Beside], list[Triangles]]] = {
    "stl": stl.read,
    "ply": ply.read,
    "obj": obj.read,
    "dae": collada.read,
    "glb": gltf.read,
    "gltf": gltf.read,
}


def triangles_of(path: str) -> tuple[Triangles, ...] | None:
    """What a mesh file shows, a part for each material; None if it is not one of `KINDS`, too large, or unreadable."""
    kind = os.path.splitext(path)[1].lower().removeprefix(".")
    if kind not in KINDS:
        return None
    try:
        parts = [part for part in KINDS[kind](bytes_of(path), Beside(path)) if len(part.faces)]
        if not 0 < sum(len(part.faces) for part in parts) <= MOST_FACES:
            return None
        for vertices, faces, _ in parts:
            if not np.isfinite(vertices).all() or faces.min() < 0 or faces.max() >= len(vertices):
                return None
        return tuple(part.merged() for part in parts)
    except Exception:  # whatever a damaged file makes NumPy or a codec raise
        return None
