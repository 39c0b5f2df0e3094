"""What is told before a run begins: steps that are too long for its springs and dampers, starts beyond limits, things
that pass through each other."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from featherweight.constraints import JointLimit
from featherweight.dynamics import mass_matrix
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.model.cache import once_per_model
from featherweight.simulation.limits import warn_if_beyond
from featherweight.simulation.options import StepOptions


def warn(model: Model, options: StepOptions, dt: float, q: np.ndarray, parameters: Any, limits: bool) -> None:
    """Tell the user what the configurations (count, nq) of the beginning let expect."""
    if options.contact is not None:
        options.contact.warn_if_ignored(model)
    if options.contact is not None and len(q) and not parameters:
        options.contact.warn_if_stiff(model, q[0], dt)
    if options.contact is not None and options.contact.pairs is None and not model.added and len(_things(model)) > 1:
        names = [model.names[i] if i else "what stands in the world" for i in sorted(_things(model))]
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) < 5 else f"{len(names)} things"
        warnings.warn(
            f"contact: {listed} pass through each other: without pairs, contact is with the ground alone; give the "
            'contact model pairs="auto", or the pairs that may touch, or pairs="ground" if that is meant',
            stacklevel=4,
        )
    if limits:
        limit = JointLimit() if options.contact is None else options.contact.joint_limit()
        warn_if_beyond(model, q, limit.recovery_speed if options.limits else None)
    _warn_if_stiff(model, options.integrator, dt, q, parameters)


@once_per_model
def _things(model: Model) -> frozenset[int]:
    """What has shapes to touch with and moves by itself: the first bodies of what is free; 0 for all that is not."""
    found = set()
    for body in {g.body for g in model.geometry if g.role == "collision"}:
        while model.parent[body] > 0:
            body = model.parent[body]
        found.add(body if body and model.joints[body - 1].kind.floating else 0)
    return frozenset(found)


def warn_if_missed(missed: np.ndarray | None) -> None:
    """Tell the user if contacts of shapes found no slot: how many in the worst step."""
    most = 0 if missed is None or not missed.size else math.ceil(np.nan_to_num(missed).max())  # it may be a mean
    if most:
        warnings.warn(
            f"contact: up to {most} contacts between shapes found no slot in a step, and did not act: the farthest of "
            "those that touched or would have; Impulse(slots=…) gives more, and Trajectory.missed says when",
            stacklevel=5,
        )


def damping_of(model: Model) -> np.ndarray:
    """Damping [N m s/rad or N s/m] of each degree of freedom, shape (nv,)."""
    damping = np.zeros(model.nv)
    for joint in model.joints:
        damping[joint.v] += joint.damping
    return damping


def _warn_if_stiff(model: Model, method: Integrator, dt: float, q: np.ndarray, parameters: Any) -> None:
    """Tell the user if the damping of a joint is too stiff for an explicit method."""
    if method.damping_limit == np.inf or not len(q) or parameters:
        return
    damping = damping_of(model)
    if not damping.any():
        return
    try:
        stiffness = dt * damping * np.diag(np.linalg.inv(mass_matrix(model, q[0])))
    except np.linalg.LinAlgError:  # the run will say what is wrong
        return
    worst = int(np.argmax(stiffness))
    if stiffness[worst] > method.damping_limit:
        joint = next(j for j in model.independent_joints if j.v.start <= worst < j.v.stop)
        warnings.warn(
            f"joint {joint.name!r}: its damping is too stiff for {method!r} with dt = {dt:g} s: h d / M = "
            f"{stiffness[worst]:.3g}, stable below {method.damping_limit:g}; use dt < "
            f"{dt * method.damping_limit / stiffness[worst]:.2g} s or integrator='semi_implicit'",
            stacklevel=5,
        )
