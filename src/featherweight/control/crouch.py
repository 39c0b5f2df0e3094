"""Quadrupeds on bent legs: inverse kinematics of thigh and shank, two links in a vertical plane (law of cosines)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, cos, hypot, pi, sin

import numpy as np

from featherweight.control.checks import positive
from featherweight.control.limbs import weight_of
from featherweight.control.whole_body import Limb
from featherweight.model import Model
from featherweight.model.pieces import JointInfo

BENT = (0.7, 0.75, 0.8, 0.85)  # of the length of a leg: heights of its hip, the first that its motors can hold
PARALLEL = 1e-6  # how much less than 1 the cosine between the axes of hip and knee and the body's y may be
KNEES = {"backward": 1.0, "forward": -1.0}


@dataclass(frozen=True)
class PlanarLeg:
    """Thigh and shank of a leg at q = 0, turning about the body's y.

    Args:
        foot: its frame.
        hip, knee: the joints.
        signs: of the joints, -1 if one turns about -y.
        lengths: of thigh and shank [m].
        angles: of thigh and shank, about y from straight down [rad].
        hip_height: of the hip's axis in the body [m].
    """

    foot: str
    hip: JointInfo
    knee: JointInfo
    signs: tuple[float, float]
    lengths: tuple[float, float]
    angles: tuple[float, float]
    hip_height: float

    @property
    def length(self) -> float:
        """Of the straight leg [m]."""
        return sum(self.lengths)

    def bent(self, height: float, knees: float) -> tuple[float, float]:
        """Angles of hip and knee [rad], the foot that far [m] below the hip; knees: 1 behind them, -1 before them."""
        hip, knee = self._triangle(height)
        turns = hip * knees - self.angles[0], -knee * knees - (self.angles[1] - self.angles[0])
        q_hip, q_knee = (sign * _wrapped(turn) for sign, turn in zip(self.signs, turns, strict=True))
        return q_hip, q_knee

    def carries(self, force: float, height: float) -> bool:
        """Can the knee's motor hold this vertical force at the foot [N]?"""
        effort = float(np.ravel(self.knee.limits.effort)[0])
        return force * self.lengths[0] * sin(self._triangle(height)[0]) <= effort

    def _triangle(self, height: float) -> tuple[float, float]:
        """Of hip, knee and foot: the angle at the hip, and by how much the knee is bent [rad]."""
        thigh, shank = self.lengths
        knee = acos((height**2 - thigh**2 - shank**2) / (2 * thigh * shank))
        return atan2(shank * sin(knee), thigh + shank * cos(knee)), knee


def planar_leg(what: str, model: Model, limb: Limb) -> PlanarLeg:
    """The leg of a robot, whose hip and knee must be hinges across the body."""
    shank = model.frame(limb.frame).body
    bodies = [model.parent[model.parent[shank]], model.parent[shank], shank]
    _, hip, knee = joints = [model.joints[max(body, 1) - 1] for body in bodies]
    R, place = np.eye(3), np.zeros(3)
    rotations, places, axes = [], [], []
    for body, joint in zip(bodies, joints, strict=True):
        place = place + R @ np.array(model.X_tree[body].r, dtype=float)
        R = R @ np.array(model.X_tree[body].E, dtype=float).T
        rotations.append(R)
        places.append(place)
        axes.append(R @ _hinge_axis(joint))
    across = [axis[1] for axis in axes[1:]]
    if min(map(abs, across)) < 1 - PARALLEL:
        raise ValueError(
            f"{what}: expected legs with hip and knee that are hinges about the body's y at q = 0, after ab/adduction;"
            f" {hip.name!r} and {knee.name!r} of {model.name!r} are others: give a configuration q of your own"
        )
    thigh = rotations[1] @ np.array(model.X_tree[shank].r, dtype=float)
    foot = rotations[2] @ np.array(model.frame(limb.frame).X.r, dtype=float)
    return PlanarLeg(
        limb.frame, hip, knee, (float(np.sign(across[0])), float(np.sign(across[1]))),
        (hypot(thigh[0], thigh[2]), hypot(foot[0], foot[2])), (_angle(thigh), _angle(foot)), float(places[1][2]),
    )  # fmt: skip


def crouched_legs(
    what: str, model: Model, limbs: Sequence[Limb], height: float | None, knees: str | None
) -> tuple[np.ndarray, float]:
    """Configuration (nq,) with the feet below the hips by a height, of the body at the origin; the body's height above
    the feet."""
    legs = [planar_leg(what, model, limb) for limb in limbs]
    if knees is not None and knees not in KNEES:
        raise ValueError(f"knees: expected {' or '.join(map(repr, KNEES))}, got {knees!r}")
    height = _usual_height(legs, weight_of(model)) if height is None else positive("height", height)
    hips = float(np.mean([leg.hip_height for leg in legs]))
    q = model.neutral()
    for leg in legs:
        own = height + (leg.hip_height - hips)
        least = abs(leg.lengths[0] - leg.lengths[1])
        if not least < own < leg.length:
            raise ValueError(f"height: expected from {least:g} to less than {leg.length:g} m, got {height!r}")
        ways = [leg.bent(own, way) for name, way in KNEES.items() if knees in (None, name)]
        inside = sorted((angles for angles in ways if not _beyond(leg, angles)), key=_bend)
        if not inside:
            raise ValueError(
                f"height: {leg.foot!r} of {model.name!r} cannot be {height:g} m below its hip: "
                f"{_beyond(leg, ways[0])}; give another height, or other knees"
            )
        q[leg.hip.q], q[leg.knee.q] = inside[0]
    return q, height - hips


def _hinge_axis(joint: JointInfo) -> np.ndarray:
    """a of a joint with the subspace S = [a; 0], 0 of any other."""
    S = joint.kind.subspace(joint.kind.neutral().tolist())
    hinge = len(S) == 1 and not any(S[0].linear)
    return np.array(S[0].angular, dtype=float) if hinge else np.zeros(3)


def _usual_height(legs: Sequence[PlanarLeg], weight: float) -> float:
    """Of the hips above the feet [m]: low, but so high that each knee can hold the whole robot; two digits of it."""
    length = float(np.mean([leg.length for leg in legs]))
    heights = [float(f"{share * length:.2g}") for share in BENT]
    strong = [height for height in heights if all(leg.carries(weight, height) for leg in legs)]
    return strong[0] if strong else heights[-1]


def _bend(angles: tuple[float, float]) -> float:
    """How far hip and knee are from q = 0 [rad], rounded, so that of two equal ways the first is taken."""
    return round(sum(map(abs, angles)), 6)


def _angle(link: np.ndarray) -> float:
    """Of a link about y, from straight down [rad]."""
    return atan2(-link[0], -link[2])


def _wrapped(angle: float) -> float:
    """The same angle, from -π to π."""
    return angle if -pi <= angle <= pi else (angle + pi) % (2 * pi) - pi


def _beyond(leg: PlanarLeg, angles: tuple[float, float]) -> str:
    """Which joint would be beyond its limits, in words; empty if none."""
    for joint, angle in zip((leg.hip, leg.knee), angles, strict=True):
        low, high = (float(np.ravel(end)[0]) for end in (joint.limits.lower, joint.limits.upper))
        if not low <= angle <= high:
            return f"{joint.name!r} would be at {angle:.3g} rad, beyond its limits {low:.3g} to {high:.3g}"
    return ""
