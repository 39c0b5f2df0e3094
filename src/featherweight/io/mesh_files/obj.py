"""OBJ with the colours of its MTL files: polygons, of a material each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from featherweight.io.mesh_files.textures import ENDINGS, colors_at, texture
from featherweight.io.mesh_files.triangles import MOST_FACES, NONE, Beside, Triangles, fans

MOST_LINE = 10_000  # bytes
Material = tuple[tuple[float, ...], np.ndarray | None]  # a colour, and a picture


def read(data: bytes, beside: Beside) -> list[Triangles]:
    """Normals, lines and curves are not read."""
    if max(map(len, data.split(b"\n"))) > MOST_LINE or data.count(b"\nf") > MOST_FACES:
        raise ValueError("very long lines, or too many faces")
    vertices: list[list[str]] = []
    places: list[list[str]] = []
    sizes: list[int] = []  # of polygons
    corners: list[tuple[int, int]] = []  # of all polygons: vertex, place in a picture
    uses: list[tuple[int, str]] = [(0, "")]  # from which polygon on which material
    materials: dict[str, Material] = {}
    for key, words in _lines(data):
        if key == "v":
            vertices.append(words[:3])
        elif key == "vt":
            places.append([*words, "0"][:2])
        elif key == "f":
            sizes.append(len(words))
            corners += [_corner(word, len(vertices), len(places)) for word in words]
        elif key == "usemtl":
            uses.append((len(sizes), " ".join(words)))
        elif key == "mtllib":
            materials |= _materials(beside.get(" ".join(words), (".mtl",)) or b"", beside)
    triangles = np.array(corners, dtype=int).reshape(-1, 2)[fans(np.array(sizes))]
    owner = np.repeat(np.arange(len(sizes)), np.maximum(np.array(sizes) - 2, 0))  # polygon of each triangle
    use = np.searchsorted([start for start, _ in uses], owner, side="right") - 1
    points, at = np.array(vertices, dtype=float), np.array(places or [["0", "0"]], dtype=float)
    parts: dict[str, list[np.ndarray]] = {}
    for k, (_, name) in enumerate(uses):
        parts.setdefault(name, []).append(triangles[use == k])
    return [_part(points, np.concatenate(own), at, *materials.get(name, (NONE, None))) for name, own in parts.items()]


def _part(
    vertices: np.ndarray, corners: np.ndarray, places: np.ndarray, color: tuple[float, ...], image: np.ndarray | None
) -> Triangles:
    """Triangles of one material, with corners (m, 3, 2): vertex, place in a picture."""
    used, faces = np.unique(corners[:, :, 0], return_inverse=True)
    if used.min(initial=0) < 0:
        raise ValueError("a corner before the first vertex")
    colors = color if image is None else colors_at(image, places[np.maximum(corners[:, :, 1], 0)])
    return Triangles.of(vertices[used], faces, colors)


def _lines(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """First words of lines, and the others; a line may go on after a backslash."""
    for line in data.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        words = line.split()
        if words and words[0][0] != "#":
            yield words[0], words[1:]


def _corner(text: str, vertices: int, places: int) -> tuple[int, int]:
    """The numbers of a corner's vertex and of its place in a picture, from 0; -1 if it has none.

    7/3/2 is a corner at vertex 7, at place 3; negative numbers count back from the last there is.
    """
    parts = text.split("/")
    vertex, place = int(parts[0]), int(parts[1] or 0) if len(parts) > 1 else 0
    return (vertex - 1 if vertex > 0 else vertices + vertex), (place - 1 if place >= 0 else places + place)


def _materials(data: bytes, beside: Beside) -> dict[str, Material]:
    """Materials of an MTL file: what their diffuse colour is, Kd, and the picture in its place, map_Kd."""
    found: dict[str, Material] = {}
    name = ""
    for key, words in _lines(data):
        if key == "newmtl":
            name = " ".join(words)
            found[name] = (NONE, None)
        elif key == "Kd" and len(words) >= 3:
            found[name] = (tuple(map(float, words[:3])), found.get(name, (NONE, None))[1])
        elif key == "map_Kd" and words:
            found[name] = (found.get(name, (NONE, None))[0], texture(beside.get(words[-1], ENDINGS)))
    return found
