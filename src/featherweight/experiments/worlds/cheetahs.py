"""Mini Cheetahs among things: one goes through a pile of boxes, two push a crate against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from featherweight import control, shapes
from featherweight.contact import Impulse
from featherweight.joints import Free
from featherweight.model import Builder, Inertia
from featherweight.robots import mini_cheetah
from featherweight.scenes import Scene, crouched
from featherweight.simulation.actuators import EffortLimits

COLORS = ((0.0, 0.47, 0.55, 1.0), (0.93, 0.68, 0.29, 1.0), (0.82, 0.29, 0.36, 1.0))
BOX, BOX_MASS, PILE = 0.15, 0.25, (3, 1, 1)  # edge [m] and mass [kg] of a box, boxes in each row from below
CRATE, CRATE_MASS = (0.3, 0.4, 0.4), 4.0  # [m], [kg]
AHEAD, APART = 0.55, 0.62  # of the pile and of the crate from a robot's middle [m]
MU, SLOTS = 0.6, 16  # friction; most contacts of the pile and the robot
SPEEDS = (0.6, 0.3)  # [m/s] that the two at the crate want
FRONT = (
    "body",
    *(f"{leg}_{link}" for leg in ("FR", "FL") for link in ("abad_link", "thigh", "shank")),
)  # what comes to a crate
WHOLE = (*FRONT, "HR_shank", "HL_shank")


def boxes(pile: Iterable[int] = PILE, *, speed: float = 0.5) -> Scene:
    """A Mini Cheetah trots into a pile of light boxes that stands across its way."""
    builder, robot = Builder("boxes"), mini_cheetah(points="feet", collision=True)
    builder.add_model(robot)
    places = list(_pile(pile))
    for k in range(len(places)):
        builder.add_body(f"box{k}", joint=Free(), inertia=Inertia.box(BOX_MASS, (BOX,) * 3))
        builder.add_geometry(f"box{k}", shapes.Box((BOX,) * 3), role="both", color=COLORS[k % len(COLORS)])
    world = builder.build()
    q, own = world.neutral(), crouched(robot)
    q[: robot.nq] = own
    for k, place in enumerate(places):
        q[robot.nq + 7 * k :][:3] = place
    pairs = [(part, f"box{k}") for k in range(len(places)) for part in WHOLE]
    pairs += [(f"box{j}", f"box{k}") for k in range(len(places)) for j in range(k)]
    trot = control.trot(robot, own, velocity=(speed, 0.0, 0.0), start=0.2)
    contact = Impulse(friction=MU, pairs=pairs, tolerance=1e-6, keep_best=True, slots=SLOTS)
    driven = control.parts(world, {"": (robot, trot)})
    return Scene(world, q, np.zeros(world.nv), 4.0, 1e-3, contact, driven, EffortLimits())


def crate(*, speeds: tuple[float, float] = SPEEDS) -> Scene:
    """Two Mini Cheetahs face each other and trot, with a crate between them that both push."""
    robot = mini_cheetah(points="feet", collision=True)
    builder = Builder("two_robots").add_model(robot, "left_").add_model(robot, "right_")
    builder.add_body("crate", joint=Free(), inertia=Inertia.box(CRATE_MASS, CRATE))
    builder.add_geometry("crate", shapes.Box(CRATE), role="both", color=COLORS[1])
    world = builder.build()
    q, own = world.neutral(), crouched(robot)
    facing = own.copy()
    own[0], facing[0], facing[3:7] = -APART, APART, (0.0, 0.0, 1.0, 0.0)
    q[: 2 * robot.nq] = *own, *facing
    q[2 * robot.nq + 2] = CRATE[2] / 2
    pairs = [(f"{side}_{part}", "crate") for side in ("left", "right") for part in FRONT]
    robots = {
        f"{side}_": (robot, control.trot(robot, at, velocity=(speed, 0.0, 0.0), start=0.2))
        for side, at, speed in zip(("left", "right"), (own, facing), speeds, strict=True)
    }
    contact = Impulse(friction=MU, pairs=pairs, tolerance=1e-6, keep_best=True)
    return Scene(world, q, np.zeros(world.nv), 5.0, 1e-3, contact, control.parts(world, robots), EffortLimits())


def _pile(rows: Iterable[int]) -> Iterator[tuple[float, float, float]]:
    """Places of boxes, row upon row, each row so many side by side with a little room between them."""
    for level, count in enumerate(rows):
        for k in range(count):
            yield AHEAD, 1.05 * BOX * (k - (count - 1) / 2), BOX * (level + 0.5)
