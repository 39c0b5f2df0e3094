"""A semi-implicit step in NumPy, from what the documentation says of it; dynamics are the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import featherweight as fw

J = fw.joints


def skew(x: Any) -> np.ndarray:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def turned(w: Any) -> np.ndarray:
    """exp of a rotation vector (Rodrigues)."""
    angle = np.linalg.norm(w)
    if angle == 0:
        return np.eye(3)
    K = skew(np.asarray(w) / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def free_turn(inertia: np.ndarray, w: np.ndarray, h: float, armature: float = 0.0, newton: int = 50) -> np.ndarray:
    """ω_m of the midpoint rule M (ω⁺ - ω) + h ω_m × Θ ω_m = 0, solved to rounding, or by so many Newton steps."""
    M, after = inertia + armature * np.eye(3), w.copy()
    for _ in range(newton):
        m = (w + after) / 2
        slope = M + h / 2 * (skew(m) @ inertia - skew(inertia @ m))
        after = after - np.linalg.solve(slope, M @ (after - w) + h * np.cross(m, inertia @ m))
    return (w + after) / 2


def own_inertia(model: fw.Model, body: int, floats: bool) -> np.ndarray:
    """Of a body alone: about its centre of mass if it floats, about its joint's origin if that holds it."""
    m, first, I = model.over_floats.I[body]
    xx, xy, xz, yy, yz, zz = I
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not floats:
        return about_origin
    c = np.array(first) / m
    return about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))


def turns(joint: Any) -> slice | None:
    """The places in v of an angular velocity about all axes."""
    first = {J.Free: 3, J.Spherical: 0}.get(type(joint.kind))
    return None if first is None else slice(joint.v.start + first, joint.v.start + first + 3)


def middle_velocity(model: fw.Model, q: Any, v: Any, h: float, newton: int = 50) -> np.ndarray:
    """v_m: bodies on free and ball joints have ω_m, all other joints their v."""
    rotation = fw.forward_kinematics(model, q).rotation
    tree, middle = model.over_floats, np.array(v, dtype=float)
    change = np.zeros((model.nb + 1, 3))  # ω_m - ω of each body, in its axes
    for i in range(1, model.nb + 1):
        parent, joint = tree.parent[i], tree.joints[i]
        change[i] = carried = rotation[i].T @ rotation[parent] @ change[parent]
        if turns(joint) is not None:
            w = fw.body_velocity(model, q, v, model.names[i], "body")[3:]
            floats = isinstance(joint.kind, J.Free)
            change[i] = free_turn(own_inertia(model, i, floats), w, h, joint.armature[-1], newton) - w
            middle[turns(joint)] += change[i] - carried
    return middle


def step(model: fw.Model, q: Any, v: Any, h: float, middle: Any, tau: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """q and v after a step without damping, springs and friction: v⁺ = v + h q̈(q, v_m), then the robot moves."""
    a = fw.forward_dynamics(model, q, middle, np.zeros(model.nv) if tau is None else tau)
    v, after = np.asarray(v, dtype=float), np.asarray(v, dtype=float) + h * a
    rotations = []
    for joint in model.independent_joints:
        at = joint.v
        if isinstance(joint.kind, J.Free):  # the axes of the body turn: its classical acceleration
            n = slice(at.start, at.start + 3)
            after[n] += h * np.cross(middle[turns(joint)], middle[n])
            rotations.append((joint, n, after[turns(joint)]))
        elif isinstance(joint.kind, J.Planar):
            n = slice(at.start, at.start + 2)
            x, y, w = middle[at]
            after[n] += h * w * np.array([-y, x])
            rotations.append((joint, n, np.array([0, 0, after[at.start + 2]])))
    move, spun = h * after, after.copy()
    for _, n, w in rotations:
        R = turned(h * w)[: n.stop - n.start, : n.stop - n.start]
        spun[n], move[n] = R.T @ after[n], 0.0
    new_q = fw.integrate(model, q, move, 1.0)
    for joint, n, _ in rotations:
        position = slice(joint.q.start, joint.q.start + n.stop - n.start)
        new_q[position] = q[position] + _mounted(joint, q) @ after[n] * h
    return new_q, spun


def _mounted(joint: Any, q: np.ndarray) -> np.ndarray:
    """From the body's axes to those of the frame that the joint is mounted on."""
    if isinstance(joint.kind, J.Planar):
        c, s = np.cos(q[joint.q.start + 2]), np.sin(q[joint.q.start + 2])
        return np.array([[c, -s], [s, c]])
    x, y, z, w = q[joint.q.start + 3 : joint.q.stop]
    return np.eye(3) + 2 * w * skew((x, y, z)) + 2 * skew((x, y, z)) @ skew((x, y, z))
