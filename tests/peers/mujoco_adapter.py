"""MuJoCo as an oracle: an MJCF text and the same numbers from our Model."""

from __future__ import annotations

import mujoco
import numpy as np

import featherweight as fw

JOINTS = fw.joints


def text(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values)


def pose(X) -> str:
    """Attributes pos and quat of a frame at X (parent to frame)."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.array(X.E.T, dtype=float).ravel())
    return f'pos="{text(X.r)}" quat="{text(quaternion)}"'


def joint(info) -> str:
    """The joint in MuJoCo's words: some kinds are several of its joints, inner ones last."""
    kind, armature = info.kind, info.armature
    if isinstance(kind, JOINTS.Mimic):  # free in MuJoCo, and armature of its own
        kind, armature = kind.joint, (info.armature[0] / kind.ratio**2,)
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    if isinstance(kind, JOINTS.Free):
        return f'<freejoint name="{info.name}"/>'
    if isinstance(kind, JOINTS.Spherical):
        return f'<joint name="{info.name}" type="ball" armature="{armature[0]!r}"/>'
    if isinstance(kind, JOINTS.Planar):
        parts = [("slide", axes["x"]), ("slide", axes["y"]), ("hinge", axes["z"])]
    elif isinstance(kind, JOINTS.Universal):
        parts = [("hinge", kind.first), ("hinge", kind.second)]
    elif isinstance(kind, JOINTS.Cylindrical):
        parts = [("hinge", kind.axis), ("slide", kind.axis)]
    else:
        parts = [("slide" if isinstance(kind, JOINTS.Prismatic) else "hinge", kind.axis)]
    return "".join(
        f'<joint name="{info.name}{k or ""}" type="{kind}" axis="{text(axis)}" armature="{a!r}"/>'
        for k, ((kind, axis), a) in enumerate(zip(parts, armature, strict=True))
    )


def mjcf(model: fw.Model, *, ground: bool = False, servo: tuple[float, float] | None = None) -> str:
    """With `ground`, a plane and a small sphere at each contact point; with `servo`, position servos (kp, kv) on all
    hinges."""

    def spheres(i: int) -> str:
        points = [point for point in model.contact_points if point.body == i] if ground else []
        return "".join(
            f'<geom type="sphere" size="{max(p.radius, 0.002)!r}" pos="{text(p.position)}" mass="0" contype="2" '
            'conaffinity="1" friction="0.8 0 0"/>'
            for p in points
        )

    def body(i: int) -> str:
        inside = "".join(body(c) for c in model.children(i)) + spheres(i)
        if i == 0:
            plane = '<geom type="plane" size="50 50 1" contype="1" conaffinity="2" friction="0.8 0 0"/>'
            return inside + (plane if ground else "")
        inertial = '<inertial pos="1 2 3" quat="1 2 3 4" mass="1" diaginertia="3 4 5"/>'  # the numbers come later
        inside = joint(model.joints[i - 1]) + inertial + inside
        return f'<body name="{model.names[i]}" {pose(model.X_tree[i])}>{inside}</body>'

    servos = "".join(
        f'<position joint="{info.name}" kp="{servo[0]!r}" kv="{servo[1]!r}"/>'
        for info in (model.joints[name_index(model, name)] for name in joint_order(model))
        if servo is not None and isinstance(info.kind, JOINTS.Revolute)
    )
    return (
        f'<mujoco><compiler angle="radian" autolimits="false"/><option gravity="{text(model.gravity)}"/>'
        f"<worldbody>{body(0)}</worldbody><actuator>{servos}</actuator></mujoco>"
    )


def name_index(model: fw.Model, name: str) -> int:
    return next(k for k, info in enumerate(model.joints) if info.name == name)


def to_mujoco(model: fw.Model, **options) -> mujoco.MjModel:
    """The same robot. Inertias are written past MuJoCo's reader, which refuses point masses and impossible bodies."""
    mj = mujoco.MjModel.from_xml_string(mjcf(model, **options))
    for i in range(1, model.nb + 1):
        k = mj.body(model.names[i]).id
        I = model.inertias[i]
        m, h = float(I.m), np.array(I.h, dtype=float)
        c = h / m
        about_com = np.array(I.I.matrix, dtype=float) - m * (c @ c * np.eye(3) - np.outer(c, c))
        moments, axes = np.linalg.eigh(about_com)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1
        mj.body_mass[k], mj.body_ipos[k], mj.body_inertia[k] = m, c, moments
        mujoco.mju_mat2Quat(mj.body_iquat[k], axes.ravel())
    return mj


def joint_order(model: fw.Model) -> list[str]:
    """The names of our joints in MuJoCo's order: depth first."""
    order: list[int] = []

    def visit(i: int) -> None:
        if i:
            order.append(i)
        for c in model.children(i):
            visit(c)

    visit(0)
    return [model.joints[i - 1].name for i in order]
