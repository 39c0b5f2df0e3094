"""Find the legs of a robot, or say what it lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featherweight.control.whole_body import BASE, Limb
from featherweight.dynamics import mass_matrix
from featherweight.model import Model


def path_dofs(model: Model, body: int) -> tuple[int, ...]:
    """Degrees of freedom between the base and a body, from the base outward."""
    bodies = []
    while model.parent[body] > 0:
        bodies.append(body)
        body = model.parent[body]
    slices = [model.joints[i - 1].v for i in reversed(bodies)]
    return tuple(d for s in slices for d in range(s.start, s.stop))


def feet_of(what: str, model: Model, feet: Sequence[str] | None, joints: int) -> tuple[str, ...]:
    """Frames of contact points that end a leg of so many joints: those given, or all that are alone on a last body."""
    if feet is not None:
        for name in feet:
            if name not in {point.name for point in model.contact_points}:
                raise ValueError(
                    f"{what}: {model.name!r} has no contact point {name!r} for a foot; it has "
                    f"{', '.join(p.name for p in model.contact_points) or 'none'}"
                )
        return tuple(map(model.contact_frame, feet))
    last = [p for p in model.contact_points if not model.children(p.body) and len(path_dofs(model, p.body)) == joints]
    alone = [model.contact_frame(p.name) for p in last if sum(p.body == other.body for other in last) == 1]
    return tuple(alone)


def leg(what: str, model: Model, frame: str, joints: int, points: Sequence[str]) -> Limb:
    """The limb from the base to a foot, which must have so many joints of its own."""
    dofs = path_dofs(model, model.frame(frame).body)
    if len(dofs) != joints:
        raise ValueError(
            f"{what}: expected {joints} joints between the base and {frame!r}, got {len(dofs)} in {model.name!r}"
        )
    return Limb(frame, dofs, tuple(points))


def weight_of(model: Model) -> float:
    """m g [N]."""
    return float(mass_matrix(model, model.neutral())[0, 0] * np.linalg.norm(model.gravity))


def joint_damping(model: Model) -> np.ndarray:
    """Viscous damping of each degree of freedom [N m s], 0 for the base: what a controller compensates."""
    damping = np.zeros(model.nv)
    for joint in model.independent_joints:
        damping[joint.v] = joint.damping
    damping[:BASE] = 0.0
    return damping


def check_separate(what: str, limbs: Sequence[Limb]) -> None:
    """Refuse feet that share joints: one that is named twice, or two on one leg."""
    for k, limb in enumerate(limbs):
        for other in limbs[:k]:
            if {*limb.dofs} & {*other.dofs}:
                raise ValueError(f"{what}: expected feet on legs of their own, got {other.frame!r} and {limb.frame!r}")
