"""A description as URDF text: what `load` reads back to the same numbers."""

from __future__ import annotations

import math
import re
from html import escape
from typing import Any

from featherweight.errors import ModelError
from featherweight.io.limits import LARGEST
from featherweight.io.urdf.express import express
from featherweight.model.description import Description, Link, LinkJoint, Motor
from featherweight.model.placement import Placement
from featherweight.model.spelling import Bounds, Inertial, Origin


def write(description: Description) -> str:
    """The text of a URDF file; numbers have all their digits. ModelError for what URDF cannot say."""
    description = express(description)
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
    return " ".join(repr(float(x)) for x in (value if isinstance(value, tuple) else (value,)))


def _origin(origin: Origin | Placement | None) -> str:
    if not isinstance(origin, Origin):
        origin = Origin() if origin is None else _spelled(origin)
    return f"<origin{_attributes(xyz=origin.xyz, rpy=origin.rpy)}/>"


def _spelled(placement: Placement) -> Origin:
    """Position, and roll pitch yaw of the frame in its parent."""
    R = placement.rotation
    roll = math.atan2(R[2][1], R[2][2]) if math.hypot(R[2][1], R[2][2]) > 1e-15 else 0.0
    c, s = math.cos(roll), math.sin(roll)  # what is left when the roll is undone, also near straight up
    pitch = math.atan2(-R[2][0], s * R[2][1] + c * R[2][2])
    yaw = math.atan2(s * R[0][2] - c * R[0][1], c * R[1][1] - s * R[1][2])
    x, y, z = map(float, placement.position)
    return Origin((x, y, z), (roll, pitch, yaw))


def inertial_lines(inertial: Inertial) -> list[str]:
    """An inertial, as lines of text."""
    moments = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), inertial.moments, strict=True))
    return [
        "<inertial>",
        f"  {_origin(inertial.origin)}",
        f"  <mass{_attributes(value=inertial.mass)}/>",
        f"  <inertia{_attributes(**moments)}/>",
        "</inertial>",
    ]


def joint_part(joint: LinkJoint, tag: str) -> str:
    """The axis, limit, dynamics or mimic of a joint as text; empty if it has none."""
    if tag == "axis" and joint.type not in ("fixed", "floating"):
        return f"<axis{_attributes(xyz=joint.axis)}/>"
    if tag == "limit" and isinstance(joint.limits, Bounds):
        given = {name: x for name, x in vars(joint.limits).items() if x is not None}
        bounded = {name: max(-LARGEST, min(LARGEST, x)) for name, x in given.items()}
        return f"<limit{_attributes(**bounded)}/>"
    if tag == "dynamics" and (repr(joint.damping), repr(joint.friction)) != ("0.0", "0.0"):
        return f"<dynamics{_attributes(damping=joint.damping, friction=joint.friction)}/>"
    if tag == "mimic" and joint.mimic is not None:
        mimic = joint.mimic
        return f"<mimic{_attributes(joint=mimic.joint, multiplier=mimic.multiplier, offset=mimic.offset)}/>"
    return ""


def _link(link: Link) -> list[str]:
    lines = [f"  <link{_attributes(name=link.name)}>"]
    if link.inertial is not None:
        lines += [f"    {line}" for line in inertial_lines(link.inertial)]
    for shape in link.shapes:
        names = {"box": ("size",), "sphere": ("radius",), "mesh": ("filename", "scale")}.get(
            shape.kind, ("radius", "length")
        )
        size = tuple(shape.size)
        values: tuple[Any, ...] = size
        if shape.kind == "box":
            values = (size,)
        elif shape.kind == "mesh":
            values = (shape.mesh, size)
        name = {"name": shape.name} if shape.name else {}
        lines += [
            f"    <{shape.role}{_attributes(**name)}>",
            f"      {_origin(shape.origin)}",
            f"      <geometry><{shape.kind}{_attributes(**dict(zip(names, values, strict=True)))}/></geometry>",
        ]
        if shape.color:
            color = f"<color{_attributes(rgba=tuple(shape.color))}/>"
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
    parts = (joint_part(joint, tag) for tag in ("axis", "limit", "dynamics", "mimic"))
    lines += [f"    {part}" for part in parts if part]
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
