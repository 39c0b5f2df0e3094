"""Triangles that no light falls on, as a binary glTF file: viser has no other way to draw a plain colour."""

from __future__ import annotations

import json
import struct

import numpy as np

from featherweight.visuals import Mesh

FLOAT, INTEGER = 5126, 5125  # glTF's numbers for float32 and uint32


def unlit(mesh: Mesh, colors: np.ndarray) -> bytes:
    """A mesh with a colour at each vertex (n, 3), red, green and blue from 0 to 1; seen from both sides."""
    vertices = np.asarray(mesh.vertices, "<f4")
    linear = np.asarray(np.asarray(colors) ** 2.2, "<f4")  # glTF has colours as light, not as screens have them
    faces = np.asarray(mesh.faces, "<u4")
    parts, starts = (vertices, linear, faces), (0, vertices.nbytes, vertices.nbytes + linear.nbytes)
    box = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
    document = {
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "COLOR_0": 1}, "indices": 2, "material": 0}]}],
        "materials": [{"doubleSided": True, "extensions": {"KHR_materials_unlit": {}}}],
        "accessors": [
            {"bufferView": 0, "componentType": FLOAT, "count": len(vertices), "type": "VEC3", **box},
            {"bufferView": 1, "componentType": FLOAT, "count": len(linear), "type": "VEC3"},
            {"bufferView": 2, "componentType": INTEGER, "count": faces.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": part.nbytes}
            for start, part in zip(starts, parts, strict=True)
        ],
        "buffers": [{"byteLength": sum(part.nbytes for part in parts)}],
    }
    text = json.dumps(document).encode()
    chunks = ((b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", b"".join(part.tobytes() for part in parts)))
    body = b"".join(struct.pack("<I4s", len(data), kind) + data for kind, data in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body
