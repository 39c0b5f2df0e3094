"""Joint damping and dry friction within one time step: what a step adds to a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from featherweight.scalar import maximum

if TYPE_CHECKING:
    from featherweight.model.tree import Tree
    from featherweight.model.tree_joint import TreeJoint

SLOW = 1e-4  # velocity [rad/s or m/s] below which dry friction in a simulation is viscous


def damped(tree: Tree, v: Sequence[Any], h: Any, slow: Any = SLOW) -> Tree:
    """The tree with implicit damping D: (M + h D) a = τ - D v is damped by the velocity v⁺ = v + h a at the step's end.

    Dry friction f is damping f / |v|, which can stop a joint but not turn it back. Below `slow` it is viscous.
    """
    return replace(tree, joints=tuple(_damped(joint, v, h, slow) for joint in tree.joints))


def _damped(joint: TreeJoint, v: Sequence[Any], h: Any, slow: Any) -> TreeJoint:
    """The joint with dry friction as damping, and damping times h as armature."""
    damping = tuple(
        d if _is_zero(f) else d + f / maximum(abs(v_k), slow)
        for d, f, v_k in zip(joint.damping, joint.friction, v[joint.v], strict=True)
    )
    armature = tuple(a + h * d for a, d in zip(joint.armature, damping, strict=True))
    return replace(joint, armature=armature, damping=damping, friction=(0,) * len(damping))


def without_dry_friction(tree: Tree) -> Tree:
    """The tree without dry friction, for solvers that treat it as constraints."""
    return replace(tree, joints=tuple(replace(joint, friction=(0,) * len(joint.friction)) for joint in tree.joints))


def has_dry_friction(tree: Tree) -> bool:
    """Whether any joint has dry friction."""
    return any(not _is_zero(f) for joint in tree.joints for f in joint.friction)


def _is_zero(f: Any) -> bool:
    return isinstance(f, (int, float)) and f == 0
