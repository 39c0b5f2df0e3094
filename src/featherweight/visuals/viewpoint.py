"""From where a motion is looked at: which side, what has to be in the picture, and how the camera follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from featherweight.model import Model
from featherweight.visuals.motion import Frames, bounds, extremes
from featherweight.visuals.shapes import DrawnShape

FRONT, SIDE = (0.0, -1.0, 0.05), (1.0, 0.0, 0.05)  # of mechanisms in the x-z plane, and in the y-z plane
CORNER, TALL = (0.75, -1.0, 0.42), (1.0, -0.9, 0.22)  # of others: from a corner, lower if they are tall
FLAT = 0.05  # of its size: what stays within this moves in a plane
SMOOTHED = 0.6  # [s] of the robot's way that the camera takes the mean of
DIRECTIONS = np.array([d for d in product((-2, -1, 0, 1, 2), repeat=3) if 2 in map(abs, d)], dtype=float)  # of corners
TRAVELLED = 0.75  # robots' sizes: who goes further is followed


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """`direction` (3,), of length 1, from the robot to the camera; `corners` (n, 3) [m] of what the robot keeps within,
    seen by a camera that has moved by `path` (F, 3) [m] in each frame; zero if it stands."""

    direction: np.ndarray
    corners: np.ndarray
    path: np.ndarray

    @property
    def low(self) -> np.ndarray:
        """Of the corners (3,) [m]."""
        return self.corners.min(axis=0)

    @property
    def high(self) -> np.ndarray:
        """Of the corners (3,) [m]."""
        return self.corners.max(axis=0)


def viewpoint_of(motion: Frames, shapes: Sequence[DrawnShape], follow: bool | None = None) -> Viewpoint:
    """Planar mechanisms are seen from the front. `follow`: None follows floating robots that travel."""
    low, high = bounds(motion.start(), shapes)
    path = np.zeros((len(motion), 3))
    if follow is not False:
        way = _smooth(motion.t, motion.com) * [1.0, 1.0, 0.0]
        far = float(np.linalg.norm(np.ptp(way, axis=0))) > TRAVELLED * float(np.max(high - low))
        if follow or (_floats(motion.model) and far):
            path = way - way[0]
    relative = replace(motion, position=motion.position - path[:, None], com=motion.com - path)
    corners = extremes(relative, shapes, DIRECTIONS)
    return Viewpoint(_direction(relative, np.ptp(corners, axis=0)), corners, path)


def fitted(corners: np.ndarray, direction: np.ndarray, tangents: tuple[float, float]) -> tuple[np.ndarray, float]:
    """What to look at (3,), and from how far [m], so that corners (n, 3) fill the picture; `tangents` are those of
    half its angles, across and upward. A corner at (x, y, z) along the camera's axes needs z + |x| / tangent."""
    axes = camera_axes(direction)
    target = (corners.min(axis=0) + corners.max(axis=0)) / 2
    distance = 0.0
    for _ in range(4):  # near corners look larger: where the middle of the picture is depends on the distance
        x, y, z = ((corners - target) @ axes).T
        distance = max(float((z + np.abs(x) / tangents[0]).max()), float((z + np.abs(y) / tangents[1]).max()), 1e-3)
        seen = np.stack([x, y]) / (distance - z)
        middle = (seen.min(axis=1) + seen.max(axis=1)) / 2
        target = target + distance * axes[:, :2] @ middle
    x, y, z = ((corners - target) @ axes).T
    return target, max(float((z + np.abs(x) / tangents[0]).max()), float((z + np.abs(y) / tangents[1]).max()), 1e-3)


def camera_axes(direction: np.ndarray) -> np.ndarray:
    """Right, up and backward as columns, of a camera in this direction from what it looks at; z up."""
    backward = direction / np.linalg.norm(direction)
    right = np.cross([0.0, 0.0, 1.0], backward)
    if np.linalg.norm(right) < 1e-6:  # straight down or up
        right = np.cross([0.0, 1.0, 0.0], backward)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(backward, right), backward])


def _direction(motion: Frames, extent: np.ndarray) -> np.ndarray:
    """Across the plane that bodies stay in, if there is one."""
    places = np.concatenate([motion.position[:, 1:], motion.com[:, None]], axis=1)
    spread = np.ptp(places.reshape(-1, 3), axis=0)
    if not spread.any():
        spread = extent
    if spread[1] <= FLAT * spread.max():
        direction = FRONT
    elif spread[0] <= FLAT * spread.max():
        direction = SIDE
    else:
        direction = TALL if extent[2] > 1.2 * extent[:2].max() else CORNER
    return np.array(direction) / np.linalg.norm(direction)


def _floats(model: Model) -> bool:
    """Can it be carried anywhere?"""
    orientation = model.independent_joints[0].kind.orientation if model.independent_joints else None
    return orientation is not None and orientation.start == 3


def _smooth(t: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Means over SMOOTHED seconds around each frame; at the ends over what there is on both sides."""
    total = np.concatenate([np.zeros((1, 3)), np.cumsum(places, axis=0)])
    half = np.minimum(SMOOTHED / 2, np.minimum(t - t[0], t[-1] - t))
    first, last = np.searchsorted(t, t - half - 1e-9), np.searchsorted(t, t + half + 1e-9)
    last = np.maximum(last, first + 1)
    return (total[last] - total[first]) / (last - first)[:, None]
