"""A description in the words that URDF has, or why it cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from featherweight.errors import ModelError
from featherweight.io.contact_points import new_name
from featherweight.joints import Continuous, Fixed, Free, Joint, Mimic, Planar, Prismatic, Revolute
from featherweight.model.described_joint import limits_of
from featherweight.model.description import Description, Follow, Link, LinkJoint, Motor, Numbers, Shape
from featherweight.model.placement import Placement
from featherweight.model.spelling import Bounds, Origin, Three

TYPES: dict[type[Joint], str] = {
    Revolute: "revolute",
    Continuous: "continuous",
    Prismatic: "prismatic",
    Free: "floating",
    Planar: "planar",
    Fixed: "fixed",
}


def express(description: Description) -> Description:
    """The same robot with links and joints alone: frames and contact points become links on fixed joints, points with
    balls; one that is called like a link gets an underscore more. ModelError for what URDF cannot say."""
    what = f"model {description.name!r}"
    for thing in (*description.loops, *description.actuators, *description.sensors, *description.keyframes):
        raise ModelError(f"{what}: URDF has no {thing.word}s ({thing.name})")
    for owner, shape in description.shapes():
        _check_shape(f"{what}: a shape of {owner!r}", shape)
    links, joints = [_link(link) for link in description.links], [_joint(what, joint) for joint in description.joints]
    if any(joint.parent == "world" for joint in joints) and all(link.name != "world" for link in links):
        links.insert(0, Link("world"))
    taken = {joint.name for joint in joints}
    for frame in description.frames:
        links.append(Link(frame.name, None, frame.shapes))
        own = new_name(f"{frame.name}_joint", taken)
        joints.append(LinkJoint(own, "fixed", frame.parent, frame.name, frame.origin))
    places = {link.name for link in links}
    for point in description.points:
        ball = Shape("collision", Origin(), "sphere", (float(point.radius),))
        name, own = new_name(point.name, places), new_name(f"{point.name}_joint", taken)
        links.append(Link(name, None, (ball,)))
        joints.append(LinkJoint(own, "fixed", point.parent, name, Placement(point.position)))
    return replace(description, links=tuple(links), joints=tuple(joints), frames=(), points=())


def _check_shape(what: str, shape: Shape) -> None:
    """ModelError for a shape that URDF has no words for."""
    if shape.kind == "convex":
        raise ModelError(f"{what}: URDF has no convex hulls; use boxes, spheres, cylinders or capsules, or a mesh file")
    if shape.friction is not None or shape.restitution is not None:
        raise ModelError(f"{what}: URDF has no friction or restitution of shapes; give them to the contact model")


def _link(link: Link) -> Link:
    """A link without an inertia that is none."""
    inertial = link.inertial
    empty = inertial is not None and not (inertial.line or inertial.mass or any(inertial.moments))
    return replace(link, inertial=None) if empty else link


def _joint(what: str, joint: LinkJoint) -> LinkJoint:
    """A joint with a type, an axis and bounds."""
    if joint.kind is None and joint.type in TYPES.values() and isinstance(joint.limits, (Bounds, type(None))):
        return joint
    kind, mimic, axis = joint.motion, joint.mimic, joint.axis
    if joint.rotor is not None:
        raise ModelError(f"{what}: URDF has no spinning rotors ({joint.name}.rotor); give the joints armature instead")
    what = f"{what}: joint {joint.name!r}"
    if kind.leader is not None:
        mimic, kind = Follow(kind.leader, kind.ratio, kind.offset), cast(Mimic, kind).joint
    name = TYPES.get(type(kind))
    if name is None:
        raise ModelError(f"{what}: URDF has no joint like {kind!r}")
    if name == "fixed":
        return LinkJoint(joint.name, name, joint.parent, joint.child, joint.origin)
    if any(_tuple(joint.stiffness)):
        raise ModelError(f"{what}: URDF has no springs")
    armature = joint.armature if joint.motor is None else joint.motor.armature
    armature, damping, friction = (_one(what, numbers) for numbers in (armature, joint.damping, joint.friction))
    if kind.nv > 1 and armature:
        raise ModelError(f"{what}: URDF has no armature of a {name} joint")
    bounds = _bounds(what, kind, joint)
    if name == "revolute" and bounds is not None and (bounds.lower, bounds.upper) == (-math.inf, math.inf):
        name = "continuous"
    if name == "continuous" and bounds is not None:
        bounds = replace(bounds, lower=None, upper=None)
    return replace(
        joint,
        type=name,
        axis=axis if joint.kind is None else cast(Three, tuple(getattr(kind, "axis", axis))),
        limits=bounds,
        damping=damping,
        friction=friction,
        mimic=mimic,
        motor=joint.motor or (Motor(1.0, armature) if armature else None),
        kind=None,
    )


def _tuple(numbers: Numbers) -> tuple[float, ...]:
    return tuple(numbers) if isinstance(numbers, Sequence) else (numbers,)


def _one(what: str, numbers: Numbers) -> float:
    numbers = _tuple(numbers)
    if len(set(numbers)) > 1:
        raise ModelError(f"{what}: URDF has one number for all directions, not {numbers}")
    return float(numbers[0])


def _bounds(what: str, kind: Joint, joint: LinkJoint) -> Bounds | None:
    """All four numbers, as other readers want them."""
    if kind.nq != 1:
        return None
    limits = limits_of(joint).of(what, kind)
    rows = (limits.lower, limits.upper, limits.effort, limits.velocity)
    return Bounds(*(cast(tuple[float, ...], row)[0] for row in rows))
