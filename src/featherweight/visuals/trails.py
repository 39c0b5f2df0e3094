"""Trails: the ways of chosen points of a robot, and where they pressed on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featherweight.errors import no_such
from featherweight.visuals.motion import Frames


class Trail(NamedTuple):
    """Of one point in F frames: `places` (F, 3) [m], and whether a contact force acted, `pressed` (F,)."""

    places: np.ndarray
    pressed: np.ndarray


def trails_of(motion: Frames, names: Sequence[str]) -> list[Trail]:
    """Of contact points, links and frames by name; of balls that touch, their lowest points."""
    if isinstance(names, str):
        raise ValueError(f"trails: expected names in a list, got {names!r}")
    model, trails = motion.model, []
    points = {point.name: k for k, point in enumerate(model.contact_points)}
    for name in names:
        if name in points:
            k = points[name]
            places = motion.points[:, k] - [0.0, 0.0, model.contact_points[k].radius]
            trails.append(Trail(places, np.linalg.norm(motion.force[:, k], axis=-1) > 0))
        elif name in model.frames:
            frame = model.frames[name]
            places = motion.position[:, frame.body] + motion.rotation[:, frame.body] @ np.array(frame.X.r, dtype=float)
            trails.append(Trail(places, np.zeros(len(motion), dtype=bool)))
        else:
            raise no_such("contact point, link or frame", name, [*points, *model.frames])
    return trails
