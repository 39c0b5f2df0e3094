"""Operator splitting (the alternating direction method of multipliers): motion and laws in turns.

Impulses λ with the velocity errors w = e + T Yᵀ λ that go with them obey the equations of motion. Impulses z obey the
laws, as far as they bound them; the velocity errors p go with those. With κ times the effective mass m of each block,

    λ = z + κ m (p - w),      a linear system for all blocks: the laws of `system` with a = 0 at z + κ m p, H = κ m
    z = λ - κ m p, cut off by what the law of each block allows
    p = p - (λ - z) / (κ m).

Where λ = z, also p = w, and z = λ - κ m w, cut off: the law in the form of Alart and Curnier. The matrix stays as it is
from turn to turn, so that a turn costs a fraction of a Newton step. It comes near a solution from anywhere, and then
creeps: Newton steps go on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featherweight.constraints.law import added
from featherweight.constraints.solve.coupling import Impulses
from featherweight.constraints.solve.system import AllBlocks
from featherweight.scalar import count

TURNS = 30


@dataclass(frozen=True)
class Split:
    """Impulses z that their laws allow, and the velocity errors p that go with them [m/s]."""

    impulses: Impulses
    errors: Impulses


def split(blocks: AllBlocks, begin: Split, weight: Any) -> Split:
    """What some turns make of it; `weight`: κ."""
    masses = [weight * part.mass for part in blocks.parts]
    laws = [part.held(x, part.e, m) for part, x, m in blocks.each(blocks.nothing(), masses)]
    factors = blocks.factors(laws, often=True)

    def turn(_: Any, now: Split) -> Split:
        aims = [added(z, p, m) for z, p, m in zip(now.impulses, now.errors, masses, strict=True)]
        s = blocks.pushes(aims)
        laws = [part.held(own, part.error(s), m) for part, own, m in blocks.each(aims, masses)]
        impulses, errors = [], []
        for part, own, (dl, _), p, m in blocks.each(aims, blocks.change(factors, laws), now.errors, masses):
            new = added(own, dl)
            z = part.inside(added(new, p, -m))
            impulses.append(z)
            errors.append([e - (x - y) / m for e, x, y in zip(p, new, z, strict=True)])
        return Split(impulses, errors)

    return count(TURNS, turn, begin)
