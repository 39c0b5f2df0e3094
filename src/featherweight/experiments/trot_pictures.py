"""Pictures of a trot on two kinds of ground: as a GIF, and as a page in three dimensions; feet leave marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from featherweight.experiments.excerpt import excerpt
from featherweight.experiments.foot_marks import fan, slides
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory
from featherweight.viewer import export
from featherweight.viewer.layout import layout_of
from featherweight.visuals import Segments

FIRST = 2.4  # [s] from where a GIF begins, at the beginning of a stance; two periods of the trot are 0.8 s
MAGNIFIED = 10.0  # slip is drawn so many times as long as it is
RATE = 25.0  # pictures a second
FAN = 0.012  # [s] of forces shown at once: what passes between two pictures at 0.3 of real time
CAMERA = Camera(np.array([0.95, -1.25, 0.62]), np.array([0.01, 0.0, 0.145]), 0.76)


def write_movie(
    runs: Mapping[str, Trajectory],
    feet: Sequence[str],
    path: Path,
    *,
    speed: float,
    seconds: float = 0.8,
    size: tuple[int, int] = (400, 300),
) -> None:
    """A GIF of runs side by side, by what stands above them; `seconds` of each from FIRST on, in a loop."""
    weight = _weight(runs)
    marks = [_marks(run, feet, CAMERA.width / 4 / weight) for run in runs.values()]
    parts = [excerpt(run, FIRST, FIRST + seconds) for run in runs.values()]
    movie(parts, path, labels=list(runs), rate=RATE, speed=speed, size=size, camera=CAMERA, segments=marks)


def write_page_in_3d(
    runs: Mapping[str, Trajectory], feet: Sequence[str], path: Path, *, speed: float, seconds: float
) -> None:
    """A page that begins to play at `speed`, the first `seconds` of each run."""
    parts = [excerpt(run, 0.0, seconds) for run in runs.values()]
    layout = layout_of(parts, (), 60.0)
    lengths = [np.linalg.norm(actor.tips(layout.size) - actor.motion.points, axis=-1) for actor in layout.actors]
    forces = [np.linalg.norm(actor.motion.force, axis=-1) for actor in layout.actors]
    shown = [length > 0 for length in lengths]
    metres = [float(np.median(l[k] / f[k])) for l, f, k in zip(lengths, forces, shown, strict=True)]  # as its arrows
    marks = [_marks(run, feet, metre) for run, metre in zip(parts, metres, strict=True)]
    export(parts, path, labels=list(runs), speed=speed, segments=marks)


def _marks(run: Trajectory, feet: Sequence[str], metres: float) -> list[Segments]:
    return [fan(run, feet, metres=metres, seconds=FAN), *slides(run, feet, magnified=MAGNIFIED)]


def _weight(runs: Mapping[str, Trajectory]) -> float:
    model = next(iter(runs.values())).model
    return max(model.weight, 1e-9) if model is not None else 1.0
