"""A trajectory as one HTML file that needs nothing else: no server, no network, no viewer's library.

The page is `page.html`, with its own few lines of WebGL. What it shows is packed into it as base64 of gzip of
the head's length (4 bytes, little-endian), the head as JSON, and numbers of 4 bytes: wherever an array belongs in the
head, it says at which byte after the head how many of which kind begin.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.endings import PAGE, check_ending
from featherweight.simulation import Trajectory
from featherweight.viewer.layout import Actor, Layout, layout_of
from featherweight.viewer.scenery import LAMP, chessboard
from featherweight.viewer.stage import ARROW, COM, DOT, FORCE
from featherweight.visuals import Mesh, ball, creased, cylinder
from featherweight.visuals.solids import cone

RATE = 60.0  # frames a second
BACK = 1.85  # how much further away its camera is than viser's, which sees a wider angle


def export(
    trajectory: Trajectory | Sequence[Trajectory],
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    rate: float = RATE,
) -> None:
    """Write a page with a moving robot, or several side by side, that opens in any browser without a network.

    Args:
        trajectory: what to show; of a batch, the first robot.
        path: the HTML file, a name that ends in .html.
        labels: what to write above each.
        rate: frames a second.
    """
    check_ending("path", path, PAGE)
    several = [trajectory] if isinstance(trajectory, Trajectory) else list(trajectory)
    layout = layout_of(several, labels, rate)
    numbers = PackedArrays()
    packed = numbers.packed(_scene(layout, numbers))
    page = Path(__file__).with_suffix(".html").read_text("utf-8")
    page = page.replace("TITLE", html.escape(layout.title), 1).replace('"DATA"', f'"{packed}"', 1)
    Path(path).write_text(page, encoding="utf-8")


class PackedArrays:
    """Arrays one after the other, and what the head says of each."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: Any, kind: str = "f4") -> dict[str, Any]:
        """Where an array went."""
        data = np.ascontiguousarray(array, f"<{kind}")
        place = {"at": self._size, "count": data.size, "kind": kind}
        self._parts.append(data.tobytes())
        self._size += data.nbytes
        return place

    def packed(self, head: dict[str, Any]) -> str:
        """Head and arrays as one text."""
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 4)
        data = struct.pack("<I", len(text)) + text + b"".join(self._parts)
        return base64.b64encode(gzip.compress(data, compresslevel=6)).decode()  # 9 takes up to ten times as long


def _scene(layout: Layout, numbers: PackedArrays) -> dict[str, Any]:
    size, offsets = layout.size, [actor.offset for actor in layout.actors]
    pieces = [(ground, np.zeros(3)) for ground in layout.ground]
    pieces += [(g, offset) for actor, offset in zip(layout.actors, offsets, strict=True) for g in actor.ground]
    ground = []
    for piece, offset in pieces:
        mesh, colors = (creased(piece.mesh), piece.color) if piece.plane is None else chessboard(piece)
        ground.append(_solid(mesh.moved(np.eye(3), offset), colors, numbers, lit=piece.plane is None))
    to_bottom = np.array([0.0, 0.0, 0.5])
    signs = {
        "shaft": (cylinder(1.0, 1.0).moved(np.eye(3), to_bottom), FORCE),
        "head": (cone(1.0, 1.0).moved(np.eye(3), to_bottom), FORCE),
        "ball": (ball(DOT * size), COM),
        "disc": (cylinder(DOT * size, 0.002 * size), COM),
    }
    return {
        "duration": layout.duration,
        "camera": (layout.look_at + BACK * (layout.camera - layout.look_at)).tolist(),
        "look_at": layout.look_at.tolist(),
        "lamp": LAMP,
        "arrow": ARROW * size,
        "ground": ground,
        "signs": {name: _solid(mesh, np.array(color) / 255, numbers) for name, (mesh, color) in signs.items()},
        "robots": [_robot(actor, size, numbers) for actor in layout.actors],
    }


def _robot(actor: Actor, size: float, numbers: PackedArrays) -> dict[str, Any]:
    """Parts, and where their bodies are: a frame's pose is three columns of a rotation and a place."""
    motion, bodies = actor.motion, sorted({shape.body for shape in actor.shapes})
    position = motion.position[:, bodies] + actor.offset
    poses = np.concatenate([np.swapaxes(motion.rotation[:, bodies], -1, -2), position[:, :, None]], axis=2)
    arrows = np.stack([motion.points, actor.tips(size)], axis=2) + actor.offset
    parts = [
        _solid(creased(shape.mesh), shape.color, numbers) | {"body": bodies.index(shape.body)} for shape in actor.shapes
    ]
    return {
        "label": actor.label,
        "label_place": (actor.label_place + actor.offset).tolist(),
        "t": numbers.add(motion.t),
        "parts": parts,
        "poses": numbers.add(poses),
        "arrows": numbers.add(arrows),
        "com": numbers.add(motion.com + actor.offset),
        "below": numbers.add(actor.below() + actor.offset),
    }


def _solid(mesh: Mesh, color: Any, numbers: PackedArrays, *, lit: bool = True) -> dict[str, Any]:
    """Triangles with a colour for all vertices (3,) or one for each (n, 3)."""
    return {
        "vertices": numbers.add(mesh.vertices),
        "normals": numbers.add(mesh.normals()),
        "colors": numbers.add(np.broadcast_to(color, mesh.vertices.shape)),
        "faces": numbers.add(mesh.faces, "u4"),
        "lit": lit,
    }
