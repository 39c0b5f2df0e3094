"""Scenes: a robot, its first state, the ground and a controller, ready to be simulated.

Scenes of one name share their robot, and with it what was compiled: another velocity or push compiles nothing.

>>> import featherweight as fw
>>> scene = fw.scenes.trot()
>>> run = fw.simulate(scene.model, scene.q, scene.v, duration=0.01, **scene.means)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight import control, robots
from featherweight.contact import Box, ContactModel, Heightfield, Impulse, Plane, SpringDamper, Surface
from featherweight.control.checks import checked_base
from featherweight.control.crouch import crouched_legs
from featherweight.control.limbs import four_legs
from featherweight.dynamics import forward_kinematics, frame_pose
from featherweight.dynamics.contact_places import ground_bodies, ground_heights
from featherweight.errors import no_such
from featherweight.model import Model, Placement
from featherweight.simulation import Compiled
from featherweight.simulation.actuators import Actuators, EffortLimits

_mini_cheetah, _humanoid = functools.cache(robots.mini_cheetah), functools.cache(robots.humanoid)  # frozen: shared


@dataclass(frozen=True, eq=False)
class Scene:
    """What is simulated: a model, its first state (…, nq), (…, nv), and the keywords for `simulate` or `rollout`."""

    model: Model
    q: np.ndarray
    v: np.ndarray
    duration: float  # [s], long enough to see what happens
    dt: float
    contact: ContactModel
    control: Compiled | None = None
    actuators: Actuators | None = None

    @property
    def means(self) -> dict[str, Any]:
        """Keywords for `simulate` and `rollout`: dt, contact, control and actuators."""
        return {"dt": self.dt, "contact": self.contact, "control": self.control, "actuators": self.actuators}


def crouched(
    model: Model, height: float | None = None, *, feet: Sequence[str] | None = None, knees: str | None = None
) -> np.ndarray:
    """A quadruped on bent legs, its feet on the ground z = 0 below its hips.

    Legs have three joints: ab/adduction, which stays at 0, hip and knee, hinges across the body.

    Args:
        model: the Mini Cheetah, or a robot of a file, loaded with base="free", with contact points or shapes at its
            feet that touch the ground.
        height: of the hips above the feet [m]; None: 0.7 of the legs' length, or up to 0.85 of it where a knee's motor
            could not hold the robot's weight.
        feet: names of contact points or links; None: of each leg the point furthest from its knee.
        knees: "backward" or "forward" of hips and feet; None: for each leg what is within the limits of its joints and
            nearer to q = 0, backward if both are.
    """
    limbs = four_legs("crouched", checked_base("crouched", model), feet)
    q, above = crouched_legs("crouched", model, limbs, height, knees)
    ends = {model.frame(limb.frame).body for limb in limbs}
    heights = ground_heights(model, forward_kinematics(model, q))
    soles = [z for z, body in zip(heights, ground_bodies(model), strict=True) if body in ends]
    q[2] = above + (min(frame_pose(model, q, limb.frame).position[2] for limb in limbs) - min(soles))
    return q


def trot(
    model: Model | None = None,
    *,
    velocity: Any = (0.0, 0.0, 0.0),
    contact: str = "impulse",
    ground: Surface | None = None,
    friction: float = 0.8,
    height: float | None = None,
    feet: Sequence[str] | None = None,
) -> Scene:
    """A quadruped trots in place, or with a velocity: forward, sideways [m/s], turning [rad/s].

    `model`: a robot of a file, with a free base and contact points at its feet; None: the Mini Cheetah. It begins
    `crouched` with its hips at this height [m], on these feet. `contact`: "impulse", in steps of 1 ms, or "spring", in
    steps of 0.25 ms. `ground`: a surface; None: the plane. `friction` is the ground's; the controller keeps to that or
    to 0.6, whichever is less.
    """
    if contact not in ("impulse", "spring"):
        raise ValueError(f'contact: expected "impulse" or "spring", got {contact!r}')
    model = _mini_cheetah() if model is None else model
    q = crouched(model, height, feet=feet)
    surface = Plane() if ground is None else ground
    kind: Any = Impulse if contact == "impulse" else SpringDamper
    return Scene(
        model, q, np.zeros(model.nv), 10.0, 1e-3 if contact == "impulse" else 2.5e-4,
        kind(ground=surface, friction=friction),
        control.trot(model, q, velocity=velocity, friction=min(friction, 0.6), feet=feet), EffortLimits(),
    )  # fmt: skip


def rough_ground(*, roughness: float = 0.02, spacing: float = 0.2, seed: int = 0) -> Heightfield:
    """Random heights within ± roughness [m] on a grid of about 12 × 12 m, flat where a robot begins at the origin."""
    if not 0 <= roughness < np.inf or not 0 < spacing <= 1:
        raise ValueError(
            "roughness, spacing: expected a height of 0 or more and a distance of up to 1 m, got "
            f"{roughness!r} and {spacing!r}"
        )
    n = round(12.0 / spacing) + 1
    heights = np.random.default_rng(seed).uniform(-roughness, roughness, (n, n))
    x = spacing * np.arange(n) - 6.0
    heights[np.ix_(np.abs(x) < 0.5, np.abs(x) < 0.5)] = 0.0
    return Heightfield(heights, spacing, (-6.0, -6.0))


def standing(model: Model, *, knees: float = 0.6) -> np.ndarray:
    """The humanoid on both feet, z = 0, knees bent by an angle [rad], trunk upright."""
    q = model.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -knees / 2), ("knee", knees), ("ankle_pitch", -knees / 2), ("elbow", -0.3)):
            q[model.joint(f"{side}_{joint}").q] = angle
    q[2] -= lowest(model, q)
    return q


def balance(*, push: Any = (0.0, 0.0, 0.0), start: float = 1.0, duration: float = 0.1) -> Scene:
    """The humanoid stands, and is pushed at its chest with a force [N] from `start` for `duration` [s]."""
    model = _humanoid()
    q = standing(model)
    driven = control.pushed(control.balance(model, q), model, "chest", force=push, start=start, duration=duration)
    # four points on a rigid foot: their forces are indeterminate, and recovery from unequal depths is contradictory
    contact = Impulse(friction=0.8, tolerance=1e-5, recovery=0.0)
    return Scene(model, q, np.zeros(model.nv), 10.0, 1e-3, contact, driven, EffortLimits())


def ragdoll(*, count: int = 1, seed: int = 0) -> Scene:
    """Limp humanoids in random poses fall from 0.5 to 1 m onto the ground and two boxes; a batch of `count`.

    Recovery from penetration is off, so that contact only takes energy.
    """
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"count: expected a whole number > 0, got {count!r}")
    model = _humanoid(stiffening=2.0)
    rng = np.random.default_rng(seed)
    q = np.array([model.random(rng) for _ in range(count)])
    q[:, :3] = 0.0
    q[:, 7:] *= 0.6  # of the way from upright to anywhere within the limits
    q[:, 2] = rng.uniform(0.5, 1.0, count) - lowest(model, q)
    ground = (
        Plane(),
        Box((0.6, 0.6, 0.4), Placement((0.5, 0.3, 0.1))),
        Box((0.5, 0.5, 0.5), Placement((-0.5, -0.3, 0.0))),
    )
    contact = Impulse(ground=ground, friction=0.4, recovery=0.0)
    return Scene(model, q, 0.5 * rng.normal(size=(count, model.nv)), 10.0, 1e-3, contact)


SCENES: dict[str, Callable[..., Scene]] = {"trot": trot, "balance": balance, "ragdoll": ragdoll}


def named(name: str, **options: Any) -> Scene:
    """The scene with this name ("trot", "balance", "ragdoll"), for a command line; options are its function's."""
    if name not in SCENES:
        raise no_such("scene", name, SCENES)
    return SCENES[name](**options)


def lowest(model: Model, q: Any) -> np.ndarray:
    """Height [m] of the lowest part of what touches the ground, contact points and shapes, shape (…)."""
    if not ground_bodies(model):
        raise ValueError(
            f"model: {model.name!r} has no contact points, nor shapes that touch the ground; add some with "
            "Builder.add_contact_point or Builder.add_geometry"
        )
    return ground_heights(model, forward_kinematics(model, q)).min(axis=-1)
