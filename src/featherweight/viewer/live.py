"""A window on a run while it is computed: give it to `simulate` as `watch`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.contact import Plane, Surface
from featherweight.model import Model
from featherweight.viewer import server as web
from featherweight.viewer.looks import add_looks
from featherweight.viewer.play import Play
from featherweight.viewer.pose import still_life
from featherweight.visuals.motion import frames_of

FARTHEST = 1e6  # m or rad: beyond that nothing is to be seen


class Live(web.Served):
    """A page that shows the newest state of a run.

    >>> import featherweight as fw
    >>> with fw.viewer.Live(robot) as live:  # doctest: +SKIP
    ...     fw.simulate(robot, q, v, duration=10.0, dt=1e-3, watch=live)

    Args:
        model: the robot.
        ground: what to show as ground.
        speed: 1 holds the run back to real time, 0.3 is slow motion, None lets it go as fast as it can.
        host: address to listen at; this machine alone if not given.
        port: where to listen; one that is free if not given.
        browser: open a browser, if there is a display.
    """

    def __init__(
        self,
        model: Model,
        *,
        q: Any = None,
        ground: Sequence[Surface] = (Plane(),),
        speed: float | None = 1.0,
        host: str = web.LOOPBACK,
        port: int | None = None,
        browser: bool = True,
    ) -> None:
        if speed is not None and not 0 < speed < np.inf:
            raise ValueError(f"speed: expected a number > 0 or None, got {speed!r}")
        self._model, self._speed = model, speed
        self._began: float | None = None
        self.server = web.start(host, port)
        self.url = web.address(self.server, host)
        start = np.array(model.neutral() if q is None else q, dtype=float)
        self._play = Play(self.server, [still_life(model, start, tuple(ground))])
        self._clock = self.server.gui.add_text("time", "0 s", disabled=True)
        add_looks(self.server, self._play)
        if browser:
            web.open_browser(self.url)

    def __call__(self, t: float, q: np.ndarray, force: np.ndarray) -> None:
        """Show a state; wait until its time has come."""
        if self._speed is not None:
            now = time.perf_counter()
            if self._began is None:
                self._began = now - t / self._speed
            time.sleep(max(0.0, self._began + t / self._speed - now))
        if not (np.abs(q) < FARTHEST).all():  # also if it is not finite: the last good state stays
            self._clock.value = f"{t:.2f} s: it diverged"
            return
        frame = frames_of(self._model, np.array([t]), np.asarray(q)[None], np.asarray(force)[None])
        self._play.replace(frame)
        self._clock.value = f"{t:.2f} s"

    def close(self) -> None:
        """End it."""
        web.stop(self.server)

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
