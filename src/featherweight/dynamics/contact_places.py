"""Where the contact points of a robot are, all of them from the poses of its bodies."""

from __future__ import annotations

import numpy as np

from featherweight.dynamics.kinematics import Poses
from featherweight.model import Model


def contact_places(model: Model, poses: Poses) -> np.ndarray:
    """Positions [m] of the contact points in the world, shape (…, nc, 3), for what `forward_kinematics` gave."""
    bodies = [point.body for point in model.contact_points]
    local = np.array([point.position for point in model.contact_points]).reshape(len(bodies), 3, 1)
    return poses.position[..., bodies, :] + (poses.rotation[..., bodies, :, :] @ local)[..., 0]
