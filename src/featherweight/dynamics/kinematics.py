"""Kinematics of a model: poses, Jacobians, velocities and accelerations of bodies and frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight import algorithms
from featherweight.dynamics.checks import checked_model, coordinates
from featherweight.dynamics.evaluate import Parameters, Quantity, Results, Scalars, as_columns, evaluate, linear_first
from featherweight.dynamics.fast_path import fast_path
from featherweight.dynamics.poses import Pose, Poses
from featherweight.model import Model, Tree
from featherweight.spatial import Force, Motion, Transform, Vector


def frame_on(model: Model, tree: Tree, name: str) -> tuple[int, Transform]:
    """The body a frame is fixed to, and the transform from there."""
    frame = model.frame(name)
    return frame.body, frame.X.lift(tree.lift)


def _poses(X: list[Transform]) -> list[list[Any]]:
    rotation = [e for x in X for row in x.E.T for e in row]
    position = [e for x in X for e in x.r]
    return [rotation, position]


def _frame_pose(model: Model, tree: Tree, x: Scalars, frame: str) -> Results:
    body, X = frame_on(model, tree, frame)
    X_0b, _, _ = algorithms.body_motion(tree, body, x["q"], [0] * tree.nv, [0] * tree.nv)
    return _poses([X @ X_0b]), []


def _jacobian(model: Model, tree: Tree, x: Scalars, frame: str, in_: str) -> Results:
    J = algorithms.jacobian(tree, x["q"], *frame_on(model, tree, frame), in_)
    return [as_columns([linear_first(column) for column in J])], []


def _jacobian_dot(model: Model, tree: Tree, x: Scalars, frame: str, in_: str) -> Results:
    J_dot = algorithms.jacobian_dot(tree, x["q"], x["v"], *frame_on(model, tree, frame), in_)
    return [as_columns([linear_first(column) for column in J_dot])], []


def _velocity(model: Model, tree: Tree, x: Scalars, frame: str, in_: str) -> Results:
    body, X = frame_on(model, tree, frame)
    X_0b, V, _ = algorithms.body_motion(tree, body, x["q"], x["v"], [0] * tree.nv)
    return [linear_first(algorithms.seen_from(in_, X @ X_0b, X @ V))], []


def _acceleration(model: Model, tree: Tree, x: Scalars, frame: str, in_: str, classical: bool) -> Results:
    body, X = frame_on(model, tree, frame)
    X_0b, V, A = algorithms.body_motion(tree, body, x["q"], x["v"], x["a"])
    X_0f = X @ X_0b
    velocity, acceleration = (algorithms.seen_from(in_, X_0f, X @ m) for m in (V, A))
    if classical:  # of the point that is at the origin of these coordinates
        linear = acceleration.linear + velocity.angular.cross(velocity.linear)
        acceleration = Motion(acceleration.angular, linear)
    return [linear_first(acceleration)], []


def _wrench_on(model: Model, tree: Tree, x: Scalars, frame: str, in_: str) -> Results:
    body, X = frame_on(model, tree, frame)
    X_0b, _, _ = algorithms.body_motion(tree, body, x["q"], [0] * tree.nv, [0] * tree.nv)
    given = Force(Vector(*x["wrench"][3:]), Vector(*x["wrench"][:3]))
    rows = [[0.0] * 6 for _ in tree.parent]
    rows[body] = linear_first(X.back(algorithms.force_seen_from(in_, X @ X_0b, given)))
    return [[e for row in rows for e in row]], []


FORWARD_KINEMATICS = Quantity(
    "forward_kinematics",
    ("q",),
    lambda model: [(model.nb + 1, 3, 3), (model.nb + 1, 3)],
    lambda model, tree, x: (_poses(algorithms.forward_kinematics(tree, x["q"])), []),
)
FRAME_POSE = Quantity("frame_pose", ("q",), lambda model, frame: [(3, 3), (3,)], _frame_pose)
JACOBIAN = Quantity("jacobian", ("q",), lambda model, *_: [(6, model.nv)], _jacobian)
JACOBIAN_DOT = Quantity("jacobian_dot", ("q", "v"), lambda model, *_: [(6, model.nv)], _jacobian_dot)
BODY_VELOCITY = Quantity("body_velocity", ("q", "v"), lambda model, *_: [(6,)], _velocity)
BODY_ACCELERATION = Quantity("body_acceleration", ("q", "v", "a"), lambda model, *_: [(6,)], _acceleration)
WRENCH_ON = Quantity("wrench_on", ("q", "wrench"), lambda model, *_: [(model.nb + 1, 6)], _wrench_on)


def frame_named(model: Any, frame: Any) -> str:
    """The name of a frame of a model, checked."""
    checked_model(model).frame(frame)
    return frame


@fast_path(FORWARD_KINEMATICS, returned=Poses._make)
def forward_kinematics(model: Model, q: ArrayLike, *, parameters: Parameters = None) -> Poses:
    """Poses of all bodies in the world; body 0 is the world itself.

    Returns:
        `rotation` (…, nb+1, 3, 3), body to world, and `position` (…, nb+1, 3) [m].

    >>> import featherweight as fw
    >>> poses = fw.forward_kinematics(fw.robots.double_pendulum(), [0.0, 0.0])
    >>> float(poses.position[2, 2])  # height of the second joint
    -1.0
    """
    return Poses(*evaluate(FORWARD_KINEMATICS, model, {"q": q}, None, (), parameters))


@fast_path(FRAME_POSE, returned=Pose._make)
def frame_pose(model: Model, q: ArrayLike, frame: str, *, parameters: Parameters = None) -> Pose:
    """Pose of one frame in the world.

    Returns:
        `rotation` (…, 3, 3), frame to world, and `position` (…, 3) [m].

    >>> import featherweight as fw
    >>> float(fw.frame_pose(fw.robots.double_pendulum(), [0.0, 0.0], "elbow").position[2])
    -1.0
    """
    return Pose(*evaluate(FRAME_POSE, model, {"q": q}, None, (frame_named(model, frame),), parameters))


@fast_path(JACOBIAN)
def jacobian(
    model: Model,
    q: ArrayLike,
    frame: str,
    in_: str = "body",
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The Jacobian of a frame: J v is its velocity [linear; angular].

    Returns:
        J, shape (…, 6, nv), rows linear then angular.

    >>> import featherweight as fw
    >>> fw.jacobian(fw.robots.cartpole(), [0.0, 0.0], "pole")[0]  # the pole's joint moves with the cart
    array([1., 0.])
    """
    options = (frame_named(model, frame), coordinates(in_))
    return evaluate(JACOBIAN, model, {"q": q}, out, options, parameters)[0]


