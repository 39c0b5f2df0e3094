"""Joints of a URDF file: what they join and how they move must be readable, what limits them need not be."""

from __future__ import annotations

import math
from typing import cast

from featherweight.io.findings import Report, name_of, short
from featherweight.io.limits import FOLLOW, LARGEST, RATIO, RESISTANCE
from featherweight.io.urdf.links import read_origin
from featherweight.io.xml import Element
from featherweight.model.description import Follow, LinkJoint, Motor
from featherweight.model.spelling import Bounds, Source, Three

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
PARTS = ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic")
LINK, XYZ, DYNAMICS = frozenset({"link"}), frozenset({"xyz"}), frozenset({"damping", "friction"})
LIMITS = ("lower", "upper", "effort", "velocity")
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
FIXED = ": a fixed joint does not move"


def read_joint(element: Element, file: str | None, motors: dict[str, Motor], report: Report) -> LinkJoint:
    where = name_of(element)
    name, kind = report.text(element, where, "name"), report.text(element, where, "type")
    source = Source(file, element.line, f'<joint "{short(name)}">')
    if kind and kind not in TYPES:
        fix = f"expected one of {', '.join(TYPES)}"
        report.error(element.line, where, f"type {short(kind)!r} is unknown", fix, kind="joint-type")
    parts = report.parts(element, where, ("name", "type"), PARTS)
    parent, child = (_end(element, parts.get(tag), tag, where, report) for tag in ("parent", "child"))
    origin = read_origin(parts.get("origin"), where, report)
    if kind == "fixed":
        _note_unused(parts, where, report)
        return LinkJoint(name, kind, parent, child, origin, motor=motors.get(name), source=source)
    damping, friction = _dynamics(parts.get("dynamics"), where, report)
    return LinkJoint(
        name, kind, parent, child, origin,
        _axis(parts.get("axis"), where, kind, report),
        _limit(element, parts.get("limit"), where, kind, report),
        damping, friction,
        _mimic(parts.get("mimic"), where, source, report),
        motors.get(name), source,
    )  # fmt: skip


def _end(joint: Element, element: Element | None, tag: str, where: str, report: Report) -> str:
    """The name of the link at one end."""
    if element is None:
        report.error(joint.line, where, f"<{tag}> is missing", f'write <{tag} link="…"/>', kind="tree")
        return ""
    report.leaf(element, where, LINK)
    return report.text(element, f"{where} <{tag}>", "link")


def _note_unused(parts: dict[str, Element], where: str, report: Report) -> None:
    """What a fixed joint has no use for. Exporters give it an axis: only what is odd about that is told."""
    for tag in ("limit", "dynamics", "mimic"):
        if tag in parts:
            report.unused(parts[tag], f"{where} <{tag}>", FIXED)
    if "axis" in parts:
        report.known(parts["axis"], f"{where} <axis>", ("xyz",), ())


def _dynamics(element: Element | None, where: str, report: Report) -> tuple[float, float]:
    """Damping and friction."""
    if element is None:
        return 0.0, 0.0
    place, taken = f"{where} <dynamics>", "there is none"
    report.leaf(element, where, DYNAMICS)
    values = []
    for attribute in ("damping", "friction"):
        value = report.number(element, place, attribute, 0.0, RESISTANCE, taken)
        if value < 0:
            message = f"{attribute}: expected 0 or more, got {value:g}"
            report.wrong(element, place, message, kind="negative", taken=taken)
        values.append(value if value >= 0 else 0.0)
    return values[0], values[1]


