"""Joints of every kind, and what they do as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

AXIS = (0.3, -0.5, 0.8)
JOINTS = {
    "revolute": Revolute("y"),
    "revolute about any axis": Revolute(AXIS),
    "continuous": Continuous(AXIS),
    "prismatic": Prismatic("x"),
    "prismatic along any axis": Prismatic(AXIS),
    "helical": Helical("z", 0.2),
    "helical about any axis": Helical(AXIS, -0.4),
    "cylindrical": Cylindrical(AXIS),
    "universal": Universal("x", "y"),
    "universal with skew axes": Universal(AXIS, (0.1, 0.9, 0.2)),
    "planar": Planar(),
    "planar across x": Planar("x"),
    "planar across -y": Planar((0, -1, 0)),
    "spherical": Spherical(),
    "free": Free(),
    "fixed": Fixed(),
}
MIMICS = {
    "mimic of a screw": Mimic(Helical(AXIS, 0.3), "leader", -2.0, 0.4),
    "mimic of a slide": Mimic(Prismatic(AXIS), "leader", 0.5, -0.1),
}


def pose(kind: Joint, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """R and p of the moving frame in the one it is mounted on."""
    X = kind.transform([float(x) for x in q])
    return np.array(X.E, dtype=float).T, np.array(X.r, dtype=float)


def subspace(columns: Any) -> np.ndarray:
    """S, linear rows first."""
    return np.array([[*s.linear, *s.angular] for s in columns], dtype=float).reshape(-1, 6).T


def random_state(kind: Joint, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = kind.random(rng) if kind.leader is None else rng.uniform(-1.0, 1.0, 1)
    return q, rng.normal(size=kind.nv)


def cross(x: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), x)
