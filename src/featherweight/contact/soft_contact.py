"""Soft contact: a spring and a damper at every point that is inside a surface, with a deflection that sticks."""

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
        met, touched = self._touched(at, h, memory)
        deflections = [x for one in touched for x in one.deflection]
        forces, slips = [one.force for one in touched], [one.slip for one in touched]
        return Advance(deflections, contact_records(at, met, forces, slips))

    def forces(self, at: Kinematics, memory: Sequence[Any]) -> Push:
        met, touched = self._touched(at, None, memory)
        total: dict[int, Force] = {}
        for m, one in zip(met, touched, strict=True):
            f = m.force(one.force)
            total[m.body] = total[m.body] + f if m.body in total else f
        return Push(total)

    def _touched(self, at: Kinematics, h: Any, memory: Sequence[Any]) -> tuple[list[ContactCandidate], list[Touched]]:
        """Every candidate with its force, its deflection (moved by h, or as it is for h None), and its slip."""
        V = at.velocity
        met = at.once(("candidates", id(self)), lambda: candidates(self.ground, at))
        found = []
        for k, m in enumerate(met):
            at.tree.mark()
            u = Vector(*memory[3 * k : 3 * k + 3])
            touched = when(
                m.z <= 0, partial(self._touching, m, V[m.body], u, h), Touched(Vector(0.0, 0.0, 0.0), u, 0.0)
            )
            if h is not None:  # off the ground it goes back with its own rate, never beyond zero
                fade = 1.0 / (1.0 + h * (self.stiffness / self.damping))
                after = (where(m.z <= 0, a, b * fade) for a, b in zip(touched.deflection, u, strict=True))
                touched = Touched(touched.force, Vector(*after), touched.slip)
            found.append(touched)
        return met, found

    def _touching(self, m: ContactCandidate, V: Motion, u: Vector, h: Any) -> Touched:
        """Force, deflection after h and speed of slip of a point that is inside."""
        K, D = self.stiffness, self.damping
        n = m.frame.x
        velocity = m.X_0.E.transposed_times(V.linear + V.angular.cross(m.place))
        rate = n.dot(velocity)
        along = velocity - n * rate
        u = u - n * n.dot(u)
        r = sqrt(maximum(-m.z, 0.0)) if self.law == "hertz" else 1.0
        f_n = maximum(0.0, r * (-K * m.z - D * rate))
        if h is not None:
            u = u + along * h  # while it sticks
        f = (u * K + along * D) * (-1.0 * r)
        size, most = f.dot(f), m.friction * f_n
        slides = size > most * most
        scale = where(slides, most / sqrt(where(slides, size, 1.0)), 1.0)
        f = f * scale
        if h is not None:  # what is left of the deflection when the force is on the cone: K r u = -f - D r v_t
            loaded = r > 0 if self.law == "hertz" else True
            inside = where(loaded, r, 1.0) if self.law == "hertz" else 1.0
            on_cone = (f * (-1.0 / inside) - along * D) * (1.0 / K)
            u = Vector(*(where(slides, a, b) for a, b in zip(on_cone, u, strict=True)))
        total = n * f_n + f
        return Touched(total, u, sqrt(along.dot(along)))


@dataclass(frozen=True)
class Touched:
    """A candidate in a step: force in the world's axes [N], deflection [m], speed of slip [m/s]."""

    force: Vector
    deflection: Vector
    slip: Any
