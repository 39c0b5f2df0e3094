"""Where the coordinates of joints are in q and v; joints that follow another have its places."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from featherweight.errors import ModelError
from featherweight.model.pieces import JointInfo
from featherweight.model.symbols import is_symbolic


def in_place(moving: Sequence[JointInfo], names: Sequence[str]) -> tuple[JointInfo, ...]:
    """The joints, with bodies' names, in their slices of q and v: consecutive ones, the leader's for mimic joints."""
    q = v = 0
    placed: dict[str, JointInfo] = {}
    for joint in moving:
        if joint.independent:
            slices = slice(q, q + joint.kind.nq), slice(v, v + joint.kind.nv)
            placed[joint.name] = joint if (joint.q, joint.v) == slices else replace(joint, q=slices[0], v=slices[1])
            q, v = slices[0].stop, slices[1].stop
    joints = {j.name: j for j in moving}
    for joint in moving:
        chain: list[JointInfo] = []  # mimic joints up to a leader whose slices are known
        seen: set[str] = set()
        while joint.name not in placed:
            chain.append(joint)
            seen.add(joint.name)
            joint = _leader(joint, joints, seen, names)
        for follower in reversed(chain):
            placed[follower.name] = _following(follower, placed, names)
    for joint in [j for j in placed.values() if not j.independent]:
        leader = placed[str(joint.kind.leader)]
        placed[leader.name] = replace(leader, kind=leader.kind.followed())
    return tuple(placed[joint.name] for joint in moving)


def _leader(joint: JointInfo, joints: dict[str, JointInfo], seen: set[str], names: Sequence[str]) -> JointInfo:
    """The leader of a mimic joint. ModelError if there is none, or if joints follow each other in a circle."""
    what, name = f"body {names[joint.body]!r}", str(joint.kind.leader)
    if name in seen:
        raise ModelError(f"{what}: mimic joints follow each other in a circle: {' -> '.join(sorted(seen)[:5])}")
    if name not in joints:
        near = difflib.get_close_matches(name, joints, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "fixed joints do not move"
        raise ModelError(f"{what}: there is no moving joint {name!r} to mimic; {hint}")
    return joints[name]


def _following(joint: JointInfo, placed: dict[str, JointInfo], names: Sequence[str]) -> JointInfo:
    """A mimic joint behind its root leader, its properties referred to that leader's coordinate."""
    what = f"body {names[joint.body]!r}"
    leader = placed[str(joint.kind.leader)]
    kind = joint.kind.following(leader.kind)
    if (leader.kind.nq, leader.kind.nv) != (1, 1):
        raise ModelError(f"{what}: joint {leader.name!r} has more than one coordinate and cannot be mimicked")
    r = abs(kind.ratio)
    scaled: dict[str, float] = {
        "armature": joint.armature[0] * r * r,
        "damping": joint.damping[0] * r * r,
        "friction": joint.friction[0] * r,
        "stiffness": joint.stiffness[0] * r * r,
        "rest": (joint.rest[0] - kind.offset) / kind.ratio if joint.stiffness[0] * r else 0.0,
    }
    rotor_inertia = joint.rotor_inertia * r * r
    numbers = [x for x in (*scaled.values(), rotor_inertia, kind.ratio, kind.offset) if not is_symbolic(x)]
    if not np.isfinite(numbers).all():
        raise ModelError(f"{what}: joint {joint.name!r} follows {leader.name!r} too fast: numbers overflow")
    return replace(
        joint,
        kind=kind,
        q=leader.q,
        v=leader.v,
        armature=(scaled["armature"],),
        damping=(scaled["damping"],),
        friction=(scaled["friction"],),
        stiffness=(scaled["stiffness"],),
        rest=(scaled["rest"],),
        rotor_inertia=rotor_inertia,
        spin=None if joint.spin is None else joint.spin * kind.ratio,
    )
