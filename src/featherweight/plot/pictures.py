"""Stills and moving pictures of robots, made without a GPU or a window."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from featherweight.endings import MOVIES, VIDEOS, check_ending
from featherweight.extras import needed
from featherweight.files import video
from featherweight.model import Model
from featherweight.plot.camera import Camera, camera_for
from featherweight.plot.painter import ARROW, PRESSED, SWUNG, Painter
from featherweight.simulation import Trajectory
from featherweight.visuals import Frames, Segments, Trail, motion_of, shapes_of, terrain_of, trails_of, viewpoint_of
from featherweight.visuals.motion import frames_of
from featherweight.visuals.several import several
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
    camera = camera or camera_for([viewpoint_of(motion, shapes)], size[0] / size[1])
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
    follow: bool | None = None,
    trails: Sequence[str] = (),
    segments: Sequence[Sequence[Segments]] = (),
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
        camera: from where; chosen so that all are seen if not given.
        forces: draw contact forces as arrows.
        follow: does the camera go along with the robot? If not given, with floating robots that travel, unless a
            camera is given.
        trails: names of contact points, links or frames whose ways are drawn; where a contact point presses on the
            ground, in another colour.
        segments: for each trajectory, lines to draw for a while.
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
    runs, labels, lines = _checked(trajectory, labels, segments)
    motions = [motion_of(one, rate=100 / hundredths / speed) for one in runs]
    shapes = [shapes_of(motion.model) for motion in motions]
    follow = False if follow is None and camera is not None else follow
    views = [viewpoint_of(motion, own, follow) for motion, own in zip(motions, shapes, strict=True)]
    camera = camera or camera_for(views, size[0] / size[1])
    newtons = max(motions[0].model.weight, 1e-9) if forces else None
    shots = []
    for k, (one, motion, own, drawn) in enumerate(zip(runs, motions, shapes, lines, strict=True)):
        painter = Painter(own, _terrain(one.ground, camera), camera, size)
        ways = trails_of(motion, trails)
        shots.append(_Shot(motion, painter, views[k].path, ways, newtons, labels[k : k + 1], drawn))
    times = _times(max(float(m.t[-1] - m.t[0]) for m in motions), speed * hundredths / 100)
    nearest = [np.abs(times[:, None] - (m.t - m.t[0])).argmin(axis=1).tolist() for m in motions]  # states
    pictures = _painted(shots, list(zip(*nearest, strict=True)))
    if ending in VIDEOS:
        video.write_video(pictures, path, ending, rate)
    else:
        _write_gif(list(pictures), path, round(hundredths), lines)


def _painted(shots: Sequence[_Shot], shown: Sequence[tuple[int, ...]]) -> Iterator[Any]:
    """A picture for each row of frame numbers, one a robot; the one before if nothing has changed."""
    before: Any = None
    for k, frames in enumerate(shown):
        if k == 0 or frames != shown[k - 1]:
            before = _beside([shot.picture(frame) for shot, frame in zip(shots, frames, strict=True)])
        yield before


class _Shot(NamedTuple):
    """One robot of a movie."""

    motion: Frames
    painter: Painter
    path: np.ndarray  # of the camera (F, 3)
    trails: list[Trail]
    newtons: float | None
    label: Sequence[str]  # or none
    segments: Sequence[Segments]

    def picture(self, frame: int) -> Any:
        """With label and time; under them where the run failed, if it did."""
        motion = self.motion
        first = "   ".join([*self.label, f"{motion.t[frame]:.2f} s"])
        caption = f"{first}\n{motion.failure}" if motion.failure else first
        return self.painter.paint(
            motion, frame, newtons=self.newtons, caption=caption, moved=self.path[frame], trails=self.trails,
            segments=self.segments,
        )  # fmt: skip


def _checked(
    trajectory: Trajectory | Sequence[Trajectory], labels: Sequence[str], segments: Sequence[Sequence[Segments]]
) -> tuple[list[Trajectory], Sequence[str], Sequence[Sequence[Segments]]]:
    """One or several, their labels, and the segments of each."""
    runs, labels = several(trajectory, labels)
    if segments and len(segments) != len(runs):
        raise ValueError(f"segments: expected {len(runs)} lists, one for each trajectory, got {len(segments)}")
    return runs, labels, segments or [()] * len(runs)


def _times(duration: float, step: float) -> np.ndarray:
    """Frame times [s]: equal steps from 0, and the end."""
    times = step * np.arange(int(duration / step + 1e-9) + 1)
    return times if duration - times[-1] <= 1e-9 * duration else np.append(times, duration)


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


def _write_gif(pictures: Sequence[Any], path: Path, hundredths: int, segments: Sequence[Sequence[Segments]]) -> None:
    """Write a GIF with one palette for all frames, so that nothing flickers: the colours of the middle one, and those
    of marks, which may not be in it."""
    drawn = {tuple(round(255 * x) for x in lines.color) for one in segments for lines in one}
    marks = [ARROW, PRESSED, SWUNG, *sorted(drawn)]
    kept = COLORS - len(marks)
    numbers = pictures[len(pictures) // 2].quantize(kept).getpalette()[: 3 * kept]
    palette = needed("PIL.Image", "plot", "pictures need").new("P", (1, 1))
    palette.putpalette([*numbers, *(x for color in marks for x in color)])
    frames = [picture.quantize(palette=palette, dither=0) for picture in pictures]
    frames[0].save(
        path, format="GIF", save_all=True, append_images=frames[1:], duration=10 * hundredths, loop=0, optimize=False
    )
