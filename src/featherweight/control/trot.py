"""Quadrupeds that stand and trot: the controllers of `quadruped.py` for a robot as it stands at q."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.control.gait import Gait
from featherweight.control.limbs import (
    apart,
    checked_base,
    checked_state,
    count,
    feet_of,
    joint_damping,
    leg,
    not_negative,
    positive,
    weight_of,
)
from featherweight.control.quadruped import Quadruped
from featherweight.control.whole_body import WholeBody
from featherweight.dynamics import frame_pose, mass_matrix
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

LEG_JOINTS = 3
LEVELLING = 4.0  # weight of moments against forces, beyond what the feet's distance makes of one


def stand(
    model: Model, q: Any, *, feet: Sequence[str] | None = None, friction: float = 0.6, iterations: int = 60
) -> Compiled:
    """A controller that keeps a quadruped standing where it stands at q.

    Args:
        model: a robot with a free base and four legs of three joints each.
        q: where it begins, with all feet on the ground, shape (…, nq).
        feet: names of the contact points it stands on; None: the last body's of each leg.
        friction: μ of the ground that the forces keep to.
        iterations: most turns for the contact forces in one step.
    """
    gait = Gait(1.0, 1.0, (0.0,) * 4)
    return _quadruped("stand", model, q, (0.0, 0.0, 0.0), gait, 0.0, feet, friction, None, iterations)


def trot(
    model: Model,
    q: Any,
    *,
    velocity: Any = (0.0, 0.0, 0.0),
    period: float = 0.4,
    duty: float = 0.6,
    step_height: float = 0.06,
    start: float = 0.5,
    feet: Sequence[str] | None = None,
    friction: float = 0.6,
    most: float | None = None,
    iterations: int = 60,
) -> Compiled:
    """A controller with which a quadruped trots: in place, forward, sideways, turning.

    Diagonal pairs of feet swing in turn; the height and the places of the feet under the body are those at q. Forces of
    the feet are kept to `most` and `friction`; limits of the joints are not known to it (see `balance`).

    Args:
        model: a robot with a free base and four legs of three joints each.
        q: where it begins, with all feet on the ground, shape (…, nq).
        velocity: forward and sideways [m/s], turning [rad/s], shape (3,) or (…, 3) for a batch.
        period: of the gait [s].
        duty: share of the period for which a foot stands, from 0.5 to 1.
        step_height: [m].
        start: time until which it stands [s].
        feet: names of the contact points it stands on, in the order front right, front left, hind right, hind left (or
            any other in which the first and the last swing together); None: the last body's of each leg.
        friction: μ of the ground that the forces keep to.
        most: normal force of a foot [N]; None: 2.5 times the robot's weight.
        iterations: most turns for the contact forces in one step.
    """
    if not 0.5 <= positive("duty", duty) < 1:
        raise ValueError(f"duty: expected a share from 0.5 to less than 1, got {duty!r}")
    command = np.asarray(velocity, dtype=float)
    if command.shape[-1:] != (3,) or not np.isfinite(command).all():
        raise ValueError(f"velocity: expected three finite numbers, shape (3,) or (…, 3), got {velocity!r}")
    gait = Gait(positive("period", period), float(duty), (0.0, 0.5, 0.5, 0.0), not_negative("start", start))
    height = positive("step_height", step_height)
    return _quadruped("trot", model, q, command, gait, height, feet, friction, most, iterations)


def _quadruped(
    what: str, model: Any, q: Any, velocity: Any, gait: Gait, step_height: float, feet: Sequence[str] | None,
    friction: float, most: float | None, iterations: int,
) -> Compiled:  # fmt: skip
    """The controller for a robot, or an error that says what it lacks."""
    model = checked_base(what, model)
    q = checked_state(model, q)
    names = feet_of(what, model, feet, LEG_JOINTS)
    if len(names) != 4:
        raise ValueError(
            f"{what}: expected four feet at the ends of legs with {LEG_JOINTS} joints, found "
            f"{', '.join(names) or 'none'} in {model.name!r}; name contact points with feet=(…)"
        )
    limbs = tuple(leg(what, model, name, LEG_JOINTS, (name,)) for name in names)
    apart(what, limbs)
    weight = weight_of(model)
    most = 2.5 * weight if most is None else positive("most", most)
    if 2 * most < weight:
        raise ValueError(
            f"most: two feet with {most:g} N each cannot carry {model.name!r}, which weighs {weight:.4g} N; give more"
        )
    body = WholeBody(
        model, limbs, base_weight=(1.0,) * 6,  # the weights of the stance go with what is wanted in each step
        friction=positive("friction", friction), iterations=count("iterations", iterations),
    )  # fmt: skip
    function = Quadruped(body, gait, step_height, most, joint_damping(model))
    stance = _stance(model, names, q.reshape(-1, model.nq)[0])
    command = np.asarray(velocity, dtype=float)
    parameters = np.concatenate([command, np.broadcast_to(stance, (*command.shape[:-1], len(stance)))], axis=-1)
    return compiled(function, state=function.first_state(q), parameters=parameters)


def _stance(model: Model, feet: Sequence[str], q: np.ndarray) -> np.ndarray:
    """How a robot stands at q, as a quadruped's parameters: places of the feet under the body, height, and weights by
    mass, inertia and the feet's distance."""
    pose = frame_pose(model, q, model.names[1])
    places = np.array([pose.rotation.T @ (frame_pose(model, q, name).position - pose.position) for name in feet])
    height = -float(places[:, 2].mean())
    if not height > 0:
        raise ValueError(f"q: expected the feet of {model.name!r} below its body, got {height:.3g} m above it")
    reach = float(np.hypot(places[:, 0], places[:, 1]).mean())
    inertia = np.diag(mass_matrix(model, q))[:6]
    scale = np.concatenate([inertia[:3], inertia[3:] * np.sqrt(LEVELLING) / reach])
    return np.concatenate([places[:, :2].ravel(), [height], scale**2])
