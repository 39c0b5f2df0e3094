"""Joint PD control with gravity compensation: τ = K (q_d ⊖ q) - D v + g(q)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.control.checks import checked_state
from featherweight.control.layout import RowLayout, shaped
from featherweight.dynamics import difference, gravity_force
from featherweight.dynamics.checks import checked_model
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class JointPDParameters:
    """Parameters p of `joint_pd`: q_d, and K and D of the degrees of freedom with a motor."""

    target: np.ndarray = shaped("nq")
    stiffness: np.ndarray = shaped("driven")
    damping: np.ndarray = shaped("driven")


@dataclass(frozen=True, eq=False)
class JointPD:
    """A controller f(t, q, v, x, p) for a robot."""

    model: Model
    driven: tuple[int, ...]  # degrees of freedom with a motor
    gravity: bool  # whether g(q) is added

    @property
    def layout(self) -> RowLayout[JointPDParameters]:
        """Of p."""
        return RowLayout(JointPDParameters, {"nq": self.model.nq, "driven": len(self.driven)})

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        model, driven, own = self.model, list(self.driven), self.layout.read(p)
        tau = np.array([0.0] * model.nv, dtype=object)
        tau[driven] = own.stiffness * difference(model, q, own.target)[driven] - own.damping * v[driven]
        if self.gravity:
            tau[driven] = tau[driven] + gravity_force(model, q)[driven]
        return tau, x


def joint_pd(
    model: Model, target: ArrayLike, *, stiffness: ArrayLike = 50.0, damping: ArrayLike = 2.0, gravity: bool = True
) -> Compiled:
    """A controller that pulls all joints to a configuration and carries their weight: τ = K (q_d ⊖ q) - D v + g(q).

    A free base receives nothing, and is not pulled; nor does it carry the joints' weight: the ground must. Target and
    gains are parameters: other ones compile nothing. The model and `gravity` are structure.

    Args:
        model: the robot.
        target: q_d, shape (nq,), or (…, nq) for a batch.
        stiffness: K [N m/rad or N/m], one number or shape (nv,).
        damping: D [N m s/rad or N s/m], one number or shape (nv,).
        gravity: whether the gravity force g(q) is added.
    """
    goal = checked_state(checked_model(model), target, name="target")
    bases = [joint.v for joint in model.independent_joints if joint.kind.floating]
    driven = [d for d in range(model.nv) if not any(base.start <= d < base.stop for base in bases)]
    function = JointPD(model, tuple(driven), bool(gravity))
    K, D = _gains("stiffness", stiffness, model), _gains("damping", damping, model)
    parameters = function.layout.pack(JointPDParameters(goal, K[driven], D[driven]))
    return compiled(function, parameters=parameters)


def _gains(name: str, value: Any, model: Model) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape not in ((), (model.nv,)) or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name}: expected numbers of 0 or more, shape () or (nv,) = ({model.nv},), got {value!r}")
    return np.broadcast_to(array, (model.nv,))
