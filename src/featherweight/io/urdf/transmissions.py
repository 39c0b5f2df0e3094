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
        report.known(element, where, ("name", "type"), ("joint", "actuator", "type"))
        for kind in element.all("type"):
            report.known(kind, f"{where} <type>", (), (), text=True)
        ends = [element.all(tag) for tag in ("joint", "actuator")]
        why = ""
        if [len(end) for end in ends] != [1, 1]:
            why = "only one joint with one actuator is understood"
        else:
            name = ends[0][0].attributes.get("name", "")
            if name not in joints:
                why = f"there is no joint {short(name)!r}"
            elif name in motors:
                why = f"joint {short(name)!r} has a transmission already"
        if why:
            report.add("note", element.line, where, f"is not used: {why}", kind="transmission")
        else:
            motors[name] = _motor(element, where, report)
    return motors


def _motor(element: Element, where: str, report: Report) -> Motor:
    """What a transmission with one joint and one actuator says."""
    names = {"mechanicalReduction": "reduction", "rotorInertia": "inertia", "motorInertia": "inertia"}
    numbers: dict[str, float] = {}
    for end in (*element.all("actuator"), *element.all("joint")):
        place = f"{where} {name_of(end)}"
        report.known(end, place, ("name",), (*names, "hardwareInterface"))
        for child in end.children:
            if child.tag not in names:
                continue
            report.known(child, f"{place} <{child.tag}>", (), (), text=True)
            if names[child.tag] in numbers:
                report.unused(child, f"{place} <{child.tag}>", ": it is there already")
                continue
            value = Element(child.tag, {child.tag: child.text}, child.line)
            reduction, before = names[child.tag] == "reduction", report.faults
            most, taken = (RATIO, "taken as 1") if reduction else (ROTOR, "taken as 0")
            number = report.number(value, f"{where} <{child.tag}>", child.tag, None, most, taken)
            if report.faults == before:
                numbers[names[child.tag]] = number
            else:
                child.fate = "drop"
    if numbers.get("inertia", 0.0) < 0:
        message = f"rotor inertia: expected 0 or more, got {numbers['inertia']:g}"
        report.add("wrong", element.line, where, message, kind="negative", taken="there is none")
        for child in (child for end in element.children for child in end.children):
            child.fate = "drop" if names.get(child.tag) == "inertia" else child.fate
        numbers["inertia"] = 0.0
    return Motor(**numbers)
