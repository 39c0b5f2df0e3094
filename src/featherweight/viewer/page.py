"""A trajectory as one HTML file that needs nothing else: no server, no network, no viewer's library.

The page is made of the files in `assets/`, with its own few lines of WebGL. What it shows is packed into it.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.contact import Heightfield
from featherweight.endings import PAGE, check_ending
from featherweight.simulation import Trajectory
from featherweight.viewer.layout import Actor, Layout, layout_of
from featherweight.viewer.scenery import LAMP
from featherweight.viewer.stage import ARROW, COM, DOT, FORCE
from featherweight.visuals import Mesh, Segments, ball, camera_axes, creased, cylinder, several
from featherweight.visuals.packed import PackedArrays, unpacker
from featherweight.visuals.solids import cone
from featherweight.visuals.terrain import GROUND, Terrain, round_length

RATE = 60.0  # frames a second
FINEST = 5.0  # times as many in slow motion, at most
ASSETS = Path(__file__).with_name("assets")
SCRIPTS = ("scene.js", "painter.js", "camera.js", "player.js")
REACH = 2.5  # from the middle to where the ground has faded away, in sizes of what is seen
BEHIND = 0.15  # robots' sizes from a mechanism in a plane to the wall behind it


def export(
    trajectory: Trajectory | Sequence[Trajectory],
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    rate: float = RATE,
    speed: float = 1.0,
    follow: bool | None = None,
    trails: Sequence[str] = (),
    segments: Sequence[Sequence[Segments]] = (),
) -> None:
    """Write a page with a moving robot, or several side by side, that opens in any browser without a network.

    Args:
        trajectory: what to show; of a batch, the first robot.
        path: the HTML file, a name that ends in .html.
        labels: what to write above each.
        rate: frames a second.
        speed: at which the page opens; 0.3 is slow motion.
        follow: does the camera go along with the robot? If not given, with floating robots that travel.
        trails: names of contact points, links or frames whose ways are drawn; where a contact point presses on the
            ground, in another colour.
        segments: for each trajectory, lines to draw for a while.
    """
    check_ending("path", path, PAGE)
    if not 0 < speed < np.inf:
        raise ValueError(f"speed: expected a number > 0, got {speed!r}")
    runs, labels = several(trajectory, labels)
    frames = rate * min(max(1.0, 1.0 / speed), FINEST)
    layout = layout_of(runs, labels, frames, follow=follow, trails=trails)
    numbers = PackedArrays()
    scene = _scene(layout, numbers) | {"speed": speed}
    if segments and len(segments) != len(runs):
        raise ValueError(f"segments: expected {len(runs)} lists, one for each trajectory, got {len(segments)}")
    for robot, actor, lines in zip(scene["robots"], layout.actors, segments or [()] * len(runs), strict=True):
        robot["segments"] = [_segments(one, actor.offset, numbers) for one in lines]
    packed = numbers.packed(scene)
    parts = {
        "TITLE": html.escape(layout.title),
        "STYLE": (ASSETS / "page.css").read_text("utf-8"),
        '"DATA"': f'"{packed}"',
        "SCRIPT": unpacker() + "".join((ASSETS / name).read_text("utf-8") for name in SCRIPTS),
    }
    page = (ASSETS / "page.html").read_text("utf-8")
    cut = re.split("(" + "|".join(parts) + ")", page)
    Path(path).write_text("".join(parts.get(piece, piece) for piece in cut), encoding="utf-8")


def _scene(layout: Layout, numbers: PackedArrays) -> dict[str, Any]:
    size, wide = layout.size, float(np.linalg.norm(np.ptp(layout.corners, axis=0)))
    pieces = [(ground, np.zeros(3)) for ground in layout.ground]
    pieces += [(ground, actor.offset) for actor in layout.actors for ground in actor.ground]
    boards = [_board(ground, offset, wide) for ground, offset in pieces if ground.plane is not None]
    solids: dict[bool, list[dict[str, Any]]] = {False: [], True: []}  # is it ground that things stand on?
    for piece, offset in pieces:
        if piece.plane is None:
            mesh = creased(piece.mesh).moved(np.eye(3), offset)
            rolling = piece.kind is Heightfield
            solids[rolling].append(_solid([(mesh, _by_height(mesh, piece.color) if rolling else piece.color)], numbers))
    to_bottom = np.array([0.0, 0.0, 0.5])
    signs = {
        "shaft": (cylinder(1.0, 1.0).moved(np.eye(3), to_bottom), FORCE),
        "head": (cone(1.0, 1.0).moved(np.eye(3), to_bottom), FORCE),
        "ball": (ball(DOT * size), COM),
        "round": (ball(1.0), COM),
        "disc": (cylinder(DOT * size, 0.002 * size), COM),
    }
    return {
        "start": layout.start,
        "end": layout.end,
        "direction": layout.direction.tolist(),
        "corners": numbers.add(layout.corners),
        "follows": layout.follows,
        "times": numbers.add(layout.times),
        "path": numbers.add(layout.path),
        "lamp": LAMP,
        "arrow": ARROW * size,
        "boards": boards if pieces else _wall(layout, wide),
        "fields": solids[True],
        "things": solids[False],
        "signs": {name: _solid([(mesh, np.array(color) / 255)], numbers) for name, (mesh, color) in signs.items()},
        "robots": [_robot(actor, size, numbers) for actor in layout.actors],
    }


def _board(ground: Terrain, offset: np.ndarray, wide: float) -> dict[str, Any]:
    """A plane of tiles, which the page makes itself."""
    rotation, position = ground.plane  # type: ignore[misc]
    cell = round_length(wide / 10)
    if rotation[2, 2] == 1:  # tiles at round numbers
        position = np.round(position / cell) * cell * [1, 1, 0] + position * [0, 0, 1]
    return {
        "rotation": rotation.T.ravel().tolist(),
        "position": (position + offset).tolist(),
        "cell": cell,
        "tiles": int(np.ceil(REACH * wide / cell)),
        "color": list(ground.color),
        "endless": bool(rotation[2, 2] == 1),
        "shadow": 1.0,
    }


def _by_height(mesh: Mesh, color: Sequence[float]) -> np.ndarray:
    """A colour for each vertex (n, 3), darker in the valleys."""
    z = mesh.vertices[:, 2]
    share = (z - z.min()) / max(float(np.ptp(z)), 1e-9)
    return np.asarray((0.72 + 0.28 * share)[:, None] * np.array(color))


def _wall(layout: Layout, wide: float) -> list[dict[str, Any]]:
    """Behind mechanisms that move in a plane and stand on nothing: it shows how large they are. None for others."""
    if abs(layout.direction[0] * layout.direction[1]) > 1e-9:
        return []
    x, _, z = camera_axes(np.round(layout.direction * [1.0, 1.0, 0.0])).T
    rotation = np.column_stack([x, np.cross(z, x), z])
    place = z * (float((layout.corners @ z).min()) - BEHIND * layout.size)
    tones = Terrain(Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)), GROUND, (rotation, place))
    return [_board(tones, np.zeros(3), wide) | {"color": [0.95, 0.957, 0.965], "shadow": 0.35, "endless": True}]


def _robot(actor: Actor, size: float, numbers: PackedArrays) -> dict[str, Any]:
    """Parts, and where their bodies are: a frame's pose is three columns of a rotation and a place."""
    motion, bodies = actor.motion, sorted({shape.body for shape in actor.shapes})
    position = motion.position[:, bodies] + actor.offset
    poses = np.concatenate([np.swapaxes(motion.rotation[:, bodies], -1, -2), position[:, :, None]], axis=2)
    arrows = np.stack([motion.points, actor.tips(size)], axis=2) + actor.offset
    parts = [
        _solid([(creased(shape.mesh), shape.color) for shape in actor.shapes if shape.body == body], numbers)
        | {"body": k}
        for k, body in enumerate(bodies)
    ]
    trails = [
        {"places": numbers.add(trail.places + actor.offset), "pressed": numbers.add(trail.pressed)}
        for trail in actor.trails
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
        "trails": trails,
    }


def _segments(lines: Segments, offset: np.ndarray, numbers: PackedArrays) -> dict[str, Any]:
    """Ends and times of lines, and a rod of length 1 to draw each with."""
    rod = cylinder(0.5 * lines.width, 1.0, 6).moved(np.eye(3), np.array([0.0, 0.0, 0.5]))
    return {
        "ends": numbers.add(lines.ends + offset),
        "begin": numbers.add(lines.begin),
        "end": numbers.add(lines.end),
        "rod": _solid([(rod, lines.color)], numbers),
    }


def _solid(pieces: Sequence[tuple[Mesh, Any]], numbers: PackedArrays) -> dict[str, Any]:
    """Triangles, each piece of one colour (3,) or with one for each vertex (n, 3)."""
    mesh = Mesh.joined([piece for piece, _ in pieces])
    colors = [np.broadcast_to(color, piece.vertices.shape) for piece, color in pieces]
    return {
        "vertices": numbers.add(mesh.vertices),
        "normals": numbers.add(mesh.normals()),
        "colors": numbers.add(np.concatenate(colors)),
        "faces": numbers.add(mesh.faces, "u4"),
        "lit": True,
    }
