"""The mechanisms of the textbooks: pendulum, double pendulum, cart-pole, chain.

Their parameters may be SymPy symbols, for equations of motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints import Prismatic, Revolute
from featherweight.model import Builder, Inertia, Model, Placement

Number = Any  # a float, or a SymPy symbol


def pendulum(*, length: Number = 1.0, mass: Number = 1.0, gravity: Number = 9.81) -> Model:
    """A point mass [kg] on a massless rod [m]. The axis is y, q = 0 hangs."""
    return (
        Builder("pendulum", gravity=(0, 0, -gravity))
        .add_body("bob", joint=Revolute("y"), inertia=Inertia.point(mass, (0, 0, -length)), joint_name="hinge")
        .build()
    )


def double_pendulum(
    *, length1: Number = 1.0, mass1: Number = 1.0, length2: Number = 1.0, mass2: Number = 1.0, gravity: Number = 9.81
) -> Model:
    """Two point masses on massless rods, axes y; q = 0 hangs, the second angle is relative."""
    return (
        Builder("double_pendulum", gravity=(0, 0, -gravity))
        .add_body("upper", joint=Revolute("y"), inertia=Inertia.point(mass1, (0, 0, -length1)), joint_name="shoulder")
        .add_body(
            "lower",
            parent="upper",
            joint=Revolute("y"),
            placement=Placement((0, 0, -length1)),
            inertia=Inertia.point(mass2, (0, 0, -length2)),
            joint_name="elbow",
        )
        .build()
    )


def cartpole(
    *,
    cart_mass: Number = 1.0,
    pole_mass: Number = 0.1,
    length: Number = 0.5,
    pole_inertia: Number = 0.0,
    gravity: Number = 9.81,
) -> Model:
    """A cart on a rail along x with a pendulum: q = (x, θ), θ from hanging, bob at (x + L sin θ, -L cos θ).

    `pole_inertia` [kg m²] is the pole's moment about its bob, across the plane of motion.
    """
    return (
        Builder("cartpole", gravity=(0, 0, -gravity))
        .add_body("cart", joint=Prismatic("x"), inertia=Inertia.point(cart_mass), joint_name="rail")
        .add_body(
            "pole",
            parent="cart",
            joint=Revolute((0, -1, 0)),
            inertia=Inertia(pole_mass, (0, 0, -length), (pole_inertia, pole_inertia, 0)),
            joint_name="hinge",
        )
        .build()
    )


def chain(n: int, *, length: Number = 1.5, mass: Number = 1.0, inertia: Number = 1.0, gravity: Number = 9.81) -> Model:
    """n links on revolute joints about x, each 1.5 m up the one before; q = 0 stands upright.

    The chain of the variational-integrator paper: centre of mass half-way, inertia about it the same
    about all axes.
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ModelError(f"n: expected a whole number of links, 1 or more, got {n!r}")
    builder = Builder(f"chain{n}", gravity=(0, 0, -gravity))
    for k in range(1, n + 1):
        builder.add_body(
            f"link{k}",
            parent="world" if k == 1 else f"link{k - 1}",
            joint=Revolute("x"),
            placement=Placement((0, 0, 0 if k == 1 else length)),
            inertia=Inertia(mass, (0, 0, length / 2), inertia),
            joint_name=f"joint{k}",
        )
    return builder.build()
