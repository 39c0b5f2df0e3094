"""Mimic joint: q_own = ratio · q_leader + offset. It has no coordinates of its own; it shares those of its leader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints.joint import Joint, finite
from featherweight.spatial import Displacement, Motion, Transform


class Mimic(Joint):
    """S = ratio · S_own(q_own): moves with the velocity of its leader."""

    nq = nv = 1
    joint: Joint

    def __init__(self, joint: Joint, of: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        if not isinstance(joint, Joint) or (joint.nq, joint.nv) != (1, 1):
            raise ModelError(f"Mimic: expected a joint with one coordinate to follow with, got {joint!r}")
        if not isinstance(of, str):
            raise ModelError(f"Mimic: of: expected the name of the joint to follow, got {of!r}")
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "leader", of)
        object.__setattr__(self, "ratio", finite("ratio", ratio))
        object.__setattr__(self, "offset", finite("offset", offset))

    def _own(self, q: Sequence[Any]) -> list[Any]:
        return [self.ratio * q[0] + self.offset]

    def transform(self, q: Sequence[Any]) -> Transform:
        return self.joint.transform(self._own(q))

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return tuple(s * self.ratio for s in self.joint.subspace(self._own(q)))

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        return tuple(s * self.ratio for s in self.joint.subspace_rate(self._own(q), [self.ratio * v[0]]))

    def bias_derivative(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        return tuple(c * self.ratio for c in self.joint.bias_derivative(self._own(q), [self.ratio * v[0]]))

    @property
    def uniform(self) -> bool:
        return self.joint.uniform

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        return self.joint.displacement(self._own(q), [self.ratio * d[0]])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.zeros(0)

    def to_mujoco(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.joint.to_mujoco(self.ratio * q + self.offset, self.ratio * v)

    def following(self, leader: Joint) -> Joint:
        if not isinstance(leader, Mimic):
            return self
        offset = self.ratio * leader.offset + self.offset
        return Mimic(self.joint, str(leader.leader), self.ratio * leader.ratio, offset)

    def lift(self, f: Callable[[float], Any]) -> Mimic:
        return self._with(joint=self.joint.lift(f), ratio=f(self.ratio), offset=f(self.offset))

    def arguments(self) -> tuple[Any, ...]:
        return self.joint, self.leader, self.ratio, self.offset
