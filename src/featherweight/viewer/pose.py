"""A robot to be posed by hand: a slider for each joint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from featherweight.contact import Surface
from featherweight.model import JointInfo, Model
from featherweight.simulation import Trajectory
from featherweight.viewer.looks import add_looks
from featherweight.viewer.play import Play
from featherweight.visuals import bounds, shapes_of
from featherweight.visuals.motion import frames_of
from featherweight.visuals.terrain import round_length


class JointSliders:
    """A slider for each coordinate that is a number of its own; orientations have none."""

    def __init__(
        self, gui: Any, model: Model, q: np.ndarray, size: float, changed: Callable[[int, float], None]
    ) -> None:
        self._gui, self._changed = gui, changed
        self._sliders: dict[int, Any] = {}
        for joint in model.independent_joints:
            self._add(joint, q, size)

    def read(self, q: np.ndarray) -> None:
        """Stand where the joints are."""
        for place, slider in self._sliders.items():
            slider.value = float(np.clip(q[place], slider.min, slider.max))

    def _add(self, joint: JointInfo, q: np.ndarray, size: float) -> None:
        orientation = joint.kind.orientation
        for k in range(joint.kind.nq if orientation is None else orientation.start):
            lower, upper = np.ravel(joint.limits.lower)[k], np.ravel(joint.limits.upper)[k]
            place = joint.q.start + k
            reach = np.pi if orientation is None else size
            low = round(float(lower) if np.isfinite(lower) else q[place] - reach, 3)
            high = round(float(upper) if np.isfinite(upper) else q[place] + reach, 3)
            if not low < high:
                continue
            name = joint.name if joint.kind.nq == 1 else f"{joint.name} {'xyz'[k]}"
            now = float(np.clip(q[place], low, high))
            slider = self._gui.add_slider(
                name, min=low, max=high, step=round_length((high - low) / 400), initial_value=now
            )
            self._sliders[place] = slider
            slider.on_update(lambda event, place=place, slider=slider: self._moved(event, place, slider.value))

    def _moved(self, event: Any, place: int, value: float) -> None:
        if event.client is not None:  # by hand, and not by `read`
            self._changed(place, value)


class PoseSliders:
    """The robot in one configuration, which the sliders change."""

    def __init__(
        self,
        server: Any,
        model: Model,
        q: np.ndarray | None = None,
        simulate: Callable[[np.ndarray, bool], None] | None = None,
    ) -> None:
        self._model = model
        self.q = within_limits(model) if q is None else np.array(q, dtype=float)
        self._play = Play(server, [still_life(model, self.q)])
        low, high = bounds(self._play.motions[0], shapes_of(model))
        if simulate is not None:
            start = server.gui.add_button_group(
                "simulate", ("held", "limp"), hint="from this pose: held by its motors, or without; drag it then"
            )
            start.on_click(lambda _: simulate(self.q.copy(), start.value == "limp"))
        add_looks(server, self._play, forces=False)
        with server.gui.add_folder("joints"):
            JointSliders(server.gui, model, self.q, float(np.max(high - low)), self._set)

    def close(self) -> None:
        """Nothing runs on its own here."""

    def _set(self, place: int, value: float) -> None:
        self.q[place] = value
        self._play.replace(frames_of(self._model, np.zeros(1), self.q[None]))


def within_limits(model: Model) -> np.ndarray:
    """The neutral configuration, with joints that cannot be there at the limit that is nearest."""
    q = model.neutral()
    for joint in model.independent_joints:
        if joint.kind.nq == 1:
            q[joint.q] = np.clip(q[joint.q], joint.limits.lower, joint.limits.upper)
    return q


def still_life(model: Model, q: np.ndarray, ground: tuple[Surface, ...] = ()) -> Trajectory:
    """A trajectory of one state."""
    points = len(model.contact_points)
    return Trajectory(
        model, np.zeros(1), q[None], np.zeros((1, model.nv)), np.zeros((0, model.nv)), np.zeros((0, points, 3)),
        np.array(0, np.uint8), np.array(-1), ground=ground,
    )  # fmt: skip
