"""Which velocity v* a contact wants along its normal, in 0 ≤ λ_n ⟂ v_n⁺ - v* ≥ 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from featherweight.constraints import Situation
from featherweight.inputs import absent
from featherweight.model import Tree
from featherweight.scalar import maximum, sqrt, where

REACH = 0.1  # [m/s]: a gap that this speed closes within a step is a speculative contact
LOOK_AHEAD = 2.0  # steps: a contact acts across a gap that its speed of approach closes in so many

# (velocities of the rows before the step, and free ones) -> target velocity of each row
Wanted = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def reach_from_rest(tree: Tree, h: Any) -> Any:
    """The gap [m] that two shapes may close within a step though they do not approach each other now: h (REACH + h g),
    g the acceleration of gravity."""
    return h * (REACH + h * sqrt(tree.gravity.dot(tree.gravity)))


def wanted_velocities(
    at: Situation, gap: Any, inside: Any, restitution: Any, bounce_speed: Any
) -> tuple[Wanted, Wanted | None]:
    """v* of a contact, and v* without restitution if that is another.

    Across a gap z > 0 the two may approach as far as they touch, v* = -z / h; inside it is `inside`. What comes faster
    than `bounce_speed` [m/s] and touches within the step leaves with -e of its velocity before the step (of the one it
    arrives with, where the step has moved already).
    """

    def inelastic(before: Sequence[Any], free: Sequence[Any]) -> list[Any]:
        return [where(gap > 0, -gap * (1.0 / at.h), inside), 0.0, 0.0]

    def bouncing(before: Sequence[Any], free: Sequence[Any]) -> list[Any]:
        away, hits = inelastic(before, free)[0], free[0] if at.moved else before[0]
        bounces = (before[0] < -bounce_speed) & (gap + at.h * free[0] <= 0)
        return [where(bounces, maximum(-restitution * hits, away), away), 0.0, 0.0]

    return (inelastic, None) if absent(restitution) else (bouncing, inelastic)
