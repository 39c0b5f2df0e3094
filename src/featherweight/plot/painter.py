"""Robots as pictures, by a depth buffer; around them what Pillow draws: a tiled floor, shadows, trails, arrows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.extras import needed
from featherweight.plot.camera import Camera
from featherweight.plot.facets import Facets, facets_of
from featherweight.plot.raster import DepthBuffer
from featherweight.visuals import DrawnShape, Frames, Segments, Trail
from featherweight.visuals.terrain import Terrain, round_length

LIGHT = np.array([0.35, -0.45, 0.82]) / np.linalg.norm([0.35, -0.45, 0.82])  # where it comes from
SKY, INK, SHADOW, TILE = (255, 255, 255), (40, 44, 52), (206, 208, 211), (235, 237, 240)
ARROW, PRESSED, SWUNG = (214, 39, 40), (232, 89, 12), (134, 178, 222)
TILES = 12  # across a picture, or some fewer
FADES = 6  # steps in which the floor fades into the sky
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
        self._still, self._floor = camera, self._tiled()

    def paint(
        self,
        motion: Frames,
        frame: int,
        *,
        caption: str = "",
        newtons: float | None = None,
        moved: np.ndarray | None = None,
        trails: Sequence[Trail] = (),
        segments: Sequence[Segments] = (),
    ) -> Any:
        """A Pillow image; `newtons` is how much force makes an arrow of a quarter of the picture; `moved` (3,) [m] how
        far the camera has followed the robot; of trails what has been gone by this frame."""
        follows = moved is not None and bool(moved.any())
        self._camera = camera = self._still.moved(moved) if follows else self._still  # type: ignore[arg-type]
        image = self._tiled() if follows else self._floor.copy()
        draw = self._pen(image)
        rotation, position = motion.rotation[frame], motion.position[frame]
        for plane in self._planes:
            self._shadow(draw, plane, rotation, position)
        for trail in trails:
            _trail(draw, trail.places[: frame + 1], trail.pressed[: frame + 1], camera, self._size)
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

    def _tiled(self) -> Any:
        """The picture without a robot."""
        image = needed("PIL.Image", "plot", "pictures need").new("RGB", self._size, SKY)
        for plane in self._planes:
            _tiles(self._pen(image), plane, self._camera, self._size)
        return image

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


def _tiles(draw: Any, floor: Terrain, camera: Camera, size: tuple[int, int]) -> None:
    """Every second tile of a plane around what is looked at, paler with the distance."""
    rotation, position = floor.plane  # type: ignore[misc]
    step = round_length(camera.width / TILES)
    n = int(floor.size / 2 / step)
    normal = rotation[:, 2]
    origin = _on_grid(rotation, camera.target - normal * (normal @ (camera.target - position)), 2 * step)
    tiles = np.array([(i, j) for i in range(-n, n) for j in range(-n, n) if (i + j) % 2])
    corners = tiles[:, None] + np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    places = origin + np.pad(corners, ((0, 0), (0, 0), (0, 1))) * step @ rotation.T
    pixels, depth = camera.seen(places, size)
    away = np.linalg.norm(corners.mean(axis=1), axis=1) / n
    fade = np.round(np.clip(1.6 * away - 0.5, 0, 1) * FADES) / FADES
    shown = (depth.min(axis=1) > 0) & (fade < 1)
    for tile, pale in zip(pixels[shown].reshape(-1, 8).tolist(), fade[shown].tolist(), strict=True):
        draw.polygon(tile, fill=tuple(round(a + pale * (b - a)) for a, b in zip(TILE, SKY, strict=True)))


def _trail(draw: Any, places: np.ndarray, pressed: np.ndarray, camera: Camera, size: tuple[int, int]) -> None:
    """The way of a point: a line, in another colour where it pressed on the ground."""
    pixels, depth = camera.seen(places, size)
    both = pressed[:-1] & pressed[1:]
    for touching, ink, width in ((False, SWUNG, FINE), (True, PRESSED, 2 * FINE)):
        for k in np.flatnonzero((both == touching) & (np.minimum(depth[:-1], depth[1:]) > 0)):
            draw.line([tuple(pixels[k]), tuple(pixels[k + 1])], fill=ink, width=width)


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
