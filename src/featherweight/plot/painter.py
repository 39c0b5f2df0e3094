"""Robots as pictures, by a depth buffer; around them what Pillow draws: a floor with a grid and a shadow, arrows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.extras import needed
from featherweight.plot.camera import Camera
from featherweight.plot.facets import Facets, facets_of
from featherweight.plot.raster import DepthBuffer
from featherweight.visuals import DrawnShape, Frames, Segments
from featherweight.visuals.terrain import Terrain

LIGHT = np.array([0.35, -0.45, 0.82]) / np.linalg.norm([0.35, -0.45, 0.82])  # where it comes from
SKY, INK, SHADOW, LINES = (255, 255, 255), (40, 44, 52), (206, 208, 211), (222, 224, 227)
ARROW = (214, 39, 40)
FINE = 2  # pixels are painted so many times finer than they are shown
BYTES = np.array([1, 1 << 8, 1 << 16])  # red, green and blue in one number


class Painter:
    """Paints frames of one robot from one place; what all frames have in common is made once."""

    def __init__(
        self,
        shapes: Sequence[DrawnShape],
        ground: Sequence[Terrain],
        camera: Camera,
        size: tuple[int, int] = (640, 480),
    ) -> None:
        self._camera, self._size = camera, (size[0] * FINE, size[1] * FINE)
        self._planes = [surface for surface in ground if surface.plane is not None]
        self._robot = facets_of([(shape.body, shape.mesh, shape.color) for shape in shapes])
        solids = facets_of([(0, surface.mesh, surface.color) for surface in ground if surface.plane is None])
        self._facets = Facets(*(np.concatenate(both) for both in zip(solids, self._robot, strict=True)))
        self._floor = needed("PIL.Image", "plot", "pictures need").new("RGB", self._size, SKY)
        draw = self._pen(self._floor)
        for plane in self._planes:
            _grid(draw, plane, camera, self._size)

    def paint(
        self,
        motion: Frames,
        frame: int,
        *,
        caption: str = "",
        newtons: float | None = None,
        segments: Sequence[Segments] = (),
    ) -> Any:
        """A Pillow image; `newtons` is how much force makes an arrow of a quarter of the picture."""
        image, camera = self._floor.copy(), self._camera
        draw = self._pen(image)
        rotation, position = motion.rotation[frame], motion.position[frame]
        for plane in self._planes:
            self._shadow(draw, plane, rotation, position)
        image = self._solids(image, rotation, position)
        draw = self._pen(image)
        for lines in segments:
            _lines(draw, lines, float(motion.t[frame]), camera, self._size)
        if newtons is not None:
            _arrows(draw, motion.points[frame], motion.force[frame], camera.width / 4 / newtons, camera, self._size)
        if caption:
            draw.text((16, 12), caption, fill=INK, font=_font(13 * FINE))
        return image.reduce(FINE)

    def _solids(self, image: Any, rotation: np.ndarray, position: np.ndarray) -> Any:
        """The picture with all facets, lit from one side."""
        corners, normals, colors, body = self._facets
        eye = np.einsum("bji,bj->bi", rotation, self._camera.eye - position)  # in the bodies' frames, as the light is
        a, b, c = np.swapaxes(corners, 0, 1)
        facing = np.einsum("ij,ij->i", np.cross(b - a, c - a), eye[body] - a) > 0
        corners, normals, colors, body = self._facets.some(facing)
        lit = np.clip(np.einsum("ikj,ij->ik", normals, (LIGHT @ rotation)[body]), 0, 1)
        light = 0.62 + 0.30 * lit + 0.10 * np.einsum("ikj,ij->ik", normals, rotation[body, 2])
        local = _seen(self._camera, corners, body, rotation, position)
        buffer = DepthBuffer(np.array(image))
        buffer.paint(self._camera.pixels(local, self._size), local[..., 2], colors, light)
        return needed("PIL.Image", "plot", "pictures need").fromarray(buffer.picture)

    def _shadow(self, draw: Any, plane: Terrain, rotation: np.ndarray, position: np.ndarray) -> None:
        """Shadow of the robot on a plane: its facets that face the light, projected along the light."""
        frame, origin = plane.plane  # type: ignore[misc]
        normal = frame[:, 2]
        slope = LIGHT @ normal
        if slope <= 0.1:
            return
        corners, _, _, body = self._robot
        a, b, c = np.swapaxes(corners, 0, 1)
        lit = np.einsum("ij,ij->i", np.cross(b - a, c - a), (LIGHT @ rotation)[body]) > 0
        corners, body = corners[lit], body[lit]
        height = (
            np.einsum("ijk,ik->ij", corners, (normal @ rotation)[body]) + ((position - origin) @ normal)[body, None]
        )
        above = height.min(axis=1, initial=np.inf) > -1e-3
        flat = np.eye(3) - np.outer(LIGHT, normal) / slope  # along the light
        laid = (position - origin) @ flat.T + origin
        local = _seen(self._camera, corners[above], body[above], flat @ rotation, laid)
        _polygons(draw, self._camera.pixels(local, self._size), np.full(len(local), BYTES @ SHADOW))

    @staticmethod
    def _pen(image: Any) -> Any:
        return needed("PIL.ImageDraw", "plot", "pictures need").Draw(image)


def _seen(
    camera: Camera, corners: np.ndarray, body: np.ndarray, rotation: np.ndarray, position: np.ndarray
) -> np.ndarray:
    """Corners (…, 3) from body frames to the camera's axes, for these rotations and positions of the bodies."""
    axes = camera.axes[0]
    return corners @ (np.swapaxes(rotation, 1, 2) @ axes)[body] + ((position - camera.eye) @ axes)[body, None]


