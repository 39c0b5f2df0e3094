"""Mass properties of a body: `Inertia(mass, com, moment_about_com)` and the usual solids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.model.placement import real_numbers
from featherweight.spatial import RigidInertia, Symmetric, Vector


@dataclass(frozen=True, init=False)
class Inertia:
    """Mass [kg], centre of mass [m] and rotational inertia about it [kg m²], in the body's axes."""

    mass: float
    com: tuple[float, float, float]
    moment_about_com: tuple[tuple[float, ...], ...]

    def __init__(self, mass: float, com: Sequence[float] = (0.0, 0.0, 0.0), moment_about_com: Any = 0.0) -> None:
        m = float(real_numbers("mass", mass, ()))
        if m < 0:
            raise ModelError(f"mass: expected 0 or more kg, got {m:g}")
        moment = np.asarray(moment_about_com, dtype=float)
        if moment.ndim < 2:  # a number or three: principal moments along the axes
            moment = np.diag(np.broadcast_to(moment, (3,)))
        moment = real_numbers("moment_about_com", moment, (3, 3))
        if np.abs(moment - moment.T).max() > 1e-9 * max(1e-12, np.abs(moment).max()):
            raise ModelError("moment_about_com: expected a symmetric matrix")
        object.__setattr__(self, "mass", m)
        object.__setattr__(self, "com", tuple(real_numbers("com", com, (3,)).tolist()))
        object.__setattr__(self, "moment_about_com", tuple(map(tuple, (0.5 * (moment + moment.T)).tolist())))

    @staticmethod
    def zero() -> Inertia:
        """No mass: only for bodies fixed to the world, or with `policy="warn"`."""
        return Inertia(0.0)

    @staticmethod
    def point(mass: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A point mass."""
        return Inertia(mass, at)

    @staticmethod
    def box(mass: float, size: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid box with edges `size` [m] along the axes."""
        x, y, z = (float(a) ** 2 for a in real_numbers("size", size, (3,)))
        return Inertia(mass, at, np.array([y + z, z + x, x + y]) * (float(mass) / 12))

    @staticmethod
    def sphere(mass: float, radius: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid ball."""
        return Inertia(mass, at, 0.4 * float(mass) * float(radius) ** 2)

    @staticmethod
    def cylinder(mass: float, radius: float, length: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid cylinder along z."""
        across = float(mass) * (3 * float(radius) ** 2 + float(length) ** 2) / 12
        return Inertia(mass, at, (across, across, 0.5 * float(mass) * float(radius) ** 2))

    @staticmethod
    def rod(mass: float, length: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
        """A thin rod along z."""
        across = float(mass) * float(length) ** 2 / 12
        return Inertia(mass, at, (across, across, 0.0))

    @property
    def rigid(self) -> RigidInertia:
        """As spatial inertia about the body's origin."""
        return RigidInertia.about_com(self.mass, Vector(*self.com), Symmetric.of(self.moment_about_com))


def impossible(inertia: RigidInertia) -> str | None:
    """Why no solid body has this inertia, or None if one may have: m > 0, moments about the centre
    of mass not negative, the largest not above the sum of the others."""
    m = float(inertia.m)
    if not m > 0:
        return f"its mass is {m:g} kg; a body that moves needs mass > 0"
    c = np.array([float(x) for x in inertia.h]) / m
    about_origin = np.array([[float(x) for x in row] for row in inertia.I.matrix])
    moment = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
    low, middle, high = np.linalg.eigvalsh(moment)
    slack = 1e-9 * max(abs(about_origin).max(), 1e-300)
    moments = f"its principal moments about the centre of mass are {low:.6g}, {middle:.6g}, {high:.6g}"
    if low < -slack:
        return f"{moments}: one is negative"
    if high > low + middle + slack:
        return f"{moments}: the largest exceeds the sum of the others (triangle inequality)"
    return None
