"""What is around a robot on viser's stage: the ground and the light.

Made to be drawn without a GPU as well, where every triangle and every shaded pixel takes its time. viser lays a sheet
for a background picture over the whole window, one of its units before the camera, and draws it even if there is none.
So a robot is `UNITS` of these units large, and the camera sees nothing that is nearer than the sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.contact import Heightfield
from featherweight.viewer.unlit import unlit
from featherweight.visuals import Mesh, creased
from featherweight.visuals.terrain import Terrain, round_length

UNITS = 20.0  # of viser, in a robot's size
TILES = 16  # along an edge of the ground, or some fewer
BRIGHT, DARK = np.ones(3), np.array([0.25, 0.26, 0.28])  # what is left of the ground's colours by day and by night
SHADES = (1.0, 0.93)  # of the two kinds of tiles
LAMP = (2.0, -3.0, 6.0)  # where most light comes from


class Ground:
    """The ground under a name in viser's tree, `units` for each metre; planes are tiled and have no shading.

    `tile` is the edge of a tile of the largest plane [m], or None if there is none.
    """

    def __init__(self, scene: Any, name: str, pieces: Sequence[Terrain], units: float) -> None:
        self._units = units
        self._boards: list[tuple[Any, Terrain]] = []
        self._fields: list[tuple[Any, Terrain]] = []
        for k, ground in enumerate(pieces):
            if ground.plane is not None:
                self._boards.append((scene.add_glb(f"{name}/{k}", self._board(ground, BRIGHT)), ground))
                continue
            mesh = enlarged(creased(ground.mesh), units)
            handle = add_mesh(scene, f"{name}/{k}", mesh, ground.color, "double")
            if ground.kind is Heightfield:
                self._fields.append((handle, ground))
        self.tile = max((_cell(ground.size) for _, ground in self._boards), default=None)

    def show_dark(self, dark: bool) -> None:
        """As it is by night, or by day; not the things that stand on it."""
        tint = DARK if dark else BRIGHT
        for handle, ground in self._boards:
            handle.glb_data = self._board(ground, tint)
        for handle, ground in self._fields:
            handle.color = _rgb(tint * ground.color)

    def go_along(self, way: np.ndarray) -> None:
        """Stay around robots that are a way (3,) [m] from where they began, by whole tiles: it has no end."""
        for handle, ground in self._boards:
            if ground.plane[0][2, 2] == 1:  # type: ignore[index]
                repeat = 2 * _cell(ground.size)
                handle.position = self._units * repeat * np.round(way * [1.0, 1.0, 0.0] / repeat)

    def _board(self, ground: Terrain, tint: np.ndarray) -> bytes:
        board, colors = chessboard(ground)
        return unlit(enlarged(board, self._units), tint * colors)


def add_light(scene: Any) -> None:
    """Light from all sides, most from above. Without a GPU a lamp takes long, and shadows longer still."""
    scene.configure_environment_map(None)
    scene.configure_default_lights(False)
    scene.add_light_hemisphere(
        "/light", sky_color=(255, 255, 255), ground_color=(70, 75, 85), intensity=3.2, position=LAMP
    )


def add_mesh(scene: Any, name: str, mesh: Mesh, color: Sequence[float], side: str = "front") -> Any:
    """Triangles of one colour, lit."""
    return scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=_rgb(color), side=side)


def _rgb(color: Sequence[float] | np.ndarray) -> tuple[int, ...]:
    return tuple(round(255 * float(x)) for x in color)


def enlarged(mesh: Mesh, units: float) -> Mesh:
    """From metres to viser's units."""
    return Mesh(units * mesh.vertices, mesh.faces)


def chessboard(ground: Terrain) -> tuple[Mesh, np.ndarray]:
    """A plane as tiles [m], and the colour of each vertex (n, 3)."""
    fields = _tiles(ground.size)
    colors = [
        np.tile(shade * np.array(ground.color), (len(f.vertices), 1)) for shade, f in zip(SHADES, fields, strict=True)
    ]
    return Mesh.joined(list(fields)).moved(*ground.plane), np.concatenate(colors)  # type: ignore[misc]


def _cell(size: float) -> float:
    return round_length(size / TILES)


def _tiles(size: float) -> tuple[Mesh, Mesh]:
    """A square as a chessboard: its white and its black fields."""
    cell = _cell(size)
    n = int(np.ceil(size / 2 / cell))
    fields: tuple[list[Mesh], list[Mesh]] = ([], [])
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    for i in range(-n, n):
        for j in range(-n, n):
            square = Mesh(corners * cell, np.array([(0, 1, 2), (0, 2, 3)]))
            fields[(i + j) % 2].append(square.moved(np.eye(3), np.array([i, j, 0]) * cell))
    return Mesh.joined(fields[0]), Mesh.joined(fields[1])
