"""Quadrupeds that stand and trot: a gait, swinging feet, and the whole-body problem for the feet that stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.control.algebra import orientation_error, rotated
from featherweight.control.gains import ForceSolver, Gains, QuadrupedGains
from featherweight.control.gait import Gait, bump, ramp, smooth
from featherweight.control.layout import Number, RowLayout, shaped
from featherweight.control.whole_body import Cones, Tasks, WholeBody
from featherweight.dynamics import body_velocity, frame_pose
from featherweight.scalar import cos, maximum, minimum, sin, sqrt, where


@dataclass(frozen=True)
class QuadrupedParameters:
    """Parameters p of `stand` and `trot`.

    Args:
        velocity: command: forward and sideways [m/s], turning [rad/s].
        places: of the feet under the body, in its axes turned to be level [m].
        height: of the body above its feet [m].
        weight: of the body's accelerations, linear then angular.
        period: of the gait [s].
        duty: share of the period for which a foot stands.
        start: time until which all feet stand [s].
        step_height: [m].
        friction: μ that the forces keep to.
        most: limit of a foot's normal force [N].
        gains: of the tasks.
        solver: of the contact forces.
    """

    velocity: np.ndarray = shaped(3)
    places: np.ndarray = shaped(4, 2)
    height: np.ndarray = shaped()
    weight: np.ndarray = shaped(6)
    period: Number = 1.0
    duty: Number = 0.5
    start: Number = 0.0
    step_height: Number = 0.0
    friction: Number = 0.6
    most: Number = 0.0
    gains: QuadrupedGains = QuadrupedGains()
    solver: ForceSolver = ForceSolver()


@dataclass(frozen=True)
class QuadrupedState:
    """State x of `stand` and `trot`.

    Args:
        periods: of the gait so far.
        time: of the last step [s].
        place: where the body should be, x and y [m].
        yaw: heading it should have [rad].
        ground: estimated height of the ground [m].
        speed: it should have: forward, sideways [m/s], turning [rad/s].
        lift_off: where each foot left the ground [m].
        forces: of the feet [N], and
        multipliers: of them, the warm start of the next step.
    """

    periods: Any
    time: Any
    place: Any = shaped(2)
    yaw: Any = shaped()
    ground: Any = shaped()
    speed: Any = shaped(3)
    lift_off: Any = shaped(4, 3)
    forces: Any = shaped(4, 3)
    multipliers: Any = shaped(4, 3)


PARAMETERS, STATE = RowLayout(QuadrupedParameters), RowLayout(QuadrupedState)


@dataclass(frozen=True, eq=False)
class Quadruped:
    """A controller f(t, q, v, x, p) for a robot with four legs of three joints each.

    Its fields are structure: the robot and its legs, the phase offsets of the feet (None: they all stand always), and
    the viscous damping of the robot's joints, which is compensated.
    """

    body: WholeBody
    offsets: tuple[float, ...] | None
    damping: np.ndarray

    layout = PARAMETERS

    def first_state(self, q: np.ndarray) -> np.ndarray:
        """x for a robot that begins at q, shape (…, nq)."""
        model = self.body.model
        x, y, z, w = np.moveaxis(q[..., 3:7], -1, 0)
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        feet = np.stack([frame_pose(model, q, limb.frame).position for limb in self.body.limbs], axis=-2)
        ground = np.mean(feet[..., 2], axis=-1)
        none = np.zeros((4, 3))
        return STATE.pack(QuadrupedState(0.0, 0.0, q[..., :2], yaw, ground, np.zeros(3), feet, none, none))

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        limbs, own, last = self.body.limbs, PARAMETERS.read(p), STATE.read(x)
        model, gains = self.body.model, own.gains
        gait = Gait(own.period, own.duty, self.offsets or (), own.start)
        phase, periods = gait.cycle(t, last.periods)
        legs = [(0.5, -1.0)] * 4 if self.offsets is None else gait.legs(phase)
        feet = [frame_pose(model, q, limb.frame).position for limb in limbs]
        speeds = [body_velocity(model, q, v, limb.frame, "world_aligned")[:3] for limb in limbs]
        stands = [swing < 0.0 for _, swing in legs]

        # the command in the world: speed, place and heading
        sine, cosine = sin(last.yaw), cos(last.yaw)
        dt = t - last.time
        command = [where(t < gait.start, 0.0, c) for c in own.velocity]
        speed = [s + gains.command_rate * dt * (c - s) for s, c in zip(last.speed, command, strict=True)]
        drift = rotated(sine, cosine, speed[0], speed[1])
        place = [_near(g + dt * s, here, gains.lead) for g, s, here in zip(last.place, drift, q[:2], strict=True)]
        yaw = last.yaw + dt * speed[2]
        level = _mean([foot[2] for foot in feet], stands)
        ground = last.ground + gains.ground_rate * dt * (level - last.ground)

        # accelerations of the body and of the feet, and the forces that each foot may have
        base, velocity = self._base(gains, q, v, (*place, ground + own.height), (*drift, 0.0), yaw, speed[2])
        aims, most, lifts = [], [], []
        for k, (stance, swing) in enumerate(legs):
            landing = self._landing(own, gait, k, q, velocity, drift, sine, cosine, swing, last.lift_off[k])
            swinging = self._swing(own, gait, swing, last.lift_off[k], landing, feet[k], speeds[k])
            aims.append(_choice(stands[k], -gains.stance_damping * speeds[k], swinging))
            force = own.most if self.offsets is None else own.most * ramp(stance, gains.ramp)
            most.append(where(t < gait.start, own.most, where(stands[k], force, 0.0)))
            lifts.append(_choice(stands[k], feet[k], last.lift_off[k]))
        cones = Cones(own.friction, most, (last.forces, last.multipliers), own.solver)
        answer = self.body(q, v, Tasks(base, own.weight, aims, np.zeros(0)), cones)
        forces = answer.forces
        after = QuadrupedState(periods, t, place, yaw, ground, speed, lifts, forces.z, forces.u)
        return answer.tau + self.damping * v, STATE.pack(after)

    def _base(
        self, gains: QuadrupedGains, q: Any, v: Any, place: Sequence[Any], speed: Sequence[Any], yaw: Any, rate: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """The acceleration wanted of the body, in its axes, and its velocity in the world's."""
        R = frame_pose(self.body.model, q, self.body.model.names[1]).rotation
        velocity, omega = R @ v[:3], v[3:6]
        own: tuple[Gains, ...] = (gains.place, gains.place, gains.height)
        linear = [
            g.stiffness * (wanted - now) + g.damping * (fast - slow)
            for g, wanted, now, fast, slow in zip(own, place, q[:3], speed, velocity, strict=True)
        ]
        upright = np.array([0.0, 0.0, sin(0.5 * yaw), cos(0.5 * yaw)], dtype=object)
        turn, spin = orientation_error(q[3:7], upright), omega - R.T @ np.array([0.0, 0.0, rate])
        angular = -gains.orientation.stiffness * turn - gains.orientation.damping * spin
        turning = np.cross(omega, v[:3])  # spatial acceleration is the classical one less ω × v
        return np.array([*(R.T @ np.array(linear) - turning), *angular], dtype=object), velocity

    def _landing(
        self, own: QuadrupedParameters, gait: Gait, k: int, q: Any, velocity: Any, command: Any, sine: Any, cosine: Any,
        swing: Any, left: Any,
    ) -> np.ndarray:  # fmt: skip
        """Where foot k is put down: under its place when the body is half-way through the next stance, and by a capture
        point further where the body is faster than the command."""
        ahead = where(swing < 0.0, 0.0, (1.0 - swing) * gait.swing)
        capture = sqrt(own.height / float(np.linalg.norm(self.body.model.gravity)))
        aside = rotated(sine, cosine, *own.places[k])
        return np.array(
            [
                q[i] + aside[i] + velocity[i] * ahead + 0.5 * gait.stance * command[i]
                + capture * (velocity[i] - command[i])
                for i in range(2)
            ] + [left[2] - own.gains.press],
            dtype=object,
        )  # fmt: skip

    def _swing(
        self, own: QuadrupedParameters, gait: Gait, s: Any, left: Any, landing: Any, foot: Any, speed: Any
    ) -> np.ndarray:
        """The acceleration wanted of a foot in the air: along its path, and back to it."""
        per_s = 0.0 if self.offsets is None else 1.0 / gait.swing
        (way, rate, change), (up, up_rate, up_change) = smooth(s), bump(s)
        wanted = []
        for i in range(3):
            far, high = landing[i] - left[i], own.step_height if i == 2 else 0.0
            place = left[i] + way * far + up * high
            fast = per_s * (rate * far + up_rate * high)
            ahead = per_s * per_s * (change * far + up_change * high)
            gains = own.gains.swing
            wanted.append(ahead + gains.stiffness * (place - foot[i]) + gains.damping * (fast - speed[i]))
        return np.array(wanted, dtype=object)


def _near(goal: Any, here: Any, lead: Any) -> Any:
    return minimum(maximum(goal, here - lead), here + lead)


def _mean(values: list[Any], which: list[Any]) -> Any:
    """Of those that count; of all if none does."""
    total: Any = 0.0
    number: Any = 0.0
    for value, counts in zip(values, which, strict=True):
        total, number = total + where(counts, value, 0.0), number + where(counts, 1.0, 0.0)
    return where(number > 0, total, sum(values)) / where(number > 0, number, float(len(values)))


def _choice(condition: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([where(condition, x, y) for x, y in zip(a, b, strict=True)], dtype=object)
