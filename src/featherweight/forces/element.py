"""Force elements: springs, dampers, soft contact, wind: whatever pushes bodies or joints by a law of the state.

A kind is a frozen dataclass with `forces`. What it remembers from step to step (a deflection) it moves on in `advance`,
once at the beginning of each; `forces` may be asked several times in a step, by integrators with several stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from featherweight.forces.kinematics import Kinematics
from featherweight.inputs import Numbers
from featherweight.model import Model, Tree
from featherweight.spatial import Force


@dataclass(frozen=True)
class Push:
    """Forces on bodies, each in its own frame at its origin, by number of the body; and on joints, by degree of
    freedom. Of a constraint's row: what a unit impulse pushes with."""

    bodies: Mapping[int, Force] = field(default_factory=dict)
    joints: Mapping[int, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Advance:
    """What an element remembers after a step, and what is recorded of it, by name."""

    memory: list[Any] = field(default_factory=list)
    records: Mapping[str, list[Any]] = field(default_factory=dict)


class ForceElement:
    """One kind of force. Frozen: what it depends on is in its fields."""

    def over(self, numbers: Numbers) -> ForceElement:
        """The same element over other scalars; the default has no number that is an input."""
        return self

    def check(self, model: Model) -> None:
        """Raise ValueError if it cannot act on this robot."""

    def memory_size(self, model: Model) -> int:
        """How many numbers it remembers from step to step; zeros at the beginning."""
        return 0

    def advance(self, at: Kinematics, h: Any, memory: Sequence[Any]) -> Advance:
        """What it remembers after a step of h that begins here."""
        return Advance(list(memory))

    def forces(self, at: Kinematics, memory: Sequence[Any]) -> Push:
        """What it pushes with in this state, with what it remembers in this step."""
        return Push()

    def joint_damping(self, model: Model) -> Mapping[int, Any]:
        """Its implicit part: damping [N m s/rad or N s/m] by degree of freedom, which acts with the velocity at the end
        of a step, so that no damping is too stiff. It is not to be in `forces` too."""
        return {}


def with_damping(tree: Tree, damping: Mapping[int, Any]) -> Tree:
    """The tree whose joints are damped by this, too, by degree of freedom."""
    if not damping:
        return tree
    if unknown := set(damping) - set(range(tree.nv)):
        raise ValueError(f"joint_damping: expected degrees of freedom from 0 to {tree.nv - 1}, got {sorted(unknown)}")
    joints = list(tree.joints)
    for i, joint in enumerate(joints[1:], start=1):
        if joint.kind.leader is None and any(k in damping for k in joint.dofs):
            own = tuple(d + damping.get(k, 0) for k, d in zip(joint.dofs, joint.damping, strict=True))
            joints[i] = replace(joint, damping=own)
    return replace(tree, joints=tuple(joints))
