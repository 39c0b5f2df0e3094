"""Names and frames of a robot on viser's stage, made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from featherweight.viewer.layout import Actor
from featherweight.visuals.rotations import quaternions

AXIS, THICK = 0.11, 0.004  # length and radius of a frame's axes, in robots' sizes
WRITING = 0.75  # of viser's usual letters
NONE = "none"


class Tags:
    """Labels with the links' names, the axes of their frames, and one frame by name."""

    def __init__(self, scene: Any, body: Callable[[int], str], actor: Actor, size: float, units: float) -> None:
        self._scene, self._body, self._actor, self._size, self._units = scene, body, actor, size, units
        self._names: list[Any] = []
        self._frames: list[Any] = []
        self._one: Any = None

    def show_names(self, wanted: bool) -> None:
        """The name of each link, in the middle of what is drawn of it."""
        if wanted and not self._names:
            names = self._actor.motion.model.names
            self._names = [
                self._label(f"{self._body(k)}/name", names[k], self._middle(k)) for k in range(1, len(names))
            ]
        for label in self._names:
            label.visible = wanted

    def show_frames(self, wanted: bool) -> None:
        """The axes of each link's frame: red x, green y, blue z."""
        if wanted and not self._frames:
            count = len(self._actor.motion.model.names)
            self._frames = [self._axes(f"{self._body(k)}/axes") for k in range(1, count)]
        for axes in self._frames:
            axes.visible = wanted

    def show_frame(self, name: str) -> None:
        """Axes and name of one link or frame of the model, also of those that are fixed to another; `NONE` of none."""
        if self._one is not None:
            self._one.remove()  # and its name with it
        self._one = None
        if name == NONE:
            return
        frame = self._actor.motion.model.frame(name)
        turn, place = np.array(frame.X.E, dtype=float).T, np.array(frame.X.r, dtype=float)  # frame to body
        node = f"{self._body(frame.body)}/frame"
        axes = self._axes(node, wxyz=np.roll(quaternions(turn), 1), position=self._units * place)
        self._label(f"{node}/name", name, np.zeros(3))
        self._one = axes

    def _label(self, node: str, text: str, place: np.ndarray) -> Any:
        place = self._units * place
        return self._scene.add_label(node, text, position=place, font_screen_scale=WRITING, anchor="bottom-center")

    def _axes(self, node: str, **pose: Any) -> Any:
        unit = self._units * self._size
        return self._scene.add_frame(
            node, axes_length=AXIS * unit, axes_radius=THICK * unit, origin_radius=1.6 * THICK * unit, **pose
        )

    def _middle(self, body: int) -> np.ndarray:
        """Of the box around the link's shapes, in its frame [m]; its origin if it has none."""
        own = [shape.mesh.vertices for shape in self._actor.shapes if shape.body == body]
        if not own:
            return np.zeros(3)
        every = np.concatenate(own)
        return np.asarray((every.min(axis=0) + every.max(axis=0)) / 2)
