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
from featherweight.forces import Advance, ForceElement, Kinematics, Push
from featherweight.model import Model
from featherweight.scalar import maximum, sqrt, when, where
from featherweight.spatial import Force, Motion, Vector


@dataclass(frozen=True)
class SoftContact(ForceElement):
    """The law of `SpringDamper`, as a force element. What it remembers is a deflection (3) of each candidate, in the
    world's axes.

    Args:
        ground: surfaces and coefficients.
        law: "linear" or "hertz".
        stiffness: K [N/m], or [N/m^1.5] for "hertz".
        damping: D [N s/m], or [N s/m^1.5].
    """

    ground: Ground
    law: str
    stiffness: Any
    damping: Any

    def memory_size(self, model: Model) -> int:
        return 3 * len(model.contact_points) * len(self.ground.surfaces)

    def advance(self, at: Kinematics, h: Any, memory: Sequence[Any]) -> Advance:
        V, met, touched = at.velocity, self._candidates(at), []
        implicit = self.damping + h * self.stiffness
        fade, yielding = self.damping / implicit, h / implicit
        for m, u in zip(met, _vectors(memory), strict=True):
            at.tree.mark()
            off = Touched(Vector.zero(), u * fade, 0.0)
            touched.append(when(m.z < 0, partial(self._touching, m, V[m.body], u, h, yielding), off))
        forces, after = [one.force for one in touched], [x for one in touched for x in one.deflection]
        at.once(("forces", id(self), id(after)), lambda: (forces, after))
        return Advance(after, contact_records(at, met, forces, [one.slip for one in touched]))

    def forces(self, at: Kinematics, memory: Sequence[Any]) -> Push:
        # where the step begins `advance` has them already; the memory is kept with them, so that its id stays its own
        forces, _ = at.once(("forces", id(self), id(memory)), lambda: (self._forces_at(at, memory), memory))
        total: dict[int, Force] = {}
        for m, force in zip(self._candidates(at), forces, strict=True):
            f = m.force(force)
            total[m.body] = total[m.body] + f if m.body in total else f
        return Push(total)

    def _candidates(self, at: Kinematics) -> list[ContactCandidate]:
        return at.once(("candidates", id(self)), lambda: candidates(self.ground, at))

    def _forces_at(self, at: Kinematics, memory: Sequence[Any]) -> list[Vector]:
        """The force of every candidate with these deflections, in the world's axes [N]."""
        V, forces = at.velocity, []
        for m, u in zip(self._candidates(at), _vectors(memory), strict=True):
            at.tree.mark()
            forces.append(when(m.z < 0, partial(self._force, m, V[m.body], u), Vector.zero()))
        return forces

    def _force(self, m: ContactCandidate, V: Motion, u: Vector) -> Vector:
        return self._touching(m, V, u, 0.0, 0.0).force

    def _touching(self, m: ContactCandidate, V: Motion, u: Vector, h: Any, yielding: Any) -> Touched:
        """A point that is inside, in a step of h that begins with the deflection u; `yielding`: h / (D + h K)."""
        K, D = self.stiffness, self.damping
        n = m.frame.x
        velocity = m.X_0.E.transposed_times(V.linear + V.angular.cross(m.place))
        rate = n.dot(velocity)
        along = velocity - n * rate

        # the normal force, and the trial: all sticks. Both over r
        pressing = maximum(0.0, -K * m.z - D * rate)
        trial = u - n * n.dot(u) + along * h
        holding = trial * K + along * D

        # what of it is within the cone, and the deflection that goes with that: D (u⁺ - u) / h + K u⁺ = share holding
        square, most = holding.dot(holding), m.friction * pressing
        slips = square > most * most
        share = where(slips, most / sqrt(where(slips, square, 1.0)), 1.0)
        after = trial - holding * ((1.0 - share) * yielding)
        force = n * pressing - holding * share
        if self.law == "hertz":
            force = force * sqrt(maximum(-m.z, 0.0))
        return Touched(force, after, sqrt(along.dot(along)))


def _vectors(numbers: Sequence[Any]) -> list[Vector]:
    return [Vector(*numbers[k : k + 3]) for k in range(0, len(numbers), 3)]


@dataclass(frozen=True)
class Touched:
    """A candidate in a step: force in the world's axes [N], deflection after it [m], speed of slip [m/s]."""

    force: Vector
    deflection: Vector
    slip: Any
