"""Trajectories on the stage together: side by side, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.contact import Plane, Surface
from featherweight.looks import Motion, Shape, bounds, motion_of, shapes_of
from featherweight.simulation import Trajectory
from featherweight.viewer.scenery import UNITS, add_camera, add_ground, add_light
from featherweight.viewer.stage import Stage

RATE = 60.0  # frames of a trajectory a second


class Play:
    """Robots on stage, each with its own trajectory. They stand in a row along y if they are several."""

    def __init__(
        self, server: Any, trajectories: Sequence[Trajectory], labels: Sequence[str] = (), rate: float = RATE
    ) -> None:
        if not trajectories:
            raise ValueError("trajectories: expected one or more, got none")
        self.motions: list[Motion] = [motion_of(one, rate=rate) for one in trajectories]
        looks = [shapes_of(motion.model) for motion in self.motions]
        spans = [bounds(motion, look) for motion, look in zip(self.motions, looks, strict=True)]
        extents = [high - low for low, high in spans]
        way = max(float(np.median([extent.max() for extent in extents])), 1e-3)
        size = max(float(np.median([_size(*one) for one in zip(self.motions, looks, strict=True)])), 1e-3)
        pitch = 1.15 * max(float(extent[1]) for extent in extents) + 0.3 * size
        units, scene, self.stages = UNITS / size, server.scene, []
        for k, (motion, look, one) in enumerate(zip(self.motions, looks, trajectories, strict=True)):
            offset = np.array([0.0, -k * pitch, 0.0])
            stage = Stage(scene, f"/robot{k}", motion, look, one.ground, size, offset)
            own = [surface for surface in one.ground if not _is_level(surface)]
            add_ground(scene, f"/robot{k}/ground", own, motion.com[0], 3 * way, units)
            if k < len(labels):
                above = np.array([*motion.com[0][:2], spans[k][1][2] + 0.12 * size])
                scene.add_label(f"/robot{k}/label", labels[k], position=units * above)
            self.stages.append(stage)
        low = np.min([low for low, _ in spans], axis=0) - [0, pitch * (len(spans) - 1), 0]
        high = np.max([high for _, high in spans], axis=0)
        middle, width = (low + high) / 2, float(np.linalg.norm(high - low))
        add_light(scene)
        level = {repr(surface): surface for one in trajectories for surface in one.ground if _is_level(surface)}
        add_ground(scene, "/ground", list(level.values()), middle, 3 * width, units)
        add_camera(server, middle, high - low, units)
        server.gui.set_panel_label(" | ".join(labels) or self.motions[0].model.name)
        self.duration = max(float(motion.t[-1]) for motion in self.motions)
        self.show(0.0)

    def show(self, t: float) -> None:
        """Everybody to where they are at time t [s]."""
        for motion, stage in zip(self.motions, self.stages, strict=True):
            stage.show(int(np.clip(np.searchsorted(motion.t, t + 1e-9) - 1, 0, len(motion) - 1)))


def _is_level(surface: Surface) -> bool:
    """Is it a plane that looks the same from everywhere on it? Robots beside each other can share it."""
    return isinstance(surface, Plane) and tuple(surface.normal) == (0.0, 0.0, 1.0)


def _size(motion: Motion, look: Sequence[Shape]) -> float:
    """The longest edge of a robot's box as it begins [m]."""
    low, high = bounds(motion.start(), look)
    return float(np.max(high - low))
