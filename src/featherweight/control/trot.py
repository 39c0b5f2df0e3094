"""Quadrupeds that stand and trot: the controllers of `quadruped.py` for a robot as it stands at q."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.control.checks import checked_base, checked_state, count, finite, not_negative, positive
from featherweight.control.gains import ForceSolver, QuadrupedGains
from featherweight.control.layout import Number
from featherweight.control.limbs import four_legs, joint_damping, weight_of
from featherweight.control.quadruped import Quadruped, QuadrupedParameters
from featherweight.control.whole_body import WholeBody
from featherweight.dynamics import frame_pose, mass_matrix
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

STRIDE = 2.37  # period of a trot, in times √(height / g) in which the body falls over its feet
CLEARANCE = 0.21  # height of a step, as a share of the body's
LEVELLING = 4.0  # weight of moments against forces, beyond what the feet's distance makes of one


def stand(
    model: Model,
    q: ArrayLike,
    *,
    feet: Sequence[str] | None = None,
    friction: Number = 0.6,
    iterations: int = 60,
    gains: QuadrupedGains | None = None,
    solver: ForceSolver | None = None,
) -> Compiled:
    """A controller that keeps a quadruped standing where it stands at q.

    All numbers but `iterations` are parameters: other ones compile nothing. The model and the feet are structure.

    Args:
        model: a robot with a free base and four legs of three joints each.
        q: where it begins, with all feet on the ground, shape (…, nq).
        feet: names of the contact points or links it stands on; None: of each leg the point furthest from its knee.
        friction: μ of the ground that the forces keep to, shape () or (…).
        iterations: most iterations for the contact forces in one step.
        gains: of its tasks; None: `QuadrupedGains()`.
        solver: of the contact forces; None: `ForceSolver()`.
    """
    numbers = {"velocity": np.zeros(3), "friction": friction, "gains": gains, "solver": solver}
    return _quadruped("stand", model, q, feet, None, iterations, numbers)


def trot(
    model: Model,
    q: ArrayLike,
    *,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    period: Number | None = None,
    duty: Number = 0.6,
    step_height: Number | None = None,
    start: Number = 0.5,
    feet: Sequence[str] | None = None,
    friction: Number = 0.6,
    most: Number | None = None,
    iterations: int = 60,
    gains: QuadrupedGains | None = None,
    solver: ForceSolver | None = None,
) -> Compiled:
    """A controller with which a quadruped trots: in place, forward, sideways, turning.

    Diagonal pairs of feet swing in turn; the height and the places of the feet under the body are those at q
    (`scenes.crouched` has one for most robots of files). Forces of the feet are kept to `most` and `friction`; limits
    of the joints are not known to it (see `balance`).

    All numbers but `iterations` are parameters: other ones compile nothing, and each may differ from robot to robot of
    a batch, shape (…). The model, the feet and `iterations` are structure.

    Args:
        model: a robot with a free base and four legs of three joints each.
        q: where it begins, with all feet on the ground, shape (…, nq).
        velocity: forward and sideways [m/s], turning [rad/s], shape (3,) or (…, 3) for a batch.
        period: of the gait [s]; None: by the height h of the body at q, 2.37 √(h/g), to two digits.
        duty: share of the period for which a foot stands, from 0.5 to less than 1.
        step_height: [m]; None: 0.21 h, to one digit.
        start: time until which it stands [s].
        feet: names of the contact points or links it stands on, in any order; None: of each leg the point furthest
            from its knee.
        friction: μ of the ground that the forces keep to.
        most: limit of a foot's normal force [N]; None: 2.5 times the robot's weight.
        iterations: most iterations for the contact forces in one step.
        gains: of its tasks; None: `QuadrupedGains()`.
        solver: of the contact forces; None: `ForceSolver()`.
    """
    share = positive("duty", duty)
    if not np.all((share >= 0.5) & (np.asarray(share) < 1)):
        raise ValueError(f"duty: expected a share from 0.5 to less than 1, got {duty!r}")
    numbers = {
        "velocity": finite("velocity", velocity, 3), "duty": share, "start": not_negative("start", start),
        "period": None if period is None else positive("period", period),
        "step_height": None if step_height is None else positive("step_height", step_height),
        "friction": friction, "gains": gains, "solver": solver,
    }  # fmt: skip
    return _quadruped("trot", model, q, feet, most, iterations, numbers)


def _quadruped(
    what: str, model: Any, q: Any, feet: Sequence[str] | None, most: Number | None, iterations: int,
    numbers: dict[str, Any],
) -> Compiled:  # fmt: skip
    """The controller for a robot, or an error that says what it lacks."""
    model = checked_base(what, model)
    q = checked_state(model, q)
    limbs = four_legs(what, model, feet)
    body = WholeBody(model, limbs, count("iterations", iterations))
    if body.others:
        others = [joint.name for joint in model.independent_joints if joint.v.start in body.others]
        raise ValueError(
            f"{what}: {model.name!r} has joints outside of its legs: {', '.join(others)}; hold them with "
            f"model.locked({{{others[0]!r}: …}})"
        )
    weight = weight_of(model)
    limit = 2.5 * weight if most is None else positive("most", most)
    if np.any(2 * limit < weight):
        raise ValueError(
            f"most: two feet with {np.min(limit):g} N each cannot carry {model.name!r}, which weighs {weight:.4g} N; "
            "give more"
        )
    numbers["friction"] = positive("friction", numbers["friction"])
    stance = _stance(model, [limb.frame for limb in limbs], q.reshape(-1, model.nq)[0])
    given = {**stance, **{name: value for name, value in numbers.items() if value is not None}}
    function = Quadruped(body, _diagonal(stance["places"]) if what == "trot" else None, joint_damping(model))
    parameters = QuadrupedParameters(**given, most=limit)
    return compiled(function, state=function.first_state(q), parameters=function.layout.pack(parameters))


def _stance(model: Model, feet: Sequence[str], q: np.ndarray) -> dict[str, Any]:
    """How a robot stands at q, as parameters: places of the feet under the body, height, weights by mass, inertia and
    the feet's distance, and a gait that suits its height."""
    pose = frame_pose(model, q, model.names[1])
    places = np.array([pose.rotation.T @ (frame_pose(model, q, name).position - pose.position) for name in feet])
    height = -float(places[:, 2].mean())
    if not height > 0:
        raise ValueError(f"q: expected the feet of {model.name!r} below its body, got {height:.3g} m above it")
    reach = float(np.hypot(places[:, 0], places[:, 1]).mean())
    inertia = np.diag(mass_matrix(model, q))[:6]
    scale = np.concatenate([inertia[:3], inertia[3:] * np.sqrt(LEVELLING) / reach])
    period = STRIDE * np.sqrt(height / np.linalg.norm(model.gravity))
    return {
        "places": places[:, :2], "height": height, "weight": scale**2,
        "period": float(f"{period:.2g}"), "step_height": float(f"{CLEARANCE * height:.1g}"),
    }  # fmt: skip


def _diagonal(places: np.ndarray) -> tuple[float, ...]:
    """Phase offsets of a trot: 0 for the first foot and the one across from it, ½ for the others."""
    across = places - places.mean(axis=0)
    partner = int(np.argmin(across @ across[0]))
    return tuple(0.0 if k in (0, partner) else 0.5 for k in range(4))
