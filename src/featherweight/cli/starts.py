"""Where a run begins: a posture that has something to show, joints set by name, feet on the ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import featherweight as fw
from featherweight.contact import Plane, Surface
from featherweight.dynamics.contact_places import ground_bodies, ground_heights
from featherweight.model import Model

POSTURES: dict[str, dict[str, float]] = {  # joints that are not zero, by the name of the model
    "mini_cheetah": {f"{leg}_{joint}": q for leg in ("FR", "FL", "HR", "HL")
                     for joint, q in (("hip", -0.8), ("knee", 1.6))},
    "pendulum": {"hinge": 1.0},
    "double_pendulum": {"shoulder": 1.5, "elbow": 0.5},
    "cartpole": {"hinge": 2.5},
    "chain10": {f"joint{k}": 0.3 if k % 2 else -0.2 for k in range(1, 11)},
    "humanoid": {f"{side}_{joint}": q for side in ("left", "right")
                 for joint, q in (("hip_pitch", -0.34), ("knee", 0.68), ("ankle_pitch", -0.34), ("elbow", -0.5))},
}  # fmt: skip


def start(
    model: Model, settings: Sequence[str], height: float, ground: Sequence[Surface], *, crouching: bool = False
) -> np.ndarray:
    """A configuration to begin with.

    Args:
        model: the robot; built-in ones have a posture.
        settings: "JOINT=VALUE" for joints with one coordinate; also of the base, "JOINT.x=VALUE".
        height: of the lowest contact point or shape above the ground's plane [m], for a robot that floats.
        ground: the surfaces.
        crouching: a quadruped without a posture of its own begins on bent legs, if no joints are set.
    """
    if not np.isfinite(height):
        raise ValueError(f"--height: expected a number of metres, got {height:g}")
    crouches = crouching and not settings and model.name not in POSTURES
    q = fw.scenes.crouched(model) if crouches else model.neutral()
    for name, value in POSTURES.get(model.name, {}).items():
        q[model.joint(name).q] = value
    _within_limits(model, q)
    for setting in settings:
        name, _, text = setting.partition("=")
        try:
            value = float(text)
            if not np.isfinite(value):
                raise ValueError("it is not finite")
            q[_place(model, name)] = value
        except ValueError as error:
            raise ValueError(f"--set {setting}: expected JOINT=NUMBER ({error})") from None
    _stand(model, q, height, ground)
    return q


def _within_limits(model: Model, q: np.ndarray) -> None:
    """Joints that cannot be at zero begin at the limit that is nearest."""
    for joint in model.independent_joints:
        if joint.kind.nq == 1:
            q[joint.q] = np.clip(q[joint.q], joint.limits.lower, joint.limits.upper)


def _place(model: Model, name: str) -> int:
    """Where in q the number of a joint is."""
    has_axis = name not in model.joint_names and "." in name
    joint_name, _, axis = name.rpartition(".") if has_axis else (name, "", "")
    joint = model.joint(joint_name)
    if not joint.independent:
        raise ValueError(f"{joint_name!r} follows {joint.kind.leader!r}, which can be set")
    if axis:
        numbers = joint.kind.nq if joint.kind.orientation is None else joint.kind.orientation.start
        if axis not in "xyz"[:numbers]:
            raise ValueError(f"{joint_name!r} has {', '.join('xyz'[:numbers]) or 'none'} to be set, not {axis!r}")
        return joint.q.start + "xyz".index(axis)
    if joint.kind.nq != 1:
        raise ValueError(f"{joint_name!r} has {joint.kind.nq} numbers: set {joint_name}.x")
    return joint.q.start


def _stand(model: Model, q: np.ndarray, height: float, ground: Sequence[Surface]) -> None:
    """Move a floating base up or down, until the lowest point is where it should be."""
    base = model.joints[0] if model.joints else None
    planes = [surface for surface in ground if isinstance(surface, Plane)]
    if base is None or base.kind.orientation is None or base.kind.nq != 7 or not planes or not ground_bodies(model):
        return
    normal, point = np.array(planes[0].normal), np.array(planes[0].point)
    if normal[2] <= 0:
        return
    heights = ground_heights(model, fw.forward_kinematics(model, q), normal, point)
    q[base.q.start + 2] += (height - float(heights.min())) / normal[2]
