"""Soft contact: a spring and a damper at every point that is inside a surface, with a deflection that sticks and slips.

Along the surface the force is f_t = -r (K u + D v_t), scaled back to the friction cone. With it the deflection obeys
one equation, D r u̇ + K r u = -f_t: while the point sticks that is u̇ = v_t, and where nothing presses u̇ = -(K / D) u.
A step solves it by backward Euler, stable for any h K / D: a trial that sticks, u + h v_t, then what of it slips. With
the deflection u⁺ that is left the same force follows, so a step remembers u⁺ alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.contact.candidates import ContactCandidate, Ground, candidates, contact_records
from featherweight.contact.pair import Pairs
from featherweight.contact.touching import Touching, TouchingPair, pair_records, touching, touching_pairs
from featherweight.forces import Advance, ForceElement, Kinematics, Push
from featherweight.model import Model
from featherweight.scalar import maximum, sqrt, when, where
from featherweight.spatial import Force, Vector

Candidate = ContactCandidate | Touching


@dataclass(frozen=True)
class SoftContact(ForceElement):
    """The law of `SpringDamper`, as a force element. What it remembers is a deflection (3) of each candidate, in the
    world's axes.

    Args:
        ground: surfaces and coefficients.
        law: "linear" or "hertz".
        stiffness: K [N/m], or [N/m^1.5] for "hertz".
        damping: D [N s/m], or [N s/m^1.5].
        pairs: which shapes may touch which.
    """

    ground: Ground
    law: str
    stiffness: Any
    damping: Any
    pairs: Pairs = None

    def _pairs(self, model: Model) -> list[TouchingPair]:
        return touching_pairs(model, self.pairs, len(self.ground.surfaces))

    def memory_size(self, model: Model) -> int:
        touches = sum(pair.count for pair in self._pairs(model))
        return 3 * (len(model.contact_points) * len(self.ground.surfaces) + touches)

    def advance(self, at: Kinematics, h: Any, memory: Sequence[Any]) -> Advance:
        _, found = at.velocity, []  # computed now: what is first computed in a branch stays there
        points, touches = self._candidates(at)
        implicit = self.damping + h * self.stiffness
        fade, yielding = self.damping / implicit, h / implicit
        for m, u in zip(_all(points, touches), _vectors(memory), strict=True):
            at.tree.mark()
            off = Touched(Vector.zero(), u * fade, 0.0)
            found.append(when(m.gap < 0, partial(self._touching, m, at, u, h, yielding), off))
        forces, after = [one.force for one in found], [x for one in found for x in one.deflection]
        at.once(("forces", id(self), id(after)), lambda: (forces, after))
        n, slips = len(points), [one.slip for one in found]
        records = contact_records(at, points, forces[:n], slips[:n])
        return Advance(after, {**records, **pair_records(forces[n:])})

    def forces(self, at: Kinematics, memory: Sequence[Any]) -> Push:
        # where the step begins `advance` has them already; the memory is kept with them, so that its id stays its own
        forces, _ = at.once(("forces", id(self), id(memory)), lambda: (self._forces_at(at, memory), memory))
        total: dict[int, Force] = {}
        points, touches = self._candidates(at)
        for m, force in zip(_all(points, touches), forces, strict=True):
            for body, f in m.pushes(at, force).items():
                total[body] = total[body] + f if body in total else f
        return Push(total)

    def _candidates(self, at: Kinematics) -> tuple[list[ContactCandidate], list[Touching]]:
        """Points and surfaces; contact points of shapes."""
        return at.once(
            ("candidates", id(self)),
            lambda: (candidates(self.ground, at), touching(self._pairs(at.model), self.ground, at, 0.0)),
        )

    def _forces_at(self, at: Kinematics, memory: Sequence[Any]) -> list[Vector]:
        """The force of every candidate with these deflections, in the world's axes [N]."""
        _, forces = at.velocity, []  # computed now: what is first computed in a branch stays there
        points, touches = self._candidates(at)
        for m, u in zip(_all(points, touches), _vectors(memory), strict=True):
            at.tree.mark()
            forces.append(when(m.gap < 0, partial(self._force, m, at, u), Vector.zero()))
        return forces

    def _force(self, m: Candidate, at: Kinematics, u: Vector) -> Vector:
        return self._touching(m, at, u, 0.0, 0.0).force

    def _touching(self, m: Candidate, at: Kinematics, u: Vector, h: Any, yielding: Any) -> Touched:
        """What is inside, in a step of h that begins with the deflection u; `yielding`: h / (D + h K)."""
        K, D = self.stiffness, self.damping
        n, velocity = m.axes.x, m.velocity(at)
        rate = n.dot(velocity)
        along = velocity - n * rate

        # the normal force, and the trial: all sticks. Both over r
        pressing = maximum(0.0, -K * m.gap - D * rate)
        trial = u - n * n.dot(u) + along * h
        holding = trial * K + along * D

        # what of it is within the cone, and the deflection that goes with that: D (u⁺ - u) / h + K u⁺ = share holding
        square, most = holding.dot(holding), m.friction * pressing
        slips = square > most * most
        share = where(slips, most / sqrt(where(slips, square, 1.0)), 1.0)
        after = trial - holding * ((1.0 - share) * yielding)
        force = n * pressing - holding * share
        if self.law == "hertz":
            force = force * sqrt(maximum(-m.gap, 0.0))
        return Touched(force, after, sqrt(along.dot(along)))


def _all(points: Sequence[Candidate], touches: Sequence[Candidate]) -> list[Candidate]:
    return [*points, *touches]


def _vectors(numbers: Sequence[Any]) -> list[Vector]:
    return [Vector(*numbers[k : k + 3]) for k in range(0, len(numbers), 3)]


@dataclass(frozen=True)
class Touched:
    """A candidate in a step: force in the world's axes [N], deflection after it [m], speed of slip [m/s]."""

    force: Vector
    deflection: Vector
    slip: Any
