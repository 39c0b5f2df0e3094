"""glTF 2.0 and GLB: a scene of meshes with base colours.

Its colours are linear, those of a screen are not: colour on a screen = linear colour ** (1 / 2.2).
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from featherweight.io.mesh_files.textures import ENDINGS, colors_at, texture
from featherweight.io.mesh_files.triangles import MOST_FACES, NONE, Beside, Triangles, fans, strip

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "i2", 5123: "u2", 5125: "u4", 5126: "f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
GAMMA = 2.2
STRIP, FAN = 5, 6  # modes of primitives; 4, and if none is given: triangles
MOST_NODES = 100_000


def read(data: bytes, beside: Beside) -> list[Triangles]:
    """What the first scene shows."""
    chunk = b""
    if data[:4] == b"glTF":
        length = struct.unpack_from("<I", data, 12)[0]
        chunk, data = data[28 + length :], data[20 : 20 + length]
    return list(_Document(json.loads(data), chunk, beside).shown())


class _Document:
    """Objects by their numbers, and what they mean."""

    def __init__(self, document: dict[str, Any], chunk: bytes, beside: Beside) -> None:
        self._document, self._chunk, self._beside = document, chunk, beside
        self._buffers: dict[int, bytes] = {}

    def shown(self) -> Iterator[Triangles]:
        """Everything there is to see [m]."""
        nodes = self._list("nodes")
        children = [child for node in nodes for child in node.get("children", ())]
        if len(nodes) > MOST_NODES or len(children) != len(set(children)):
            raise ValueError("too many nodes, or one with several parents")
        scenes = self._list("scenes")
        tops = scenes[self._document.get("scene", 0)].get("nodes", []) if scenes else range(len(nodes))
        stack = [(int(top), np.eye(4)) for top in tops]
        faces = seen = 0
        while stack:
            number, above = stack.pop()
            seen += 1
            if seen > len(nodes) or faces > MOST_FACES:
                raise ValueError("a circle of nodes, or too many faces")
            node = nodes[number]
            matrix = above @ _placement(node)
            stack += [(int(child), matrix) for child in node.get("children", ())]
            if "mesh" not in node:
                continue
            for primitive in self._list("meshes")[node["mesh"]]["primitives"]:
                part = self._primitive(primitive)
                faces += len(part.faces)
                yield part.moved(matrix)

    def _list(self, name: str) -> list[dict[str, Any]]:
        return self._document.get(name, [])

    def _primitive(self, primitive: dict[str, Any]) -> Triangles:
        attributes, mode = primitive["attributes"], primitive.get("mode", 4)
        vertices = self._values(attributes["POSITION"])
        indices = self._values(primitive["indices"])[:, 0] if "indices" in primitive else np.arange(len(vertices))
        if mode not in (4, STRIP, FAN):  # points and lines
            return Triangles.of(vertices, np.empty((0, 3)))
        if mode == STRIP:
            faces = indices[strip(len(indices))]
        else:
            sizes = np.array([len(indices)]) if mode == FAN else np.full(len(indices) // 3, 3)
            faces = indices[fans(sizes)]
        return Triangles.of(vertices, faces, self._colors(primitive, faces.astype(int)))

    def _colors(self, primitive: dict[str, Any], faces: np.ndarray) -> np.ndarray | tuple[float, ...]:
        """Those of faces: base colour, times its picture's, times those of the corners."""
        attributes = primitive["attributes"]
        if "material" not in primitive and "COLOR_0" not in attributes:
            return NONE
        number = primitive.get("material")
        material = {} if number is None else self._list("materials")[number]
        base = material.get("pbrMetallicRoughness", {})
        color = np.tile(np.array(base.get("baseColorFactor", [1.0] * 4)[:3]) ** (1 / GAMMA), (len(faces), 1))
        image = self._picture(base["baseColorTexture"]["index"]) if "baseColorTexture" in base else None
        if image is not None and "TEXCOORD_0" in attributes:
            places = self._values(attributes["TEXCOORD_0"])[faces]
            color *= colors_at(image, places * [1.0, -1.0] + [0.0, 1.0])  # glTF counts from the upper left corner
        if "COLOR_0" in attributes:
            color *= self._values(attributes["COLOR_0"])[faces, :3].mean(axis=1) ** (1 / GAMMA)
        return color

    def _picture(self, number: int) -> np.ndarray | None:
        image = self._list("images")[self._list("textures")[number]["source"]]
        if "bufferView" in image:
            view = self._list("bufferViews")[image["bufferView"]]
            start = view.get("byteOffset", 0)
            return texture(self._buffer(view["buffer"])[start : start + view["byteLength"]])
        return texture(self._fetched(image.get("uri", ""), ENDINGS))

    def _values(self, number: int) -> np.ndarray:
        """The rows (n, width) of an accessor."""
        accessor = self._list("accessors")[number]
        count, width = accessor["count"], WIDTHS[accessor["type"]]
        if "bufferView" not in accessor or not 0 <= count <= 3 * MOST_FACES:
            raise ValueError("an accessor without numbers, or with too many")
        view = self._list("bufferViews")[accessor["bufferView"]]
        kind = np.dtype(f"<{COMPONENTS[accessor['componentType']]}")
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        strides = (view.get("byteStride", width * kind.itemsize), kind.itemsize)
        rows: np.ndarray = np.ndarray((count, width), kind, self._buffer(view["buffer"]), start, strides)
        return rows / np.iinfo(kind).max if accessor.get("normalized") else rows

    def _buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            uri = self._list("buffers")[number].get("uri")
            self._buffers[number] = self._chunk if uri is None else self._fetched(uri, (".bin",)) or b""
        return self._buffers[number]

    def _fetched(self, uri: str, endings: tuple[str, ...]) -> bytes | None:
        """What stands in an address itself, or in a file beside."""
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        return self._beside.get(uri, endings)


def _placement(node: dict[str, Any]) -> np.ndarray:
    """The map (4, 4) of a node: a matrix, column by column, or translation, rotation x y z w and scale."""
    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    rotation = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    matrix = np.eye(4)
    matrix[:3, :3] = rotation * np.array(node.get("scale", (1.0, 1.0, 1.0)))
    matrix[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return matrix
