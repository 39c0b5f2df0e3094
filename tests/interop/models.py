"""Robots of the tests of JAX and PyTorch: small ones, which compile soon."""

from __future__ import annotations

from typing import Any

import numpy as np

import featherweight as fw
from featherweight.contact import Impulse, Plane

SLIDES = Impulse(ground=Plane(friction=0.2), tolerance=1e-13)


def floating() -> fw.Model:
    """A floating body with a ball joint and a hinge."""
    build = fw.Builder("floating", parameters=("arm.mass",))
    build.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.box(2.0, (0.2, 0.3, 0.1)))
    rod = fw.Inertia.box(0.5, (0.05, 0.04, 0.3), at=(0, 0.01, -0.15))
    build.add_body("ball", parent="base", joint=fw.joints.Spherical(), inertia=rod)
    build.add_body("arm", parent="ball", joint=fw.joints.Revolute("y"), inertia=rod)
    return build.add_contact_point("south", parent="base", position=(0, 0, -0.05), radius=0.05).build()


FLOATING = floating()


def on_the_ground(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state of it that slides on the ground."""
    rng, model = np.random.default_rng(seed), FLOATING
    q = fw.integrate(model, model.neutral(), 0.02 * rng.normal(size=model.nv), 1.0)
    q[2] = 0.1 - 1e-3
    return q, 0.2 * rng.normal(size=model.nv) + np.eye(model.nv)[0], rng.normal(size=model.nv)


def cost(t: Any, q: Any, v: Any, tau: Any, x: Any) -> Any:
    return q[0] * q[0] + (1 + t) * (v @ v) + 1e-2 * (tau @ tau)


def final(q: Any, v: Any, x: Any) -> Any:
    return 3.0 * q[2] + q[3] * q[4] + v[1]


def slope(f: Any, eps: float = 1e-6) -> Any:
    return (np.asarray(f(eps)) - np.asarray(f(-eps))) / (2 * eps)


def two_hinges() -> fw.Model:
    """An arm whose masses are found from its motion."""
    build = fw.Builder("arm", parameters=("upper.mass", "hand.mass"))
    rod = fw.Inertia.box(1.0, (0.05, 0.04, 0.5), at=(0, 0, -0.25))
    build.add_body("upper", joint=fw.joints.Revolute("y"), inertia=rod)
    at = fw.Placement((0, 0, -0.5))
    return build.add_body("hand", parent="upper", joint=fw.joints.Revolute("y"), placement=at, inertia=rod).build()


def close(found: Any, expected: Any) -> bool:
    """Equal to rounding: with declared parameters the library rounds otherwise than with constants."""
    found, expected = np.asarray(found), np.asarray(expected)
    return found.shape == expected.shape and bool(np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max())
