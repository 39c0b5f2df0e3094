"""From XML elements to a description: what each URDF element means, and what in it is not used."""

from __future__ import annotations

import math
from typing import cast

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
    Three,
)
from featherweight.io.findings import Report, name_of
from featherweight.io.xml import Element

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_description(root: Element, file: str | None, report: Report) -> Description:
    """The whole document; findings go to the report, what is wrong is read as its default."""
    where = name_of(root)
    if root.tag != "robot":
        report.error(root.line, where, "expected <robot> as the outermost element", "is this a URDF file?")
    if any(e.tag.startswith("xacro:") for e in root.children):
        report.error(root.line, where, "this is a xacro file", "expand it first: xacro robot.xacro > robot.urdf")
    report.known(root, where, {"name", "version"}, {"link", "joint", "material", "transmission"})
    colors = {m.attributes.get("name", ""): _color(m, where, report) for m in root.all("material")}
    motors = _motors(root, report)
    links = tuple(_link(e, colors, report) for e in root.all("link"))
    joints = tuple(_joint(e, motors, report) for e in root.all("joint"))
    return Description(root.attributes.get("name", "robot"), links, joints, file)


def _only(element: Element, tag: str, where: str, report: Report) -> Element | None:
    """The child with this tag; a second one is an error."""
    found = element.all(tag)
    if len(found) > 1:
        report.error(found[1].line, where, f"<{tag}> is there twice", "keep one")
    return found[0] if found else None


def _origin(parent: Element, where: str, report: Report) -> Origin:
    element = _only(parent, "origin", where, report)
    if element is None:
        return Origin()
    place = f"{where} <origin>"
    report.known(element, place, {"xyz", "rpy"}, set())
    zero = (0.0, 0.0, 0.0)
    return Origin(
        cast(Three, report.numbers(element, place, "xyz", 3, zero)),
        cast(Three, report.numbers(element, place, "rpy", 3, zero)),
    )


def _color(material: Element, where: str, report: Report) -> tuple[float, ...]:
    color = _only(material, "color", where, report)
    return report.numbers(color, f"{where} <color>", "rgba", 4, (1.0, 1.0, 1.0, 1.0)) if color is not None else ()


def _link(element: Element, colors: dict[str, tuple[float, ...]], report: Report) -> Link:
    where = name_of(element)
    name = report.text(element, where, "name")
    report.known(element, where, {"name"}, {"inertial", "visual", "collision"})
    shapes = [_shape(e, where, colors, report) for e in element.children if e.tag in ("visual", "collision")]
    inertial = _only(element, "inertial", where, report)
    return Link(
        name,
        _inertial(inertial, where, report) if inertial is not None else None,
        tuple(s for s in shapes if s is not None),
        element.line,
    )


def _inertial(element: Element, where: str, report: Report) -> Inertial:
    where = f"{where} <inertial>"
    report.known(element, where, set(), {"origin", "mass", "inertia"})
    mass, inertia = (_only(element, tag, where, report) for tag in ("mass", "inertia"))
    value, moments = 0.0, cast(tuple[float, ...], (0.0,) * 6)
    if mass is None:
        report.error(element.line, where, "<mass> is missing", 'write <mass value="…"/>')
    else:
        value = report.number(mass, f"{where} <mass>", "value", None)
    if inertia is None:
        report.error(element.line, where, "<inertia> is missing", 'write <inertia ixx="…" ixy="…" …/>')
    else:
        place = f"{where} <inertia>"
        needed = {"ixx", "iyy", "izz"}
        moments = tuple(report.number(inertia, place, m, None if m in needed else 0.0) for m in MOMENTS)
    return Inertial(_origin(element, where, report), value, moments, element.line)


def _shape(element: Element, where: str, colors: dict[str, tuple[float, ...]], report: Report) -> Shape | None:
    where = f"{where} {name_of(element)}"
    report.known(element, where, {"name"}, {"origin", "geometry", "material"})
    geometry = _only(element, "geometry", where, report)
    if geometry is None or not geometry.children:
        report.error(element.line, where, "<geometry> is missing or empty", "write one of box, sphere, cylinder, mesh")
        return None
    body = geometry.children[0]
    for extra in geometry.children[1:]:
        report.error(extra.line, where, "more than one shape in <geometry>", "give each its own element")
    material = _only(element, "material", where, report)
    color: tuple[float, ...] = ()
    if material is not None:
        color = _color(material, where, report) or colors.get(material.attributes.get("name", ""), ())
    place = f"{where} <{body.tag}>"
    mesh, size = "", cast(tuple[float, ...], ())
    if body.tag == "mesh":
        mesh = report.text(body, place, "filename")
        size = report.numbers(body, place, "scale", 3, (1.0, 1.0, 1.0))
    elif body.tag == "box":
        size = report.numbers(body, place, "size", 3, None)
    elif body.tag in SIZES:
        size = tuple(report.number(body, place, attribute, None) for attribute in SIZES[body.tag])
    else:
        report.error(body.line, place, "is not a shape", "expected box, sphere, cylinder, capsule or mesh")
        return None
    if body.tag != "mesh" and any(x < 0 for x in size):
        report.error(body.line, place, f"a size is negative: {' '.join(map(str, size))}")
    return Shape(
        element.tag, _origin(element, where, report), body.tag, size, mesh, color, element.attributes.get("name", "")
    )


