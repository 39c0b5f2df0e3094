"""glTF 2.0, as one binary file (.glb) with animation: for Blender, three.js, model viewers, slides.

Each body is a node with a mesh; its translation and rotation are sampled at the frames and interpolated linearly
between them. A root node turns z up, as robots have it, to y up, as glTF has it. The format: Khronos, glTF 2.0
Specification, sections 3 and 4.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.texts import printable
from featherweight.visuals import DrawnShape, Frames, Mesh, creased
from featherweight.visuals.rotations import quaternions
from featherweight.visuals.shapes import Color
from featherweight.visuals.terrain import Terrain

FLOAT, UNSIGNED = 5126, 5125  # component types
VERTICES, INDICES = 34962, 34963  # targets of buffer views
Z_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # x y z w: turns z into y
STILL = 1e-9  # a body that moves less [m, and of a quaternion] needs no animation


@dataclass(frozen=True, eq=False)
class Moving:
    """A robot to be written: what it looks like, its frames, and how far it stands aside [m]."""

    name: str
    shapes: Sequence[DrawnShape]
    frames: Frames
    offset: np.ndarray


def glb(robots: Sequence[Moving], ground: Sequence[tuple[Terrain, np.ndarray]]) -> bytes:
    """The bytes of a file with these robots, moving, and pieces of ground with their offsets [m], still."""
    scene = _Scene()
    top = [scene.node("ground", [(piece.mesh, piece.color)], translation=offset.tolist()) for piece, offset in ground]
    top += [_robot(scene, robot) for robot in robots]
    root = scene.add("nodes", {"name": "world", "rotation": Z_UP, "children": top})
    scene.parts |= {"scenes": [{"nodes": [root]}], "scene": 0}
    return scene.packed()


def _robot(scene: _Scene, robot: Moving) -> int:
    """A node with a child for each body that is to be seen."""
    frames, nodes = robot.frames, []
    clock: int | None = None
    for body in sorted({shape.body for shape in robot.shapes}):
        place, turn = frames.position[:, body], _smooth(quaternions(frames.rotation[:, body]))
        solids = [(shape.mesh, shape.color) for shape in robot.shapes if shape.body == body]
        name = frames.model.names[body]
        node = scene.node(name, solids, translation=place[0].tolist(), rotation=turn[0].tolist())
        nodes.append(node)
        for path, values, kind in (("translation", place, "VEC3"), ("rotation", turn, "VEC4")):
            if np.ptp(values, axis=0).max() > STILL:
                if clock is None:
                    clock = scene.accessor(frames.t - frames.t[0], "SCALAR", bounds=True)
                scene.channel(node, path, clock, scene.accessor(values, kind))
    children = {"children": nodes} if nodes else {}
    return scene.add("nodes", {"name": printable(robot.name), "translation": robot.offset.tolist(), **children})


def _smooth(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations, each quaternion on the side of the one before: between them players go the short way."""
    dots = np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1])
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0))
    return quaternions * np.concatenate([[1.0], signs])[:, None]


class _Scene:
    """The parts of a file, filled one by one; each is known by its number among its kind."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = {"asset": {"version": "2.0", "generator": "featherweight"}}
        self._data: list[bytes] = []
        self._size = 0
        self._materials: dict[Color, int] = {}

    def add(self, kind: str, part: dict[str, Any]) -> int:
        """The number of a part."""
        several = self.parts.setdefault(kind, [])
        several.append(part)
        return len(several) - 1

    def accessor(self, values: np.ndarray, kind: str, *, bounds: bool = False, target: int | None = None) -> int:
        """An array in the file: indices as they are, all others as floats."""
        data = np.ascontiguousarray(values, "<u4" if target == INDICES else "<f4")
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self._size, "byteLength": data.nbytes}
        self._data.append(data.tobytes())
        self._size += data.nbytes
        if target is not None:
            view["target"] = target
        part: dict[str, Any] = {
            "bufferView": self.add("bufferViews", view),
            "componentType": UNSIGNED if target == INDICES else FLOAT,
            "count": len(data),
            "type": kind,
        }
        if bounds:
            rows = data.reshape(len(data), -1)
            part |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.add("accessors", part)

    def node(self, name: str, solids: Sequence[tuple[Mesh, Color]], **place: list[float]) -> int:
        """A node with a mesh of several colours."""
        primitives = [self._primitive(creased(mesh), color) for mesh, color in solids]
        mesh = self.add("meshes", {"name": printable(name), "primitives": primitives})
        return self.add("nodes", {"name": printable(name), "mesh": mesh, **place})

    def channel(self, node: int, path: str, clock: int, values: int) -> None:
        """Move a node: at the times of one array it has the values of the other."""
        (animation,) = self.parts.setdefault("animations", [{"name": "run", "samplers": [], "channels": []}])
        animation["samplers"].append({"input": clock, "interpolation": "LINEAR", "output": values})
        target = {"node": node, "path": path}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def _primitive(self, mesh: Mesh, color: Color) -> dict[str, Any]:
        normals = mesh.normals()
        normals[np.linalg.norm(normals, axis=1) < 0.5] = (0.0, 0.0, 1.0)  # of vertices without an area around them
        attributes = {
            "POSITION": self.accessor(mesh.vertices, "VEC3", bounds=True, target=VERTICES),
            "NORMAL": self.accessor(normals, "VEC3", target=VERTICES),
        }
        indices = self.accessor(mesh.faces.reshape(-1), "SCALAR", target=INDICES)
        return {"attributes": attributes, "indices": indices, "material": self._material(color)}

    def _material(self, color: Color) -> int:
        """Matt, seen from both sides; colours are linear in the file."""
        if color not in self._materials:
            metal = {"baseColorFactor": [*map(_linear, color[:3]), 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
            self._materials[color] = self.add("materials", {"pbrMetallicRoughness": metal, "doubleSided": True})
        return self._materials[color]

    def packed(self) -> bytes:
        """Header, JSON, numbers: chunks of whole words."""
        parts = self.parts | {"buffers": [{"byteLength": self._size}]}
        text = json.dumps(parts, separators=(",", ":")).encode()
        chunks = b""
        for kind, data, fill in ((b"JSON", text, b" "), (b"BIN\0", b"".join(self._data), b"\0")):
            data += fill * (-len(data) % 4)
            chunks += struct.pack("<I4s", len(data), kind) + data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _linear(channel: float) -> float:
    """A channel of sRGB as the light it stands for (IEC 61966-2-1)."""
    return float(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)
