"""A description as URDF text: what `load` reads back to the same numbers."""

from __future__ import annotations

import math
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
from featherweight.joints import Continuous, Free, Joint, Mimic, Planar, Prismatic, Revolute
from featherweight.model import JointInfo, Model
from featherweight.spatial import Matrix, Transform

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
    return "".join(
        f' {name}="{escape(value if isinstance(value, str) else _text(value))}"' for name, value in values.items()
    )


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
            lines.append(f'      <material name=""><color{_attributes(rgba=shape.color)}/></material>')
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
        given = {name: value for name, value in vars(joint.limit).items() if value is not None}
        lines.append(f"    <limit{_attributes(**given)}/>")
    if joint.damping or joint.friction:
        lines.append(f"    <dynamics{_attributes(damping=joint.damping, friction=joint.friction)}/>")
    if joint.mimic is not None:
        lines.append(f"    <mimic{_attributes(**vars(joint.mimic))}/>")
    return [*lines, "  </joint>"]


def _transmission(joint: LinkJoint) -> list[str]:
    motor = joint.motor or Motor()
    return [
        f"  <transmission{_attributes(name=f'{joint.name}_transmission')}>",
        "    <type>transmission_interface/SimpleTransmission</type>",
        f"    <joint{_attributes(name=joint.name)}/>",
        f"    <actuator{_attributes(name=f'{joint.name}_motor')}>",
        f"      <mechanicalReduction>{motor.reduction!r}</mechanicalReduction>",
        *([f"      <rotorInertia>{motor.inertia!r}</rotorInertia>"] if motor.inertia else []),
        "    </actuator>",
        "  </transmission>",
    ]


def describe(model: Model) -> Description:
    """A description of a model that was built in Python; ModelError for what URDF cannot say."""
    world = "world_link" if "world" in {part.link for part in model.parts} else "world"
    links = [Link(world, None, _shapes(model, "world", Transform.identity()))]
    joints: list[LinkJoint] = []
    moving = {model.names[j.body]: j for j in model.joints}
    for part in model.parts:
        inertia = part.inertia
        moments = inertia.moment_about_com
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = moments
        inertial = Inertial(Origin(inertia.com), inertia.mass, (xx, xy, xz, yy, yz, zz))
        if part.link.endswith(".rotor"):
            raise ModelError(
                f"model {model.name!r}: URDF has no spinning rotors ({part.link}); give the joints armature instead"
            )
        empty = inertia.mass == 0 and not any(x for row in moments for x in row)
        links.append(Link(part.link, None if empty else inertial, _shapes(model, part.link, part.X)))
        body = model.names[part.body] if part.body else world
        if part.link in moving:
            info = moving[part.link]
            parent = model.parent[info.body]
            above = model.names[parent] if parent else world
            joints.append(_describe_joint(model, info, above, part.link, model.X_tree[info.body]))
        else:
            joints.append(LinkJoint(f"{part.link}_joint", "fixed", body, part.link, _as_origin(part.X)))
    return Description(model.name, tuple(links), tuple(joints))


def _describe_joint(model: Model, info: JointInfo, parent: str, child: str, X: Transform) -> LinkJoint:
    kind, mimic = info.kind, None
    if isinstance(kind, Mimic):
        mimic, kind = Follow(str(kind.leader), kind.ratio, kind.offset), kind.joint
    name = TYPES.get(type(kind))
    if name is None:
        raise ModelError(f"model {model.name!r}: URDF has no joint like {info.name!r}, {kind!r}")
    if any(info.stiffness):
        raise ModelError(f"model {model.name!r}: URDF has no springs (joint {info.name!r})")
    limit = info.limits
    numbers = {
        "lower": limit.lower, "upper": limit.upper, "effort": limit.effort, "velocity": limit.velocity
    }  # fmt: skip
    bounds = {n: x[0] for n, x in numbers.items() if isinstance(x, tuple) and x and math.isfinite(x[0])}
    if name == "revolute" and len(bounds.keys() & {"lower", "upper"}) < 2:
        name = "continuous"  # without bounds
    ratio = kind.ratio if mimic is None else mimic.multiplier
    square = ratio * ratio or 1.0
    return LinkJoint(
        info.name,
        name,
        parent,
        child,
        _as_origin(X),
        tuple(getattr(kind, "axis", (1.0, 0.0, 0.0))),
        Bounds(**bounds) if bounds else None,
        info.damping[0] / square,
        info.friction[0] / abs(ratio or 1.0),
        mimic,
        Motor(1.0, info.armature[0] / square) if any(info.armature) else None,
    )


def _shapes(model: Model, link: str, X_link: Transform) -> tuple[Shape, ...]:
    """The shapes of a link, in its frame."""
    back = Transform(X_link.E.T, -(X_link.E @ X_link.r))
    return tuple(
        Shape(g.role, _as_origin(g.X @ back), g.kind, g.size, g.mesh, g.color) for g in model.geometry if g.link == link
    )


def _as_origin(X: Transform) -> Origin:
    """Position, and roll pitch yaw of the frame in its parent."""
    R: Matrix = X.E.T
    pitch = math.atan2(-float(R[2][0]), math.hypot(float(R[0][0]), float(R[1][0])))
    if math.hypot(float(R[0][0]), float(R[1][0])) > 1e-12:
        roll = math.atan2(float(R[2][1]), float(R[2][2]))
        yaw = math.atan2(float(R[1][0]), float(R[0][0]))
    else:  # straight up or down: only the sum matters
        roll, yaw = 0.0, math.atan2(-float(R[0][1]), float(R[1][1]))
    x, y, z = (float(c) for c in X.r)
    return Origin((x, y, z), (roll, pitch, yaw))
