"""Stills and moving pictures of robots, made without a GPU or a window."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from featherweight.endings import MOVIES, VIDEOS, check_ending
from featherweight.extras import needed
from featherweight.files import video
from featherweight.model import Model
from featherweight.plot.camera import Camera, camera_for
from featherweight.plot.painter import Painter
from featherweight.simulation import Trajectory
from featherweight.visuals import Frames, motion_of, shapes_of, terrain_of
from featherweight.visuals.motion import frames_of
from featherweight.visuals.terrain import Terrain

Path = str | os.PathLike[str]
STILLS = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".pdf")
COLORS = 128  # of a GIF
MOST_RATE = 50  # pictures a second of a GIF that browsers show


def still(
    model: Model,
    q: Any = None,
    *,
    path: Path | None = None,
    size: tuple[int, int] = (640, 480),
    ground: Sequence[Any] = (),
    camera: Camera | None = None,
) -> Any:
    """A picture of a robot in one configuration, q = neutral if not given, as a Pillow image.

    Args:
        model: the robot.
        q: configuration, shape (nq,).
        path: also write it there; the ending chooses the format: PNG, JPEG, WebP, GIF, BMP, TIFF or PDF.
        size: width and height in pixels.
        ground: surfaces of `featherweight.contact`.
        camera: from where; chosen for the robot if not given.
    """
    if path is not None:
        check_ending("path", path, STILLS)
    state = np.asarray(model.neutral() if q is None else q, dtype=float)
    motion = frames_of(model, np.zeros(1), state[None])
    shapes = shapes_of(model)
    camera = camera or camera_for(motion, shapes, size[0] / size[1])
    image = Painter(shapes, _terrain(ground, camera), camera, size).paint(motion, 0)
    if path is not None:
        image.save(path)
    return image


def movie(
    trajectory: Trajectory | Sequence[Trajectory],
    path: Path,
    *,
    rate: float = 25.0,
    speed: float = 1.0,
    size: tuple[int, int] = (480, 360),
    labels: Sequence[str] = (),
    camera: Camera | None = None,
    forces: bool = True,
) -> None:
    """A movie of one trajectory, or of several side by side from the same place: GIF, or MP4 and WebM by ffmpeg.

    Args:
        trajectory: what to show; of a batch, the first robot.
        path: where to write it, a name that ends in .gif, .mp4 or .webm.
        rate: pictures a second, up to 50 for a GIF, which shows each for a whole number of hundredths of a second, so
            that 30 are 33.3.
        speed: 1 is real time, 0.3 is slow motion.
        size: width and height of each in pixels.
        labels: what to write above each.
        camera: from where; chosen for the first if not given.
        forces: draw contact forces as arrows.
    """
    ending = check_ending("path", path, MOVIES)
    if not 0 < speed < np.inf:
        raise ValueError(f"speed: expected a number > 0, got {speed!r}")
    most, kind = (video.MOST_RATE, ending) if ending in VIDEOS else (MOST_RATE, "a GIF")
    if not 0 < rate <= most:
        raise ValueError(f"rate: expected a number > 0, and up to {most} for {kind}, got {rate!r}")
    if ending in VIDEOS:
        video.encoder(ending)  # named now if it is missing, and not after all pictures are painted
    hundredths = 100 / rate if ending in VIDEOS else round(100 / rate)  # of a second; a GIF counts them
    several = [trajectory] if isinstance(trajectory, Trajectory) else list(trajectory)
    if not several:
        raise ValueError("trajectory: expected one or more, got none")
    if not all(isinstance(one, Trajectory) for one in several):
        raise TypeError(f"trajectory: expected a Trajectory or several, got {type(several[0]).__name__}")
    motions = [motion_of(one, rate=100 / hundredths / speed) for one in several]
    shapes = [shapes_of(motion.model) for motion in motions]
    camera = camera or camera_for(motions[0], shapes[0], size[0] / size[1])
    painters = [
        Painter(own, _terrain(one.ground, camera), camera, size) for one, own in zip(several, shapes, strict=True)
    ]
    newtons = max(motions[0].model.weight, 1e-9) if forces else None
    times = _times(max(float(m.t[-1] - m.t[0]) for m in motions), speed * hundredths / 100)
    shown = np.stack(
        [np.abs(times[:, None] - (m.t - m.t[0])).argmin(axis=1) for m in motions], axis=1
    )  # nearest states
    pictures = _painted(painters, motions, shown, newtons, labels)
    if ending in VIDEOS:
        video.write_video(pictures, path, ending, rate)
    else:
        _write_gif(list(pictures), path, round(hundredths))


def _painted(
    painters: Sequence[Painter], motions: Sequence[Frames], shown: np.ndarray, newtons: float | None,
    labels: Sequence[str],
) -> Iterator[Any]:  # fmt: skip
    """A picture for each row of frame numbers (pictures, robots); the one before if nothing has changed."""
    before: Any = None
    for k, frames in enumerate(shown.tolist()):
        if k == 0 or frames != shown[k - 1].tolist():
            row = [
                painter.paint(m, frame, newtons=newtons, caption=_caption(labels, i, m, frame))
                for i, (painter, m, frame) in enumerate(zip(painters, motions, frames, strict=True))
            ]
            before = _beside(row)
        yield before


def _times(duration: float, step: float) -> np.ndarray:
    """Frame times [s]: equal steps from 0, and the end."""
    times = step * np.arange(int(duration / step + 1e-9) + 1)
    return times if duration - times[-1] <= 1e-9 * duration else np.append(times, duration)


def _caption(labels: Sequence[str], i: int, motion: Frames, frame: int) -> str:
    """Label and time; under it where the run failed, if it did."""
    first = "   ".join([*labels[i : i + 1], f"{motion.t[frame]:.2f} s"])
    return f"{first}\n{motion.failure}" if motion.failure else first


def _terrain(surfaces: Sequence[Any], camera: Camera) -> list[Terrain]:
    return terrain_of(surfaces, camera.target, 3 * camera.width)


def _beside(images: Sequence[Any]) -> Any:
    """Pictures next to each other."""
    if len(images) == 1:
        return images[0]
    whole = needed("PIL.Image", "plot", "pictures need").new("RGB", (sum(i.width for i in images), images[0].height))
    for k, image in enumerate(images):
        whole.paste(image, (sum(i.width for i in images[:k]), 0))
    return whole


def _write_gif(pictures: Sequence[Any], path: Path, hundredths: int) -> None:
    """Write a GIF with one palette for all frames, so that nothing flickers."""
    palette = pictures[len(pictures) // 2].quantize(COLORS)
    frames = [picture.quantize(palette=palette, dither=0) for picture in pictures]
    frames[0].save(
        path, format="GIF", save_all=True, append_images=frames[1:], duration=10 * hundredths, loop=0, optimize=False
    )
