"""A robot on viser's stage: meshes that move with its bodies, its shadow, forces as arrows, the centre of mass."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from featherweight.viewer.layout import Actor
from featherweight.viewer.scenery import LAMP, UNITS, add_mesh, enlarged
from featherweight.viewer.tags import Tags
from featherweight.visuals import Frames, Mesh, ball, creased, cylinder
from featherweight.visuals.shadows import Shadows

FORCE, COM = (214, 39, 40), (240, 196, 25)  # colours
ARROW, DOT = 0.008, 0.025  # radius of an arrow and of the centre of mass, in robots' sizes
SHADE, SHADE_IN_DARK = 0.26, 0.55  # of the ground's light that a shadow takes, on light and on dark pages


class Stage:
    """One robot under a name in viser's tree, somewhere beside others.

    It is given everything in metres, and gives viser all of it in viser's units, `UNITS` for a robot's size.
    """

    def __init__(self, scene: Any, name: str, actor: Actor, size: float) -> None:
        self._size, self._units, self._forces_wanted, self.frame = size, UNITS / size, True, -1
        self._take(actor)
        self._scene, self._name = scene, name
        scene.add_frame(name, show_axes=False, position=self._units * actor.offset)
        self._bodies: dict[int, Any] = {}
        for body in sorted({shape.body for shape in actor.shapes}):
            self._node_of(body)
        self.meshes: list[tuple[int, Any]] = []  # with the body that each moves with
        parts: dict[tuple[int, Any], list[Mesh]] = defaultdict(list)
        for shape in actor.shapes:
            parts[shape.body, shape.color].append(enlarged(creased(shape.mesh), self._units))
        for k, ((body, color), meshes) in enumerate(parts.items()):
            self.meshes.append((body, add_mesh(scene, f"{name}/bodies/{body}/{k}", Mesh.joined(meshes), color)))
        self._shadows, self._shadow = Shadows(actor.shapes, actor.surfaces, LAMP, size), None
        if len(self._shadows.faces):
            self._shadow = scene.add_mesh_simple(
                f"{name}/shadow", self._shadow_at(0), self._shadows.faces, color=(0, 0, 0), opacity=SHADE,
                side="double", cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        self._forces: Any = None
        if actor.motion.points.size:
            width = ARROW * UNITS
            self._forces = scene.add_arrows(
                f"{name}/forces", np.zeros((1, 2, 3)), FORCE,
                shaft_radius=width, head_radius=2.5 * width, head_length=5 * width, visible=False,
            )  # fmt: skip
        dot, disc = ball(DOT * UNITS), cylinder(DOT * UNITS, 0.002 * UNITS)
        self._com = scene.add_mesh_simple(f"{name}/com", dot.vertices, dot.faces, color=COM, visible=False)
        self._below = scene.add_mesh_simple(f"{name}/below", disc.vertices, disc.faces, color=COM, visible=False)
        self.tags = Tags(scene, self._node_of, actor, size, self._units)

    @property
    def actor(self) -> Actor:
        """Who is on stage."""
        return self._actor

    def _node_of(self, body: int) -> str:
        """The node of viser's tree that moves with a body."""
        node = f"{self._name}/bodies/{body}"
        if body not in self._bodies:
            self._bodies[body] = self._scene.add_frame(node, show_axes=False)
            self._move(body, self._bodies[body], max(self.frame, 0))
        return node

    def _move(self, body: int, handle: Any, frame: int) -> None:
        handle.position = self._units * self._actor.motion.position[frame, body]
        handle.wxyz = quaternion(self._actor.motion.rotation[frame, body])

    def show(self, frame: int) -> None:
        """Move everything to where it is in this frame."""
        if frame == self.frame:
            return
        self.frame = frame
        for body, handle in list(self._bodies.items()):
            self._move(body, handle, frame)
        if self._shadow is not None:
            self._shadow.vertices = self._shadow_at(frame)
        self._show_com(frame)
        if self._forces is not None:
            arrows = self._arrows(frame)
            self._forces.visible = bool(len(arrows)) and self._forces_wanted
            if len(arrows):
                self._forces.points = arrows

    def replace(self, motion: Frames) -> None:
        """Show the first frame of another motion of the same robot."""
        self._take(replace(self._actor, motion=motion))
        self.frame = -1
        self.show(0)

    def show_forces(self, wanted: bool) -> None:
        """Forces as arrows, or not."""
        self._forces_wanted = wanted
        if self._forces is not None:
            self._forces.visible = wanted and bool(len(self._arrows(self.frame)))

    def show_dark(self, dark: bool) -> None:
        """The shadow for a dark page, or a light one."""
        if self._shadow is not None:
            self._shadow.opacity = SHADE_IN_DARK if dark else SHADE

    def show_com(self, wanted: bool) -> None:
        """The centre of mass and the point below it, or not."""
        self._com.visible = self._below.visible = wanted
        self._show_com(self.frame)

    def _show_com(self, frame: int) -> None:
        if self._com.visible:
            self._com.position = self._units * self._actor.motion.com[frame]
            self._below.position = self._units * self._below_com[frame]

    def _take(self, actor: Actor) -> None:
        self._actor, self._tips, self._below_com = actor, actor.tips(self._size), actor.below()

    def _shadow_at(self, frame: int) -> np.ndarray:
        """Vertices (n, 3) of the robot's shadow, in viser's units."""
        motion = self._actor.motion
        return (self._units * self._shadows.at(motion.rotation[frame], motion.position[frame])).astype(np.float32)

    def _arrows(self, frame: int) -> np.ndarray:
        """Tails and tips (n, 2, 3) of the forces that can be seen, in viser's units."""
        arrows = np.stack([self._actor.motion.points[frame], self._tips[frame]], axis=1)
        return (self._units * arrows[np.any(arrows[:, 0] != arrows[:, 1], axis=1)]).astype(np.float32)


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
