"""Limits of joints: a coordinate stays between two numbers.

Within a step a joint comes as far as its end and no further: with gap g to an end, the velocity towards it is at most
g / h. Beyond its end it recovers with β (depth - slop), v_max at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featherweight.constraints.constraint import Block, Constraint, Situation
from featherweight.constraints.interval import Stop
from featherweight.forces import Push
from featherweight.inputs import Numbers, with_fields
from featherweight.model import JointInfo, Model
from featherweight.model.cache import once_per_model
from featherweight.scalar import absolute, maximum, minimum, where

BEYOND = 1e-4  # [rad or m] by which a joint may be beyond its end before it is told of: more than solvers leave
REACH = 50.0  # velocity [rad/s or m/s] by which a joint may be faster at the end of a step than at its beginning


@dataclass(frozen=True)
class Limit:
    """The ends of a coordinate: its own, and those of joints that follow it."""

    dof: int
    body: int
    coordinate: int
    lower: float
    upper: float
    joint: str

    def over(self, lift: Callable[[float], Any]) -> Limit:
        """With ends over another scalar; one that is not there stays infinite."""
        lower, upper = (end if math.isinf(end) else lift(end) for end in (self.lower, self.upper))
        return replace(self, lower=lower, upper=upper)

    def is_beyond(self, x: Any) -> Any:
        """Whether a coordinate is beyond its end, by more than rounding."""
        return (x < self.lower - BEYOND) | (x > self.upper + BEYOND)


@dataclass(frozen=True)
class JointLimit(Constraint):
    """Joints with one coordinate stay within their limits.

    Args:
        recovery: β [1/s], by which depth beyond `slop` is recovered.
        recovery_speed: v_max [rad/s or m/s], most that recovery adds.
        slop: depth [rad or m] that is left.
    """

    recovery: float = 50.0
    recovery_speed: float = 0.5
    slop: float = 1e-6

    def over(self, numbers: Numbers) -> JointLimit:
        names = ("recovery", "recovery_speed", "slop")
        return with_fields(self, **{name: numbers.number(getattr(self, name)) for name in names})

    def check(self, model: Model) -> None:
        limits_of(model)

    def block_sizes(self, model: Model) -> list[int]:
        return [Stop.size for _ in limits_of(model)]

    def blocks(self, at: Situation) -> list[Block]:
        return [self._block(limit, at) for limit in limits_of(at.model)]

    def _block(self, limit: Limit, at: Situation) -> Block:
        d, h, per_h = limit.dof, at.h, 1.0 / at.h
        ends = limit.over(at.tree.lift)
        lower, upper = ends.lower, ends.upper
        x, speed = at.q[limit.coordinate], at.v[d]
        pushed = self._pushed(limit, at)

        def least(gap: Any) -> Any:
            """Towards an end that is so far away: there within the step; back, if it is beyond."""
            recovery = minimum(maximum(self.recovery * (-gap - self.slop), 0.0), self.recovery_speed)
            return minimum(-gap * per_h, recovery)

        # the velocities that keep it between its ends
        low = -math.inf if math.isinf(limit.lower) else least(x - lower) + maximum(pushed, 0.0)
        high = math.inf if math.isinf(limit.upper) else -least(upper - x) + minimum(pushed, 0.0)
        law = Stop(low=low, high=high)

        # the row of the end that is nearer to where the joint is going, if that can be reached within the step
        there = x + h * speed
        is_low = there - lower < upper - there
        gap, sign = where(is_low, x - lower, upper - x), where(is_low, 1.0, -1.0)
        wanted = least(gap) + maximum(where(is_low, pushed, -pushed), 0.0)
        acts = gap <= h * (REACH + absolute(speed))

        def needed(v: Sequence[Any]) -> Any:
            return acts & (sign * v[d] < wanted)

        return Block(
            law, (limit.body,), acts, lambda: [Push(joints={d: sign})], lambda before, free: [wanted], needed,
            lambda v: where(needed(v), -sign * v[d], 0.0),
        )  # fmt: skip

    @staticmethod
    def _pushed(limit: Limit, at: Situation) -> Any:
        """What forces took from the velocity on the way of a step that has moved, v - Δq / h, positive if they push
        down. They will about do so again in the next one, and that is made up for."""
        if not at.moved:
            return 0.0
        return at.start.v[limit.dof] - (at.q[limit.coordinate] - at.start.q[limit.coordinate]) * (1.0 / at.h)


@once_per_model
def without_limits(model: Model) -> list[str]:
    """Names of joints whose limits of position act in no step: those with several coordinates."""
    several = (j for j in model.independent_joints if j.kind.nv > 1)
    return [j.name for j in several if np.isfinite([*np.ravel(j.limits.lower), *np.ravel(j.limits.upper)]).any()]


@once_per_model
def limits_of(model: Model) -> list[Limit]:
    """Of every coordinate of a joint with one that has limits."""
    rows = []
    for joint in model.independent_joints:
        if joint.kind.nv == 1 and len(np.ravel(joint.limits.lower)) == 1:
            lower, upper = float(model.lower[joint.q.start]), float(model.upper[joint.q.start])
            if lower > upper:
                raise ValueError(_no_place(model, joint, lower, upper))
            if lower > -math.inf or upper < math.inf:
                rows.append(Limit(joint.v.start, joint.body, joint.q.start, lower, upper, joint.name))
    return rows


def _no_place(model: Model, leader: JointInfo, lower: float, upper: float) -> str:
    followers = ", ".join(repr(joint.name) for joint in model.joints if joint.v == leader.v and joint is not leader)
    return (
        f"limits: the limits of joint {followers}, which follows {leader.name!r}, leave that no place: "
        f"it would have to be above {lower:g} and below {upper:g}; correct the limits of one of them"
    )
