"""A robot to be posed by hand: a slider for each joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.contact import Surface
from featherweight.model import JointInfo, Model
from featherweight.simulation import Trajectory
from featherweight.viewer.play import Play
from featherweight.visuals import bounds, shapes_of
from featherweight.visuals.motion import frames_of


class PoseSliders:
    """The robot in one configuration, which the sliders change."""

    def __init__(self, server: Any, model: Model, q: np.ndarray | None = None) -> None:
        self._model, self._server = model, server
        self.q = np.array(model.neutral() if q is None else q, dtype=float)
        self._play = Play(server, [still_life(model, self.q)])
        low, high = bounds(self._play.motions[0], shapes_of(model))
        self._size = float(np.max(high - low))
        with server.gui.add_folder("joints"):
            for joint in model.independent_joints:
                self._sliders(joint)

    def close(self) -> None:
        """Nothing runs on its own here."""

    def _sliders(self, joint: JointInfo) -> None:
        """One for each coordinate that is a number of its own; orientations have none."""
        orientation = joint.kind.orientation
        for k in range(joint.kind.nq if orientation is None else orientation.start):
            lower, upper = np.ravel(joint.limits.lower)[k], np.ravel(joint.limits.upper)[k]
            place = joint.q.start + k
            reach = np.pi if orientation is None else self._size
            low = round(float(lower) if np.isfinite(lower) else self.q[place] - reach, 3)
            high = round(float(upper) if np.isfinite(upper) else self.q[place] + reach, 3)
            if not low < high:
                continue
            name = joint.name if joint.kind.nq == 1 else f"{joint.name} {'xyz'[k]}"
            now = float(np.clip(self.q[place], low, high))
            slider = self._server.gui.add_slider(name, min=low, max=high, step=(high - low) / 200, initial_value=now)
            slider.on_update(lambda _, place=place, slider=slider: self._set(place, slider.value))

    def _set(self, place: int, value: float) -> None:
        self.q[place] = value
        self._play.replace(frames_of(self._model, np.zeros(1), self.q[None]))


def still_life(model: Model, q: np.ndarray, ground: tuple[Surface, ...] = ()) -> Trajectory:
    """A trajectory of one state."""
    points = len(model.contact_points)
    return Trajectory(
        model, np.zeros(1), q[None], np.zeros((1, model.nv)), np.zeros((0, model.nv)), np.zeros((0, points, 3)),
        np.array(0, np.uint8), np.array(-1), ground=ground,
    )  # fmt: skip
