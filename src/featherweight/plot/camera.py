"""The camera: a pinhole, its axes, and the projection to pixels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featherweight.visuals import Viewpoint, fitted

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

    @functools.cached_property
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

    def moved(self, way: np.ndarray) -> Camera:
        """The same, moved by (3,) [m]."""
        return Camera(self.eye + way, self.target + way, self.width)


def camera_for(views: Sequence[Viewpoint], aspect: float = 4 / 3) -> Camera:
    """As near as all corners of the robots' ways allow, from the direction of the first."""
    corners, direction = np.concatenate([view.corners for view in views]), views[0].direction
    tangent = FILLED / (2 * AWAY)
    target, distance = fitted(corners, direction, (tangent, tangent / aspect))
    return Camera(target + distance * direction, target, distance / AWAY)
