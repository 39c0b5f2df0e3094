"""STL, in bytes or in words: triangles without colours."""

from __future__ import annotations

import numpy as np

from featherweight.io.mesh_files.triangles import MOST_FACES, Beside, Triangles

HEAD = 84  # bytes before the first triangle
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read(data: bytes, beside: Beside) -> list[Triangles]:
    """The format is told by the length: files in bytes may begin with "solid" too."""
    count = int.from_bytes(data[80:HEAD], "little")
    if len(data) >= HEAD and 0 < count <= (len(data) - HEAD) // FACET.itemsize:
        corners = np.frombuffer(data, FACET, count, HEAD)["corners"].reshape(-1, 3)
    else:
        corners = _words(data)
    return [Triangles.of(corners, np.arange(len(corners)).reshape(-1, 3))]


def _words(data: bytes) -> np.ndarray:
    """Corners (3 m, 3) of a file of words: three numbers after each "vertex"."""
    pieces = data.lower().split(b"vertex")[1:]
    if not data.lstrip()[:5].lower() == b"solid" or not 0 < len(pieces) <= 3 * MOST_FACES:
        raise ValueError("expected an STL file")
    return np.array([piece.split(None, 3)[:3] for piece in pieces], dtype=np.float32)
