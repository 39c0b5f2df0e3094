"""A robot on viser's stage: meshes that move with its bodies, forces as arrows, the centre of mass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featherweight.contact import Plane, Surface
from featherweight.looks import Mesh, Motion, Shape, ball, cylinder
from featherweight.viewer.scenery import UNITS, add_mesh, enlarged, with_edges

FORCE, COM = (214, 39, 40), (240, 196, 25)  # colours
LONGEST = 1.0  # arrow, in robots' sizes
FAINT = 0.004  # arrows below this share of the robot's size are not drawn


class Stage:
    """One robot under a name in viser's tree, somewhere beside others.

    It is given everything in metres, and gives viser all of it in viser's units, `UNITS` for a robot's size.
    """

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
        self._units, self._forces_wanted = UNITS / size, True
        self._motion = self._enlarged(motion)
        self._floor = next((surface for surface in ground if isinstance(surface, Plane)), None)
        scene.add_frame(name, show_axes=False, position=self._units * offset)
        self._bodies = {
            body: scene.add_frame(f"{name}/bodies/{body}", show_axes=False)
            for body in sorted({shape.body for shape in shapes})
        }
        parts: dict[tuple[int, Any], list[Mesh]] = defaultdict(list)
        for shape in shapes:
            parts[shape.body, shape.color].append(enlarged(with_edges(shape.mesh), self._units))
        for k, ((body, color), meshes) in enumerate(parts.items()):
            add_mesh(scene, f"{name}/bodies/{body}/{k}", Mesh.joined(meshes), color)
        self._forces: Any = None
        if motion.points.size:
            width = 0.008 * UNITS
            self._forces = scene.add_arrows(
                f"{name}/forces", np.zeros((1, 2, 3)), FORCE,
                shaft_radius=width, head_radius=2.5 * width, head_length=5 * width, visible=False,
            )  # fmt: skip
        dot, disc = ball(0.025 * UNITS), cylinder(0.025 * UNITS, 0.002 * UNITS)
        self._com = scene.add_mesh_simple(f"{name}/com", dot.vertices, dot.faces, color=COM, visible=False)
        self._below = scene.add_mesh_simple(f"{name}/below", disc.vertices, disc.faces, color=COM, visible=False)
        self._newtons = max(motion.model.weight, 1e-9) / (0.4 * UNITS)  # for each unit of an arrow
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
        self._motion, self.frame = self._enlarged(motion), -1
        self.show(0)

    def show_forces(self, wanted: bool) -> None:
        """Forces as arrows, or not."""
        self._forces_wanted = wanted
        if self._forces is not None:
            self._forces.visible = wanted and bool(len(self._arrows(self.frame)))

    def show_com(self, wanted: bool) -> None:
        """The centre of mass and the point below it, or not."""
        self._com.visible = self._below.visible = wanted

    def _enlarged(self, motion: Motion) -> Motion:
        """From metres to viser's units."""
        u = self._units
        return replace(motion, position=u * motion.position, com=u * motion.com, points=u * motion.points)

    def _on_floor(self, place: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The place straight below, on the ground's plane, or as low as the lowest contact point."""
        x, y, z = place
        if self._floor is not None and abs(self._floor.normal[2]) > 1e-6:
            n, p = np.array(self._floor.normal), self._units * np.array(self._floor.point)
            return np.array([x, y, p[2] - (n[0] * (x - p[0]) + n[1] * (y - p[1])) / n[2]])
        return np.array([x, y, points[:, 2].min() if len(points) else z])

    def _arrows(self, frame: int) -> np.ndarray:
        """Tails and tips (n, 2, 3) of the forces that can be seen."""
        force, points = self._motion.force[frame], self._motion.points[frame]
        length = np.linalg.norm(force, axis=1) / self._newtons
        seen = length > FAINT * UNITS
        short = force[seen] / self._newtons / np.maximum(1.0, length[seen] / (LONGEST * UNITS))[:, None]
        return np.stack([points[seen], points[seen] + short], axis=1).astype(np.float32)


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
