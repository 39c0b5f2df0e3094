"""Triangles and colours of mesh files, which may be anybody's: a few formats, of bounded size.

Beside the file itself nothing is opened but what it names in its own folder: materials, buffers, pictures.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

import numpy as np

from featherweight.io.mesh_files import collada, gltf, obj, ply, stl
from featherweight.io.mesh_files.triangles import MOST_FACES, Beside, Triangles, bytes_of

__all__ = ["KINDS", "Triangles", "triangles_of"]

KINDS: dict[str, Callable[[bytes, Beside], Triangles]] = {
    "stl": stl.read,
    "ply": ply.read,
    "obj": obj.read,
    "dae": collada.read,
    "glb": gltf.read,
    "gltf": gltf.read,
}
KEPT = 16  # files whose triangles are remembered: a robot's limbs share theirs


def triangles_of(path: str) -> Triangles | None:
    """What a mesh file shows; None if it is not one of `KINDS`, too large, or not to be understood."""
    kind = os.path.splitext(path)[1].lower().removeprefix(".")
    if kind not in KINDS:
        return None
    try:
        status = os.stat(path)
        return _read(path, kind, status.st_mtime_ns, status.st_size)
    except Exception:  # whatever a damaged file makes NumPy or a codec raise
        return None


@functools.lru_cache(maxsize=KEPT)
def _read(path: str, kind: str, changed: int, size: int) -> Triangles:
    """The triangles of a file, checked; a file that has `changed` is read again."""
    found = KINDS[kind](bytes_of(path), Beside(path))
    if not 0 < len(found.faces) <= MOST_FACES or not np.isfinite(found.vertices).all():
        raise ValueError(f"{path}: expected 1 to {MOST_FACES} triangles with finite corners")
    if found.faces.min() < 0 or found.faces.max() >= len(found.vertices):
        raise ValueError(f"{path}: a triangle has a corner that is not there")
    for array in found:
        array.setflags(write=False)
    return found
