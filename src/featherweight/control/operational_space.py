"""Operational-space control of a frame's position (Khatib, IEEE J. Robotics and Automation 3, 1987).

    τ = Jᵀ Λ (ẍ - J̇ v) + c + (1 - Jᵀ J̄ᵀ) τ₀,   Λ = (J M⁻¹ Jᵀ + d² 1)⁻¹,   J̄ = M⁻¹ Jᵀ Λ

With d = 0 the frame accelerates with ẍ exactly, whatever the posture forces τ₀ are, if no passive forces act: friction,
damping and springs of the joints are not compensated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.control.algebra import symmetric_inverse
from featherweight.control.limbs import checked_state, not_negative
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
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled


@dataclass(frozen=True, eq=False)
class OperationalSpace:
    """A controller f(t, q, v, x, p) for a frame of a robot; parameters p: its place (3,)."""

    model: Model
    frame: str
    posture: np.ndarray  # (nq,)
    gains: tuple[float, float]  # stiffness [1/s²] and damping [1/s] of the frame
    posture_gains: tuple[float, float]  # of the joints
    softness: float  # d [kg^-½]

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        model, frame = self.model, self.frame
        J = jacobian(model, q, frame, "world_aligned")[:3]
        drift = body_acceleration(model, q, v, np.zeros(model.nv), frame, "world_aligned", classical=True)[:3]
        rate = body_velocity(model, q, v, frame, "world_aligned")[:3]
        stiffness, damping = self.gains
        wanted = stiffness * (p - frame_pose(model, q, frame).position) - damping * rate
        M_inverse_JT = np.stack([solve_mass_matrix(model, q, row) for row in J], axis=1)
        inertia = symmetric_inverse(J @ M_inverse_JT + self.softness * self.softness * np.eye(3))
        stiffness, damping = self.posture_gains
        free = mass_matrix(model, q) @ (stiffness * difference(model, q, self.posture) - damping * v)
        force = inertia @ (wanted - drift - M_inverse_JT.T @ free)
        return J.T @ force + free + bias_force(model, q, v), x


def operational_space(
    model: Model,
    frame: str,
    *,
    place: Any,
    posture: Any,
    stiffness: float = 100.0,
    damping: float = 20.0,
    posture_stiffness: float = 25.0,
    posture_damping: float = 10.0,
    softness: float = 1e-3,
) -> Compiled:
    """A controller that pulls the origin of a frame to a place, and what that leaves free of the joints to a posture.

    Args:
        model: a robot without a free base; every joint is driven.
        frame: name of a link, joint or contact point.
        place: wanted position [m], shape (3,) or (…, 3) for a batch.
        posture: configuration that joints go to as far as the frame leaves them free, shape (nq,).
        stiffness: of the frame [1/s²]: ẍ = stiffness · (place - x) - damping · ẋ.
        damping: of the frame [1/s].
        posture_stiffness: of the joints [1/s²].
        posture_damping: of the joints [1/s].
        softness: d [kg^-½], which keeps forces finite where the frame cannot move in all directions.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    if any(joint.kind.floating for joint in model.joints):
        raise ValueError(
            f"operational_space: expected a robot whose joints are all driven; {model.name!r} has a free base"
        )
    frame, rest = model.frame(frame).name, checked_state(model, posture, name="posture")
    if rest.ndim != 1:
        raise ValueError(f"posture: expected one for all robots of a batch, shape (nq,), got {rest.shape}")
    stiffness, damping = not_negative("stiffness", stiffness), not_negative("damping", damping)
    posture_stiffness = not_negative("posture_stiffness", posture_stiffness)
    posture_damping, softness = not_negative("posture_damping", posture_damping), not_negative("softness", softness)
    goal = np.asarray(place, dtype=float)
    if goal.shape[-1:] != (3,) or not np.isfinite(goal).all():
        raise ValueError(f"place: expected finite numbers, shape (3,) or (…, 3), got {place!r}")

    gains = (stiffness, damping), (posture_stiffness, posture_damping)
    return compiled(OperationalSpace(model, frame, rest, *gains, softness), parameters=goal)
