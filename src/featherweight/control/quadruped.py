"""Quadrupeds that stand and trot: a gait, swinging feet, and the whole-body problem for the feet that stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.control.algebra import orientation_error, turned
from featherweight.control.gait import Gait, bump, ramp, smooth
from featherweight.control.whole_body import Wanted, WholeBody
from featherweight.dynamics import body_velocity, frame_pose
from featherweight.scalar import cos, maximum, minimum, sin, sqrt, where


@dataclass(frozen=True, eq=False)
class Quadruped:
    """A controller f(t, q, v, x, p) for a robot with four legs of three joints each.

    State x: periods so far, time of the last step, place (x, y, yaw) the body should be at, height of the ground, speed
    it should have (forward, sideways, turning); where each foot left the ground (4, 3); warm start of the forces,
    2 (4, 3). Parameters p: forward and sideways [m/s] and turning speed [rad/s] that are commanded; how the robot is to
    stand: the places (4, 2) of the feet under the body and in its axes [m], its height [m], and the weights (6,) of its
    accelerations. None of them is compiled in: a robot that begins elsewhere is driven by the same code.
    """

    body: WholeBody
    gait: Gait
    step_height: float
    most: float
    damping: np.ndarray

    # gains: stiffness [1/s²] and damping [1/s] of the body's place, height and orientation, and of a foot that swings
    place_gains = (20.0, 8.0)
    height_gains = (150.0, 25.0)
    turn_gains = (150.0, 25.0)
    swing_gains = (900.0, 60.0)
    stance_damping = 20.0  # [1/s], of a foot that stands and still moves
    ramp_share = 0.15  # of the stance in which a foot's force comes, and in which it goes
    press = 0.002  # [m], how far below where it left a foot is put down

    def first_state(self, q: np.ndarray) -> np.ndarray:
        """x for a robot that begins at q, shape (…, nq)."""
        model = self.body.model
        x, y, z, w = np.moveaxis(q[..., 3:7], -1, 0)
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        feet = [frame_pose(model, q, limb.frame).position for limb in self.body.limbs]
        ground = np.mean([foot[..., 2] for foot in feet], axis=0)
        own = np.stack([0 * yaw, 0 * yaw, q[..., 0], q[..., 1], yaw, ground, *[0 * yaw] * 3], axis=-1)
        return np.concatenate([own, *feet, np.zeros((*yaw.shape, 24))], axis=-1)

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        model, limbs = self.body.model, self.body.limbs
        count, before, goal_x, goal_y, yaw, ground = x[:6]
        left, warm = x[9:21].reshape(4, 3), (x[21:33].reshape(4, 3), x[33:45].reshape(4, 3))
        places, height, weight = p[3:11].reshape(4, 2), p[11], p[12:18]
        phase, count = self.gait.cycle(t, count)
        legs = self.gait.legs(phase)
        feet = [frame_pose(model, q, limb.frame).position for limb in limbs]
        speeds = [body_velocity(model, q, v, limb.frame, "world_aligned")[:3] for limb in limbs]
        stands = [swing < 0.0 for _, swing in legs]

        # what is commanded, in the world: speed, place and heading
        sine, cosine = sin(yaw), cos(yaw)
        dt = t - before
        command = [where(t < self.gait.start, 0.0, c) for c in p[:3]]
        speed = [s + COMMAND_RATE * dt * (c - s) for s, c in zip(x[6:9], command, strict=True)]
        v_x, v_y = turned(sine, cosine, speed[0], speed[1])
        goal_x, goal_y = (_near(g + dt * s, here) for g, s, here in ((goal_x, v_x, q[0]), (goal_y, v_y, q[1])))
        yaw = yaw + dt * speed[2]
        level = _mean([foot[2] for foot in feet], stands)
        ground = ground + GROUND_RATE * dt * (level - ground)

        base, velocity = self._base(q, v, (goal_x, goal_y, ground + height), (v_x, v_y, 0.0), yaw, speed[2])
        aims, most, lifts = [], [], []
        for k, (stance, swing) in enumerate(legs):
            landing = self._landing(places[k], height, q, velocity, (v_x, v_y), sine, cosine, swing, left[k])
            swinging = self._swing(swing, left[k], landing, feet[k], speeds[k])
            standing = -self.stance_damping * speeds[k]
            aims.append(_choice(stands[k], standing, swinging))
            force = self.most if self.gait.duty == 1.0 else self.most * ramp(stance, self.ramp_share)
            most.append(where(t < self.gait.start, self.most, where(stands[k], force, 0.0)))
            lifts.append(_choice(stands[k], feet[k], left[k]))
        answer = self.body(q, v, Wanted(base, aims, np.zeros(0), base_weight=weight), most, warm)
        tau = answer.tau + self.damping * v
        after = [count, t, goal_x, goal_y, yaw, ground, *speed, *np.concatenate(lifts), *answer.forces.z.ravel()]
        return tau, np.array([*after, *answer.forces.u.ravel()], dtype=object)

    def _base(
        self, q: Any, v: Any, place: tuple[Any, ...], speed: tuple[Any, ...], yaw: Any, rate: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """The acceleration wanted of the body, in its axes, and its velocity in the world's."""
        R = frame_pose(self.body.model, q, self.body.model.names[1]).rotation
        velocity, omega = R @ v[:3], v[3:6]
        gains = (self.place_gains, self.place_gains, self.height_gains)
        linear = [
            k * (wanted - now) + d * (fast - slow)
            for (k, d), wanted, now, fast, slow in zip(gains, place, q[:3], speed, velocity, strict=True)
        ]
        upright = np.array([0.0, 0.0, sin(0.5 * yaw), cos(0.5 * yaw)], dtype=object)
        stiffness, damping = self.turn_gains
        angular = -stiffness * orientation_error(q[3:7], upright) - damping * (omega - R.T @ np.array([0.0, 0.0, rate]))
        turning = np.cross(omega, v[:3])  # spatial acceleration is the classical one less ω × v
        return np.array([*(R.T @ np.array(linear) - turning), *angular], dtype=object), velocity

    def _landing(
        self, place: Any, height: Any, q: Any, velocity: Any, command: Any, sine: Any, cosine: Any, swing: Any,
        left: Any,
    ) -> np.ndarray:  # fmt: skip
        """Where a foot is put down: under its place when the body is half-way through the next stance, and by a
        capture point further where the body is faster than it should be."""
        ahead = where(swing < 0.0, 0.0, (1.0 - swing) * self.gait.swing)
        capture = sqrt(height / float(np.linalg.norm(self.body.model.gravity)))
        aside = turned(sine, cosine, *place)
        return np.array(
            [
                q[i] + aside[i] + velocity[i] * ahead + 0.5 * self.gait.stance * command[i]
                + capture * (velocity[i] - command[i])
                for i in range(2)
            ] + [left[2] - self.press],
            dtype=object,
        )  # fmt: skip

    def _swing(self, s: Any, left: Any, landing: Any, foot: Any, speed: Any) -> np.ndarray:
        """The acceleration wanted of a foot in the air: along its way, and back to it."""
        per_s = 1.0 / self.gait.swing if self.gait.duty < 1.0 else 0.0
        (way, rate, change), (up, up_rate, up_change) = smooth(s), bump(s)
        stiffness, damping = self.swing_gains
        wanted = []
        for i in range(3):
            far, high = landing[i] - left[i], self.step_height if i == 2 else 0.0
            place = left[i] + way * far + up * high
            fast = per_s * (rate * far + up_rate * high)
            ahead = per_s * per_s * (change * far + up_change * high)
            wanted.append(ahead + stiffness * (place - foot[i]) + damping * (fast - speed[i]))
        return np.array(wanted, dtype=object)


GROUND_RATE = 5.0  # [1/s], with which the height of the ground follows the feet
COMMAND_RATE = 3.0  # [1/s], with which the speed follows the command
LEASH = 0.05  # [m], by which the wanted place may be ahead of the body


def _near(goal: Any, here: Any) -> Any:
    return minimum(maximum(goal, here - LEASH), here + LEASH)


def _mean(values: list[Any], which: list[Any]) -> Any:
    """Of those that count; of all if none does."""
    total: Any = 0.0
    number: Any = 0.0
    for value, counts in zip(values, which, strict=True):
        total, number = total + where(counts, value, 0.0), number + where(counts, 1.0, 0.0)
    return where(number > 0, total, sum(values)) / where(number > 0, number, float(len(values)))


def _choice(condition: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([where(condition, x, y) for x, y in zip(a, b, strict=True)], dtype=object)
