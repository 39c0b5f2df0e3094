"""Contact by springs and dampers: forces that grow with depth, and a deflection along the surface that sticks."""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from featherweight import algorithms
from featherweight.compiler.runtime.arguments import as_array
from featherweight.contact.contact_model import ContactModel, Meeting, Outcome, meetings, per_point
from featherweight.contact.joint_rows import limits_of
from featherweight.contact.limits import Limited, limited_step
from featherweight.model import Model, Tree
from featherweight.scalar import maximum, sqrt, when, where
from featherweight.spatial import Force, Motion, Vector

BOUNCE = "how they bounce follows from `stiffness` and `damping`; featherweight.contact.Impulse has restitution"


@dataclass(frozen=True)
class SpringDamper(ContactModel):
    """Soft contact.

    With z the height and r = 1 ("linear") or r = √-z ("hertz"), the normal force is max(0, r (-K z - D ż)). Along the
    surface a deflection u is carried: it follows the velocity while the point sticks, f_t = -r (K u + D v_t); a force
    beyond μ f_n is scaled back, and u̇ = -(f_t + K r u) / (D r); off the ground u decays with rate K / D.

    Args:
        law: "linear" or "hertz".
        stiffness: K [N/m], or [N/m^1.5] for "hertz".
        damping: D [N s/m], or [N s/m^1.5].
    """

    law: str = "hertz"
    stiffness: float = 5e5
    damping: float = 5e3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.restitution:
            raise ValueError(f"restitution: expected none with springs and dampers, got {self.restitution!r}; {BOUNCE}")
        for surface in self.surfaces:
            if surface.restitution:
                what = f"{type(surface).__name__}: its restitution of {surface.restitution:g} does not act"
                warnings.warn(f"{what} with springs and dampers; {BOUNCE}", stacklevel=3)
        if self.law not in ("linear", "hertz"):
            raise ValueError(f"law: expected 'linear' or 'hertz', got {self.law!r}")
        for name in ("stiffness", "damping"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise ValueError(f"{name}: expected a number > 0, got {value!r}")

    def state_size(self, model: Model, limits: bool) -> int:
        own = 3 * len(model.contact_points) * len(self.surfaces)
        return own + (len(limits_of(model)) if limits else 0)

    def step(
        self, model: Model, tree: Tree, integrator: Any, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any], h: Any,
        state: Sequence[Any], memory: Sequence[Any] = (), going: Any = True, limits: bool = True,
    ) -> Outcome:  # fmt: skip
        met, forces, deflections, slips = self._forces(model, tree, q, v, h, state)
        kept = [Vector(*deflections[3 * k : 3 * k + 3]) for k in range(len(met))]

        def external(q: Sequence[Any], v: Sequence[Any]) -> list[Force]:
            own_met, own, *_ = self._forces(model, tree, q, v, None, [x for u in kept for x in u])
            return _on_bodies(tree, own_met, own)

        points, ends = self.points(model), state[len(deflections) :]
        if limits:
            after = limited_step(model, tree, integrator, q, v, tau, h, external, ends, memory, going)
        else:
            free = integrator.advance(tree, q, v, tau, h, external, memory)
            after = Limited(free.q, free.v, [], True, free)
        return Outcome(
            after.q, after.v, [*deflections, *after.ends],
            per_point(points, met, forces, Vector.zero(), lambda x, y: x + y),
            per_point(points, met, slips, 0.0, maximum),
            per_point(points, met, [maximum(-m.z, 0.0) for m in met], 0.0, maximum),
            0.0, 0.0, after.converged, after.free,
        )  # fmt: skip

    def _forces(
        self, model: Model, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, state: Sequence[Any]
    ) -> tuple[list[Meeting], list[Vector], list[Any], list[Any]]:
        """Forces in the world's axes, deflections (moved by h, or as they are for h None), and speeds of slip."""
        X_0 = algorithms.forward_kinematics(tree, q)
        V = algorithms.velocities(tree, q, v)
        met = meetings(self, model, tree, X_0)
        forces, deflections, slips = [], [], []
        for k, m in enumerate(met):
            tree.mark()
            u = Vector(*state[3 * k : 3 * k + 3])
            values = when(m.z <= 0, partial(self._touching, m, V[m.body], u, h), [0.0, 0.0, 0.0, *u, 0.0])
            forces.append(Vector(*values[:3]))
            after = Vector(*values[3:6])
            if h is not None:  # off the ground it goes back with its own rate, never beyond zero
                fade = 1.0 / (1.0 + h * (self.stiffness / self.damping))
                after = Vector(*(where(m.z <= 0, a, b * fade) for a, b in zip(after, u, strict=True)))
            deflections += list(after)
            slips.append(values[6])
        return met, forces, deflections, slips

    def _touching(self, m: Meeting, V: Motion, u: Vector, h: Any) -> list[Any]:
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
        return [*total, *u, sqrt(along.dot(along))]

    def stable_dt(self, model: Model, q: Any, parameters: Any = None) -> float:
        """The longest step [s] for which semi-implicit steps near q are stable, with all points at a depth of 1 mm.

        Of a spring and damper on the smallest mass that a point moves: h < 2 / (ω √(1 + ζ²) + ω ζ).
        """
        return self._stable_dt(_lightest(model, q))

    def _stable_dt(self, lightest: float) -> float:
        r = math.sqrt(1e-3) if self.law == "hertz" else 1.0
        k, d = 1.5 * self.stiffness * r * lightest, self.damping * r * lightest
        return 2.0 / (d + math.sqrt(d * d + k))

    def warn_if_stiff(self, model: Model, q: Any, dt: float) -> None:
        """Tell the user if the step is too long; for a robot that ran before, where it began then."""
        if model not in _began:
            _began[model] = _lightest(model, q)
        longest = self._stable_dt(_began[model])
        if dt > longest:
            warnings.warn(
                f"contact: dt = {dt:g} s is too long for {self.law} springs of this stiffness and damping; stable "
                f"below {longest:.2g} s, or use featherweight.contact.Impulse",
                stacklevel=6,
            )


_began: weakref.WeakKeyDictionary[Model, float] = weakref.WeakKeyDictionary()  # _lightest of robots where they began


def _lightest(model: Model, q: Any) -> float:
    """1/m [1/kg] of the smallest mass that any forces at the contact points move, at q or any row of it.

    On NumPy: it is asked once for a robot, and native code for it takes as long to compile as a step.
    """
    rows = as_array("q", q, (model.nq,), "nq").reshape(-1, model.nq)
    points = [(point.body, Vector(*point.position)) for point in model.contact_points]
    with np.errstate(all="ignore"):  # what is not finite is told below
        G = algorithms.delassus(model.over_floats, list(rows.T), points)
    blocks = np.array([[np.broadcast_to(x, len(rows)) for x in row] for row in G])
    if not (np.isfinite(rows).all() and np.isfinite(blocks).all()):
        raise ValueError(
            f"contact: how {model.name!r} gives way to forces at its contact points is not finite at this q; q is too "
            f"large or not finite, or the mass matrix is singular there"
        )
    return float(np.linalg.eigvalsh(np.moveaxis(blocks, -1, 0))[:, -1].max())


def _on_bodies(tree: Tree, met: Sequence[Meeting], forces: Sequence[Vector]) -> list[Force]:
    """The sum of the forces on each body, in its frame."""
    total = [Force.zero() for _ in tree.parent]
    for m, f in zip(met, forces, strict=True):
        total[m.body] = total[m.body] + m.force(f)
    return total
