"""PLY, in bytes or in words: polygons, with the colours of their corners."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from featherweight.io.mesh_files.triangles import MOST_FACES, NONE, Beside, Triangles, fans

TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"), **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"), **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"), **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"), **dict.fromkeys(("double", "float64"), "f8"),
}  # fmt: skip
LETTERS = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}  # of struct


class _Property(NamedTuple):
    name: str
    type: str
    length: str = ""  # type of the length of a list


def read(data: bytes, beside: Beside) -> list[Triangles]:
    """Elements in the order of the header; those after the faces are not read."""
    head, _, body = data.partition(b"end_header")
    lines = [line.split() for line in head.decode("ascii", "replace").splitlines()]
    order = next(line[1] for line in lines if line[:1] == ["format"])
    elements: list[tuple[str, int, list[_Property]]] = []
    for line in lines:
        if line[:1] == ["element"]:
            elements.append((line[1], int(line[2]), []))
        elif line[:2] == ["property", "list"]:
            elements[-1][2].append(_Property(line[4], TYPES[line[3]], TYPES[line[2]]))
        elif line[:1] == ["property"]:
            elements[-1][2].append(_Property(line[2], TYPES[line[1]]))
    if order == "ascii":
        stream: _Words | _Bytes = _Words(body)
    else:
        stream = _Bytes(body[body.index(b"\n") + 1 :], "<" if order == "binary_little_endian" else ">")
    vertex: dict[str, np.ndarray] = {}
    for name, count, properties in elements:
        if not 0 <= count <= 3 * MOST_FACES:
            raise ValueError(f"{count} of {name!r} are too many")
        if name == "vertex":
            vertex = stream.table(count, properties)
        elif name == "face":
            return [_faces(vertex, *stream.lists(count, properties))]
        else:
            stream.lists(count, properties)
    raise ValueError("there are no faces")


def _faces(vertex: dict[str, np.ndarray], sizes: np.ndarray, corners: np.ndarray) -> Triangles:
    faces = corners[fans(sizes)].astype(np.int64)
    colors: np.ndarray | tuple[float, ...] = NONE
    if {"red", "green", "blue"} <= vertex.keys():
        colors = np.stack([vertex[name] / 255.0 for name in ("red", "green", "blue")], axis=1)[faces].mean(axis=1)
    return Triangles.of(np.stack([vertex[axis] for axis in "xyz"], axis=1), faces, colors)


class _Words:
    """Values of a file of words."""

    def __init__(self, body: bytes) -> None:
        self._values = np.array(body.split(), dtype=float)
        self._at = 0

    def table(self, count: int, properties: list[_Property]) -> dict[str, np.ndarray]:
        """Columns of an element without lists."""
        rows = self._values[self._at : self._at + count * len(properties)].reshape(count, len(properties))
        self._at += rows.size
        return {one.name: rows[:, k] for k, one in enumerate(properties)}

    def lists(self, count: int, properties: list[_Property]) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the first list of each row, and all that is in them."""
        sizes, kept = [], []
        for _ in range(count):
            first = True
            for one in properties:
                if one.length:
                    size = int(self._values[self._at])
                    if first:
                        sizes.append(size)
                        kept.append(self._values[self._at + 1 : self._at + 1 + size])
                    first = False
                    self._at += size
                self._at += 1
        return np.array(sizes, dtype=int), np.concatenate(kept) if kept else np.empty(0)


class _Bytes:
    """Values of a file of bytes, least or most significant first."""

    def __init__(self, body: bytes, order: str) -> None:
        self._body, self._order, self._at = body, order, 0

    def table(self, count: int, properties: list[_Property]) -> dict[str, np.ndarray]:
        """Columns of an element without lists."""
        kind = np.dtype([(one.name, self._order + one.type) for one in properties])
        rows = np.frombuffer(self._body, kind, count, self._at)
        self._at += rows.nbytes
        return {one.name: rows[one.name].astype(float) for one in properties}

    def lists(self, count: int, properties: list[_Property]) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the first list of each row, and all that is in them."""
        if len(properties) == 1 and properties[0].length:
            triangle = np.dtype([("n", self._order + properties[0].length), ("i", self._order + properties[0].type, 3)])
            if count * triangle.itemsize <= len(self._body) - self._at:
                rows = np.frombuffer(self._body, triangle, count, self._at)
                if (rows["n"] == 3).all():  # as a rule
                    self._at += rows.nbytes
                    return np.full(count, 3), rows["i"].ravel()
        sizes, kept = [], []
        for _ in range(count):
            first = True
            for one in properties:
                size = self._take(one.length, 1)[0] if one.length else 1
                values = self._take(one.type, size)
                if one.length and first:
                    sizes.append(size)
                    kept.append(values)
                    first = False
        return np.array(sizes, dtype=int), np.array([value for values in kept for value in values])

    def _take(self, kind: str, count: int) -> tuple[int, ...]:
        form = f"{self._order}{count}{LETTERS[kind]}"
        values = struct.unpack_from(form, self._body, self._at)
        self._at += struct.calcsize(form)
        return values
