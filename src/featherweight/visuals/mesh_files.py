"""Triangles of mesh files, which may be anybody's: of a few kinds, of bounded size, reading nothing else.

A file is read whole before trimesh sees its bytes, so that its sizes are known. What it may become is bounded as well:
scenes that show a part again and again are counted before they are unfolded.
"""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable

import numpy as np

from featherweight.extras import needed
from featherweight.io.xml import Element, parse
from featherweight.visuals.solids import Mesh

MOST_BYTES = 64_000_000  # of a file: a binary STL of 200 000 triangles has 10 MB
MOST_FACES = 200_000  # that are drawn
MOST_LINE = 10_000  # bytes of a line of text
FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
POLYGONS = ("triangles", "polylist", "polygons", "trifans", "tristrips")
INSTANCES = ("instance_geometry", "instance_node", "instance_controller")


def triangles_of(path: str) -> Mesh | None:
    """The triangles of a mesh file; None if it is not one of `KINDS`, too large, or not to be understood."""
    trimesh = needed("trimesh", "viewer", "meshes need")
    kind = os.path.splitext(path)[1].lower().removeprefix(".")
    if kind not in KINDS:
        return None
    try:
        data = _bytes(path)
        KINDS[kind](data)
        beside = _Beside(path) if kind == "gltf" else _Nothing()
        found = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", resolver=beside)
        vertices, faces = np.array(found.vertices, dtype=float), np.array(found.faces, dtype=int)
    except Exception:  # a reader of many formats, with as many ways to fail
        return None
    if not 0 < len(faces) <= MOST_FACES or not np.isfinite(vertices).all():
        return None
    return Mesh(vertices, faces)


def _bytes(path: str) -> bytes:
    """Of an ordinary file that is not too large; pipes and devices are not waited for."""
    with os.fdopen(os.open(path, FLAGS), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise ValueError(f"{path}: expected an ordinary file of at most {MOST_BYTES} bytes")
        return file.read(status.st_size)


class _Nothing:
    """Whatever else a mesh file names: colours and pictures, which are not drawn."""

    def get(self, name: str) -> bytes:
        raise FileNotFoundError(name)

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)


class _Beside(_Nothing):
    """The buffers of a glTF file, in its own folder or below."""

    def __init__(self, path: str) -> None:
        self._folder = os.path.realpath(os.path.dirname(path))

    def get(self, name: str) -> bytes:
        place = os.path.realpath(os.path.join(self._folder, name))
        if os.path.splitext(place)[1].lower() != ".bin" or not place.startswith(os.path.join(self._folder, "")):
            raise FileNotFoundError(name)
        return _bytes(place)


# ---- what a file may become


def _binary(data: bytes) -> None:
    """Its length bounds what is in it."""


def _lines(data: bytes) -> None:
    """A polygon becomes as many triangles as it has corners, each with objects of Python on the way."""
    if max(map(len, data.split(b"\n"))) > MOST_LINE or data.count(b"\nf") > MOST_FACES:
        raise ValueError("very long lines, or too many faces")


def _collada(data: bytes) -> None:
    """No archive, no document type; parts that are shown again and again are few."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("an archive")
    root = parse(data, None)
    named: dict[str, Element] = {}
    stack = [root]
    while stack:
        element = stack.pop()
        named[element.attributes.get("id", "")] = element
        stack += element.children
    known: dict[str, float] = {}

    def faces(element: Element) -> float:
        """Of all that is below an element, and of what that refers to; infinite in a circle."""
        total = float(element.attributes.get("count", 0)) if element.tag in POLYGONS else 0.0
        if element.tag in INSTANCES:
            name = element.attributes.get("url", "").removeprefix("#")
            if name not in known and name in named:
                known[name] = float("inf")
                known[name] = faces(named[name])
            total += known.get(name, 0.0)
        return total + sum(map(faces, element.children))

    if not sum(faces(e) for e in root.all("library_visual_scenes")) <= MOST_FACES:
        raise ValueError("too many faces")


def _gltf(data: bytes) -> None:
    """A tree of nodes, as the format has it, whose meshes together are no more than can be drawn."""
    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack_from("<I", data, 12)[0]]
    document = json.loads(data)
    nodes, accessors = document.get("nodes", []), document.get("accessors", [])
    children = [child for node in nodes for child in node.get("children", ())]
    if len(children) != len(set(children)):
        raise ValueError("a node has several parents")
    corners = [
        accessors[part.get("indices", part["attributes"]["POSITION"])]["count"]
        for node in nodes
        if "mesh" in node
        for part in document["meshes"][node["mesh"]]["primitives"]
    ]
    if sum(corners) > 3 * MOST_FACES or max((a["count"] for a in accessors), default=0) > 3 * MOST_FACES:
        raise ValueError("too many faces")


KINDS: dict[str, Callable[[bytes], None]] = {
    "stl": _binary,
    "ply": lambda data: _lines(data) if b"format ascii" in data[:1000] else _binary(data),
    "obj": _lines,
    "dae": _collada,
    "glb": _gltf,
    "gltf": _gltf,
}
