"""Points against surfaces by impulses: Signorini's law for the normal, Coulomb's cone along the surface.

    0 ≤ λ_n ⟂ v_n⁺ - v* ≥ 0,    |λ_t| ≤ μ λ_n,    v_t⁺ = 0 or λ_t = -μ λ_n v_t⁺ / |v_t⁺|,

with v* = max(-e v_n, min(β (-z - slop), v_max), 0) inside, which bounces (by the velocity v_n before the step, if it is
faster than v_min) and recovers from depth. A point that is above the surface by no more than a step could close
(z ≤ 0.1 m/s h) is a speculative contact: it may approach as far as the surface, v* = -z / h, so that a point that
rests and rises by rounding keeps touching.
Where the step has moved already, points touch at its end, and what bounces does so by the velocity it arrives with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight import algorithms
from featherweight.constraints import Block, Cone, Constraint, Push, Reaction, Situation
from featherweight.contact.candidates import ContactCandidate, Ground, candidates, contact_records
from featherweight.contact.signorini import REACH, wanted_velocities
from featherweight.model import Model
from featherweight.scalar import maximum, minimum
from featherweight.spatial import Vector


@dataclass(frozen=True)
class PointOnSurface(Constraint):
    """All contact points of a robot against all surfaces.

    Args:
        ground: surfaces and coefficients.
        recovery: β [1/s], by which depth beyond `slop` is recovered.
        recovery_speed: v_max [m/s], most that recovery adds.
        slop: depth [m] that is left, so that a resting point keeps touching.
        bounce_speed: v_min [m/s], below which nothing bounces.
    """

    ground: Ground
    recovery: Any
    recovery_speed: Any
    slop: Any
    bounce_speed: Any

    def block_sizes(self, model: Model) -> list[int]:
        return [Cone.size] * (len(model.contact_points) * len(self.ground.surfaces))

    def blocks(self, at: Situation) -> list[Block]:
        return [self._block(m, at) for m in self._candidates(at)]

    def _candidates(self, at: Situation) -> list[ContactCandidate]:
        return at.once(("candidates", id(self)), lambda: candidates(self.ground, at))

    def _block(self, m: ContactCandidate, at: Situation) -> Block:
        recovers = maximum(minimum(-self.recovery * (m.z + self.slop), self.recovery_speed), 0.0)
        wanted, inelastic = wanted_velocities(at, m.z, recovers, m.restitution, self.bounce_speed)

        def approach(v: Sequence[Any]) -> Any:
            _, V, _ = algorithms.body_motion(at.tree, m.body, at.q, v, [0] * at.tree.nv)
            return -V.dot(m.force(m.frame[0]))

        return Block(
            Cone(m.friction), (m.body,), m.z <= at.h * REACH if m.body > 0 else False,
            lambda: [Push({m.body: m.force(row)}) for row in m.frame], wanted, approach=approach, inelastic=inelastic,
        )  # fmt: skip

    def records(self, at: Situation, found: Sequence[Reaction]) -> dict[str, list[Any]]:
        points, per_h = self._candidates(at), 1.0 / at.h
        forces = [m.frame.transposed_times(Vector(*own.impulses)) * per_h for m, own in zip(points, found, strict=True)]
        return contact_records(at, points, forces, [own.slip for own in found])
