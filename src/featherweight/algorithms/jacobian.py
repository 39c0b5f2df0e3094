"""Jacobians of frames, and their rates (RBDA, section 8.1 for the columns).

Only joints on the path from the frame to the world have columns. They are computed in the frame's own coordinates,
J v = velocity of the frame; `seen_from` changes to the coordinates that were asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.kinematics import body_motion
from featherweight.algorithms.linear import combine
from featherweight.model import Tree
from featherweight.spatial import Force, Motion, Transform

FRAMES = ("body", "world", "world_aligned")


def seen_from(in_: str, X: Transform, m: Motion) -> Motion:
    """A motion in a frame at X (world to frame), in the coordinates `in_`."""
    if in_ == "body":
        return m
    angular, linear = X.E.transposed_times(m.angular), X.E.transposed_times(m.linear)
    if in_ == "world":  # velocity of the body-fixed point that is at the world's origin now
        linear = linear + X.r.cross(angular)
    return Motion(angular, linear)


def force_seen_from(in_: str, X: Transform, f: Force) -> Force:
    """A force in the coordinates `in_`, in the frame at X (world to frame): the transpose of `seen_from`."""
    if in_ == "body":
        return f
    moment = f.moment - X.r.cross(f.force) if in_ == "world" else f.moment
    return Force(X.E @ moment, X.E @ f.force)


def jacobian(tree: Tree, q: Sequence[Any], body: int, X_frame: Transform, in_: str) -> list[Motion]:
    """The columns of J for a frame at `X_frame` on a body: velocity = J v."""
    path = tree.path(body)
    X = {i: tree.joints[i].transform(q) @ tree.X_tree[i] for i in path}
    X_0f = Transform.identity()
    if in_ != "body":
        for i in reversed(path):
            X_0f = X[i] @ X_0f
    X_0f = X_frame @ X_0f

    # rootward: each joint's axes, transformed to the frame
    J = [Motion.zero()] * tree.nv
    to_frame = X_frame
    for i in path:
        tree.mark()
        joint = tree.joints[i]
        for k, s in zip(range(joint.v.start, joint.v.stop), joint.subspace(q), strict=True):
            J[k] = J[k] + seen_from(in_, X_0f, to_frame @ s)
        to_frame = to_frame @ X[i]
    return J


def jacobian_dot(
    tree: Tree, q: Sequence[Any], v: Sequence[Any], body: int, X_frame: Transform, in_: str
) -> list[Motion]:
    """The columns of dJ/dt, so that the rate of the velocity J v is J v̇ + (dJ/dt) v."""
    path = tree.path(body)
    X = {i: tree.joints[i].transform(q) @ tree.X_tree[i] for i in path}
    S = {i: tree.joints[i].subspace(q) for i in path}
    X_0b, V_b, _ = body_motion(tree, body, q, v, [0] * tree.nv)
    X_0f, V_f = X_frame @ X_0b, X_frame @ V_b

    J_dot = [Motion.zero()] * tree.nv
    to_frame, V_i = X_frame, V_f  # velocity of body i, in the frame's coordinates
    for i in path:
        tree.mark()
        joint = tree.joints[i]
        for k, s, rate in zip(range(joint.v.start, joint.v.stop), S[i], joint.subspace_rate(q, v), strict=True):
            column = to_frame @ s
            if in_ == "world":  # the column moves with body i alone
                change = V_i.cross(column)
            else:  # relative to the frame, which moves itself
                change = (V_i - V_f).cross(column)
            if in_ == "world_aligned":  # world axes do not turn with the frame
                change = change + Motion(V_f.angular.cross(column.angular), V_f.angular.cross(column.linear))
            J_dot[k] = J_dot[k] + seen_from(in_, X_0f, change + to_frame @ rate)
        V_i = V_i - to_frame @ combine(S[i], v[joint.v])
        to_frame = to_frame @ X[i]
    return J_dot
