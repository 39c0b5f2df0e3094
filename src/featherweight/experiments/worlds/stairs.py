"""A limp humanoid falls down stairs."""

from __future__ import annotations

import numpy as np

from featherweight import shapes
from featherweight.contact import Impulse
from featherweight.model import Builder, Model, Placement
from featherweight.robots import humanoid
from featherweight.scenes import Scene, standing

STEPS, RISE, RUN, WIDTH, LANDING = 7, 0.19, 0.27, 1.6, 0.8  # [m]
STONE, DARK = (0.72, 0.70, 0.66, 1.0), (0.60, 0.59, 0.56, 1.0)
SLOTS = 16


def model(steps: int = STEPS) -> Model:
    """Stairs down along x with a landing above, as boxes that stand in the world, and a person."""
    builder = Builder("stairs")
    for k in range(steps):
        height, length = RISE * (steps - k), RUN if k else LANDING
        middle = RUN * k + RUN / 2 if k else RUN - LANDING / 2
        place = Placement((middle, 0.0, height / 2))
        shape, color = shapes.Box((length, WIDTH, height)), DARK if k % 2 else STONE
        builder.add_geometry("world", shape, place, role="both", name=f"step{k}", color=color, friction=0.5)
    return builder.add_model(humanoid(collision=True, armature=0.05, stiffening=2.0)).build()


def scene(steps: int = STEPS, *, speed: float = 1.5) -> Scene:
    """It stands on the landing with bent knees, lets go, and was pushed forward."""
    world = model(steps)
    q = standing(humanoid(), knees=0.5)
    q[0], q[2] = -0.1, q[2] + RISE * steps
    v = np.zeros(world.nv)
    v[0], v[3] = speed, 0.5
    contact = Impulse(friction=0.5, pairs="auto", tolerance=1e-4, recovery=20.0, keep_best=True, slots=SLOTS)
    return Scene(world, q, v, 6.0, 1e-3, contact)
