"""Joint PD control with gravity compensation: τ = K (q_d ⊖ q) - D v + g(q)."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.control.limbs import checked_state
from featherweight.dynamics import difference, gravity_force
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled


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

    def function(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        tau = K * difference(model, q, p) - D * v
        return (tau + driven * gravity_force(model, q) if gravity else tau), x

    return compiled(function, parameters=goal)


def _gains(name: str, value: Any, model: Model) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape not in ((), (model.nv,)) or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name}: expected numbers of 0 or more, shape () or (nv,) = ({model.nv},), got {value!r}")
    return np.broadcast_to(array, (model.nv,))
