"""What a joint has besides its kind: limits, motor, friction, spring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints import Joint
from featherweight.joints.joint import unit_axis
from featherweight.model.inertia import Inertia
from featherweight.model.placement import Placement, numbers_or_symbols, plain, real_numbers
from featherweight.model.symbols import is_symbolic
from featherweight.spatial import Vector

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint with one number for each coordinate; infinite where there is none.

    `lower`, `upper` [rad or m] for q, `velocity` [rad/s or m/s] and `effort` [N m or N] for both directions.
    One number serves all coordinates of a joint. Dynamics does not enforce limits; controllers, actuators and
    simulations with `limits=True` use them.
    """

    lower: float | Sequence[float] = -math.inf
    upper: float | Sequence[float] = math.inf
    velocity: float | Sequence[float] = math.inf
    effort: float | Sequence[float] = math.inf

    def of(self, what: str, joint: Joint) -> Limits:
        """The limits with one number for each coordinate of a joint, checked."""
        four = self.lower, self.upper, self.velocity, self.effort
        if {*map(type, four)} == {float} and joint.orientation is None:  # as a rule; comparisons with NaN are false
            low, high, fast, strong = cast(Numbers, four)
            if low <= high and fast >= 0 and strong >= 0:
                return Limits((low,) * joint.nq, (high,) * joint.nq, (fast,) * joint.nv, (strong,) * joint.nv)
        lower, upper = (_bounds(f"{what}: limits.{n}", getattr(self, n), joint.nq) for n in ("lower", "upper"))
        velocity, effort = (_bounds(f"{what}: limits.{n}", getattr(self, n), joint.nv) for n in ("velocity", "effort"))
        if any(a > b for a, b in zip(lower, upper, strict=True)):
            raise ModelError(f"{what}: limits: expected lower <= upper, got {lower} and {upper}")
        if joint.orientation is not None and any(
            map(math.isfinite, lower[joint.orientation] + upper[joint.orientation])
        ):
            raise ModelError(f"{what}: limits: expected no bounds for a quaternion, got {lower} and {upper}")
        if any(x < 0 for x in velocity + effort):
            raise ModelError(f"{what}: limits: expected velocity and effort of 0 or more, got {velocity} and {effort}")
        return Limits(lower, upper, velocity, effort)


def _bounds(name: str, value: Any, n: int) -> Numbers:
    if type(value) is float and not math.isnan(value):
        return (value,) * n
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: expected {n} numbers, got {value!r}") from None
    if array.shape not in ((), (n,)) or np.isnan(array).any():
        raise ModelError(f"{name}: expected one number or {n}, got {value!r}")
    return tuple(np.broadcast_to(array, (n,)).tolist())


@dataclass(frozen=True)
class Rotor:
    """The spinning part of a joint's motor: carried by the joint's parent, turning `gear` times as fast.

    `inertia` is in the rotor's own frame, at `placement` in the parent. It spins about `axis`, in its own
    frame; that of the joint if not given. It must be rotationally symmetric about that axis, so that its mass stays
    where it is when it turns. Then a rotor adds mass to the parent, armature gear² J to the joint, and a spin.
    """

    gear: float
    inertia: Inertia
    placement: Placement | None = None
    axis: str | Sequence[float] | None = None

    def spin(self, what: str, joint: Joint) -> tuple[float, Vector]:
        """Moment of inertia J [kg m²] about the axis, and the axis in the rotor's frame."""
        if joint.nv != 1:
            raise ModelError(f"{what}: rotor: expected a joint with one degree of freedom, got {joint!r}")
        axis = self.axis if self.axis is not None else getattr(joint, "axis", None)
        if axis is None:
            raise ModelError(f"{what}: rotor: give axis=, the joint {joint!r} has none")
        try:
            a = np.array(unit_axis(axis))
        except ModelError as error:
            raise ModelError(f"{what}: rotor: {error}") from None
        real_numbers(f"{what}: rotor.gear", self.gear, ())
        if not isinstance(self.inertia, Inertia) or not isinstance(self.placement, (Placement, type(None))):
            raise ModelError(
                f"{what}: rotor: expected inertia=featherweight.Inertia and placement=featherweight.Placement"
            )
        if is_symbolic(self.inertia.numbers):
            raise ModelError(f"{what}: rotor: expected numbers, got symbols; use armature= for a symbolic inertia")
        moment = np.array(self.inertia.moment_about_com)
        J = float(a @ moment @ a)
        across = (np.trace(moment) - J) / 2
        round_one = across * np.eye(3) + (J - across) * np.outer(a, a)
        off_axis = np.linalg.norm(np.cross(a, self.inertia.com))
        if np.abs(moment - round_one).max() > 1e-9 * np.abs(moment).max() or off_axis > 1e-9:
            raise ModelError(
                f"{what}: rotor: expected an inertia that is round about the axis {tuple(a.tolist())}, with its centre "
                "of mass on it; model a rotor that is not as a body with a mimic joint"
            )
        return J, Vector(*a.tolist())


def per_coordinate(what: str, name: str, value: Any, n: int, *, signed: bool = False) -> Numbers:
    """n finite numbers or symbols, from n of them or from one for all; messages are about the `name` of `what`."""
    if type(value) is float and 0 <= value < math.inf:
        return (value,) * n
    if plain(value) and len(value) == n and (signed or min(value) >= 0):
        return tuple(value)
    name = f"{what}: {name}"
    try:
        rank = np.ndim(value)
    except ValueError:
        rank = 1
    array = np.broadcast_to(numbers_or_symbols(name, value, (n,) if rank else ()), (n,))
    if not signed and any(x.is_negative if is_symbolic(x) else x < 0 for x in array):
        raise ModelError(f"{name}: expected 0 or more, got {value!r}")
    return tuple(array.tolist())
