"""Blocks: a tower that a ball hits, and a row of dominoes."""

from __future__ import annotations

import numpy as np

from featherweight import shapes
from featherweight.contact import Impulse
from featherweight.joints import Free
from featherweight.model import Builder, Inertia, Model
from featherweight.scenes import Scene

COLORS = ((0.0, 0.47, 0.55, 1.0), (0.93, 0.68, 0.29, 1.0), (0.82, 0.29, 0.36, 1.0))
RED = (0.82, 0.29, 0.36, 1.0)
SIDE = 0.2  # of the tower's cubes [m]
DOMINO, GAP = (0.02, 0.1, 0.2), 0.09  # [m]


def _blocks(name: str, count: int, sizes: tuple[float, float, float], mass: float) -> Builder:
    builder = Builder(name)
    for k in range(count):
        builder.add_body(f"block{k}", joint=Free(), inertia=Inertia.box(mass, sizes))
        builder.add_geometry(f"block{k}", shapes.Box(sizes), role="both", color=COLORS[k % len(COLORS)])
    return builder


def tower(count: int = 5, ball: float = 0.0) -> Scene:
    """Cubes on top of each other, each a little beside the one below; a ball of 2 kg comes with a speed [m/s]."""
    builder = _blocks("tower", count, (SIDE,) * 3, 1.0)
    pairs = [(f"block{k}", f"block{k + 1}") for k in range(count - 1)]
    if ball:
        builder.add_body("ball", joint=Free(), inertia=Inertia.sphere(2.0, 0.1))
        builder.add_geometry("ball", shapes.Sphere(0.1), role="both", color=RED)
        names = [f"block{k}" for k in range(count)]
        pairs = [(a, b) for k, b in enumerate([*names, "ball"]) for a in names[:k]]
    model: Model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    for k in range(count):
        q[7 * k : 7 * k + 3] = 0.02 * (-1.0) ** k, 0.01 * (k % 3 - 1), SIDE * (k + 0.5)
    if ball:
        q[-7:-4], v[-6] = (-0.8, 0.0, 0.75 * SIDE * count), ball
    return Scene(model, q, v, 2.0, 1e-3, Impulse(friction=0.6, pairs=pairs, tolerance=1e-6))


def dominoes(count: int = 8) -> Scene:
    """A row of dominoes; the first one is pushed at its top."""
    model = _blocks("dominoes", count, DOMINO, 0.1).build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[::7], q[2::7] = GAP * np.arange(count), 0.5 * DOMINO[2]
    v[0], v[4] = 0.15, 1.5  # it turns about its lower edge
    pairs = [(f"block{k}", f"block{k + 1}") for k in range(count - 1)]
    contact = Impulse(friction=0.4, pairs=pairs, tolerance=1e-6, keep_best=True)
    return Scene(model, q, v, 2.0, 1e-3, contact)
