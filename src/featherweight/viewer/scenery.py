"""What is around a robot on viser's stage: the ground and the light.

Made to be drawn without a GPU as well, where every triangle and every shaded pixel takes its time. viser lays a sheet
for a background picture over the whole window, one of its units before the camera, and draws it even if there is none.
So a robot is `UNITS` of these units large, and the camera sees nothing that is nearer than the sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.viewer.unlit import unlit
from featherweight.visuals import Mesh, creased
from featherweight.visuals.terrain import Terrain, round_length

UNITS = 20.0  # of viser, in a robot's size
TILES = 16  # along an edge of the ground, or some fewer
SHADES = (1.0, 0.93)  # of the two kinds of tiles
LAMP = (2.0, -3.0, 6.0)  # where most light comes from


def add_ground(scene: Any, name: str, pieces: Sequence[Terrain], units: float) -> list[tuple[Any, float]]:
    """The ground under a name in viser's tree, `units` for each metre; planes are tiled and have no shading.

    Returns:
        The handles of level planes, and after how many metres their pattern repeats.
    """
    boards = []
    for k, ground in enumerate(pieces):
        if ground.plane is None:
            add_mesh(scene, f"{name}/{k}", enlarged(creased(ground.mesh), units), ground.color, "double")
        else:
            board, colors = chessboard(ground)
            handle = scene.add_glb(f"{name}/{k}", unlit(enlarged(board, units), colors))
            if ground.plane[0][2, 2] == 1:
                boards.append((handle, 2 * _cell(ground.size)))
    return boards


def add_light(scene: Any) -> None:
    """Light from all sides, most from above. Without a GPU a lamp takes long, and shadows longer still."""
    scene.configure_environment_map(None)
    scene.configure_default_lights(False)
    scene.add_light_hemisphere(
        "/light", sky_color=(255, 255, 255), ground_color=(70, 75, 85), intensity=3.2, position=LAMP
    )


def add_mesh(scene: Any, name: str, mesh: Mesh, color: Sequence[float], side: str = "front") -> Any:
    """Triangles of one colour, lit."""
    rgb = tuple(round(255 * x) for x in color)
    return scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=rgb, side=side)


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
