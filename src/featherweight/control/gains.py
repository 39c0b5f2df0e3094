"""Gains, weights and rates of the controllers: numbers that are tuned, all of them inputs of the compiled step.

Each is one number, or an array (…) with one for each robot of a batch.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import ClassVar

from featherweight.control.checks import not_negative, positive
from featherweight.control.layout import Number


@dataclass(frozen=True)
class Tuned:
    """Numbers of 0 or more, kept as floats or arrays of floats; some must not be 0."""

    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for own in fields(self):
            value = getattr(self, own.name)
            if is_dataclass(own.default):
                if not isinstance(value, type(own.default)):
                    kind = type(own.default).__name__
                    raise TypeError(f"{own.name}: expected fw.control.{kind}(…), got {value!r}")
            else:
                check = positive if own.name in self.ABOVE_ZERO else not_negative
                object.__setattr__(self, own.name, check(own.name, value))


@dataclass(frozen=True)
class Gains(Tuned):
    """Feedback gains of a task: acceleration = stiffness · (wanted - x) + damping · (wanted speed - ẋ).

    Args:
        stiffness: [1/s²].
        damping: [1/s].
    """

    stiffness: Number
    damping: Number


@dataclass(frozen=True)
class ForceSolver(Tuned):
    """How contact forces are found by ADMM (`forces_in_cones`).

    Args:
        regularisation: ε, weight of the forces themselves.
        rho: ρ > 0, penalty that ties the two copies of the forces together.
        tolerance: residual at which the iteration stops [N].
    """

    regularisation: Number = 1e-2
    rho: Number = 0.3
    tolerance: Number = 1e-2

    ABOVE_ZERO = ("rho",)


@dataclass(frozen=True)
class QuadrupedGains(Tuned):
    """What tunes `stand` and `trot`.

    Args:
        place: of the body's horizontal position.
        height: of the body's height.
        orientation: of the body's orientation.
        swing: of a foot in the air.
        stance_damping: [1/s], of a foot that stands and still moves.
        ramp: share of the stance, > 0, in which the force limit of a foot rises, and in which it falls.
        press: [m], how far below its lift-off point a foot is put down.
        ground_rate: [1/s], with which the estimated height of the ground follows the feet.
        command_rate: [1/s], with which the speed follows the command.
        lead: [m], by which the wanted position may be ahead of the body.
    """

    place: Gains = Gains(20.0, 8.0)
    height: Gains = Gains(150.0, 25.0)
    orientation: Gains = Gains(150.0, 25.0)
    swing: Gains = Gains(900.0, 60.0)
    stance_damping: Number = 20.0
    ramp: Number = 0.15
    press: Number = 0.002
    ground_rate: Number = 5.0
    command_rate: Number = 3.0
    lead: Number = 0.05

    ABOVE_ZERO = ("ramp",)


@dataclass(frozen=True)
class BalanceGains(Tuned):
    """What tunes `balance`: gains of its tasks, and weights of missing them.

    Args:
        com: of the centre of mass.
        spin_rate: [1/s], with which the angular momentum is to vanish.
        trunk: of the base's orientation.
        posture: of the joints outside the legs.
        foot_damping: [1/s], of feet that stand and still move.
        moment_weight: [1/m²], of a moment about the centre of mass against a force.
        translation_weight: > 0, of the base's linear acceleration.
        rotation_weight: > 0, of the base's angular acceleration.
        posture_weight: > 0, of the accelerations of the joints outside the legs.
    """

    com: Gains = Gains(40.0, 12.0)
    spin_rate: Number = 5.0
    trunk: Gains = Gains(100.0, 20.0)
    posture: Gains = Gains(100.0, 20.0)
    foot_damping: Number = 20.0
    moment_weight: Number = 50.0
    translation_weight: Number = 1.0
    rotation_weight: Number = 100.0
    posture_weight: Number = 10.0

    ABOVE_ZERO = ("translation_weight", "rotation_weight", "posture_weight")
