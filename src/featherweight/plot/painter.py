"""Pictures of robots without a GPU: triangles sorted by distance and painted one over the other, the far ones first."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.extras import needed
from featherweight.looks import Mesh, Motion, Shape, bounds
from featherweight.looks.terrain import Ground

LIGHT = np.array([0.35, -0.45, 0.82]) / np.linalg.norm([0.35, -0.45, 0.82])  # where it comes from
SKY, INK, SHADOW, LINES = (255, 255, 255), (40, 44, 52), (206, 208, 211), (222, 224, 227)
ARROW = (214, 39, 40)
FINE = 2  # pixels are painted so many times finer than they are shown
LONGEST = 1 / 16  # edge of a triangle, in picture widths; sorting goes wrong for larger ones


@dataclass(frozen=True)
class Camera:
    """A pinhole at `eye` that looks at `target`, z up, or y up from straight above; `width` [m] of the target's plane
    fits across."""

    eye: np.ndarray
    target: np.ndarray
    width: float

    def __post_init__(self) -> None:
        for name in ("eye", "target"):
            place = np.asarray(getattr(self, name), dtype=float)
            if place.shape != (3,) or not np.isfinite(place).all():
                raise ValueError(f"{name}: expected three finite numbers [m], got {getattr(self, name)!r}")
            object.__setattr__(self, name, place)
        if not 0 < self.width < np.inf or (self.eye == self.target).all():
            raise ValueError(f"width, eye: expected a width > 0 [m] and an eye that is not at the target, got {self!r}")

    def seen(self, points: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Pixels (…, 2) and distances (…) of points (…, 3)."""
        axes, distance = self._axes
        local = (points - self.eye) @ axes
        depth = np.maximum(local[..., 2], 1e-3 * distance)
        scale = size[0] / self.width * distance / depth
        pixels = np.stack([size[0] / 2 + scale * local[..., 0], size[1] / 2 - scale * local[..., 1]], axis=-1)
        return pixels, local[..., 2]

    @functools.cached_property
    def _axes(self) -> tuple[np.ndarray, float]:
        """Right, up and forward as columns; how far away the target is [m]."""
        forward = self.target - self.eye
        distance = float(np.linalg.norm(forward))
        forward = forward / distance
        right = np.cross(forward, [0.0, 0.0, 1.0])
        if np.linalg.norm(right) < 1e-6:  # straight down or up
            right = np.cross(forward, [0.0, 1.0, 0.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward], axis=1), distance


def camera_for(motion: Motion, shapes: Sequence[Shape], aspect: float = 4 / 3) -> Camera:
    """A camera that sees all of a motion; mechanisms that move in a plane are looked at across it."""
    low, high = bounds(motion, shapes)
    middle, extent = (low + high) / 2, high - low
    moved = np.ptp(motion.position.reshape(-1, 3), axis=0)
    direction = np.array([0.75, -1.0, 0.42])
    if moved[1] < 0.05 * moved.max() or (not moved.any() and extent[1] < 0.2 * extent.max()):
        direction = np.array([0.25, -1.0, 0.2])
    elif moved[0] < 0.05 * moved.max():
        direction = np.array([1.0, -0.25, 0.2])
    width = 1.35 * max(float(np.hypot(extent[0], extent[1])), float(extent[2]) * aspect, 1e-3)
    return Camera(middle + 2.6 * width * direction / np.linalg.norm(direction), middle, width)


def paint(
    motion: Motion,
    shapes: Sequence[Shape],
    ground: Sequence[Ground],
    frame: int,
    camera: Camera,
    *,
    size: tuple[int, int] = (640, 480),
    caption: str = "",
    newtons: float | None = None,
) -> Any:
    """One frame as a Pillow image; `newtons` is how much force makes an arrow of a quarter of the picture."""
    pillow = needed("PIL.Image", "plot", "pictures need")
    fine = (size[0] * FINE, size[1] * FINE)
    image = pillow.new("RGB", fine, SKY)
    draw = needed("PIL.ImageDraw", "plot", "pictures need").Draw(image)
    robot = [_in_world(shape, motion, frame) for shape in shapes]
    for floor in ground:
        if floor.plane is not None:
            _plane(draw, floor, robot, camera, fine)
    solids = [(s.mesh, s.color) for s in ground if s.plane is None]
    _triangles(draw, [*solids, *((mesh, shape.color) for mesh, shape in zip(robot, shapes, strict=True))], camera, fine)
    if newtons is not None:
        _arrows(draw, motion.points[frame], motion.force[frame], camera.width / 4 / newtons, camera, fine)
    if caption:
        draw.text((16, 12), caption, fill=INK, font=_font(13 * FINE))
    return image.reduce(FINE)