@fast_path(JACOBIAN_DOT)
def jacobian_dot(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    in_: str = "body",
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The rate dJ/dt of a frame's Jacobian: the rate of its velocity is J v̇ + (dJ/dt) v.

    Returns:
        dJ/dt, shape (…, 6, nv), rows linear then angular.
    """
    options = (frame_named(model, frame), coordinates(in_))
    return evaluate(JACOBIAN_DOT, model, {"q": q, "v": v}, out, options, parameters)[0]


@fast_path(BODY_VELOCITY)
def body_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    in_: str = "body",
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Velocity [linear; angular] of a frame.

    Returns:
        The velocity [m/s, rad/s], shape (…, 6).

    >>> import featherweight as fw
    >>> fw.body_velocity(fw.robots.pendulum(), [0.0], [2.0], "bob")[3:]
    array([0., 2., 0.])
    """
    options = (frame_named(model, frame), coordinates(in_))
    return evaluate(BODY_VELOCITY, model, {"q": q, "v": v}, out, options, parameters)[0]


@fast_path(BODY_ACCELERATION)
def body_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str,
    in_: str = "body",
    classical: bool = False,
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """Acceleration [linear; angular] of a frame, without gravity.

    Spatial acceleration is the rate of the velocity's components in the frame; with `classical` the linear part is
    the acceleration of the point at the origin: that plus ω × v.

    Args:
        classical: the acceleration of the point, not the spatial one.

    Returns:
        The acceleration [m/s², rad/s²], shape (…, 6).
    """
    options = (frame_named(model, frame), coordinates(in_), bool(classical))
    return evaluate(BODY_ACCELERATION, model, {"q": q, "v": v, "a": a}, out, options, parameters)[0]


@fast_path(WRENCH_ON)
def wrench_on(
    model: Model,
    q: ArrayLike,
    frame: str,
    wrench: ArrayLike,
    in_: str = "world_aligned",
    *,
    out: np.ndarray | None = None,
    parameters: Parameters = None,
) -> np.ndarray:
    """The array `f_ext` for a wrench that acts at a frame.

    Args:
        wrench: [force; moment] at the frame [N, N m], shape (…, 6).
        in_: coordinates of the wrench: "body" (the frame's own), "world" (at the world's origin) or
            "world_aligned" (at the frame's origin, in the world's axes).

    Returns:
        Wrenches on all bodies, in their frames, shape (…, nb+1, 6); add several for several frames.

    >>> import featherweight as fw
    >>> pendulum = fw.robots.pendulum()
    >>> push = fw.wrench_on(pendulum, [0.0], "bob", [0.0, 0.0, 0.0, 0.0, 3.0, 0.0])  # 3 N m about y
    >>> fw.forward_dynamics(pendulum, [0.0], [0.0], [0.0], push)
    array([3.])
    """
    options = (frame_named(model, frame), coordinates(in_))
    return evaluate(WRENCH_ON, model, {"q": q, "wrench": wrench}, out, options, parameters)[0]
