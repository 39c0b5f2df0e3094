"""From the text of a URDF file to a description: what each element means, and what in it is not used."""

from __future__ import annotations

from collections.abc import Iterator

from featherweight.errors import ModelError
from featherweight.io.findings import XACRO, Report, name_of
from featherweight.io.limits import PARTS as MOST
from featherweight.io.urdf.joints import read_joint
from featherweight.io.urdf.links import read_color, read_link
from featherweight.io.urdf.transmissions import read_motors
from featherweight.io.xml import Document, Element, read_document
from featherweight.model.description import Description
from featherweight.model.spelling import Source

PARTS = ("link", "joint", "material", "transmission", "inertial", "visual", "collision", "geometry", "actuator")
LOOPS = ("loop_joint", "linear_bushing_rpy", "drake:linear_bushing_rpy", "drake:ball_constraint")  # Drake's


def read(data: bytes, file: str | None, report: Report) -> Description:
    """The whole document; findings go to the report, what is wrong is read as its default."""
    return described(read_document(data, file), file, report)


def described(document: Document, file: str | None, report: Report) -> Description:
    """A document that was parsed; its elements get their fates."""
    root = document.root
    if document.wrong is not None:
        line, message, taken = document.wrong
        report.add("wrong", line, "", message, kind="xml", taken=taken)
    _bounded(root, file)
    where = name_of(root)
    if root.tag != "robot":
        fix = "is this a URDF file?"
        report.error(root.line, where, "expected <robot> as the outermost element", fix, kind="format")
    report.known(root, where, ("name", "version"), ("link", "joint", "material", "transmission", *LOOPS))
    if b"<xacro:" in document.data:
        _check_expanded(root, where, report)
    for loop in (child for child in root.children if child.tag in LOOPS):
        message = "is not used: it closes a loop, and robots are trees here"
        report.add("warning", loop.line, name_of(loop), message, kind="loop")
    colors = _colors(root, where, report)
    motors = read_motors(root, report)
    links = tuple([read_link(e, file, colors, report) for e in root.all("link")])
    joints = tuple([read_joint(e, file, motors, report) for e in root.all("joint")])
    return Description(root.attributes.get("name", "robot"), links, joints, Source(file, root.line, where), "URDF")


def _check_expanded(root: Element, where: str, report: Report) -> None:
    """Elements of xacro that nobody expanded: without links the file is nothing else."""
    left = list(_of_xacro(root))
    if left and not root.all("link"):
        fix = f"expand it first, then load what comes out: {XACRO.partition(': ')[2]}"
        report.error(left[0].line, f"{where} <{left[0].tag[:40]}>", "this is a xacro file", fix, kind="xacro")
        return
    for element in left:
        message, taken = "is not expanded: part of the robot may be missing", "it is left out"
        report.wrong(
            element, f"<{element.tag[:40]}>", message, XACRO, kind="unexpanded", taken=taken, fate="drop"
        )  # fmt: skip


def _colors(root: Element, where: str, report: Report) -> dict[str, tuple[float, ...]]:
    """Colours of materials by name, wherever they are; findings about those of shapes come with the shapes."""
    colors: dict[str, tuple[float, ...]] = {}
    unheard = Report()
    for child in root.children:
        if child.tag == "material":
            color = read_color(child, where, report)
            if color:
                colors.setdefault(child.attributes.get("name", ""), color)
        elif child.tag == "link":
            for shape in child.children:
                for material in shape.children:
                    if material.tag == "material" and material.children:
                        color = read_color(material, where, unheard)
                        if color:
                            colors.setdefault(material.attributes.get("name", ""), color)
    return colors


def _bounded(root: Element, file: str | None) -> None:
    """ModelError if there is more in a file than two seconds are enough for."""
    links, joints = root.all("link"), root.all("joint")
    shapes = sum([e.tag in ("visual", "collision") for link in links for e in link.children])
    if len(links) + len(joints) + shapes > MOST:
        message = f"the robot has {len(links)} links, {len(joints)} joints and {shapes} shapes; at most {MOST} are read"
        raise ModelError(message, file=file, line=root.line)


def _of_xacro(root: Element) -> Iterator[Element]:
    """The outermost elements of xacro, but for those in what is not used."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag.startswith("xacro:"):
            yield element
        elif element is root or element.tag in PARTS:
            stack += reversed(element.children)
