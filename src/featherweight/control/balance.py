"""Momentum-based balance on flat feet: rates of the centroidal momentum, upright trunk, posture -> torques.

Lee and Goswami, "A momentum-based balance controller for humanoid robots", Autonomous Robots 33, 2012; here as one QP
over accelerations and contact forces (`whole_body.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.control.algebra import orientation_error
from featherweight.control.checks import checked_base, checked_state, count, positive
from featherweight.control.gains import BalanceGains, ForceSolver
from featherweight.control.layout import Number, RowLayout, shaped
from featherweight.control.limbs import check_separate, joint_damping, leg, weight_of
from featherweight.control.whole_body import Cones, Tasks, WholeBody
from featherweight.dynamics import body_velocity, center_of_mass, frame_pose, momentum
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEG_JOINTS = 6


@dataclass(frozen=True)
class BalanceParameters:
    """Parameters p of `balance`.

    Args:
        com: centre of mass that is to be kept, in the world [m].
        orientation: of the base that is to be kept, quaternion x y z w.
        posture: coordinates of the joints outside the legs that are to be kept.
        friction: μ that the forces keep to.
        most: limit of the normal force of a contact point [N].
        gains: of the tasks, and their weights.
        solver: of the contact forces.
    """

    com: np.ndarray = shaped(3)
    orientation: np.ndarray = shaped(4)
    posture: np.ndarray = shaped("others")
    friction: Number = 0.6
    most: Number = 0.0
    gains: BalanceGains = BalanceGains()
    solver: ForceSolver = ForceSolver()


@dataclass(frozen=True)
class BalanceState:
    """State x of `balance`: forces of the contact points [N] and multipliers, the warm start of the next step."""

    forces: Any = shaped("contacts", 3)
    multipliers: Any = shaped("contacts", 3)


@dataclass(frozen=True, eq=False)
class Balance:
    """A controller f(t, q, v, x, p) for a robot with two legs of six joints.

    Its fields are structure: the robot with its legs, its mass, and the viscous damping of its joints, which is
    compensated.
    """

    body: WholeBody
    mass: float
    damping: np.ndarray

    @property
    def layout(self) -> RowLayout[BalanceParameters]:
        """Of p."""
        return RowLayout(BalanceParameters, {"others": len(self.body.others)})

    @property
    def state(self) -> RowLayout[BalanceState]:
        """Of x."""
        return RowLayout(BalanceState, {"contacts": self.body.contacts})

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        model, limbs, n = self.body.model, self.body.limbs, self.body.contacts
        own, last = self.layout.read(p), self.state.read(x)
        gains, others = own.gains, self.body.others
        R = frame_pose(model, q, model.names[1]).rotation

        # the rate of centroidal momentum that brings the centre of mass back, and the ground's wrench for it
        com, h = center_of_mass(model, q), momentum(model, q, v)
        force = self.mass * (gains.com.stiffness * (own.com - com) - model.gravity) - gains.com.damping * h[:3]
        moment = -gains.spin_rate * (h[3:] - np.cross(com, h[:3]))
        arm = com - q[:3]
        w_h = np.concatenate([R.T @ force, R.T @ (moment + np.cross(arm, force))])
        T = np.block([[R, np.zeros((3, 3))], [-_hat(arm) @ R, R]])
        H = (T.T * np.array([1.0] * 3 + [gains.moment_weight] * 3)) @ T

        # an upright trunk, the posture, and feet that rest
        error = orientation_error(q[3:7], own.orientation)
        angular = -gains.trunk.stiffness * error - gains.trunk.damping * v[3:6]
        base = np.array([0.0, 0.0, 0.0, *angular], dtype=object)
        weight = [gains.translation_weight] * 3 + [gains.rotation_weight] * 3
        away = own.posture - q[[d + 1 for d in others]]
        posture = gains.posture.stiffness * away - gains.posture.damping * v[others]
        feet = [-gains.foot_damping * body_velocity(model, q, v, limb.frame, "world_aligned") for limb in limbs]

        tasks = Tasks(base, weight, feet, posture, gains.posture_weight, (w_h, H))
        cones = Cones(own.friction, [own.most] * n, (last.forces, last.multipliers), own.solver)
        answer = self.body(q, v, tasks, cones)
        after = BalanceState(answer.forces.z, answer.forces.u)
        return answer.tau + self.damping * v, self.state.pack(after)


def balance(
    model: Model,
    q: ArrayLike,
    *,
    feet: Sequence[str] = ("left_foot", "right_foot"),
    friction: Number = 0.6,
    iterations: int = 60,
    gains: BalanceGains | None = None,
    solver: ForceSolver | None = None,
) -> Compiled:
    """A controller that keeps a humanoid standing as it stands at q, on two flat feet.

    It does not know the joints' limits: what it asks for may exceed their effort, and acts unless `simulate` has
    `actuators=fw.actuators.EffortLimits()`. Then the torques are cut one by one, and the robot falls where they are
    not enough.

    All numbers but `iterations` are parameters: other ones compile nothing, and each may differ from robot to robot of
    a batch, shape (…). The model, the feet and `iterations` are structure.

    Args:
        model: a robot with a free base and two legs of six joints each; its other joints have one coordinate each.
        q: where it begins, with bent knees, shape (…, nq).
        feet: names of the bodies that stand, each with three contact points or more.
        friction: μ of the ground that the forces keep to.
        iterations: most iterations for the contact forces in one step.
        gains: of its tasks, and their weights; None: `BalanceGains()`.
        solver: of the contact forces; None: `ForceSolver()`.
    """
    model, q = checked_base("balance", model), checked_state(model, q)
    limbs = []
    for name in feet:
        try:
            foot = model.frame(name).body
        except KeyError as error:
            raise KeyError(f"balance: {error.args[0]}; name the two feet of a humanoid by feet=(…)") from None
        points = [model.contact_frame(p.name) for p in model.contact_points if p.body == foot]
        if len(points) < 3:
            raise ValueError(f"balance: expected three contact points or more on foot {name!r}, got {points}")
        limbs.append(leg("balance", model, name, LEG_JOINTS, points))
    if len(limbs) != 2:
        raise ValueError(f"balance: expected the names of two feet, got {feet!r}")
    check_separate("balance", limbs)
    if any(len(joint.kind.neutral()) != 1 for joint in model.joints[1:]):
        raise ValueError(f"balance: expected hinges and slides beside the base; {model.name!r} has other joints")
    body = WholeBody(model, tuple(limbs), count("iterations", iterations))
    weight = weight_of(model)
    function = Balance(body, weight / float(np.linalg.norm(model.gravity)), joint_damping(model))
    parameters = BalanceParameters(
        center_of_mass(model, q), q[..., 3:7], q[..., [d + 1 for d in body.others]], positive("friction", friction),
        weight, BalanceGains() if gains is None else gains, ForceSolver() if solver is None else solver,
    )  # fmt: skip
    none = np.zeros((*q.shape[:-1], body.contacts, 3))
    state = function.state.pack(BalanceState(none, none))
    return compiled(function, state=state, parameters=function.layout.pack(parameters))


def _hat(r: Any) -> np.ndarray:
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], dtype=object)
