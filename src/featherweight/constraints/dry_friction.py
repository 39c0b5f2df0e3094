"""Dry friction of joints as rows: |λ| ≤ f h, and the joint stands still if that can hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featherweight.constraints.constraint import Block, Constraint, Situation
from featherweight.constraints.interval import Interval
from featherweight.forces import Push
from featherweight.inputs import Numbers, with_fields
from featherweight.model import Model


@dataclass(frozen=True)
class DryFriction(Constraint):
    """Of every degree of freedom with dry friction f, by itself::

        |λ| ≤ f h,    v⁺ = -R (λ - λ₀)  or  λ = -f h sgn v⁺.

    λ₀ is the impulse of the step before: a joint that is held yields to a change of its load by R = ε M⁻¹, once, and
    then stands still.

    Args:
        presliding: ε; with 0 a joint that is held is rigid.
    """

    presliding: float = 0.01
    takes_dry_friction = True

    def over(self, numbers: Numbers) -> DryFriction:
        return with_fields(self, presliding=numbers.optional(self.presliding))

    def block_sizes(self, model: Model) -> list[int]:
        return [Interval.size for _ in dofs_with_dry_friction(model)]

    def blocks(self, at: Situation) -> list[Block]:
        return [self._block(dof, body, at) for dof, body in dofs_with_dry_friction(at.model)]

    def _block(self, dof: int, body: int, at: Situation) -> Block:
        f: Any = 0.0
        for joint in at.tree.joints[1:]:  # also those that follow
            if dof in joint.dofs:
                f = f + joint.friction[dof - joint.v.start]
        law = Interval(-f * at.h, f * at.h, self.presliding)
        return Block(law, (body,), True, lambda: [Push(joints={dof: 1.0})])


def dofs_with_dry_friction(model: Model) -> list[tuple[int, int]]:
    """Degrees of freedom with dry friction, and the body of each: with their own, that of a joint that follows, or one
    that may get some as a parameter."""
    rubs = {
        joint.v.start + k
        for joint in model.joints
        for k, f in enumerate(joint.friction)
        if f != 0 or f"{joint.name}.friction" in model.parameters
    }
    joints = model.independent_joints
    return [(d, joint.body) for joint in joints for d in range(joint.v.start, joint.v.stop) if d in rubs]
