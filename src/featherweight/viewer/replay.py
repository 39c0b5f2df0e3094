"""Replay: a time slider, play and pause, slow motion, what is drawn."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from featherweight.simulation import Trajectory
from featherweight.viewer.filming import Filming
from featherweight.viewer.keys import on_key
from featherweight.viewer.looks import add_looks
from featherweight.viewer.play import Play
from featherweight.viewer.plots import Plots
from featherweight.visuals import good_part

SPEEDS = {"0.05×": 0.05, "0.1×": 0.1, "0.3×": 0.3, "0.5×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0}
TICK = 1 / 60  # s between frames
FINE = 0.01  # s, of the slider
SLIDER_TICK = 0.2  # s between movements of the slider, and of the line in plots, while it plays
FIRST_PLOTS = ("angles", "energy")


class Replay:
    """The controls of a play, and the thread that moves it."""

    def __init__(self, server: Any, trajectories: Sequence[Trajectory], labels: Sequence[str] = ()) -> None:
        self.play = Play(server, trajectories, labels)
        self._server, self._t, self._playing = server, self.play.start, True
        self._lock, self._closed = threading.RLock(), threading.Event()
        self._controls(server.gui)
        names = [*labels, *[""] * len(trajectories)][: len(trajectories)]
        runs = [(name, good_part(one)[0].lane(0)) for name, one in zip(names, trajectories, strict=True)]
        self._plots = Plots(server, lambda: runs, FIRST_PLOTS, now=True, shown=False)
        self._thread = threading.Thread(target=self._run, daemon=True, name="featherweight replay")
        self._thread.start()

    def close(self) -> None:
        """Stop moving."""
        self._closed.set()
        self._thread.join(timeout=2.0)

    def _controls(self, gui: Any) -> None:
        start, length = self.play.start, max(self.play.end - self.play.start, TICK)
        fine = min(FINE, length)
        self._slider = gui.add_slider("time [s]", min=start, max=start + length, step=fine, initial_value=start)
        self._button = gui.add_button("Pause")
        steps = gui.add_button_group("step", ("|◂", "◂", "▸"))
        self._speed = gui.add_dropdown("speed", options=tuple(SPEEDS), initial_value="1×")
        self._loop = gui.add_checkbox("loop", True)
        follow = gui.add_checkbox("follow", True, visible=self.play.follows)
        plots = gui.add_checkbox("plots", False)
        add_looks(self._server, self.play)
        self._film_controls(gui)
        for key, label, action in (
            ("P", "play or pause", self.toggle), ("N", "one frame forth", lambda: self.step(TICK)),
            ("B", "one frame back", lambda: self.step(-TICK)), ("R", "to the start", lambda: self.step(-float("inf"))),
        ):  # fmt: skip
            on_key(gui, key, label, action)

        @self._slider.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # by hand, and not by the thread below
                with self._lock:
                    self._pause(True)
                    self._t = float(self._slider.value)
                    self._show()

        self._button.on_click(lambda _: self.toggle())
        steps.on_click(lambda _: self.step({"|◂": -float("inf"), "◂": -TICK, "▸": TICK}[steps.value]))

        @follow.on_update
        def _(_: Any) -> None:
            self.play.follow = follow.value

        @plots.on_update
        def _(_: Any) -> None:
            self._plots.show(plots.value)

    def _film_controls(self, gui: Any) -> None:
        save = gui.add_button("Save video", hint="the whole motion at this speed, as you see it")
        name = self.play.motions[0].model.name
        film = Filming(gui, name, self.play.show, lambda: SPEEDS[self._speed.value])

        @save.on_click
        def _(event: Any) -> None:
            if event.client is not None:
                with self._lock:
                    was = self._playing
                    self._pause(True)
                film.film(event.client, self.play.start, self.play.end)
                self._pause(not was)

    def toggle(self) -> None:
        """Play, or pause; at the end it begins again."""
        with self._lock:
            if not self._playing and self._t >= self.play.end:
                self._t = self.play.start
            self._pause(self._playing)

    def step(self, by: float) -> None:
        """Pause, and go on or back by so many seconds."""
        with self._lock:
            self._pause(True)
            self._t = min(max(self._t + by, self.play.start), self.play.end)
            self._slider.value = self._t
            self._show()

    def _show(self) -> None:
        self.play.show(self._t)
        self._plots.draw(self._t)

    def _pause(self, paused: bool) -> None:
        self._playing = not paused
        self._button.label = "Play" if paused else "Pause"

    def _run(self) -> None:
        last = moved = time.perf_counter()
        while not self._closed.wait(max(0.0, TICK - (time.perf_counter() - last))):
            now = time.perf_counter()
            passed, last = now - last, now
            with self._lock:
                if not self._playing:
                    continue
                self._t += passed * SPEEDS[self._speed.value]
                if self._t > self.play.end:
                    self._t = self.play.start if self._loop.value else self.play.end
                    self._pause(not self._loop.value)
                self.play.show(self._t)
                if now - moved >= SLIDER_TICK or not self._playing:
                    self._slider.value, moved = self._t, now
                    self._plots.draw(self._t)
