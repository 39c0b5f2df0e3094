"""Wrenches on bodies that are given from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.forces.element import ForceElement, Push
from featherweight.forces.kinematics import Kinematics
from featherweight.spatial import Force


@dataclass(frozen=True)
class Wrenches(ForceElement):
    """A wrench on each body, in its frame at its origin, fixed to it during a step; that of the world does nothing."""

    on: tuple[Force, ...]

    def forces(self, at: Kinematics, memory: Sequence[Any]) -> Push:
        return Push(dict(enumerate(self.on[1:], start=1)))
