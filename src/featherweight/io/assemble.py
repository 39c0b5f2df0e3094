"""From a description to a model: joints by type, contact points from collision shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from featherweight.errors import ModelError
from featherweight.io.bodies import link_inertia, placement_of
from featherweight.io.description import Description, Link, LinkJoint, Origin, Shape, Tree
from featherweight.io.limits import LARGEST, POINTS
from featherweight.joints import Continuous, Free, Joint, Mimic, Planar, Prismatic, Revolute
from featherweight.model import Builder, Inertia, Limits, Model

SIMPLE = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}
RIM = 4  # points on each rim of a cylinder
Point = tuple[tuple[float, float, float], float]  # position in the shape's frame, radius


def assemble(
    description: Description,
    tree: Tree,
    *,
    base: str,
    gravity: Sequence[float],
    parameters: Sequence[str],
    contact: bool | Sequence[str],
    meshes: Mapping[str, str],
) -> Model:
    """The model of a description that was checked."""
    builder = Builder(description.name, gravity=gravity, policy="accept", parameters=parameters)
    root = tree.root
    links = {link.name: link.name for link in description.links}  # in the file -> in the model
    taken = {*links, *(joint.name for joint in tree.joints), "world"}
    if root.name == "world" and base == "free":
        links["world"] = _new_name("world_link", taken)
    joints = joint_names(description, tree)
    if links[root.name] != "world":
        builder.add_body(
            links[root.name],
            joint=Free() if base == "free" else None,
            inertia=_inertia(root),
            joint_name=_new_name("root_joint", taken | set(joints.values())),
        )
    movers = {joint.name for joint in tree.joints if joint.type in SIMPLE}
    for joint in tree.joints:
        place: dict[str, Any] = {
            "parent": links[joint.parent],
            "joint_name": joints[joint.name],
            "placement": placement_of(joint.origin),
            "inertia": _inertia(tree.links[joint.child]),
        }
        if joint.type == "fixed":
            builder.add_body(joint.child, **place)
        else:
            kind = _kind(joint, movers, joints)
            builder.add_body(joint.child, joint=kind, limits=_limits(joint), **_properties(joint), **place)
    for link in description.links:
        for shape in link.shapes:
            placement = placement_of(shape.origin)
            builder.add_geometry(
                links[link.name],
                shape.role,
                shape.kind,
                shape.size,
                placement,
                shape.mesh,
                shape.color,
                meshes.get(shape.mesh),
            )
    _add_contact_points(builder, description, contact, links, taken | set(joints.values()))
    return builder.build()


def joint_names(description: Description, tree: Tree) -> dict[str, str]:
    """Names of the joints in the model: links and joints share one space of names here, so a joint that is called like
    a link gets a longer name."""
    taken = {link.name for link in description.links} | {joint.name for joint in tree.joints}
    links = {link.name for link in description.links}
    names = {}
    for joint in tree.joints:
        names[joint.name] = _new_name(f"{joint.name}_joint", taken) if joint.name in links else joint.name
    return names


def _new_name(name: str, taken: set[str]) -> str:
    """A name that is not taken; it is, from now on."""
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _inertia(link: Link) -> Inertia | None:
    return None if link.inertial is None else link_inertia(link.inertial)


def _kind(joint: LinkJoint, movers: set[str], names: dict[str, str]) -> Joint:
    if joint.type == "floating":
        return Free()
    if joint.type == "planar":
        return Planar(joint.axis)
    kind = SIMPLE[joint.type](joint.axis)
    if joint.mimic is None or joint.mimic.joint not in movers:
        return kind
    return Mimic(kind, names[joint.mimic.joint], joint.mimic.multiplier, joint.mimic.offset)


def _properties(joint: LinkJoint) -> dict[str, Any]:
    motor = joint.motor
    armature = 0.0 if motor is None else motor.reduction**2 * motor.inertia
    return {"armature": armature, "damping": joint.damping, "friction": joint.friction}


def _limits(joint: LinkJoint) -> Limits | None:
    limit = joint.limit
    if limit is None:
        return None
    bounded = joint.type in ("revolute", "prismatic")
    return Limits(
        _number(limit.lower or 0.0) if bounded else -math.inf,
        _number(limit.upper or 0.0) if bounded else math.inf,
        math.inf if limit.velocity is None else _number(limit.velocity),
        math.inf if limit.effort is None else _number(limit.effort),
    )


def _number(x: float) -> float:
    """The largest number that is read stands for infinity, which URDF cannot write."""
    return math.copysign(math.inf, x) if abs(x) >= LARGEST else x


def _add_contact_points(
    builder: Builder,
    description: Description,
    contact: bool | Sequence[str],
    links: dict[str, str],
    taken: set[str],
) -> None:
    """Points of the collision shapes of all links, of the links that are named, or frames that are named."""
    if contact is False:
        return
    wanted = None if contact is True else set(contact)
    count = 0
    for link in description.links:
        if wanted is not None and link.name not in wanted:
            continue
        points = [
            (shape, point) for shape in link.shapes if shape.role == "collision" for point in contact_points(shape)
        ]
        if wanted is not None and not points:
            points = [(Shape("collision", Origin(), "sphere", (0.0,)), ((0.0, 0.0, 0.0), 0.0))]
        count += len(points)
        if count > POINTS:
            message = f"the collision shapes up to here have more than {POINTS} contact points"
            fix = "contact=False takes none, contact=[…] those of some links"
            raise ModelError(f"{message}; {fix}", line=link.line, element=link.where)
        for k, (shape, (position, radius)) in enumerate(points):
            X = placement_of(shape.origin).transform
            at = X.r + X.E.transposed_times(type(X.r)(*position))
            name = _new_name(f"{link.name}_contact{k}", taken)
            builder.add_contact_point(name, parent=links[link.name], position=at, radius=radius)
    if wanted is not None:
        for name in sorted(wanted - {link.name for link in description.links}):
            builder.add_contact_point(_new_name(f"{name}_contact", taken), parent=name)


def contact_points(shape: Shape) -> list[Point]:
    """Centre of a sphere, corners of a box, ends of a capsule, points on the rims of a cylinder; none of a mesh."""
    if shape.kind == "sphere":
        return [((0.0, 0.0, 0.0), shape.size[0])]
    if shape.kind == "box":
        x, y, z = (s / 2 for s in shape.size)
        return [((a * x, b * y, c * z), 0.0) for a, b, c in product((1, -1), repeat=3)]
    if shape.kind == "capsule":
        radius, length = shape.size
        return [((0.0, 0.0, end * length / 2), radius) for end in (1, -1)]
    if shape.kind == "cylinder":
        radius, length = shape.size
        turns = [2 * math.pi * k / RIM for k in range(RIM)]
        return [((radius * math.cos(t), radius * math.sin(t), end * length / 2), 0.0) for end in (1, -1) for t in turns]
    return []
