"""Operational-space control of a frame's position (Khatib, IEEE J. Robotics and Automation 3, 1987).

    τ = Jᵀ Λ (ẍ - J̇ v) + c + (1 - Jᵀ J̄ᵀ) τ₀,   Λ = (J M⁻¹ Jᵀ + d² 1)⁻¹,   J̄ = M⁻¹ Jᵀ Λ

With d = 0 the frame accelerates with ẍ exactly, whatever the posture forces τ₀ are, if no passive forces act: friction,
damping and springs of the joints are not compensated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.control.algebra import symmetric_inverse
from featherweight.control.checks import checked_state, finite, not_negative
from featherweight.control.gains import Gains
from featherweight.control.layout import Number, RowLayout, shaped
from featherweight.dynamics import (
    bias_force,
    body_acceleration,
    body_velocity,
    difference,
    frame_pose,
    jacobian,
    mass_matrix,
    solve_mass_matrix,
)
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.kinematics import frame_named
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class OperationalSpaceParameters:
    """Parameters p of `operational_space`: the frame's wanted position, the posture, gains of both, d [kg^-½]."""

    place: np.ndarray = shaped(3)
    posture: np.ndarray = shaped("nq")
    softness: Number = 1e-3
    gains: Gains = Gains(100.0, 20.0)
    posture_gains: Gains = Gains(25.0, 10.0)


@dataclass(frozen=True, eq=False)
class OperationalSpace:
    """A controller f(t, q, v, x, p) for a frame of a robot."""

    model: Model
    frame: str

    @property
    def layout(self) -> RowLayout[OperationalSpaceParameters]:
        """Of p."""
        return RowLayout(OperationalSpaceParameters, {"nq": self.model.nq})

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        model, frame, own = self.model, self.frame, self.layout.read(p)

        # acceleration wanted of the frame, and Λ
        J = jacobian(model, q, frame, "world_aligned")[:3]
        drift = body_acceleration(model, q, v, np.zeros(model.nv), frame, "world_aligned", classical=True)[:3]  # J̇ v
        speed = body_velocity(model, q, v, frame, "world_aligned")[:3]
        wanted = own.gains.stiffness * (own.place - frame_pose(model, q, frame).position) - own.gains.damping * speed
        M_inverse_JT = np.stack([solve_mass_matrix(model, q, row) for row in J], axis=1)
        inertia = symmetric_inverse(J @ M_inverse_JT + own.softness * own.softness * np.eye(3))

        # posture forces, and the force at the frame that makes up for what they do there
        gains = own.posture_gains
        posture = gains.stiffness * difference(model, q, own.posture) - gains.damping * v
        free = mass_matrix(model, q) @ posture
        force = inertia @ (wanted - drift - M_inverse_JT.T @ free)
        return J.T @ force + free + bias_force(model, q, v), x


def operational_space(
    model: Model,
    frame: str,
    *,
    place: ArrayLike,
    posture: ArrayLike,
    stiffness: Number = 100.0,
    damping: Number = 20.0,
    posture_stiffness: Number = 25.0,
    posture_damping: Number = 10.0,
    softness: Number = 1e-3,
) -> Compiled:
    """A controller that pulls the origin of a frame to a place, and what that leaves free of the joints to a posture.

    All numbers are parameters: other ones compile nothing. The model and the frame are structure.

    Args:
        model: a robot without a free base; every joint is driven.
        frame: name of a link, joint or contact point.
        place: wanted position [m], shape (3,) or (…, 3) for a batch.
        posture: configuration that joints go to as far as the frame leaves them free, shape (nq,) or (…, nq).
        stiffness: of the frame [1/s²]: ẍ = stiffness · (place - x) - damping · ẋ; like all gains, one or shape (…).
        damping: of the frame [1/s].
        posture_stiffness: of the joints [1/s²].
        posture_damping: of the joints [1/s].
        softness: d [kg^-½], which keeps forces finite where the frame cannot move in all directions.
    """
    if any(joint.kind.floating for joint in checked_model(model).joints):
        raise ValueError(
            f"operational_space: expected a robot whose joints are all driven; {model.name!r} has a free base"
        )
    function = OperationalSpace(model, frame_named(model, frame))
    parameters = OperationalSpaceParameters(
        finite("place", place, 3),
        checked_state(model, posture, name="posture"),
        not_negative("softness", softness),
        Gains(not_negative("stiffness", stiffness), not_negative("damping", damping)),
        Gains(not_negative("posture_stiffness", posture_stiffness), not_negative("posture_damping", posture_damping)),
    )
    return compiled(function, parameters=function.layout.pack(parameters))
