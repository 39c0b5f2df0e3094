"""The moving robot inside of a notebook: the page of `viewer.export` in a frame of its own, without a server."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from featherweight.compiler import interpret
from featherweight.simulation import Trajectory
from featherweight.viewer import export
from featherweight.visuals import several

MOST_FRAMES = 300  # of a player: notebooks keep every number of it
RATE = 30.0  # frames a second, if that many are enough


@dataclass(frozen=True)
class Player:
    """What a notebook shows: a page in a frame that may run its own scripts, and reach nothing of the notebook."""

    page: str = field(repr=False)
    height: int

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(self.page)}"></iframe>'


def player(trajectory: Trajectory | Sequence[Trajectory], *, labels: Sequence[str] = (), height: int = 420) -> Player:
    """A run, or several side by side, to be played in a notebook; of a batch, the first robot.

    Args:
        trajectory: what to show.
        labels: what to write above each.
        height: of the frame [pixels].
    """
    runs, labels = several(trajectory, labels)
    longest = max(float(np.ptp(one.t)) for one in runs)
    rate = min(RATE, MOST_FRAMES / longest) if longest > 0 else RATE
    with tempfile.TemporaryDirectory(prefix="featherweight-") as folder, interpret():  # poses: once, on NumPy
        path = Path(folder, "page.html")
        export(runs, path, labels=labels, rate=rate)
        return Player(path.read_text("utf-8"), height)
