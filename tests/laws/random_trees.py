"""Random robots for the laws: branching trees of all joint kinds, floating or fixed."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import featherweight as fw

KINDS = ("revolute x", "revolute y", "revolute z", "revolute any", "prismatic x", "prismatic any", "free")


def joint(kind: str, rng: np.random.Generator) -> fw.joints.Joint:
    name, _, axis = kind.partition(" ")
    if name == "free":
        return fw.joints.Free()
    direction = axis if axis != "any" else rng.normal(size=3)
    return fw.joints.Revolute(direction) if name == "revolute" else fw.joints.Prismatic(direction)


def inertia(rng: np.random.Generator) -> fw.Inertia:
    """Three random rods make a body that can exist."""
    points = rng.normal(size=(6, 3)) * 0.2
    mass = rng.uniform(0.5, 2.0)
    com = points.mean(axis=0)
    moment = sum(mass / 6 * ((p - com) @ (p - com) * np.eye(3) - np.outer(p - com, p - com)) for p in points)
    return fw.Inertia(mass, com, moment)


def placement(rng: np.random.Generator) -> fw.Placement:
    quarter = rng.integers(0, 4, size=3) * (np.pi / 2)  # structure to fold
    rpy = rng.choice([np.zeros(3), quarter, rng.uniform(-np.pi, np.pi, 3)])
    return fw.Placement(rng.choice([0.0, 0.3, -0.2], size=3), rpy=rpy)


def tree(parents: list[int], kinds: list[str], seed: int) -> fw.Model:
    rng = np.random.default_rng(seed)
    builder = fw.Builder("tree")
    for i, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        builder.add_body(
            f"body{i}",
            parent="world" if parent == 0 else f"body{parent}",
            joint=joint(kind, rng),
            placement=placement(rng),
            inertia=inertia(rng),
        )
    return builder.build()


@st.composite
def trees(draw: st.DrawFn, most: int = 8) -> fw.Model:
    """A model with up to `most` bodies; hypothesis shrinks it to the smallest that breaks a law."""
    n = draw(st.integers(1, most))
    parents = [draw(st.integers(0, i)) for i in range(n)]
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(n)]
    return tree(parents, kinds, draw(st.integers(0, 2**16)))


def states(model: fw.Model, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.array([model.random(rng) for _ in range(count)])
    return q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))
