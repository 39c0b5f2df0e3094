"""Find the legs of a robot, or say what it lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featherweight.control.whole_body import BASE, Limb
from featherweight.dynamics import mass_matrix
from featherweight.dynamics.contact_places import ground_bodies
from featherweight.model import Model

QUADRUPED_JOINTS = 3  # of a leg


def path_dofs(model: Model, body: int) -> tuple[int, ...]:
    """Degrees of freedom between the base and a body, from the base outward."""
    bodies = []
    while model.parent[body] > 0:
        bodies.append(body)
        body = model.parent[body]
    slices = [model.joints[i - 1].v for i in reversed(bodies)]
    return tuple(d for s in slices for d in range(s.start, s.stop))


def feet_of(what: str, model: Model, feet: Sequence[str] | None, joints: int) -> tuple[str, ...]:
    """Frames of the feet at the ends of legs of so many joints: those given, contact points or links, or of each last
    body the contact point that reaches furthest from its joint; without points, the furthest link beyond the joint
    whose shape touches the ground."""
    if feet is not None:
        return tuple(_foot_named(what, model, name) for name in feet)
    ends = [body for body in range(1, len(model.parent)) if len(path_dofs(model, body)) == joints]
    found = []
    for body in ends:
        if model.children(body):
            continue
        own = [point for point in model.contact_points if point.body == body]
        links = [shape.link for shape in model.ground_shapes if shape.body == body]
        links = [link for link in links if _beyond_joint(model, link) > 0]
        if own:
            furthest = max(own, key=lambda point: float(np.linalg.norm(point.position)) + point.radius)
            found.append(model.contact_frame(furthest.name))
        elif links:
            found.append(max(links, key=lambda link: _beyond_joint(model, link)))
    return tuple(found)


def _beyond_joint(model: Model, link: str) -> float:
    """How far a link's origin is from the joint of its body [m]."""
    return float(np.linalg.norm(np.array(model.frame(link).X.r, dtype=float)))


def _foot_named(what: str, model: Model, name: str) -> str:
    """The frame of a contact point, or of a link or frame on a body that touches the ground."""
    if name in {point.name for point in model.contact_points}:
        return model.contact_frame(name)
    if name not in model.frames:
        raise ValueError(
            f"{what}: {model.name!r} has no contact point {name!r} for a foot; it has "
            f"{', '.join(p.name for p in model.contact_points) or 'none'}"
        )
    if model.frame(name).body not in ground_bodies(model):
        raise ValueError(
            f"{what}: the foot {name!r} of {model.name!r} has no contact points; load the robot with "
            f"contact=({name!r}, …), or add some, or a shape that touches the ground"
        )
    return name


def four_legs(what: str, model: Model, feet: Sequence[str] | None) -> tuple[Limb, ...]:
    """The legs of a quadruped, three joints each, or an error that says what it lacks."""
    names = feet_of(what, model, feet, QUADRUPED_JOINTS)
    if len(names) != 4:
        raise ValueError(
            f"{what}: expected four feet at the ends of legs with {QUADRUPED_JOINTS} joints, found "
            f"{', '.join(names) or 'none'} in {model.name!r}; name contact points with feet=(…). Feet that are meshes "
            "get some by load(…, contact=(…)) with the names of their links, on the command line by --feet"
        )
    limbs = tuple(leg(what, model, name, QUADRUPED_JOINTS, (name,)) for name in names)
    check_separate(what, limbs)
    return limbs


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
