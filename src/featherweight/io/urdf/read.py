"""From the text of a URDF file to a description: what each element means, and what in it is not used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from featherweight.errors import ModelError
from featherweight.io.findings import Report, name_of, short
from featherweight.io.limits import FOLLOW, LARGEST, LENGTH, MASS, MOMENT, PARTS, RATIO, RESISTANCE
from featherweight.io.urdf.transmissions import read_motors
from featherweight.io.xml import Element, parse
from featherweight.model.description import Description, Follow, Link, LinkJoint, Motor, Shape
from featherweight.model.spelling import Bounds, Inertial, Origin, Source, Three

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read(data: bytes, file: str | None, report: Report) -> Description:
    """The whole document; findings go to the report, what is wrong is read as its default."""
    root = parse(data, file)
    _bounded(root, file)
    where = name_of(root)
    if root.tag != "robot":
        report.error(root.line, where, "expected <robot> as the outermost element", "is this a URDF file?")
    xacro = next((e for e in _everything(root) if e.tag.startswith("xacro:")), None)
    if xacro is not None:
        fix = "expand it first: xacro robot.xacro > robot.urdf"
        report.error(xacro.line, f"{where} <{xacro.tag[:40]}>", "this is a xacro file", fix)
    report.known(root, where, {"name", "version"}, {"link", "joint", "material", "transmission"})
    colors: dict[str, tuple[float, ...]] = {}
    for child in root.children:
        for material in _everything(child):
            if material.tag == "material":  # findings about those of shapes come with the shapes
                color = _color(material, where, report if material is child else Report())
                if color:
                    colors.setdefault(material.attributes.get("name", ""), color)
    motors = read_motors(root, report)
    links = tuple(_link(e, file, colors, report) for e in root.all("link"))
    joints = tuple(_joint(e, file, motors, report) for e in root.all("joint"))
    return Description(root.attributes.get("name", "robot"), links, joints, Source(file, root.line, where), "URDF")


def _bounded(root: Element, file: str | None) -> None:
    """ModelError if there is more in a file than two seconds are enough for."""
    links, joints = root.all("link"), root.all("joint")
    shapes = sum(e.tag in ("visual", "collision") for link in links for e in link.children)
    if len(links) + len(joints) + shapes > PARTS:
        message = (
            f"the robot has {len(links)} links, {len(joints)} joints and {shapes} shapes; at most {PARTS} are read"
        )
        raise ModelError(message, file=file, line=root.line)


def _everything(root: Element) -> Iterator[Element]:
    """All elements."""
    stack = [root]
    while stack:
        element = stack.pop()
        yield element
        stack += reversed(element.children)


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
        cast(Three, report.numbers(element, place, "xyz", 3, zero, LENGTH)),
        cast(Three, report.numbers(element, place, "rpy", 3, zero)),
    )


def _color(material: Element, where: str, report: Report) -> tuple[float, ...]:
    place = f"{where} {name_of(material)}"
    report.known(material, place, {"name"}, {"color"})
    color = _only(material, "color", where, report)
    if color is not None:
        report.known(color, f"{place} <color>", {"rgba"}, set())
    return report.numbers(color, f"{where} <color>", "rgba", 4, (1.0, 1.0, 1.0, 1.0)) if color is not None else ()


def _link(element: Element, file: str | None, colors: dict[str, tuple[float, ...]], report: Report) -> Link:
    where = name_of(element)
    name = report.text(element, where, "name")
    source = Source(file, element.line, f'<link "{short(name)}">')
    report.known(element, where, {"name"}, {"inertial", "visual", "collision"})
    shapes = [_shape(e, where, source, colors, report) for e in element.children if e.tag in ("visual", "collision")]
    inertial = _only(element, "inertial", where, report)
    return Link(
        name,
        _inertial(inertial, where, source, report) if inertial is not None else None,
        tuple(s for s in shapes if s is not None),
        source,
    )


def _inertial(element: Element, where: str, link: Source, report: Report) -> Inertial:
    where = f"{where} <inertial>"
    before = report.errors
    report.known(element, where, set(), {"origin", "mass", "inertia"})
    mass, inertia = (_only(element, tag, where, report) for tag in ("mass", "inertia"))
    value, moments = 0.0, cast(tuple[float, ...], (0.0,) * 6)
    if mass is None:
        report.error(element.line, where, "<mass> is missing", 'write <mass value="…"/>')
    else:
        report.known(mass, f"{where} <mass>", {"value"}, set())
        value = report.number(mass, f"{where} <mass>", "value", None, MASS)
    if inertia is None:
        report.error(element.line, where, "<inertia> is missing", 'write <inertia ixx="…" ixy="…" …/>')
    else:
        place = f"{where} <inertia>"
        report.known(inertia, place, set(MOMENTS), set())
        needed = {"ixx", "iyy", "izz"}
        moments = tuple(report.number(inertia, place, m, None if m in needed else 0.0, MOMENT) for m in MOMENTS)
    origin = _origin(element, where, report)
    source = Source(link.file, element.line, f"{link.element} <inertial>")
    return Inertial(origin, value, moments, source, report.errors > before)


def _shape(
    element: Element, where: str, link: Source, colors: dict[str, tuple[float, ...]], report: Report
) -> Shape | None:
    where = f"{where} {name_of(element)}"
    report.known(element, where, {"name"}, {"origin", "geometry", "material"})
    geometry = _only(element, "geometry", where, report)
    if geometry is None or not geometry.children:
        fix = "write one of box, sphere, cylinder, capsule, mesh"
        report.error(element.line, where, "<geometry> is missing or empty", fix)
        return None
    body = geometry.children[0]
    report.known(geometry, f"{where} <geometry>", set(), {child.tag for child in geometry.children})
    for extra in geometry.children[1:]:
        report.error(extra.line, where, "more than one shape in <geometry>", "give each its own element")
    material = _only(element, "material", where, report)
    color: tuple[float, ...] = ()
    name = ""
    if material is not None:
        name = material.attributes.get("name", "")
        color = _color(material, where, report) or colors.get(name, ())
        if not color and name and not material.children:
            report.add("note", material.line, where, f"there is no material {short(name)!r}")
    place = f"{where} <{short(body.tag)}>"
    mesh, size = "", cast(tuple[float, ...], ())
    if body.tag == "mesh":
        mesh = report.text(body, place, "filename")
        size = report.numbers(body, place, "scale", 3, (1.0, 1.0, 1.0))
    elif body.tag == "box":
        size = report.numbers(body, place, "size", 3, None, LENGTH)
    elif body.tag in SIZES:
        size = tuple(report.number(body, place, attribute, None, LENGTH) for attribute in SIZES[body.tag])
    else:
        report.error(body.line, place, "is not a shape", "expected box, sphere, cylinder, capsule or mesh")
        return None
    attributes = {"filename", "scale"} if body.tag == "mesh" else set(SIZES[body.tag])
    report.known(body, place, attributes, set())
    if body.tag != "mesh" and any(x < 0 for x in size):
        report.error(body.line, place, f"a size is negative: {' '.join(map(str, size))}")
    own = element.attributes.get("name", "")
    called = f'{link.element} <{element.tag} "{short(own)}">' if own else f"{link.element} <{element.tag}>"
    source = Source(link.file, body.line, f"{called} <{body.tag}>")
    return Shape(element.tag, _origin(element, where, report), body.tag, size, mesh, color, own, name, source)


def _joint(element: Element, file: str | None, motors: dict[str, Motor], report: Report) -> LinkJoint:
    where = name_of(element)
    name, kind = report.text(element, where, "name"), report.text(element, where, "type")
    source = Source(file, element.line, f'<joint "{short(name)}">')
    if kind and kind not in TYPES:
        report.error(element.line, where, f"type {short(kind)!r} is unknown", f"expected one of {', '.join(TYPES)}")
    used = {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"}
    report.known(element, where, {"name", "type"}, used)
    ends = []
    for tag in ("parent", "child"):
        end = _only(element, tag, where, report)
        if end is None:
            report.error(element.line, where, f"<{tag}> is missing", f'write <{tag} link="…"/>')
        else:
            report.known(end, f"{where} <{tag}>", {"link"}, set())
        ends.append("" if end is None else report.text(end, f"{where} <{tag}>", "link"))
    damping = friction = 0.0
    dynamics = _only(element, "dynamics", where, report)
    if dynamics is not None:
        place = f"{where} <dynamics>"
        report.known(dynamics, place, {"damping", "friction"}, set())
        if kind == "fixed":
            report.add("note", dynamics.line, place, "is not used: a fixed joint does not move")
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
        _mimic(element, where, source, report),
        motors.get(name),
        source,
    )


def _not_negative(element: Element, where: str, attribute: str, report: Report) -> float:
    value = report.number(element, where, attribute, 0.0, RESISTANCE)
    if value < 0:
        report.error(element.line, where, f"{attribute}: expected 0 or more, got {value:g}")
        return 0.0
    return value


def _axis(joint: Element, where: str, kind: str, report: Report) -> Three:
    element = _only(joint, "axis", where, report)
    if element is None:
        return (1.0, 0.0, 0.0)
    report.known(element, f"{where} <axis>", {"xyz"}, set())
    axis = cast(Three, report.numbers(element, f"{where} <axis>", "xyz", 3, None))
    if kind == "planar" and sum(x != 0 for x in axis) != 1:
        fix = "write one of 1 0 0, 0 1 0, 0 0 1"
        report.error(element.line, f"{where} <axis>", "the normal of a planar joint must be along an axis", fix)
        return (0.0, 0.0, 1.0)
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
    if kind == "fixed":
        report.add("note", element.line, place, "is not used: a fixed joint does not move")
    elif kind not in ("revolute", "prismatic") and (bounds.lower is not None or bounds.upper is not None):
        report.add("note", element.line, place, f"lower and upper are not used: a {short(kind)} joint has no bounds")
    if kind in ("revolute", "prismatic"):
        lower, upper = bounds.lower or 0.0, bounds.upper or 0.0  # URDF's defaults
        if lower > upper:
            given = bounds.lower is not None and bounds.upper is not None
            fix = "exchange them" if given else "give both: what is not given is 0"
            report.error(element.line, place, f"lower {lower:g} is above upper {upper:g}", fix)
            return Bounds(effort=bounds.effort, velocity=bounds.velocity)
        if bounds.lower is None and bounds.upper is None:
            report.add("note", element.line, place, "lower and upper are not given: they are 0, the joint cannot move")
    return _unbounded(bounds)


def _unbounded(bounds: Bounds) -> Bounds:
    """The largest number that is read stands for infinity, which URDF cannot write."""
    large = {name: math.copysign(math.inf, x) for name, x in vars(bounds).items() if x and abs(x) >= LARGEST}
    return replace(bounds, **large) if large else bounds


def _mimic(joint: Element, where: str, source: Source, report: Report) -> Follow | None:
    element = _only(joint, "mimic", where, report)
    if element is None:
        return None
    place = f"{where} <mimic>"
    report.known(element, place, {"joint", "multiplier", "offset"}, set())
    leader = report.text(element, place, "joint")
    ratio = report.number(element, place, "multiplier", 1.0, FOLLOW)
    offset = report.number(element, place, "offset", 0.0, RATIO)
    source = Source(source.file, element.line, f"{source.element} <mimic>")
    return Follow(leader, ratio, offset, source) if leader else None
