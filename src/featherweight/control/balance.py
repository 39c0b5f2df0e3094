"""Momentum-based balance on flat feet: rates of the centroidal momentum, upright trunk, posture -> torques.

Lee and Goswami, "A momentum-based balance controller for humanoid robots", Autonomous Robots 33, 2012; here as one QP
over accelerations and contact forces (`whole_body.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.control.algebra import orientation_error
from featherweight.control.limbs import (
    apart,
    checked_base,
    checked_state,
    count,
    joint_damping,
    leg,
    positive,
    weight_of,
)
from featherweight.control.whole_body import Wanted, WholeBody
from featherweight.dynamics import body_velocity, center_of_mass, frame_pose, momentum
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

LEG_JOINTS = 6


@dataclass(frozen=True, eq=False)
class Balance:
    """A controller f(t, q, v, x, p) for a robot with two legs of six joints.

    State x: warm start of the forces, 2 (contacts, 3). Parameters p: the centre of mass (3,), the base's orientation
    (4,) and the other joints (n,) that are to be kept.
    """

    body: WholeBody
    mass: float
    most: float
    damping: np.ndarray

    # gains: stiffness [1/s²] and damping [1/s] of the centre of mass, the trunk's orientation, and the other joints
    com_gains = (40.0, 12.0)
    spin_rate = 5.0  # [1/s], with which angular momentum is to vanish
    turn_gains = (100.0, 20.0)
    posture_gains = (100.0, 20.0)
    foot_damping = 20.0  # [1/s], of feet that stand and still move
    moment_weight = 50.0  # [1/m²], of a moment about the centre of mass against a force

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        model, limbs, n = self.body.model, self.body.limbs, self.body.contacts
        R = frame_pose(model, q, model.names[1]).rotation
        others = self.body.others

        # the rate of centroidal momentum that brings the centre of mass back, and what the ground must give for it
        com, h = center_of_mass(model, q), momentum(model, q, v)
        stiffness, damping = self.com_gains
        force = self.mass * (stiffness * (p[:3] - com) - model.gravity) - damping * h[:3]
        moment = -self.spin_rate * (h[3:] - np.cross(com, h[:3]))
        arm = com - q[:3]
        w_h = np.concatenate([R.T @ force, R.T @ (moment + np.cross(arm, force))])
        T = np.block([[R, np.zeros((3, 3))], [-_hat(arm) @ R, R]])
        H = (T.T * np.array([1.0] * 3 + [self.moment_weight] * 3)) @ T

        # an upright trunk, the posture, and feet that rest
        stiffness, damping = self.turn_gains
        angular = -stiffness * orientation_error(q[3:7], p[3:7]) - damping * v[3:6]
        base = np.array([0.0, 0.0, 0.0, *angular], dtype=object)
        stiffness, damping = self.posture_gains
        posture = stiffness * (p[7:] - q[[d + 1 for d in others]]) - damping * v[others]
        feet = [-self.foot_damping * body_velocity(model, q, v, limb.frame, "world_aligned") for limb in limbs]

        warm = (x[: 3 * n].reshape(n, 3), x[3 * n :].reshape(n, 3))
        answer = self.body(q, v, Wanted(base, feet, posture, (w_h, H)), [self.most] * n, warm)
        return answer.tau + self.damping * v, np.concatenate([answer.forces.z.ravel(), answer.forces.u.ravel()])


def balance(
    model: Model,
    q: Any,
    *,
    feet: Sequence[str] = ("left_foot", "right_foot"),
    friction: float = 0.6,
    iterations: int = 60,
) -> Compiled:
    """A controller that keeps a humanoid standing as it stands at q, on two flat feet.

    It does not know the joints' limits: what it asks for may exceed their effort, and acts unless `simulate` has
    `actuators=fw.actuators.EffortLimits()`. Then the torques are cut one by one, and the robot falls where they are
    not enough.

    Args:
        model: a robot with a free base and two legs of six joints each; its other joints have one coordinate each.
        q: where it begins, with bent knees, shape (…, nq).
        feet: names of the bodies that stand, each with three contact points or more.
        friction: μ of the ground that the forces keep to.
        iterations: most turns for the contact forces in one step.
    """
    model, q = checked_base("balance", model), checked_state(model, q)
    limbs = []
    for name in feet:
        points = [p.name for p in model.contact_points if p.body == model.frame(name).body]
        if len(points) < 3:
            raise ValueError(f"balance: expected three contact points or more on foot {name!r}, got {points}")
        limbs.append(leg("balance", model, name, LEG_JOINTS, points))
    if len(limbs) != 2:
        raise ValueError(f"balance: expected the names of two feet, got {feet!r}")
    apart("balance", limbs)
    weight = weight_of(model)
    body = WholeBody(
        model, tuple(limbs), base_weight=(1.0,) * 3 + (100.0,) * 3, others_weight=10.0,
        friction=positive("friction", friction), iterations=count("iterations", iterations),
    )  # fmt: skip
    if any(len(joint.kind.neutral()) != 1 for joint in model.joints[1:]):
        raise ValueError(f"balance: expected hinges and slides beside the base; {model.name!r} has other joints")
    mass = weight / float(np.linalg.norm(model.gravity))
    function = Balance(body, mass, weight, joint_damping(model))
    goal = [center_of_mass(model, q), q[..., 3:7], q[..., [d + 1 for d in body.others]]]
    return compiled(
        function, state=np.zeros((*q.shape[:-1], 6 * body.contacts)), parameters=np.concatenate(goal, axis=-1)
    )


def _hat(r: Any) -> np.ndarray:
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], dtype=object)
