"""Links of a URDF file: inertials, shapes, colours. Whatever of them cannot be read, the tree can."""

from __future__ import annotations

from typing import cast

from featherweight.io.findings import Report, name_of, short
from featherweight.io.limits import LENGTH, MASS, MOMENT
from featherweight.io.xml import Element
from featherweight.model.description import Link, Shape
from featherweight.model.spelling import Inertial, Origin, Source, Three

SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
VALUE, POSE, FILE = frozenset({"value"}), frozenset({"xyz", "rpy"}), frozenset({"filename", "scale"})
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
INERTIA = frozenset(MOMENTS)
NEEDED = ("ixx", "iyy", "izz")
ROLES = ("visual", "collision")
ZERO = (0.0, 0.0, 0.0)
NONE: tuple[float, ...] = (0.0,) * 6
HERE = Origin()
OUT = "the shape is left out"
Colors = dict[str, tuple[float, ...]]


def read_link(element: Element, file: str | None, colors: Colors, report: Report) -> Link:
    where = name_of(element)
    name = report.text(element, where, "name")
    source = Source(file, element.line, f'<link "{short(name)}">')
    report.known(element, where, ("name",), ("inertial", *ROLES))
    shapes, inertial = [], None
    for child in element.children:
        if child.tag in ROLES:
            shape = _shape(child, where, source, colors, report)
            if shape is not None:
                shapes.append(shape)
        elif child.tag == "inertial" and inertial is None:
            inertial = child
        elif child.tag == "inertial":
            report.twice(cast(Element, inertial), child, where)
    return Link(
        name, None if inertial is None else _inertial(inertial, where, source, report), tuple(shapes), source
    )  # fmt: skip


def read_origin(element: Element | None, where: str, report: Report, otherwise: str = "") -> Origin:
    if element is None:
        return HERE
    texts = element.attributes.get("xyz"), element.attributes.get("rpy")
    known = report.origins.get(texts)
    given = (texts[0] is not None) + (texts[1] is not None)
    if known is not None and len(element.attributes) == given and not (element.children or element.text):
        return known
    place, before = f"{where} <origin>", report.faults
    report.leaf(element, where, POSE)
    xyz = report.numbers(element, place, "xyz", 3, ZERO, LENGTH, otherwise)
    rpy = report.numbers(element, place, "rpy", 3, ZERO, otherwise=otherwise)
    origin = Origin(cast(Three, xyz), cast(Three, rpy))
    if report.faults == before:
        report.origins[texts] = origin
    return origin


def read_color(material: Element, where: str, report: Report) -> tuple[float, ...]:
    """Red, green, blue and opacity; nothing if it has none, or none that can be read."""
    place = f"{where} {name_of(material)}"
    color = report.parts(material, place, ("name",), ("color",)).get("color")
    if color is None:
        return ()
    report.known(color, f"{place} <color>", ("rgba",), ())
    unheard = Report()
    text = color.attributes.get("rgba")
    rgba = unheard.numbers(color, "", "rgba", 4, (1.0, 1.0, 1.0, 1.0))
    if text is not None and unheard.findings:  # three numbers are an opaque colour
        rgb = Report()
        rgba = (*rgb.numbers(color, "", "rgba", 3, ZERO), 1.0)
        taken = "it is not used" if rgb.findings else "opaque"
        report.add("note", color.line, f"{where} <color>", f"{unheard.findings[0].message}: {taken}", kind="color")
        return () if rgb.findings else rgba
    return rgba


def _inertial(element: Element, where: str, link: Source, report: Report) -> Inertial:
    where = f"{where} <inertial>"
    before = report.faults
    parts = report.parts(element, where, (), ("origin", "mass", "inertia"))
    mass, inertia = parts.get("mass"), parts.get("inertia")
    value, moments = 0.0, NONE
    if mass is None:
        fix, taken = 'write <mass value="…"/>', "it has no mass"
        report.wrong(element, where, "<mass> is missing", fix, kind="inertial", taken=taken)
    else:
        report.leaf(mass, where, VALUE)
        value = report.number(mass, f"{where} <mass>", "value", None, MASS, "it has no mass")
    if inertia is None:
        fix, taken = 'write <inertia ixx="…" ixy="…" …/>', "it has no moments of inertia"
        report.wrong(element, where, "<inertia> is missing", fix, kind="inertial", taken=taken)
    else:
        place, taken = f"{where} <inertia>", "taken as 0"
        report.leaf(inertia, where, INERTIA)
        moments = report.row(inertia, place, MOMENTS, NEEDED, MOMENT, taken)
    origin = read_origin(parts.get("origin"), where, report, "taken as 0 0 0")
    source = Source(link.file, element.line, f"{link.element} <inertial>")
    if report.faults > before:
        element.fate = "rewrite"
    return Inertial(origin, value, moments, source, report.faults > before)


