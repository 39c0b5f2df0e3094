"""A trajectory as one HTML file that needs nothing else: no server, no network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from featherweight.simulation import Trajectory
from featherweight.viewer import server as web
from featherweight.viewer.play import Play
from featherweight.viewer.software import prepared

RATE = 30.0  # frames a second


def export(
    trajectory: Trajectory | Sequence[Trajectory],
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    rate: float = RATE,
) -> None:
    """Write a page with a moving robot, or several side by side, that opens in any browser without a network.

    Args:
        trajectory: what to show; of a batch, the first robot.
        path: the HTML file.
        labels: what to write above each.
        rate: frames a second.
    """
    several = [trajectory] if isinstance(trajectory, Trajectory) else list(trajectory)
    server = web.start(web.LOOPBACK, 0)
    try:
        play = Play(server, several, labels, rate)
        recording = server.get_scene_serializer()
        times = np.arange(0.0, play.duration + 0.5 / rate, 1 / rate)
        for t in times:
            play.show(float(t))
            recording.insert_sleep(1 / rate)
        Path(path).write_text(prepared(recording.as_html()), encoding="utf-8")
    finally:
        web.stop(server)