def _polygons(draw: Any, pixels: np.ndarray, inks: np.ndarray) -> None:
    """Filled, one after the other; Pillow reads their corners from an array of floats, and takes colours as numbers.

    It cuts them down to whole pixels. They grow by a quarter of one, for otherwise the sky shines through where a long
    edge meets two short ones.
    """
    pixels = pixels + np.where(pixels > pixels.mean(axis=1, keepdims=True), 0.75, 0.25)
    for polygon, ink in zip(pixels.reshape(-1, 6).astype(np.float32), inks.tolist(), strict=True):
        draw.polygon(polygon, fill=ink)


def _grid(draw: Any, floor: Terrain, camera: Camera, size: tuple[int, int]) -> None:
    """Lines at round numbers on a plane."""
    rotation, position = floor.plane  # type: ignore[misc]
    step = 10.0 ** np.floor(np.log10(floor.size / 4))
    n = int(floor.size / 2 / step)
    origin = _on_grid(rotation, position, step)
    ends = [line for k in range(-n, n + 1) for line in (((k, -n, 0), (k, n, 0)), ((-n, k, 0), (n, k, 0)))]
    pixels, depth = camera.seen(origin + np.array(ends) * step @ rotation.T, size)
    for line in pixels[depth.min(axis=1) > 0].reshape(-1, 4).tolist():
        draw.line(line, fill=LINES, width=FINE)


def _on_grid(rotation: np.ndarray, position: np.ndarray, step: float) -> np.ndarray:
    """The grid point on a plane nearest to `position`; lines are at round numbers of the plane's axes."""
    x, y, z = rotation.T @ position
    return rotation @ [np.round(x / step) * step, np.round(y / step) * step, z]


def _lines(draw: Any, lines: Segments, time: float, camera: Camera, size: tuple[int, int]) -> None:
    """What there is of them at a time [s]."""
    pixels, _ = camera.seen(lines.shown(time), size)
    color = tuple(round(255 * x) for x in lines.color)
    for line in pixels.reshape(-1, 4).tolist():
        draw.line(line, fill=color, width=max(1, round(lines.width * size[0] / camera.width)))


def _arrows(
    draw: Any, points: np.ndarray, forces: np.ndarray, metres: float, camera: Camera, size: tuple[int, int]
) -> None:
    """Forces as arrows from their points; `metres` for each newton, half the picture at most."""
    lengths = np.linalg.norm(forces, axis=1) * metres / camera.width
    strong = lengths > 0.01
    forces = forces / np.maximum(1.0, 2 * lengths)[:, None]
    tails, _ = camera.seen(points[strong], size)
    tips, _ = camera.seen(points[strong] + metres * forces[strong], size)
    for a, b in zip(tails, tips, strict=True):
        draw.line([tuple(a), tuple(b)], fill=ARROW, width=2 * FINE)
        along = (b - a) / (np.linalg.norm(b - a) + 1e-9)
        across = np.array([-along[1], along[0]])
        head = 5.0 * FINE
        draw.polygon([tuple(b + along * head), tuple(b + across * head / 2), tuple(b - across * head / 2)], fill=ARROW)


@functools.cache
def _font(pixels: int) -> Any:
    return needed("PIL.ImageFont", "plot", "pictures need").load_default(pixels)
