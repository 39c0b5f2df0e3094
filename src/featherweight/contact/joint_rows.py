"""Limits and dry friction of joints as rows of the contact problem: one velocity, one impulse each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from featherweight.model import JointInfo, Model, Tree
from featherweight.scalar import absolute, maximum, minimum, where

BEYOND = 1e-4  # [rad or m] by which a joint may be beyond its end before it is told of: more than solvers leave
REACH = 50.0  # velocity [rad/s or m/s] by which a joint may be faster at the end of a step than at its beginning


@dataclass(frozen=True)
class Row:
    """A limit or dry friction in a step: the velocity of degree of freedom `dof` times `sign` is to be `wanted`, by an
    impulse from `least` to `most`; it may be more where the impulse is at its least, and less where it is at its most.
    """

    dof: int
    body: int
    acts: Any
    sign: Any
    wanted: Any
    least: Any
    most: Any
    yields: float = 0.0  # to a change of its impulse, as a part of its mobility

    def needed(self, v: Sequence[Any]) -> Any:
        """Whether it takes an impulse if the velocities are v without one."""
        return True if self.acts is True else self.acts & (self.sign * v[self.dof] < self.wanted)


@dataclass(frozen=True)
class Limit:
    """A coordinate stays between two numbers."""

    dof: int
    body: int
    coordinate: int
    lower: float
    upper: float
    joint: str

    def is_beyond(self, x: Any) -> Any:
        """Whether a coordinate is beyond its end, by more than rounding."""
        return (x < self.lower - BEYOND) | (x > self.upper + BEYOND)

    def pushed(self, q: Sequence[Any], q_after: Sequence[Any], v: Sequence[Any], h: Any) -> Any:
        """What forces took from the velocity v on the way of a step, v - Δq / h: positive if they push down."""
        return v[self.dof] - (q_after[self.coordinate] - q[self.coordinate]) * (1.0 / h)

    def at(
        self, settings: Any, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, pushed: Any = 0.0
    ) -> Row:  # fmt: skip
        """The row of the end that is nearer to where the joint is going, if that can be reached within the step: a
        joint may come as far as its end and no further. Beyond it, it recovers. What it is `pushed` by on its way
        through a variational step is made up for."""
        x, speed = q[self.coordinate], v[self.dof]
        there = x + h * speed
        low = there - self.lower < self.upper - there
        gap = where(low, x - self.lower, self.upper - x)
        recover = minimum(maximum(settings.recovery * (-gap - settings.slop), 0.0), settings.recovery_speed)
        wanted = minimum(-gap * (1.0 / h), recover) + maximum(where(low, pushed, -pushed), 0.0)
        acts = gap <= h * (REACH + absolute(speed))
        return Row(self.dof, self.body, acts, where(low, 1.0, -1.0), wanted, 0.0, math.inf)


@dataclass(frozen=True)
class DryFriction:
    """A degree of freedom stands still, if a force of f or less can hold it; else f acts against its velocity."""

    dof: int
    body: int

    def at(
        self, settings: Any, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, pushed: Any = 0.0
    ) -> Row:  # fmt: skip
        f: Any = 0.0
        for joint in tree.joints[1:]:  # also those that follow
            if self.dof in joint.dofs:
                f = f + joint.friction[self.dof - joint.v.start]
        return Row(self.dof, self.body, True, 1.0, 0.0, -f * h, f * h, settings.presliding)


def without_limits(model: Model) -> list[str]:
    """Names of joints whose limits of position act in no step: those with several coordinates."""
    several = (j for j in model.independent_joints if j.kind.nv > 1)
    return [j.name for j in several if np.isfinite([*np.ravel(j.limits.lower), *np.ravel(j.limits.upper)]).any()]


_known: WeakKeyDictionary[Model, list[Limit]] = WeakKeyDictionary()


def limits_of(model: Model) -> list[Limit]:
    """Of every coordinate of a joint with one that has limits: its own, and those of joints that follow it."""
    rows = _known.get(model)
    if rows is None:
        rows = _known[model] = _limits(model)
    return rows


def dry_friction_of(model: Model) -> list[DryFriction]:
    """Of every degree of freedom with dry friction, its own or that of a joint that follows it, or that may get some as
    a parameter."""
    rubs = {
        joint.v.start + k
        for joint in model.joints
        for k, f in enumerate(joint.friction)
        if f != 0 or f"{joint.name}.friction" in model.parameters
    }
    return [DryFriction(d, joint.body) for joint in model.independent_joints for d in _dofs(joint) if d in rubs]


def _dofs(joint: JointInfo) -> range:
    return range(joint.v.start, joint.v.stop)


def _limits(model: Model) -> list[Limit]:
    rows = []
    for joint in model.independent_joints:
        if joint.kind.nv == 1 and len(np.ravel(joint.limits.lower)) == 1:
            lower, upper = _bounds(model, joint)
            if lower > -math.inf or upper < math.inf:
                rows.append(Limit(joint.v.start, joint.body, joint.q.start, lower, upper, joint.name))
    return rows


def _bounds(model: Model, leader: JointInfo) -> tuple[float, float]:
    """What is left for a coordinate q by all joints that move with it, as ratio · q + offset."""
    lower, upper = -math.inf, math.inf
    for joint in model.joints:
        ratio, offset = joint.kind.ratio, joint.kind.offset
        if joint.v == leader.v and ratio:
            ends = [(float(np.ravel(end)[0]) - offset) / ratio for end in (joint.limits.lower, joint.limits.upper)]
            lower, upper = max(lower, min(ends)), min(upper, max(ends))
            if lower > upper:
                raise ValueError(
                    f"limits: the limits of joint {joint.name!r}, which follows {leader.name!r}, leave that no place: "
                    f"it would have to be above {lower:g} and below {upper:g}; correct the limits of one of them"
                )
    return lower, upper
