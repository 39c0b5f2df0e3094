"""Transmissions of a URDF file: the motor of each joint."""

from __future__ import annotations

from featherweight.io.findings import Report, name_of, short
from featherweight.io.limits import RATIO, ROTOR
from featherweight.io.xml import Element
from featherweight.model.description import Motor


def read_motors(root: Element, report: Report) -> dict[str, Motor]:
    """Reduction and rotor inertia of each joint from its transmission; other things in them are noted as unused."""
    motors: dict[str, Motor] = {}
    joints = {joint.attributes.get("name", "") for joint in root.all("joint")}
    for element in root.all("transmission"):
        where = name_of(element)
        report.known(element, where, {"name", "type"}, {"joint", "actuator", "type"})
        for kind in element.all("type"):
            report.known(kind, f"{where} <type>", set(), set(), text=True)
        ends = [element.all(tag) for tag in ("joint", "actuator")]
        if [len(end) for end in ends] != [1, 1]:
            report.add("note", element.line, where, "is not used: only one joint with one actuator is understood")
            continue
        name = ends[0][0].attributes.get("name", "")
        if name not in joints:
            report.add("note", element.line, where, f"is not used: there is no joint {short(name)!r}")
        elif name in motors:
            report.add("note", element.line, where, f"is not used: joint {short(name)!r} has a transmission already")
        else:
            motors[name] = _motor(element, where, report)
    return motors


def _motor(element: Element, where: str, report: Report) -> Motor:
    """What a transmission with one joint and one actuator says."""
    names = {"mechanicalReduction": "reduction", "rotorInertia": "inertia", "motorInertia": "inertia"}
    numbers: dict[str, float] = {}
    for end in (*element.all("actuator"), *element.all("joint")):
        place = f"{where} {name_of(end)}"
        report.known(end, place, {"name"}, {*names, "hardwareInterface"})
        for child in end.children:
            if child.tag not in names:
                continue
            report.known(child, f"{place} <{child.tag}>", set(), set(), text=True)
            if names[child.tag] in numbers:
                report.add("note", child.line, f"{place} <{child.tag}>", "is not used: it is there already")
                continue
            value = Element(child.tag, {child.tag: child.text}, child.line)
            most = RATIO if names[child.tag] == "reduction" else ROTOR
            numbers[names[child.tag]] = report.number(value, f"{where} <{child.tag}>", child.tag, None, most)
    if numbers.get("inertia", 0.0) < 0:
        report.error(element.line, where, f"rotor inertia: expected 0 or more, got {numbers['inertia']:g}")
        numbers["inertia"] = 0.0
    return Motor(**numbers)
