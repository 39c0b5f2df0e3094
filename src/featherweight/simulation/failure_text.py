"""Why a robot failed, in words: what happened, where, and what can be done."""

from __future__ import annotations

import numpy as np

from featherweight.contact import Impulse
from featherweight.dynamics.regularity import singular_at
from featherweight.simulation.problem import Problem
from featherweight.simulation.status import Status
from featherweight.simulation.trajectory import Trajectory

FAST = 100.0  # [rad/s or m/s] a joint beyond this is more likely driven too hard than at rest on hard contacts


def failure_text(what: Problem, last: Trajectory, status: Status) -> str:
    """Why a robot failed after these states: of a singular mass matrix the body at fault, of a motion that grew the
    joint that was fast first, of contact that was not solved what may be changed."""
    if status is Status.SINGULAR:
        return singular_at(what.model, last.q[-1], what.parameters) or status.reason
    if status not in (Status.DIVERGED, Status.NOT_CONVERGED):
        return status.reason
    speed = np.abs(last.v)
    if (speed > FAST).any():
        first = speed[int((speed > FAST).any(axis=1).argmax())]
        joint = next(j for j in what.model.independent_joints if j.v.start <= int(first.argmax()) < j.v.stop)
        return (
            f"{status.reason}; before it joint {joint.name!r} moved at {first.max():.3g} rad/s or m/s: if it should "
            "not, take shorter steps or less gain (damping of a controller is explicit)"
        )
    if what.options is None:
        return status.reason
    contact = what.options.contact
    if status is Status.NOT_CONVERGED and isinstance(contact, Impulse) and not what.options.integrator.solves:
        return (
            f"{status.reason} to tolerance={contact.tolerance:g} m/s; a larger one is solved more often, "
            "keep_best=True of the contact model goes on with the best impulses"
        )
    return status.reason
