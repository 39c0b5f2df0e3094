"""`--base auto`: whether a robot of a file is bolted to the world, or floats. Files do not say it.

What stands has two limbs or more that reach below its base: quadrupeds, humanoids. What has no joint at all flies.
All others are bolted down: arms, hands, torsos on a pedestal; so is what hangs on a link named "world", and what has a
base without mass.
"""

from __future__ import annotations

import numpy as np

import featherweight as fw
from featherweight.dynamics.contact_places import ground_bodies, ground_heights
from featherweight.model import Model

BELOW = 0.05  # of the robot's height: how far below the origin of its base a leg reaches


def usual_base(model: Model) -> str:
    """ "fixed" or "free", for a robot that was loaded with a fixed base."""
    links = () if model.description is None else model.description.links
    if any(link.name == "world" for link in links) or not float(model.inertias[0].m) > 0:
        return "fixed"
    return "free" if not model.nb or _legs(model) >= 2 else "fixed"


def _legs(model: Model) -> int:
    """Limbs with a joint, or with something that touches the ground, well below the base at the neutral position."""
    with fw.interpret():  # once, and for that nothing is compiled
        poses = fw.forward_kinematics(model, model.neutral())
    heights = np.asarray(poses.position)[:, 2]
    bodies, points = ground_bodies(model), ground_heights(model, poses)
    everything = np.concatenate([heights, points])
    low = -BELOW * max(float(np.ptp(everything)), 1e-9)
    found = 0
    for limb in model.children(0):
        own = set(model.subtree(limb))
        lowest = min(
            [float(heights[body]) for body in own]
            + [float(z) for z, body in zip(points, bodies, strict=True) if body in own]
        )
        found += lowest < low
    return found