def _axis(element: Element | None, where: str, kind: str, report: Report) -> Three:
    if element is None:
        return X
    place = f"{where} <axis>"
    report.leaf(element, where, XYZ)
    if kind == "floating":
        return X
    missing, before = "xyz" not in element.attributes, report.faults
    axis = cast(Three, X if missing else report.numbers(element, place, "xyz", 3, None))
    if report.faults > before:
        return X
    if kind == "planar" and sum(x != 0 for x in axis) != 1:
        message, fix = "the normal of a planar joint must be along an axis", "write one of 1 0 0, 0 1 0, 0 0 1"
        report.wrong(element, place, message, fix, kind="axis", taken="0 0 1 is taken")
        return Z
    length = math.hypot(*axis)
    if length == 0 or missing:
        message = "xyz is missing" if missing else "the axis is zero"
        fix = 'write xyz="… … …"' if missing else "give a direction"
        report.wrong(element, place, message, fix, kind="axis", taken="1 0 0 is taken")
        return X
    if abs(length - 1) > 1e-3:
        message = f"has length {length:.6g}, not 1; its direction is used"
        report.add("note", element.line, place, message, kind="axis-length")
    return axis


def _limit(joint: Element, element: Element | None, where: str, kind: str, report: Report) -> Bounds | None:
    bounded = kind in ("revolute", "prismatic")
    if element is None:
        if bounded:
            message = f"a {kind} joint without <limit>: it is not limited"
            report.add("note", joint.line, where, message, kind="no-limit")
        return None
    place, taken = f"{where} <limit>", "taken as not given"
    report.leaf(element, where, frozenset(LIMITS))
    numbers: dict[str, float | None] = dict.fromkeys(LIMITS)
    for name in LIMITS:
        if name in element.attributes:
            before = report.faults
            value = report.number(element, place, name, 0.0, math.inf, taken)
            numbers[name] = value if report.faults == before else None
    for name in ("effort", "velocity"):
        if (numbers[name] or 0.0) < 0:
            message = f"{name}: expected 0 or more, got {numbers[name]:g}"
            report.wrong(element, place, message, kind="negative", taken="not limited")
            numbers[name] = None
    if bounded:
        _order(element, numbers, place, report)
    elif numbers["lower"] is not None or numbers["upper"] is not None:
        message = f"lower and upper are not used: a {short(kind)} joint has no bounds"
        report.add("note", element.line, place, message, kind="unused-attribute")
    # the largest number that is read stands for infinity, which URDF cannot write
    return Bounds(*(math.copysign(math.inf, x) if x and abs(x) >= LARGEST else x for x in numbers.values()))


def _order(element: Element, numbers: dict[str, float | None], place: str, report: Report) -> None:
    """Lower is not above upper: else they are exchanged. What is not given is 0."""
    lower, upper = numbers["lower"] or 0.0, numbers["upper"] or 0.0
    if lower > upper:
        given = numbers["lower"] is not None and numbers["upper"] is not None
        fix = "exchange them" if given else "give both: what is not given is 0"
        message = f"lower {lower:g} is above upper {upper:g}"
        report.wrong(element, place, message, fix, kind="limit-order", taken="they are exchanged")
        numbers["lower"], numbers["upper"] = upper, lower
    elif numbers["lower"] is None and numbers["upper"] is None:
        message = "lower and upper are not given: they are 0, the joint cannot move"
        report.add("note", element.line, place, message, kind="zero-limit")


def _mimic(element: Element | None, where: str, source: Source, report: Report) -> Follow | None:
    if element is None:
        return None
    place, taken = f"{where} <mimic>", "the joint moves by itself"
    report.known(element, place, ("joint", "multiplier", "offset"), ())
    before = report.faults
    leader = element.attributes.get("joint", "")
    if not leader.strip():
        message = "joint is missing" if "joint" not in element.attributes else "joint is empty"
        report.wrong(element, place, message, kind="mimic", taken=taken, fate="drop")
    ratio = report.number(element, place, "multiplier", 1.0, FOLLOW, taken)
    offset = report.number(element, place, "offset", 0.0, RATIO, taken)
    if report.faults > before:
        element.fate = "drop"
        return None
    return Follow(leader, ratio, offset, Source(source.file, element.line, f"{source.element} <mimic>"))
