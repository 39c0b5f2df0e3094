"""Continuous joint: a revolute joint without limits, where q [rad] and q + 2π are the same configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.joints.revolute import Revolute
from featherweight.scalar import atan2, cos, sin


class Continuous(Revolute):
    """One angle. The difference of two angles is the short way round, from -π to π."""

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        angle = q1[0] - q0[0]
        return [atan2(sin(angle), cos(angle))]

    def followed(self) -> Revolute:
        """Revolute: for mimic joints that follow, q and q + 2π are different."""
        return Revolute(self.axis)

    def to_pinocchio(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([np.cos(q), np.sin(q)], axis=-1)

    def from_pinocchio(self, q: np.ndarray) -> np.ndarray:
        return np.arctan2(q[..., 1:], q[..., :1])
