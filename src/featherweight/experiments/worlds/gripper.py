"""A gripper of two fingers that takes a box, lifts it and shakes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight import shapes
from featherweight.contact import Impulse
from featherweight.joints import Free, Prismatic
from featherweight.model import Builder, Inertia, Model, Placement
from featherweight.scalar import maximum, minimum, sin, where
from featherweight.scenes import Scene
from featherweight.simulation import compiled

MASS, MU, SQUEEZE = 0.5, 0.6, 30.0  # of the box [kg], of its faces, and of each finger [N]
LIFT, SHAKE = 0.5, 1.2  # [s], when it begins to go up, and to shake
STEEL, ORANGE = (0.45, 0.5, 0.55, 1.0), (0.9, 0.55, 0.2, 1.0)


def model() -> Model:
    """A hand that goes up and sideways, two fingers that slide in it, and a free box."""
    builder = Builder("gripper")
    slide = Inertia.box(0.5, (0.2, 0.06, 0.04))
    builder.add_body("rail", joint=Prismatic("y"), placement=Placement((0.0, 0.0, 0.16)), inertia=slide)
    builder.add_body("hand", parent="rail", joint=Prismatic("z"), inertia=Inertia.box(1.0, (0.2, 0.06, 0.04)))
    builder.add_geometry("hand", shapes.Box((0.2, 0.06, 0.04)), role="visual", color=STEEL)
    for name in ("right", "left"):
        finger = Inertia.box(0.2, (0.02, 0.04, 0.12))
        builder.add_body(
            name, parent="hand", joint=Prismatic("x"), placement=Placement((0.0, 0.0, -0.1)), inertia=finger
        )
        builder.add_geometry(name, shapes.Box((0.02, 0.04, 0.12)), role="both", friction=MU, color=STEEL)
    builder.add_body("box", joint=Free(), inertia=Inertia.box(MASS, (0.08, 0.08, 0.08)))
    builder.add_geometry("box", shapes.Box((0.08, 0.08, 0.08)), role="both", friction=MU, color=ORANGE)
    return builder.build()


def _drive(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    """Close, lift by 0.2 m, then shake up and down and sideways."""
    shaking = maximum(minimum((t - SHAKE) / 0.3, 1.0), 0.0)
    up = 0.2 * minimum(maximum(t - LIFT, 0.0) / 0.5, 1.0) + 0.03 * shaking * sin(25.0 * (t - SHAKE))
    across = 0.04 * shaking * sin(18.0 * (t - SHAKE))
    weight = 9.81 * (1.4 + where(t > LIFT, MASS, 0.0))
    return np.array(
        [
            8000.0 * (across - q[0]) - 250.0 * v[0],
            8000.0 * (up - q[1]) - 250.0 * v[1] + weight,
            -SQUEEZE - 20.0 * v[2],
            SQUEEZE - 20.0 * v[3],
            *[0.0] * 6,
        ],
        dtype=object,
    ), x


def scene() -> Scene:
    """The box stands on the ground between the open fingers."""
    world = model()
    q = world.neutral()
    q[2], q[3], q[6] = 0.08, -0.08, 0.04
    contact = Impulse(friction=0.8, pairs=[("right", "box"), ("left", "box")])
    return Scene(world, q, np.zeros(world.nv), 3.0, 1e-3, contact, compiled(_drive))