def _in_world(shape: Shape, motion: Motion, frame: int) -> Mesh:
    return shape.mesh.moved(motion.rotation[frame, shape.body], motion.position[frame, shape.body])


def _triangles(draw: Any, solids: Sequence[tuple[Mesh, tuple]], camera: Camera, size: tuple[int, int]) -> None:
    """All triangles that look this way, lit from one side, from the far ones to the near ones."""
    if not solids:
        return
    corners = np.concatenate([mesh.vertices[mesh.faces] for mesh, _ in solids])
    colors = np.concatenate([np.broadcast_to(color, (len(mesh.faces), 3)) for mesh, color in solids])
    corners, colors = _split(corners, colors, LONGEST * camera.width)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.einsum("ij,ij->i", normals, camera.eye - corners[:, 0]) > 0
    corners, colors, normals = corners[facing], colors[facing], normals[facing]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-300
    light = 0.62 + 0.30 * np.clip(normals @ LIGHT, 0, 1) + 0.10 * normals[:, 2]
    tones = np.clip(255 * colors * light[:, None], 0, 255).astype(int)
    pixels, depth = camera.seen(corners, size)
    order = np.argsort(-depth.mean(axis=1))
    for triangle, tone in zip(pixels[order].reshape(-1, 6).tolist(), map(tuple, tones[order].tolist()), strict=True):
        draw.polygon(triangle, fill=tone, outline=tone)


def _split(corners: np.ndarray, colors: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Triangles with large ones cut into four, and again, until their edges are short; six times at most."""
    for _ in range(6):
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
        large = edges > longest
        if not large.any():
            break
        a, b, c = np.swapaxes(corners[large], 0, 1)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        pieces = [np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        corners = np.concatenate([corners[~large], *pieces])
        colors = np.concatenate([colors[~large], *[colors[large]] * 4])
    return corners, colors


def _plane(draw: Any, floor: Ground, robot: Sequence[Mesh], camera: Camera, size: tuple[int, int]) -> None:
    """A grid on a plane, and the robot's shadow."""
    rotation, position = floor.plane  # type: ignore[misc]
    step = 10.0 ** np.floor(np.log10(floor.size / 4))
    n = int(floor.size / 2 / step)
    origin = _on_grid(rotation, position, step)
    ends = [line for k in range(-n, n + 1) for line in (((k, -n, 0), (k, n, 0)), ((-n, k, 0), (n, k, 0)))]
    pixels, depth = camera.seen(origin + np.array(ends) * step @ rotation.T, size)
    for line in pixels[depth.min(axis=1) > 0].reshape(-1, 4).tolist():
        draw.line(line, fill=LINES, width=FINE)
    normal = rotation[:, 2]
    if LIGHT @ normal <= 0.1:
        return
    corners = np.concatenate([np.empty((0, 3, 3)), *(mesh.vertices[mesh.faces] for mesh in robot)])
    height = (corners - position) @ normal
    shade = corners - (height / (LIGHT @ normal))[..., None] * LIGHT
    above = height.min(axis=1) > -1e-3
    pixels, _ = camera.seen(shade[above], size)
    for triangle in pixels.reshape(-1, 6).tolist():
        draw.polygon(triangle, fill=SHADOW)


def _on_grid(rotation: np.ndarray, position: np.ndarray, step: float) -> np.ndarray:
    """The place on a plane nearest to `position` where lines at round numbers, in the plane's axes, cross."""
    x, y, z = rotation.T @ position
    return rotation @ [np.round(x / step) * step, np.round(y / step) * step, z]


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


def _font(pixels: int) -> Any:
    return needed("PIL.ImageFont", "plot", "pictures need").load_default(pixels)
