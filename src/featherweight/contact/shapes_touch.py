"""Shapes against shapes and the ground by impulses: the laws of `point_on_surface`, for two bodies that both move.

A contact acts before it is there (a speculative contact): where the gap z can close within the step, the velocity
towards each other is at most z / h. So nothing passes through a thin body, and what rests keeps touching. Depth is
recovered by a motion that is forgotten (`constraints.solve.recovery`), in steps that move after impulses have acted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.constraints import Block, Cone, Constraint, Reaction, Situation
from featherweight.constraints.solve.islands import islands
from featherweight.contact.candidates import Ground
from featherweight.contact.signorini import LOOK_AHEAD, reach_from_rest, wanted_velocities
from featherweight.contact.slots import Arrangement, Slot, Slots, arranged, nearest
from featherweight.contact.touching import Touching, TouchingPair, fastest, pair_records, touching
from featherweight.model import Model, aggregated
from featherweight.scalar import maximum, minimum, where
from featherweight.spatial import Vector


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
        slots: how many contacts all pairs of shapes have together; 0: each has its own; None: whatever is less code.
    """

    ground: Ground
    pairs: Any
    recovery: Any
    recovery_speed: Any
    slop: Any
    bounce_speed: Any
    slots: int | None = None

    def _arranged(self, model: Model) -> Arrangement:
        return arranged(model, self.pairs, len(self.ground.surfaces), self.slots)

    def block_sizes(self, model: Model) -> list[int]:
        own = self._arranged(model)
        return [Cone.size] * (sum(pair.count for pair in own.direct) + own.slots)

    def blocks(self, at: Situation) -> list[Block]:
        direct, shared = self._touching(at)
        return self._foreseen(at, [*direct, *shared.slots])

    def _foreseen(self, at: Situation, every: list[Touching | Slot]) -> list[Block]:
        """The blocks of these contacts, which act where a step may close them.

        Impulses of this step may send a body towards another one. How fast is not known before they are, but not
        faster by much than the fastest of what meets in this island of bodies: all of it reaches as far.
        """
        rest = reach_from_rest(at.tree, at.h)
        own: list[Any] = []
        blocks: list[Block] = []
        for k, m in enumerate(every):
            if k == 0 or m.bodies != every[k - 1].bodies:
                at.tree.mark()
            own.append(rest + at.h * LOOK_AHEAD * m.closing)
            blocks.append(self._block(m, m.gap <= own[k], at))
        for island in islands(aggregated(at.tree), blocks) if len(blocks) > 1 else ():
            at.tree.mark()
            farthest: Any = 0.0
            for k in island.blocks:
                farthest = maximum(farthest, where(blocks[k].acts, own[k], 0.0))
            for k in island.blocks:
                blocks[k] = replace(blocks[k], acts=every[k].gap <= maximum(own[k], farthest))
        return blocks

    def _touching(self, at: Situation) -> tuple[list[Touching], Slots]:
        def make() -> tuple[list[Touching], Slots]:
            own = self._arranged(at.model)
            shared = nearest(own.shared, own.slots, self.ground, at, at.h) if own.slots else Slots([], 0.0)
            pairs = [pair for pair in own.direct if not isinstance(pair.b, int)]
            grounded = touching([pair for pair in own.direct if isinstance(pair.b, int)], self.ground, at, 0.0)
            between = touching(pairs, self.ground, at, _margin(pairs, grounded, at)) if pairs else []
            return [*grounded, *between], shared

        return at.once(("touching", id(self)), make)

    def _block(self, m: Touching | Slot, acts: Any, at: Situation) -> Block:
        recovers = maximum(minimum(-self.recovery * (m.gap + self.slop), self.recovery_speed), 0.0)
        inside = recovers if at.moved else 0.0
        wanted, inelastic = wanted_velocities(at, m.gap, inside, m.restitution, self.bounce_speed)
        return Block(
            Cone(m.friction), m.bodies, acts, lambda: [m.push(at, row) for row in m.axes], wanted,
            approach=lambda v: m.closing, inelastic=inelastic, recovers=None if at.moved else recovers, axes=m.axes,
            roams=isinstance(m, Slot),
        )  # fmt: skip

    def records(self, at: Situation, found: Sequence[Reaction]) -> dict[str, list[Any]]:
        """The mean force [N] of each contact point on the first of its bodies, in the world's axes; of slots the number
        of the contact point before it, and how many contacts found no slot."""
        (direct, shared), per_h = self._touching(at), 1.0 / at.h
        axes = [*(m.axes for m in direct), *(slot.axes for slot in shared.slots)]
        each = zip(axes, found, strict=True)
        forces = [own.transposed_times(Vector(*reaction.impulses)) * per_h for own, reaction in each]
        records = pair_records(forces[: len(direct)])
        if shared.slots:
            of_slots = zip(shared.slots, forces[len(direct) :], strict=True)
            records["slots"] = [x for slot, force in of_slots for x in (slot.number, *force)]
            records["missed"] = [shared.missed]
        return records


def _margin(pairs: Sequence[TouchingPair], grounded: Sequence[Touching], at: Situation) -> Any:
    """The gap [m] up to which contact points of pairs are looked for: no gap beyond it is closed within the step.

    An impulse of this step may send any body towards any other, as fast as the fastest of what approaches: two shapes
    of a pair, or one that meets the ground.
    """
    rest, most = reach_from_rest(at.tree, at.h), fastest(pairs, at)
    for m in grounded:
        meets = m.gap <= rest + at.h * LOOK_AHEAD * m.closing
        most = maximum(most, where(meets, m.closing, 0.0))
    return rest + at.h * LOOK_AHEAD * most
