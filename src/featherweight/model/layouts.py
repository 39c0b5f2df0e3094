"""The order of joints in other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from featherweight.errors import ModelError

if TYPE_CHECKING:
    from featherweight.model.model import Model
    from featherweight.model.pieces import JointInfo


class PinocchioMaps(NamedTuple):
    """Index arrays: `q_pinocchio = q[..., maps.q]`, `v_pinocchio = v[..., maps.v]`.

    Continuous and planar joints have one number more in Pinocchio's q, the cosine and sine of an angle: there
    `maps.q` names the angle twice, and `featherweight.convert.to_pinocchio` makes the numbers.
    """

    q: np.ndarray
    v: np.ndarray


def joints_named(model: Model, names: Sequence[str] | None) -> tuple[JointInfo, ...]:
    """The joints with coordinates of their own in the order of `names`; each must be there once."""
    if names is None:
        return model.independent_joints
    if isinstance(names, str):
        raise ModelError(f"names: expected a sequence of names of joints, got the text {names!r}")
    followers = {j.name for j in model.joints if not j.independent}
    joints = tuple(model.joint(name) for name in names if name != "universe" and name not in followers)
    found = {joint.name for joint in joints}
    missing = [j.name for j in model.independent_joints if j.name not in found]
    if missing or len(found) < len(joints):
        what = f"there is no {', '.join(map(repr, missing))}" if missing else "one is there twice"
        raise ModelError(f"names: expected every moving joint of {model.name!r} once; {what}")
    return joints


def pinocchio_maps(model: Model, names: Sequence[str]) -> PinocchioMaps:
    """Index maps from our coordinates to Pinocchio's."""
    joints = joints_named(model, names)
    q = [np.zeros(0, dtype=int)]
    for joint in joints:
        own = np.arange(joint.q.start, joint.q.stop)
        extra = joint.kind.to_pinocchio(joint.kind.neutral()).shape[-1] - len(own)
        q += [own, np.repeat(own[-1:], extra)]
    v = [np.zeros(0, dtype=int), *(np.arange(j.v.start, j.v.stop) for j in joints)]
    return PinocchioMaps(np.concatenate(q), np.concatenate(v))
