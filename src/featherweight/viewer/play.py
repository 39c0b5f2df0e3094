"""Trajectories on viser's stage together: side by side, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.simulation import Trajectory
from featherweight.viewer.layout import layout_of
from featherweight.viewer.scenery import UNITS, add_camera, add_ground, add_light
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
        self.stages = []
        for k, actor in enumerate(layout.actors):
            self.stages.append(Stage(scene, f"/robot{k}", actor, layout.size))
            add_ground(scene, f"/robot{k}/ground", actor.ground, units)
            if actor.label:
                scene.add_label(f"/robot{k}/label", actor.label, position=units * actor.label_place)
        add_light(scene)
        add_ground(scene, "/ground", layout.ground, units)
        add_camera(server, layout.camera, layout.look_at, units)
        server.gui.set_panel_label(layout.title)
        self.duration = layout.duration
        self.show(0.0)

    def show(self, t: float) -> None:
        """Everybody to where they are at time t [s]."""
        with self._together():
            for motion, stage in zip(self.motions, self.stages, strict=True):
                stage.show(int(np.clip(np.searchsorted(motion.t, t + 1e-9) - 1, 0, len(motion) - 1)))

    def replace(self, motion: Frames) -> None:
        """The first frame of another motion of the first robot."""
        with self._together():
            self.stages[0].replace(motion)
