"""States in the layouts of Pinocchio and MuJoCo.

Coordinates are Pinocchio's but for the order of joints (ours is the file's, Pinocchio sorts by name) and for
continuous and planar joints, where Pinocchio keeps cosine and sine of an angle. MuJoCo writes quaternions
w x y z and the linear velocity of a free joint in the world's axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.compiler.runtime.arguments import as_array, batch_shape
from featherweight.errors import ModelError
from featherweight.model import JointInfo, Model, joints_named

__all__ = ["from_mujoco", "from_pinocchio", "to_mujoco", "to_pinocchio"]


def to_pinocchio(model: Model, q: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """A configuration as Pinocchio writes it.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        names: the joints in Pinocchio's order, its `model.names`; ours if not given.

    Returns:
        Pinocchio's q, shape (…, n). Velocities are `v[..., model.pinocchio_maps(names).v]`.
    """
    array = as_array("q", q, (model.nq,), "nq")
    nothing = np.empty((*array.shape[:-1], 0))
    parts = [j.kind.to_pinocchio(array[..., j.q]) for j in joints_named(model, names)]
    return np.concatenate([nothing, *parts], axis=-1)


def from_pinocchio(model: Model, q: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """A configuration of Pinocchio as ours: the inverse of `to_pinocchio`.

    Args:
        model: the robot.
        q: Pinocchio's q, shape (…, n).
        names: the joints in Pinocchio's order, its `model.names`; ours if not given.

    Returns:
        Our q, shape (…, nq).
    """
    joints = joints_named(model, names)
    sizes = [j.kind.to_pinocchio(j.kind.neutral()).shape[-1] for j in joints]
    array = as_array("q", q, (sum(sizes),), "Pinocchio's nq")
    result = np.empty((*array.shape[:-1], model.nq))
    start = 0
    for joint, n in zip(joints, sizes, strict=True):
        result[..., joint.q] = joint.kind.from_pinocchio(array[..., start : start + n])
        start += n
    return result


def to_mujoco(
    model: Model, q: Any, v: Any | None = None, names: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """A state as MuJoCo writes it.

    Args:
        model: the robot.
        q: configuration, shape (…, nq).
        v: velocity, shape (…, nv); zero if not given.
        names: the joints in MuJoCo's order; ours if not given.

    Returns:
        `qpos` (…, nq) and `qvel` (…, nv) of MuJoCo, where mimic joints have coordinates of their own.
    """
    return _mujoco(model, q, v, names, lambda joint, q, v: joint.kind.to_mujoco(q, v), ours_first=True)


def from_mujoco(
    model: Model, qpos: Any, qvel: Any | None = None, names: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """A state of MuJoCo as ours: the inverse of `to_mujoco`.

    Args:
        model: the robot.
        qpos: MuJoCo's configuration, shape (…, nq); what it has of mimic joints is not looked at, their leaders count.
        qvel: MuJoCo's velocity, shape (…, nv); zero if not given.
        names: the joints in MuJoCo's order; ours if not given.

    Returns:
        `q` (…, nq) and `v` (…, nv).
    """
    return _mujoco(model, qpos, qvel, names, lambda joint, q, v: joint.kind.from_mujoco(q, v), ours_first=False)


def _mujoco(
    model: Model,
    q: Any,
    v: Any | None,
    names: Sequence[str] | None,
    convert: Callable[[JointInfo, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    *,
    ours_first: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Joint by joint, from our places to those in the order of `names` or back."""
    joints = _all_named(model, names)
    ours, mujoco = (model.nq, model.nv), (sum(j.kind.nq for j in joints), sum(j.kind.nv for j in joints))
    given, (nq, nv) = (ours, mujoco) if ours_first else (mujoco, ours)
    configuration, velocity = ("q", "v") if ours_first else ("qpos", "qvel")
    q = as_array(configuration, q, given[:1], "nq")
    v = np.zeros(given[1]) if v is None else as_array(velocity, v, given[1:], "nv")
    batch = batch_shape([configuration, velocity], [q, v], [1, 1])
    q, v = np.broadcast_to(q, (*batch, given[0])), np.broadcast_to(v, (*batch, given[1]))
    new_q, new_v = np.empty((*batch, nq)), np.empty((*batch, nv))
    q_start = v_start = 0
    for joint in joints:
        theirs = slice(q_start, q_start + joint.kind.nq), slice(v_start, v_start + joint.kind.nv)
        (from_q, from_v), (to_q, to_v) = ((joint.q, joint.v), theirs) if ours_first else (theirs, (joint.q, joint.v))
        if ours_first or joint.independent:
            new_q[..., to_q], new_v[..., to_v] = convert(joint, q[..., from_q], v[..., from_v])
        q_start, v_start = theirs[0].stop, theirs[1].stop
    return new_q, new_v


def _all_named(model: Model, names: Sequence[str] | None) -> list[JointInfo]:
    """All joints, also those that follow others, in the order of `names`; each must be there once."""
    if names is None:
        return list(model.joints)
    joints_named(model, names)
    joints = [model.joint(name) for name in names if name != "universe"]
    missing = [j.name for j in model.joints if j not in joints]
    if missing or len(joints) > len(model.joints):
        what = f"there is no {', '.join(map(repr, missing))}" if missing else "one is there twice"
        raise ModelError(f"names: expected every moving joint of {model.name!r} once; {what}")
    return joints
