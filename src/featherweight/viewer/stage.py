"""A robot on viser's stage: meshes that move with its bodies, forces as arrows, the centre of mass, the ground."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.contact import Plane, Surface
from featherweight.looks import Mesh, Motion, Shape, ball, cylinder, terrain_of

FORCE, COM = (214, 39, 40), (240, 196, 25)  # colours
LONGEST = 1.0  # arrow, in robots' sizes
FAINT = 0.004  # arrows below this share of the robot's size are not drawn


class Stage:
    """One robot under a name in viser's tree, somewhere beside others."""

    def __init__(
        self,
        scene: Any,
        name: str,
        motion: Motion,
        shapes: Sequence[Shape],
        ground: Sequence[Surface],
        size: float,
        offset: np.ndarray,
    ) -> None:
        self._motion, self._size, self._forces_wanted = motion, size, True
        self._floor = next((surface for surface in ground if isinstance(surface, Plane)), None)
        scene.add_frame(name, show_axes=False, position=offset)
        self._bodies = {
            body: scene.add_frame(f"{name}/bodies/{body}", show_axes=False)
            for body in sorted({shape.body for shape in shapes})
        }
        parts: dict[tuple[Any, ...], list[Mesh]] = defaultdict(list)
        for shape in shapes:
            parts[shape.body, shape.color, _has_edges(shape.mesh)].append(shape.mesh)
        for k, ((body, color, _), meshes) in enumerate(parts.items()):
            _add_mesh(scene, f"{name}/bodies/{body}/{k}", Mesh.joined(meshes), color)
        self._forces: Any = None
        if motion.points.size:
            width = 0.008 * size
            self._forces = scene.add_arrows(
                f"{name}/forces", np.zeros((1, 2, 3)), FORCE,
                shaft_radius=width, head_radius=2.5 * width, head_length=5 * width, visible=False,
            )  # fmt: skip
        dot, disc = ball(0.025 * size), cylinder(0.025 * size, 0.002 * size)
        self._com = scene.add_mesh_simple(f"{name}/com", dot.vertices, dot.faces, color=COM, visible=False)
        self._below = scene.add_mesh_simple(f"{name}/below", disc.vertices, disc.faces, color=COM, visible=False)
        self._newtons = max(motion.model.weight, 1e-9) / (0.4 * size)  # for each metre of an arrow
        self.frame = -1

    def show(self, frame: int) -> None:
        """Move everything to where it is in this frame."""
        if frame == self.frame:
            return
        self.frame, motion = frame, self._motion
        for body, handle in self._bodies.items():
            handle.position = motion.position[frame, body]
            handle.wxyz = quaternion(motion.rotation[frame, body])
        self._com.position = motion.com[frame]
        self._below.position = self._on_floor(motion.com[frame], motion.points[frame])
        if self._forces is not None:
            arrows = self._arrows(frame)
            self._forces.visible = bool(len(arrows)) and self._forces_wanted
            if len(arrows):
                self._forces.points = arrows

    def replace(self, motion: Motion) -> None:
        """Show the first frame of another motion of the same robot."""
        self._motion, self.frame = motion, -1
        self.show(0)

    def show_forces(self, wanted: bool) -> None:
        """Forces as arrows, or not."""
        self._forces_wanted = wanted
        if self._forces is not None:
            self._forces.visible = wanted and bool(len(self._arrows(self.frame)))

    def show_com(self, wanted: bool) -> None:
        """The centre of mass and the point below it, or not."""
        self._com.visible = self._below.visible = wanted

    def _on_floor(self, place: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The place straight below, on the ground's plane, or as low as the lowest contact point."""
        x, y, z = place
        if self._floor is not None and abs(self._floor.normal[2]) > 1e-6:
            n, p = np.array(self._floor.normal), np.array(self._floor.point)
            return np.array([x, y, p[2] - (n[0] * (x - p[0]) + n[1] * (y - p[1])) / n[2]])
        return np.array([x, y, points[:, 2].min() if len(points) else z])

    def _arrows(self, frame: int) -> np.ndarray:
        """Tails and tips (n, 2, 3) of the forces that can be seen."""
        force, points = self._motion.force[frame], self._motion.points[frame]
        length = np.linalg.norm(force, axis=1) / self._newtons
        seen = length > FAINT * self._size
        short = force[seen] / self._newtons / np.maximum(1.0, length[seen] / (LONGEST * self._size))[:, None]
        return np.stack([points[seen], points[seen] + short], axis=1).astype(np.float32)


def add_ground(scene: Any, name: str, surfaces: Sequence[Surface], center: np.ndarray, size: float) -> None:
    """Surfaces as meshes under a name in viser's tree; planes are tiled."""
    for k, ground in enumerate(terrain_of(surfaces, center, size)):
        if ground.plane is None:
            _add_mesh(scene, f"{name}/{k}", ground.mesh, ground.color, "double")
            continue
        for shade, mesh in zip((1.0, 0.93), _tiles(ground.size), strict=True):
            color = tuple(shade * x for x in ground.color)
            _add_mesh(scene, f"{name}/{k}/{shade}", mesh.moved(*ground.plane), color, "double")


def add_light(scene: Any) -> None:
    """Light from all sides, and a lamp. No shadows: without a GPU they take longer than all the rest."""
    scene.configure_environment_map(None)
    scene.configure_default_lights(False)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(190, 190, 195), intensity=2.2)
    scene.add_light_directional("/light/lamp", intensity=1.6, position=(2.0, -3.0, 6.0))


def _add_mesh(scene: Any, name: str, mesh: Mesh, color: Sequence[float], side: str = "front") -> None:
    rgb = tuple(round(255 * x) for x in color)
    scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=rgb, flat_shading=_has_edges(mesh), side=side)


def _has_edges(mesh: Mesh) -> bool:
    """Boxes have; what has many small faces is smooth."""
    return len(mesh.faces) < 40


def _tiles(size: float) -> tuple[Mesh, Mesh]:
    """A square as a chessboard: its white and its black fields, a round number wide."""
    cell = 10.0 ** np.floor(np.log10(size / 8))
    n = int(np.ceil(size / 2 / cell))
    fields: tuple[list[Mesh], list[Mesh]] = ([], [])
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    for i in range(-n, n):
        for j in range(-n, n):
            square = Mesh(corners * cell, np.array([(0, 1, 2), (0, 2, 3)]))
            fields[(i + j) % 2].append(square.moved(np.eye(3), np.array([i, j, 0]) * cell))
    return Mesh.joined(fields[0]), Mesh.joined(fields[1])


def quaternion(R: np.ndarray) -> np.ndarray:
    """w x y z of a rotation matrix, by the largest of the four (Shepperd, 1978)."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    k = int(np.argmax([trace, R[0, 0], R[1, 1], R[2, 2]]))
    if k == 0:
        q = np.array([1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0], q[1 + i] = R[l, j] - R[j, l], 1 + R[i, i] - R[j, j] - R[l, l]
        q[1 + j], q[1 + l] = R[j, i] + R[i, j], R[l, i] + R[i, l]
    return q / np.linalg.norm(q)
