"""A simulation to play with: it keeps to the clock, is pulled with the mouse, steered, paused, stepped, reset."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.simulation import Status, Stepper
from featherweight.viewer.camera import Smooth
from featherweight.viewer.filming import Filming
from featherweight.viewer.history import History, saved
from featherweight.viewer.keys import on_key
from featherweight.viewer.knobs import Knob, KnobPanel, knobs_of
from featherweight.viewer.looks import add_looks
from featherweight.viewer.play import Play
from featherweight.viewer.plots import Plots
from featherweight.viewer.pose import JointSliders, still_life
from featherweight.viewer.pull import HELD, Pull
from featherweight.viewer.replay import SPEEDS, TICK
from featherweight.visuals.motion import frames_of

PLOT_TICK, CLOCK_TICK = 0.25, 0.25  # s between updates
WINDOW = 10.0  # s of curves
LATE = 0.1  # s: a page that was held up longer does not catch up
CHUNK = 4e-3  # s that are simulated between looks at the clock
BUDGET = 0.75  # of a tick for simulation
FIRST_PLOTS = {True: ("position", "forces"), False: ("angles", "energy")}  # does it float?
HELP = "Drag the robot to pull it, beside it to turn the view. Keys: P pause, N step, R reset; Ctrl-K lists all."


class Interactive:
    """The controls of a live simulation, and the thread that runs it."""

    def __init__(self, server: Any, sim: Stepper, knobs: Sequence[Knob] | None = None) -> None:
        if sim.count != 1:
            raise ValueError(f"what: expected a stepper of one robot, got {sim.count}; Stepper(model, q, dt=…)")
        self.sim, self._server = sim, server
        self._lock, self._closed = threading.RLock(), threading.Event()
        self.play = Play(server, [still_life(sim.model, sim.q[0].copy(), sim.ground)])
        self.history = History(sim)
        self.pull = Pull(server, self.play, sim)
        self._playing, self._due, self._slow, self._problem = True, 0.0, False, ""
        self._floats = bool(sim.model.joints) and sim.model.joints[0].kind.floating
        self._com, self._path = self.play.motions[0].com[0], Smooth()
        self.history.add()
        self._controls(server.gui, knobs_of(sim) if knobs is None else list(knobs))
        self.plots = Plots(server, lambda: [("", self.history.last(WINDOW))], FIRST_PLOTS[self._floats], now=False)
        self._thread = threading.Thread(target=self._run, daemon=True, name="featherweight simulation")
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self._closed.set()
        self._thread.join(timeout=2.0)
        self.pull.cancel()

    # ---- what is on the page

    def _controls(self, gui: Any, knobs: Sequence[Knob]) -> None:
        self._clock = gui.add_text("time", "0 s", disabled=True)
        self._button = gui.add_button("Pause")
        steps = gui.add_button_group("step", ("reset", "1 step", "▸"), hint="▸: a sixtieth of a second")
        self._speed = gui.add_dropdown("speed", options=tuple(SPEEDS), initial_value="1×")
        strength = gui.add_slider("pull strength", 0.1, 10.0, 0.1, 1.0)
        self._follow = gui.add_checkbox("follow", True, visible=self._floats)
        plots = gui.add_checkbox("plots", True)
        KnobPanel(gui, knobs, self._lock)
        add_looks(self._server, self.play)
        with gui.add_folder("joints", expand_by_default=False):
            self._joints = JointSliders(gui, self.sim.model, self.sim.q[0], self.play.size, self._set_joint)
        self._film_controls(gui)
        gui.add_markdown(HELP)
        for key, label, action in (
            ("P", "pause or go on", self.toggle), ("N", "one step", lambda: self.step(1)), ("R", "reset", self.reset),
        ):  # fmt: skip
            on_key(gui, key, label, action)
        self._button.on_click(lambda _: self.toggle())

        @steps.on_click
        def _(_: Any) -> None:
            if steps.value == "reset":
                self.reset()
            else:
                self.step(1 if steps.value == "1 step" else max(1, round(TICK / self.sim.dt)))

        @plots.on_update
        def _(_: Any) -> None:
            self.plots.show(plots.value)

        @strength.on_update
        def _(_: Any) -> None:
            self.pull.strength = float(strength.value)

    def _film_controls(self, gui: Any) -> None:
        record = gui.add_button("Record video", hint="a second press ends it and makes the file")
        save = gui.add_button("Save run", hint="the last five minutes, as run.fw")
        film = Filming(gui, self.sim.model.name, self._show_past, lambda: SPEEDS[self._speed.value])
        self._recorded: float | None = None

        @record.on_click
        def _(event: Any) -> None:
            if self._recorded is None:
                self._recorded, record.label = float(self.sim.t[0]), "Stop recording"
                return
            begin, self._recorded, record.label = self._recorded, None, "Record video"
            was = self._playing
            self._pause(True)
            with self._lock:
                self._past = self.history.last(since=begin)
            if event.client is not None:
                film.film(event.client, float(self._past.t[0]), float(self._past.t[-1]))
            self._show()
            self._pause(not was)

        @save.on_click
        def _(event: Any) -> None:
            if event.client is not None:
                with self._lock:
                    run = self.history.last()
                event.client.send_file_download("run.fw", saved(run), save_immediately=True)

    # ---- what the controls do

    def toggle(self) -> None:
        """Pause, or go on."""
        self._pause(self._playing)

    def step(self, n: int) -> None:
        """Pause, and make so many steps."""
        with self._lock:
            self._pause(True)
            self._steps(n, np.inf)
            self._show()

    def reset(self) -> None:
        """Begin anew; it goes on if it was running."""
        with self._lock:
            self.pull.cancel()
            self.sim.reset()
            self.history.clear()
            self._due, self._problem, self._recorded = 0.0, "", None if self._recorded is None else 0.0
            self._path = Smooth()
            self.play.go_along(np.zeros(3))
            self.history.add()
            self._show()
            self._joints.read(self.sim.q[0])

    def _set_joint(self, place: int, value: float) -> None:
        """By a slider: it stands still then."""
        with self._lock:
            self._pause(True)
            self.sim.q[0, place], self.sim.v[0] = value, 0.0
            self.history.add()
            self._show()

    def _pause(self, paused: bool) -> None:
        with self._lock:
            self._playing, self._due = not paused, 0.0
            self._button.label = "Play" if paused else "Pause"
            if paused:
                self._joints.read(self.sim.q[0])

    # ---- the thread

    def _run(self) -> None:
        last = drawn = told = time.perf_counter()
        while not self._closed.wait(max(0.0, TICK - (time.perf_counter() - last))):
            now = time.perf_counter()
            passed, last = min(now - last, LATE), now
            with self._lock:
                if self._playing:
                    self._advance(passed)
                    self._show(passed)
            if now - drawn >= PLOT_TICK and self._playing:
                self.plots.draw(None)
                drawn = now
            if now - told >= CLOCK_TICK:
                self._tell()
                told = now

    def _advance(self, passed: float) -> None:
        """As many steps as have become due, as far as there is time."""
        self._due += passed * SPEEDS[self._speed.value]
        n = int(self._due / self.sim.dt + 1e-9)
        self._due -= n * self.sim.dt
        self._slow = self._steps(n, time.perf_counter() + BUDGET * TICK) < n

    def _steps(self, n: int, until: float) -> int:
        """How many were made; a problem pauses it and is told."""
        made, dt = 0, self.sim.dt
        try:
            while made < n and time.perf_counter() < until:
                most = HELD if self.pull.act() else CHUNK
                some = min(n - made, max(1, round(most / dt)))
                self.sim.step(some)
                made += some
        except Exception as error:  # of a user's controller
            self._problem = f"{type(error).__name__}: {error}"
            self._pause(True)
            return n
        if self.sim.status[0]:
            self._problem = f"{Status(int(self.sim.status[0])).reason}; reset begins anew"
            self._pause(True)
            return n
        self.history.add()
        return made

    def _show(self, passed: float = np.inf) -> None:
        sim = self.sim
        if not np.isfinite(sim.q[0]).all():
            return
        frame = frames_of(
            sim.model, sim.t[:1].copy(), sim.q[:1].copy(), sim.contact_force[:1].copy(),
            parameters={name: values[0] for name, values in sim.parameters.items()},
        )  # fmt: skip
        with self._server.atomic():
            if self._floats and self._follow.value:
                self.play.go_along(self._path.next((frame.com[0] - self._com) * [1.0, 1.0, 0.0], passed))
            self.play.replace(frame)
            self.pull.draw()
        if passed == np.inf:
            self.plots.draw(None)
            self._tell()

    def _show_past(self, t: float) -> None:
        """A state that was recorded."""
        past = self._past
        k = int(np.clip(np.searchsorted(past.t, t + 1e-9) - 1, 0, len(past.t) - 1))
        force = past.contact_force[max(k - 1, 0)][None] if len(past.contact_force) else None
        frame = frames_of(self.sim.model, past.t[k : k + 1], past.q[k : k + 1], force, parameters=past.parameters)
        with self._server.atomic():
            if self._floats and self._follow.value:
                self.play.go_along((frame.com[0] - self._com) * [1.0, 1.0, 0.0])
            self.play.replace(frame)

    def _tell(self) -> None:
        force = self.pull.force
        pulled = "" if force is None else f", pulled by {np.linalg.norm(force):.3g} N"
        slow = ", slower than the clock" if self._slow and self._playing else ""
        text = f"{self.sim.t[0]:.2f} s{pulled}{slow}"
        text = f"{text}: {self._problem}" if self._problem else text
        if text != self._clock.value:
            self._clock.value = text
