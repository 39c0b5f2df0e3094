"""Trajectories on viser's stage together: side by side, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.simulation import Trajectory
from featherweight.viewer.camera import Camera
from featherweight.viewer.layout import layout_of
from featherweight.viewer.scenery import UNITS, Ground, add_light
from featherweight.viewer.stage import Stage
from featherweight.visuals import Frames

RATE = 60.0  # frames of a trajectory a second


class Play:
    """Robots on stage, each with its own trajectory."""

    def __init__(
        self, server: Any, trajectories: Sequence[Trajectory], labels: Sequence[str] = (), rate: float = RATE
    ) -> None:
        layout, scene = layout_of(trajectories, labels, rate), server.scene
        self._together = server.atomic  # what is sent within it arrives in one piece: no robot is seen half moved
        units = UNITS / layout.size
        self.motions: list[Frames] = [actor.motion for actor in layout.actors]
        self._units, self._layout, self._followed, self.follow = units, layout, np.zeros(3), layout.follows
        self._world = scene.add_frame("/world", show_axes=False)  # the world is moved, and the camera stays the user's
        self.stages, self._grounds = [], []
        for k, actor in enumerate(layout.actors):
            self.stages.append(Stage(scene, f"/world/robot{k}", actor, layout.size))
            self._grounds.append(Ground(scene, f"/world/robot{k}/ground", actor.ground, units))
            if actor.label:
                place = units * (actor.label_place + actor.offset)
                scene.add_label(f"/label{k}", actor.label, position=place, anchor="bottom-center")
        add_light(scene)
        self._shared = Ground(scene, "/world/ground", layout.ground, units)
        self._grounds.append(self._shared)
        way = float(np.linalg.norm(np.ptp(layout.path, axis=0)))
        self._camera = Camera(server, layout.corners, layout.direction, way, units)
        server.gui.set_panel_label(layout.title)
        self.start, self.end = layout.start, layout.end
        self.show(self.start)

    @property
    def follows(self) -> bool:
        """Is there a way to follow?"""
        return self._layout.follows

    def show(self, t: float) -> None:
        """Everybody to where they are at time t [s]."""
        with self._together():
            if self.follow:
                self._move_world(self._layout.followed(t))
            for motion, stage in zip(self.motions, self.stages, strict=True):
                stage.show(int(np.clip(np.searchsorted(motion.t, t + 1e-9) - 1, 0, len(motion) - 1)))

    def _move_world(self, followed: np.ndarray) -> None:
        if (followed != self._followed).any():
            self._followed = followed
            self._world.position = -self._units * followed

    @property
    def units(self) -> float:
        """Of viser, for each metre."""
        return self._units

    @property
    def size(self) -> float:
        """Of a robot [m]."""
        return self._layout.size

    @property
    def moved(self) -> np.ndarray:
        """How far the camera has gone with the robots (3,) [m]."""
        return self._followed

    @property
    def tile(self) -> float | None:
        """Edge of the ground's tiles [m], if there are any."""
        return next((ground.tile for ground in reversed(self._grounds) if ground.tile is not None), None)

    def show_dark(self, dark: bool) -> None:
        """Ground and shadows for a dark page, or a light one."""
        for ground in self._grounds:
            ground.show_dark(dark)
        for stage in self.stages:
            stage.show_dark(dark)

    def go_along(self, way: np.ndarray) -> None:
        """The camera goes along with robots that are a way (3,) [m] from where they began; the ground has no end."""
        self._move_world(way)
        self._shared.go_along(way)

    def replace(self, motion: Frames) -> None:
        """The first frame of another motion of the first robot."""
        with self._together():
            self.stages[0].replace(motion)
