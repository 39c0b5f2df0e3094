"""Kinematics of a model: where its bodies are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from featherweight import algorithms
from featherweight.dynamics.evaluate import Quantity, evaluate, native
from featherweight.model import Model
from featherweight.spatial import Transform


class Poses(NamedTuple):
    """Orientation (…, nb+1, 3, 3), body to world, and position (…, nb+1, 3) [m] of every body."""

    rotation: np.ndarray
    position: np.ndarray


def _poses(X: list[Transform]) -> list[list[Any]]:
    rotation = [e for x in X for row in x.E.T for e in row]
    position = [e for x in X for e in x.r]
    return [rotation, position]


FORWARD_KINEMATICS = Quantity(
    "forward_kinematics",
    ("q",),
    lambda model: [(model.nb + 1, 3, 3), (model.nb + 1, 3)],
    lambda model, tree, x: (_poses(algorithms.forward_kinematics(tree, x["q"])), []),
)


def forward_kinematics(model: Model, q: Any) -> Poses:
    """Poses of all bodies in the world; body 0 is the world itself.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).

    Returns:
        `rotation` (…, nb+1, 3, 3), body to world, and `position` (…, nb+1, 3) [m].

    >>> import featherweight as fw
    >>> poses = fw.forward_kinematics(fw.robots.double_pendulum(), [0.0, 0.0])
    >>> float(poses.position[2, 2])  # height of the second joint
    -1.0
    """
    result = native(model, "forward_kinematics")(q)
    if result is None:
        result = evaluate(FORWARD_KINEMATICS, model, {"q": q})
    return Poses(*result)
