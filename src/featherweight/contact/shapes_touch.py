"""Shapes against shapes and the ground by impulses: the laws of `point_on_surface`, for two bodies that both move.

A contact acts before it is there (a speculative contact): where the gap z can close within the step, the velocity
towards each other is at most z / h. So nothing passes through a thin body, and what rests keeps touching. Depth is
recovered by a motion that is forgotten (`constraints.solve.recovery`), in steps that move after impulses have acted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.constraints import Block, Cone, Constraint, Reaction, Situation
from featherweight.contact.candidates import Ground
from featherweight.contact.signorini import REACH, wanted_velocities
from featherweight.contact.touching import Touching, TouchingPair, touching, touching_pairs
from featherweight.model import Model
from featherweight.scalar import maximum, minimum
from featherweight.spatial import Vector

BEYOND = 2.0  # times the speed they approach with: contacts that a step could close act


@dataclass(frozen=True)
class ShapesTouch(Constraint):
    """All pairs of shapes that may touch, and shapes with the ground.

    Args:
        ground: surfaces and coefficients.
        pairs: which shapes may touch which (see `ContactModel`).
        recovery: β [1/s], by which depth beyond `slop` is recovered.
        recovery_speed: v_max [m/s], most that recovery adds.
        slop: depth [m] that is left.
        bounce_speed: v_min [m/s], below which nothing bounces.
    """

    ground: Ground
    pairs: Any
    recovery: Any
    recovery_speed: Any
    slop: Any
    bounce_speed: Any

    def _pairs(self, model: Model) -> list[TouchingPair]:
        return touching_pairs(model, self.pairs, len(self.ground.surfaces))

    def block_sizes(self, model: Model) -> list[int]:
        return [Cone.size for pair in self._pairs(model) for _ in range(pair.count)]

    def blocks(self, at: Situation) -> list[Block]:
        return [self._block(m, at) for m in self._touching(at)]

    def _touching(self, at: Situation) -> list[Touching]:
        return at.once(("touching", id(self)), lambda: touching(self._pairs(at.model), self.ground, at, at.h))

    def _block(self, m: Touching, at: Situation) -> Block:
        recovers = maximum(minimum(-self.recovery * (m.gap + self.slop), self.recovery_speed), 0.0)
        inside = recovers if at.moved else 0.0
        wanted, inelastic = wanted_velocities(at, m.gap, inside, m.restitution, self.bounce_speed)
        return Block(
            Cone(m.friction), tuple(i for i in (m.body, m.other) if i), m.gap <= at.h * (REACH + BEYOND * m.closing),
            lambda: [m.push(at, row) for row in m.axes], wanted, approach=lambda v: m.closing, inelastic=inelastic,
            recovers=None if at.moved else recovers, axes=m.axes,
        )  # fmt: skip

    def records(self, at: Situation, found: Sequence[Reaction]) -> dict[str, list[Any]]:
        """The mean force [N] of each contact point on the first of its bodies, in the world's axes."""
        if not found:
            return {}
        per_h = 1.0 / at.h
        forces = [
            m.axes.transposed_times(Vector(*reaction.impulses)) * per_h
            for m, reaction in zip(self._touching(at), found, strict=True)
        ]
        return {"pair_force": [x for force in forces for x in force]}