def _joint(element: Element, motors: dict[str, Motor], report: Report) -> LinkJoint:
    where = name_of(element)
    name, kind = report.text(element, where, "name"), report.text(element, where, "type")
    if kind and kind not in TYPES:
        report.error(element.line, where, f"type {kind!r} is unknown", f"expected one of {', '.join(TYPES)}")
    used = {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"}
    report.known(element, where, {"name", "type"}, used)
    ends = []
    for tag in ("parent", "child"):
        end = _only(element, tag, where, report)
        if end is None:
            report.error(element.line, where, f"<{tag}> is missing", f'write <{tag} link="…"/>')
        ends.append("" if end is None else report.text(end, f"{where} <{tag}>", "link"))
    damping = friction = 0.0
    dynamics = _only(element, "dynamics", where, report)
    if dynamics is not None:
        place = f"{where} <dynamics>"
        report.known(dynamics, place, {"damping", "friction"}, set())
        damping, friction = (_not_negative(dynamics, place, a, report) for a in ("damping", "friction"))
    return LinkJoint(
        name,
        kind,
        ends[0],
        ends[1],
        _origin(element, where, report),
        _axis(element, where, kind, report),
        _limit(element, where, kind, report),
        damping,
        friction,
        _mimic(element, where, report),
        motors.get(name),
        element.line,
    )


def _not_negative(element: Element, where: str, attribute: str, report: Report) -> float:
    value = report.number(element, where, attribute, 0.0)
    if value < 0:
        report.error(element.line, where, f"{attribute}: expected 0 or more, got {value:g}")
        return 0.0
    return value


def _axis(joint: Element, where: str, kind: str, report: Report) -> Three:
    element = _only(joint, "axis", where, report)
    if element is None:
        return (1.0, 0.0, 0.0)
    axis = cast(Three, report.numbers(element, f"{where} <axis>", "xyz", 3, None))
    length = math.hypot(*axis)
    if kind in ("fixed", "floating"):
        return axis
    if length == 0:
        report.error(element.line, f"{where} <axis>", "the axis is zero", "give a direction")
        return (1.0, 0.0, 0.0)
    if abs(length - 1) > 1e-3:
        report.add("note", element.line, f"{where} <axis>", f"has length {length:.6g}, not 1; its direction is used")
    return axis


def _limit(joint: Element, where: str, kind: str, report: Report) -> Bounds | None:
    element = _only(joint, "limit", where, report)
    if element is None:
        if kind in ("revolute", "prismatic"):
            report.add("note", joint.line, where, f"a {kind} joint without <limit>: it is not limited")
        return None
    place = f"{where} <limit>"
    report.known(element, place, {"lower", "upper", "effort", "velocity"}, set())
    numbers = {
        a: report.number(element, place, a, 0.0) if a in element.attributes else None
        for a in ("lower", "upper", "effort", "velocity")
    }
    for a in ("effort", "velocity"):
        if (numbers[a] or 0.0) < 0:
            report.error(element.line, place, f"{a}: expected 0 or more, got {numbers[a]:g}")
            numbers[a] = None
    bounds = Bounds(**numbers)
    if kind in ("revolute", "prismatic"):
        lower, upper = bounds.lower or 0.0, bounds.upper or 0.0  # URDF's defaults
        if lower > upper:
            report.error(element.line, place, f"lower {lower:g} is above upper {upper:g}", "exchange them")
            return Bounds(effort=bounds.effort, velocity=bounds.velocity)
    return bounds


def _mimic(joint: Element, where: str, report: Report) -> Follow | None:
    element = _only(joint, "mimic", where, report)
    if element is None:
        return None
    place = f"{where} <mimic>"
    report.known(element, place, {"joint", "multiplier", "offset"}, set())
    leader = report.text(element, place, "joint")
    return Follow(
        leader, report.number(element, place, "multiplier", 1.0), report.number(element, place, "offset", 0.0)
    )


def _motors(root: Element, report: Report) -> dict[str, Motor]:
    """Reduction and rotor inertia of each joint from its transmission; other things in them are noted as unused."""
    motors: dict[str, Motor] = {}
    for element in root.all("transmission"):
        where = name_of(element)
        joints, actuators = element.all("joint"), element.all("actuator")
        report.known(element, where, {"name", "type"}, {"joint", "actuator", "type"})
        if len(joints) != 1 or len(actuators) != 1:
            report.add("note", element.line, where, "is not used: only one joint with one actuator is understood")
            continue
        names = {"mechanicalReduction": "reduction", "rotorInertia": "inertia", "motorInertia": "inertia"}
        numbers: dict[str, float] = {}
        for child in (*actuators[0].children, *joints[0].children):
            if child.tag in names and names[child.tag] not in numbers:
                value = Element(child.tag, {child.tag: child.text}, child.line)
                numbers[names[child.tag]] = report.number(value, f"{where} <{child.tag}>", child.tag, None)
        if numbers.get("inertia", 0.0) < 0:
            report.error(element.line, where, f"rotor inertia: expected 0 or more, got {numbers['inertia']:g}")
            numbers["inertia"] = 0.0
        motors[joints[0].attributes.get("name", "")] = Motor(**numbers)
    return motors