def _shape(element: Element, where: str, link: Source, colors: Colors, report: Report) -> Shape | None:
    where = f"{where} {name_of(element)}"
    parts = report.parts(element, where, ("name",), ("origin", "geometry", "material"))
    body = _body(element, parts.get("geometry"), where, report)
    if body is None:
        element.fate = "drop"
        return None
    before = report.faults
    place = f"{where} <{short(body.tag)}>"
    mesh, size = _size(body, place, report)
    origin = read_origin(parts.get("origin"), where, report, OUT)
    if report.faults > before:
        element.fate = "drop"
        return None
    color, material = _color_of(parts.get("material"), where, colors, report)
    own = element.attributes.get("name", "")
    called = f'{link.element} <{element.tag} "{short(own)}">' if own else f"{link.element} <{element.tag}>"
    source = Source(link.file, body.line, f"{called} <{body.tag}>")
    return Shape(element.tag, origin, body.tag, size, mesh, color, own, material, source)


def _body(element: Element, geometry: Element | None, where: str, report: Report) -> Element | None:
    """The shape itself, the first if there are several; nothing if there is none that is known."""
    if geometry is None or not geometry.children:
        fix = "write one of box, sphere, cylinder, capsule, mesh"
        report.wrong(
            element, where, "<geometry> is missing or empty", fix, kind="shape", taken=OUT, fate="drop"
        )  # fmt: skip
        return None
    shapes = [child for child in geometry.children if child.tag == "mesh" or child.tag in SIZES]
    if not shapes:
        body, fix = geometry.children[0], "expected box, sphere, cylinder, capsule or mesh"
        report.wrong(body, f"{where} <{short(body.tag)}>", "is not a shape", fix, kind="shape", taken=OUT)
        return None
    report.known(geometry, f"{where} <geometry>", (), ("mesh", *SIZES))
    body = shapes[0]
    for extra in shapes[1:]:
        message, fix = "more than one shape in <geometry>", "give each its own element"
        report.wrong(extra, where, message, fix, kind="shape", taken="the first is used", fate="drop")
    return body


def _size(body: Element, place: str, report: Report) -> tuple[str, tuple[float, ...]]:
    """The name of a mesh, and the size."""
    if body.tag == "mesh":
        report.known(body, place, ("filename", "scale"), ())
        mesh = body.attributes.get("filename", "")
        if not mesh.strip():
            message = "filename is missing" if "filename" not in body.attributes else "filename is empty"
            report.wrong(body, place, message, kind="shape", taken=OUT)
        return mesh, report.numbers(body, place, "scale", 3, (1.0, 1.0, 1.0), otherwise=OUT)
    report.known(body, place, SIZES[body.tag], ())
    if body.tag == "box":
        size = report.numbers(body, place, "size", 3, None, LENGTH, OUT)
    else:
        size = tuple([report.number(body, place, a, None, LENGTH, OUT) for a in SIZES[body.tag]])
    if min(size) < 0:
        message = f"a size is negative: {' '.join(map(str, size))}"
        report.wrong(body, place, message, kind="shape", taken=OUT)
    return "", size


def _color_of(
    material: Element | None, where: str, colors: Colors, report: Report
) -> tuple[tuple[float, ...], str]:  # fmt: skip
    """The colour of a shape, and the name of its material."""
    if material is None:
        return (), ""
    name = material.attributes.get("name", "")
    color = read_color(material, where, report) or colors.get(name, ())
    if not color and name and not material.children:
        report.add("note", material.line, where, f"there is no material {short(name)!r}", kind="material")
    return color, name
