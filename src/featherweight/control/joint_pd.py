"""Joint PD control with gravity compensation: τ = K (q_d ⊖ q) - D v + g(q)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.control.limbs import checked_state
from featherweight.dynamics import difference, gravity_force
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled


@dataclass(frozen=True, eq=False)
class JointPD:
    """A controller f(t, q, v, x, p) for a robot; parameters p: the configuration q_d."""

    model: Model
    stiffness: np.ndarray  # K (nv,)
    damping: np.ndarray  # D (nv,)
    carried: np.ndarray | None  # (nv,): 1 where the weight is carried; None: nowhere

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        tau = self.stiffness * difference(self.model, q, p) - self.damping * v
        return (tau if self.carried is None else tau + self.carried * gravity_force(self.model, q)), x


def joint_pd(model: Model, target: Any, *, stiffness: Any = 50.0, damping: Any = 2.0, gravity: bool = True) -> Compiled:
    """A controller that pulls all joints to a configuration and carries their weight: τ = K (q_d ⊖ q) - D v + g(q).

    A free base receives nothing, and is not pulled; nor does it carry the joints' weight: the ground must.

    Args:
        model: the robot.
        target: q_d, shape (nq,), or (…, nq) for a batch.
        stiffness: K [N m/rad or N/m], one number or shape (nv,).
        damping: D [N m s/rad or N s/m], one number or shape (nv,).
        gravity: whether the gravity force g(q) is added.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    goal = checked_state(model, target, name="target")
    driven = np.ones(model.nv)
    for joint in model.independent_joints:
        if joint.kind.floating:
            driven[joint.v] = 0.0
    K, D = (_gains(name, value, model) * driven for name, value in (("stiffness", stiffness), ("damping", damping)))

    return compiled(JointPD(model, K, D, driven if gravity else None), parameters=goal)


def _gains(name: str, value: Any, model: Model) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape not in ((), (model.nv,)) or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name}: expected numbers of 0 or more, shape () or (nv,) = ({model.nv},), got {value!r}")
    return np.broadcast_to(array, (model.nv,))
