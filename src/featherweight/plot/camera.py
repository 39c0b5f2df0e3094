"""The camera: a pinhole, its axes, and the projection to pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from featherweight.cached import cached_property
from featherweight.visuals import DrawnShape, Frames, bounds

AWAY = 2.6  # widths of a picture from the camera to what it looks at
FILLED = 0.88  # of a picture, by the box around a robot


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
        local = (points - self.eye) @ self.axes[0]
        return self.pixels(local, size), local[..., 2]

    def pixels(self, local: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        """Pixels (…, 2) of points (…, 3) along the camera's axes, from its eye."""
        distance = self.axes[1]
        scale = size[0] / self.width * distance / np.maximum(local[..., 2], 1e-3 * distance)
        return np.stack([size[0] / 2 + scale * local[..., 0], size[1] / 2 - scale * local[..., 1]], axis=-1)

    @cached_property
    def axes(self) -> tuple[np.ndarray, float]:
        """Right, up and forward as columns; how far away the target is [m]."""
        forward = self.target - self.eye
        distance = float(np.linalg.norm(forward))
        forward = forward / distance
        right = np.cross(forward, [0.0, 0.0, 1.0])
        if np.linalg.norm(right) < 1e-6:  # straight down or up
            right = np.cross(forward, [0.0, 1.0, 0.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward], axis=1), distance


def camera_for(motion: Frames, shapes: Sequence[DrawnShape], aspect: float = 4 / 3) -> Camera:
    """A camera that sees all of a motion; mechanisms that move in a plane are looked at across it."""
    low, high = bounds(motion, shapes)
    middle, extent = (low + high) / 2, high - low
    moved = np.ptp(motion.position.reshape(-1, 3), axis=0)
    direction = np.array([0.75, -1.0, 0.42])
    if moved[1] < 0.05 * moved.max() or (not moved.any() and extent[1] < 0.2 * extent.max()):
        direction = np.array([0.25, -1.0, 0.2])
    elif moved[0] < 0.05 * moved.max():
        direction = np.array([1.0, -0.25, 0.2])
    width = max(float(np.linalg.norm(extent)), 1e-3)
    corners = low + extent * np.array(list(product((0, 1), repeat=3)))
    for _ in range(3):  # as near as all corners allow: where they are in the picture depends on how near it is
        camera = Camera(middle + AWAY * width * direction / np.linalg.norm(direction), middle, width)
        pixels, _ = camera.seen(corners, (2, 2))  # from 0 to 2 across
        x, y = np.abs(pixels - 1.0).max(axis=0)
        width *= max(float(x), float(y) * aspect, 1e-6) / FILLED
    return Camera(middle + AWAY * width * direction / np.linalg.norm(direction), middle, width)
