"""Where a robot touches the ground: its contact points, and shapes that do, from the poses of its bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from featherweight.compiler import Lanes, plain
from featherweight.dynamics.kinematics import Poses
from featherweight.model import Model
from featherweight.spatial import Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def contact_places(model: Model, poses: Poses) -> np.ndarray:
    """Positions [m] of the contact points in the world, shape (…, nc, 3), for what `forward_kinematics` gave."""
    bodies = [point.body for point in model.contact_points]
    local = np.array([point.position for point in model.contact_points]).reshape(len(bodies), 3, 1)
    return poses.position[..., bodies, :] + (poses.rotation[..., bodies, :, :] @ local)[..., 0]


def ground_bodies(model: Model) -> list[int]:
    """Numbers of the bodies of what touches the ground: contact points, then shapes."""
    return [point.body for point in model.contact_points] + [shape.body for shape in model.ground_shapes]


def ground_heights(
    model: Model, poses: Poses, normal: ArrayLike = (0.0, 0.0, 1.0), point: ArrayLike = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """Heights [m] above a plane of the lowest parts of what touches the ground, shape (…, n): contact points, less
    their radii, then shapes. The plane is that through `point` with a unit `normal`."""
    n, origin = np.asarray(normal, dtype=float), np.asarray(point, dtype=float)
    heights = (contact_places(model, poses) - origin) @ n - [own.radius for own in model.contact_points]
    if not model.ground_shapes:
        return heights
    low = []
    for own in model.ground_shapes:
        E, r = np.array([list(row) for row in own.X.E], dtype=float), np.array(list(own.X.r), dtype=float)
        R, p = np.asarray(poses.rotation)[..., own.body, :, :], np.asarray(poses.position)[..., own.body, :]
        down = -(np.swapaxes(R, -1, -2) @ n) @ E.T  # in the shape's axes
        x = own.shape.support(Vector(*(Lanes(d) for d in down.reshape(-1, 3).T.copy())))
        deepest = sum(plain(c) * d for c, d in zip(x, down.reshape(-1, 3).T, strict=True))
        low.append((p - origin) @ n + (R @ r) @ n - np.reshape(deepest, down.shape[:-1]))
    return np.concatenate([heights, np.stack(low, axis=-1)], axis=-1)
