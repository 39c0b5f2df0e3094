"""A description as URDF text: what `load` reads back to the same numbers."""

from __future__ import annotations

import math
import re
from html import escape
from typing import Any

from featherweight.errors import ModelError
from featherweight.io.description import (
    Bounds,
    Description,
    Follow,
    Inertial,
    Link,
    LinkJoint,
    Motor,
    Origin,
    Shape,
)
from featherweight.io.limits import LARGEST
from featherweight.joints import Continuous, Free, Joint, Mimic, Planar, Prismatic, Revolute
from featherweight.model import JointInfo, Model
from featherweight.spatial import Transform

TYPES: dict[type[Joint], str] = {
    Revolute: "revolute",
    Continuous: "continuous",
    Prismatic: "prismatic",
    Free: "floating",
    Planar: "planar",
}


def to_urdf(description: Description) -> str:
    """The text of a URDF file; numbers have all their digits."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot{_attributes(name=description.name)}>"]
    for link in description.links:
        lines += _link(link)
    for joint in description.joints:
        lines += _joint(joint)
    for joint in description.joints:
        if joint.motor is not None:
            lines += _transmission(joint)
    return "\n".join([*lines, "</robot>", ""])


def _attributes(**values: Any) -> str:
    for value in values.values():
        if isinstance(value, str) and _NOT_XML.search(value):
            raise ModelError(f"the name {value!r} has characters that XML cannot write")
    return "".join(
        f' {name}="{_escaped(value if isinstance(value, str) else _text(value))}"' for name, value in values.items()
    )


_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def _escaped(text: str) -> str:
    """For an attribute, where plain line ends and tabs would be read as spaces."""
    return escape(text).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")


def _text(value: Any) -> str:
    return " ".join(map(repr, value)) if isinstance(value, tuple) else repr(value)


def _origin(origin: Origin) -> str:
    return f"<origin{_attributes(xyz=origin.xyz, rpy=origin.rpy)}/>"


def _link(link: Link) -> list[str]:
    lines = [f"  <link{_attributes(name=link.name)}>"]
    if link.inertial is not None:
        moments = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), link.inertial.moments, strict=True))
        lines += [
            "    <inertial>",
            f"      {_origin(link.inertial.origin)}",
            f"      <mass{_attributes(value=link.inertial.mass)}/>",
            f"      <inertia{_attributes(**moments)}/>",
            "    </inertial>",
        ]
    for shape in link.shapes:
        names = {"box": ("size",), "sphere": ("radius",), "mesh": ("filename", "scale")}.get(
            shape.kind, ("radius", "length")
        )
        values: tuple[Any, ...] = shape.size
        if shape.kind == "box":
            values = (shape.size,)
        elif shape.kind == "mesh":
            values = (shape.mesh, shape.size)
        name = {"name": shape.name} if shape.name else {}
        lines += [
            f"    <{shape.role}{_attributes(**name)}>",
            f"      {_origin(shape.origin)}",
            f"      <geometry><{shape.kind}{_attributes(**dict(zip(names, values, strict=True)))}/></geometry>",
        ]
        if shape.color:
            color = f"<color{_attributes(rgba=shape.color)}/>"
            lines.append(f"      <material{_attributes(name=shape.material)}>{color}</material>")
        elif shape.material:
            lines.append(f"      <material{_attributes(name=shape.material)}/>")
        lines.append(f"    </{shape.role}>")
    return [*lines, "  </link>"]


def _joint(joint: LinkJoint) -> list[str]:
    lines = [
        f"  <joint{_attributes(name=joint.name, type=joint.type)}>",
        f"    {_origin(joint.origin)}",
        f"    <parent{_attributes(link=joint.parent)}/>",
        f"    <child{_attributes(link=joint.child)}/>",
    ]
    if joint.type not in ("fixed", "floating"):
        lines.append(f"    <axis{_attributes(xyz=joint.axis)}/>")
    if joint.limit is not None:
        bounds = {"lower", "upper"} if joint.type == "continuous" and joint.line == 0 else set()
        given = {name: value for name, value in vars(joint.limit).items() if value is not None and name not in bounds}
        lines.append(f"    <limit{_attributes(**given)}/>")
    if (repr(joint.damping), repr(joint.friction)) != ("0.0", "0.0"):
        lines.append(f"    <dynamics{_attributes(damping=joint.damping, friction=joint.friction)}/>")
    if joint.mimic is not None:
        mimic = {name: value for name, value in vars(joint.mimic).items() if name != "line"}
        lines.append(f"    <mimic{_attributes(**mimic)}/>")
    return [*lines, "  </joint>"]


def _transmission(joint: LinkJoint) -> list[str]:
    motor = joint.motor or Motor()
    return [
        f"  <transmission{_attributes(name=f'{joint.name}_transmission')}>",
        "    <type>transmission_interface/SimpleTransmission</type>",
        f"    <joint{_attributes(name=joint.name)}/>",
        f"    <actuator{_attributes(name=f'{joint.name}_motor')}>",
        f"      <mechanicalReduction>{motor.reduction!r}</mechanicalReduction>",
        *([f"      <rotorInertia>{motor.inertia!r}</rotorInertia>"] if repr(motor.inertia) != "0.0" else []),
        "    </actuator>",
        "  </transmission>",
    ]


def describe(model: Model) -> Description:
    """A description of a model that was built in Python; ModelError for what URDF cannot say."""
    world = "world_link" if "world" in {part.link for part in model.parts} else "world"
    links = [Link(world, None, _shapes(model, "world", Transform.identity()))]
    joints: list[LinkJoint] = []
    moving = {model.names[j.body]: j for j in model.joints}
    rotors = {f"{j.name}.rotor" for j in model.joints if j.rotor is not None}
    for part in model.parts:
        inertia = part.inertia
        moments = inertia.moment_about_com
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = moments
        inertial = Inertial(Origin(inertia.com), inertia.mass, (xx, xy, xz, yy, yz, zz))
        if part.link in rotors:
            raise ModelError(
                f"model {model.name!r}: URDF has no spinning rotors ({part.link}); give the joints armature instead"
            )
        empty = inertia.mass == 0 and not any(x for row in moments for x in row)
        links.append(Link(part.link, None if empty else inertial, _shapes(model, part.link, part.X)))
        if part.link in moving:
            info = moving[part.link]
            parent = model.parent[info.body]
            above = model.names[parent] if parent else world
            joints.append(_describe_joint(model, info, above, part.link, model.X_tree[info.body]))
        else:
            joints.append(_weld(model, part.link, part.body, part.X, world))
    known = {part.link for part in model.parts} | {joint.name for joint in joints} | {"world"}
    known |= {point.name for point in model.contact_points}
    for frame in model.frames.values():
        if frame.name not in known:
            links.append(Link(frame.name))
            joints.append(_weld(model, frame.name, frame.body, frame.X, world))
    for point in model.contact_points:
        ball = Shape("collision", Origin(), "sphere", (point.radius,))
        links.append(Link(point.name, None, (ball,)))
        joints.append(_weld(model, point.name, point.body, model.frames[point.name].X, world))
    return Description(model.name, tuple(links), tuple(joints))


def _weld(model: Model, link: str, body: int, X: Transform, world: str) -> LinkJoint:
    return LinkJoint(f"{link}_joint", "fixed", model.names[body] if body else world, link, _as_origin(X))


def _describe_joint(model: Model, info: JointInfo, parent: str, child: str, X: Transform) -> LinkJoint:
    what = f"model {model.name!r}: joint {info.name!r}"
    kind, mimic = info.kind, None
    if isinstance(kind, Mimic):
        mimic, kind = Follow(str(kind.leader), kind.ratio, kind.offset), kind.joint
    name = TYPES.get(type(kind))
    if name is None:
        raise ModelError(f"{what}: URDF has no joint like {kind!r}")
    if any(info.stiffness):
        raise ModelError(f"{what}: URDF has no springs")
    for numbers in (info.armature, info.damping, info.friction):
        if len(set(numbers)) > 1:
            raise ModelError(f"{what}: URDF has one number for all directions, not {numbers}")
    if len(info.armature) > 1 and any(info.armature):
        raise ModelError(f"{what}: URDF has no armature of a {name} joint")
    ratio = 1.0 if mimic is None else abs(mimic.multiplier) or 1.0
    bounds = _bounds(info)
    if name == "revolute" and bounds is not None and (bounds.lower, bounds.upper) == (-LARGEST, LARGEST):
        name = "continuous"  # without bounds
    return LinkJoint(
        info.name,
        name,
        parent,
        child,
        _as_origin(X),
        tuple(getattr(kind, "axis", (1.0, 0.0, 0.0))),
        bounds if name in ("revolute", "prismatic", "continuous") else None,
        info.damping[0] / ratio**2,
        info.friction[0] / ratio,
        mimic,
        Motor(1.0, info.armature[0] / ratio**2) if any(info.armature) else None,
    )


def _bounds(info: JointInfo) -> Bounds | None:
    """All four numbers, as other readers want them; the largest that is read stands for infinity."""
    if info.kind.nq != 1:
        return None
    limits = (info.limits.lower, info.limits.upper, info.limits.effort, info.limits.velocity)
    lower, upper, effort, velocity = (max(-LARGEST, min(LARGEST, x[0])) for x in limits if isinstance(x, tuple))
    return Bounds(lower, upper, effort, velocity)


def _shapes(model: Model, link: str, X_link: Transform) -> tuple[Shape, ...]:
    """The shapes of a link, in its frame."""
    back = Transform(X_link.E.T, -(X_link.E @ X_link.r))
    return tuple(
        Shape(g.role, _as_origin(g.X @ back), g.kind, g.size, g.mesh, g.color) for g in model.geometry if g.link == link
    )


def _as_origin(X: Transform) -> Origin:
    """Position, and roll pitch yaw of the frame in its parent."""
    R = [[float(x) for x in row] for row in X.E.T]
    roll = math.atan2(R[2][1], R[2][2]) if math.hypot(R[2][1], R[2][2]) > 1e-15 else 0.0
    c, s = math.cos(roll), math.sin(roll)  # what is left when the roll is undone, also near straight up
    pitch = math.atan2(-R[2][0], s * R[2][1] + c * R[2][2])
    yaw = math.atan2(s * R[0][2] - c * R[0][1], c * R[1][1] - s * R[1][2])
    x, y, z = (float(c) for c in X.r)
    return Origin((x, y, z), (roll, pitch, yaw))
