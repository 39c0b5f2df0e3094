"""Actuators: from the forces a controller asks for to those that act at the joints.

Without one, every force acts as it was asked for. With one, the trajectory's `tau` has what acted.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.inputs import Numbers
from featherweight.model import Model
from featherweight.scalar import model_number, where


class Actuators:
    """What stands between a controller and the joints. Frozen: what it depends on is in its fields."""

    def over(self, numbers: Numbers) -> Actuators:
        """The same actuators over other scalars; the default has no number that is an input."""
        return self

    def check(self, model: Model) -> None:
        """Raise ValueError if this cannot drive the robot."""

    def forces(self, model: Model, v: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
        """The forces that act when `tau` is asked for at velocity v, over any scalar."""
        raise NotImplementedError


@dataclass(frozen=True)
class EffortLimits(Actuators):
    """Forces within ± the joints' limits of effort; joints without a limit have none."""

    def forces(self, model: Model, v: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
        bounds = model.effort_limit.tolist()
        return [_clamped(x, model_number(most)) if most < np.inf else x for x, most in zip(tau, bounds, strict=True)]


@dataclass(frozen=True)
class DCMotor(Actuators):
    """Motors with gears, fed by a battery (as in MIT's simulator of the Mini Cheetah).

    For the torque τ at the joint a current i = τ / (n c K) is wanted, which takes the voltage V = i R + e K n q̇. It is
    clamped to ± the battery's, and what flows then makes τ = n · clamp(c K (V - e K n q̇) / R): full torque up to a
    corner speed, then less and less until nothing at the no-load speed.

    Args:
        gear: ratio n, turns of the motor for one of the joint, shape (nv,) or one for all; a degree of freedom with
            gear 0 has no motor, and forces on it act as they are asked for.
        torque_constant: K [N m/A].
        resistance: R [Ω].
        voltage: of the battery [V].
        torque: most the motor gives, before the gear [N m].
        current_factor: c, from K to torque per ampere; 1.5 for three phases.
        speed_factor: e, from K to volt seconds per radian; 2 for three phases.
    """

    gear: Any
    torque_constant: float
    resistance: float
    voltage: float
    torque: float
    current_factor: float = 1.5
    speed_factor: float = 2.0

    def __post_init__(self) -> None:
        try:
            if np.asarray(self.gear).dtype == bool:
                raise TypeError
            gear = np.asarray(self.gear, dtype=float)
        except (TypeError, ValueError):
            raise TypeError(f"gear: expected ratios, shape () or (nv,), got {self.gear!r}") from None
        if gear.ndim > 1 or not np.isfinite(gear).all() or (gear < 0).any():
            raise ValueError(f"gear: expected finite ratios of 0 or more, shape () or (nv,), got {self.gear!r}")
        object.__setattr__(self, "gear", tuple(gear.tolist()) if gear.ndim else float(gear))
        for name in ("torque_constant", "resistance", "voltage", "torque", "current_factor", "speed_factor"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
                raise ValueError(f"{name}: expected a number > 0, got {value!r}")

    def check(self, model: Model) -> None:
        if isinstance(self.gear, tuple) and len(self.gear) != model.nv:
            raise ValueError(f"gear: expected shape (nv,) = ({model.nv},), got ({len(self.gear)},)")

    def over(self, numbers: Numbers) -> Actuators:
        return self if type(self).forces is not DCMotor.forces else self._motors().over(numbers)

    def forces(self, model: Model, v: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
        return self._motors().forces(model, v, tau)

    def _motors(self) -> _Motors:
        gears = self.gear if isinstance(self.gear, tuple) else (self.gear,)
        per_ampere, R = self.current_factor * self.torque_constant, self.resistance
        back = self.speed_factor * self.torque_constant
        motors = tuple((n, R / (n * per_ampere), back * n) if n else None for n in gears)
        return _Motors(motors, per_ampere / R, self.voltage, self.torque)


@dataclass(frozen=True)
class _Motors(Actuators):
    """The numbers of motors as a step needs them: of each degree of freedom, or of all alike, its gear n, volts per
    torque and per speed of the joint (None: no motor); then torque per volt, and the bounds."""

    motors: tuple[tuple[Any, Any, Any] | None, ...]
    per_volt: Any
    voltage: Any
    torque: Any

    def over(self, numbers: Numbers) -> _Motors:
        motors = tuple(motor and tuple(map(numbers.number, motor)) for motor in self.motors)
        return _Motors(motors, *map(numbers.number, (self.per_volt, self.voltage, self.torque)))

    def forces(self, model: Model, v: Sequence[Any], tau: Sequence[Any]) -> list[Any]:
        motors = self.motors if len(self.motors) > 1 else self.motors * model.nv
        return [t if m is None else self._torque(*m, v_k, t) for m, v_k, t in zip(motors, v, tau, strict=True)]

    def _torque(self, n: Any, per_torque: Any, per_speed: Any, speed: Any, tau: Any) -> Any:
        back = per_speed * speed
        volts = _clamped(tau * per_torque + back, self.voltage)
        return n * _clamped((volts - back) * self.per_volt, self.torque)


def _clamped(x: Any, bound: Any) -> Any:
    """x within ± bound; NaN stays NaN."""
    return where(x > bound, bound, where(x < -bound, -bound, x))
