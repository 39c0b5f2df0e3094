"""A repaired URDF file that keeps everything else of the file: only elements that are wrong are written anew."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from featherweight.io.mend import tag_end
from featherweight.io.urdf.write import inertial_lines, joint_part
from featherweight.io.xml import Document, Element
from featherweight.model.description import Description, Link, LinkJoint
from featherweight.model.spelling import Inertial

Edit = tuple[int, int, str]  # first byte, byte after the last, what stands there then


def patched(document: Document, before: Description, after: Description, outside: Collection[str]) -> str:
    """The text of a document in UTF-8, with the numbers of its repaired description where they are others, without what
    is dropped, and without the meshes that are `outside`."""
    old = {link.name: link.inertial for link in before.links}
    links = {link.name: link for link in after.links}
    joints = {joint.name: joint for joint in after.joints}
    edits: list[Edit] = []
    for element in document.root.children:
        name = element.attributes.get("name", "")
        if element.fate == "drop":
            edits.append(_without(document.data, element))
        elif element.tag == "link":
            edits += _link(document.data, element, old[name], links.pop(name), outside)
        elif element.tag == "joint":
            edits += _joint(document.data, element, joints[name])
        else:
            edits += _dropped(document.data, element)
    implied = links.get("world")
    if implied is not None and implied.inertial is not None:  # the world that the file leaves out, if it floats
        at = document.root.children[0].start
        indent = f"\n{_indent(document.data, at)}"
        lines = ['<link name="world">', *(f"  {line}" for line in inertial_lines(implied.inertial)), "</link>"]
        edits.append((at, at, indent.join([*lines, ""])))
    return _applied(document.data, edits)


def _applied(data: bytes, edits: list[Edit]) -> str:
    pieces, at = [], 0
    for start, end, text in sorted(edits):
        pieces += [data[at:start], text.encode()]
        at = end
    return b"".join([*pieces, data[at:]]).decode()


def _link(
    data: bytes, element: Element, old: Inertial | None, link: Link, outside: Collection[str]
) -> Iterator[Edit]:  # fmt: skip
    """Inertials and shapes."""
    first = next((child for child in element.children if child.tag == "inertial"), None)
    if first is None and link.inertial is not None:
        yield _inside(data, element, link.inertial)
    for child in element.children:
        if child.fate == "drop" or (child.tag in ("visual", "collision") and _mesh(child) in outside):
            yield _without(data, child)
        elif child is first:
            if child.fate == "rewrite" or old != link.inertial:
                yield _inertial(data, child, link.inertial)
            else:
                yield from _dropped(data, child)
        else:
            yield from _dropped(data, child)


def _inertial(data: bytes, element: Element, inertial: Inertial | None) -> Edit:
    """An inertial with other numbers, or none."""
    if inertial is None:
        return _without(data, element)
    start, end = _span(data, element)
    return start, end, f"\n{_indent(data, start)}".join(inertial_lines(inertial))


def _joint(data: bytes, element: Element, joint: LinkJoint) -> Iterator[Edit]:
    """Axes, limits, damping, and joints that follow nothing."""
    for child in element.children:
        if child.fate == "drop" or (child.tag == "mimic" and joint.mimic is None and joint.moves):
            yield _without(data, child)
        elif child.fate == "rewrite":
            text = joint_part(joint, child.tag)
            yield (*_span(data, child), text) if text else _without(data, child)
        else:
            yield from _dropped(data, child)


def _dropped(data: bytes, element: Element) -> Iterator[Edit]:
    """What goes of an element's inside."""
    for child in element.children:
        if child.fate == "drop":
            yield _without(data, child)
        else:
            yield from _dropped(data, child)


def _mesh(shape: Element) -> str | None:
    """The name of its mesh."""
    geometry = next((child for child in shape.children if child.tag == "geometry"), None)
    body = next((child for child in geometry.children if child.tag == "mesh"), None) if geometry is not None else None
    return body.attributes.get("filename") if body is not None else None


def _span(data: bytes, element: Element) -> tuple[int, int]:
    """The first byte of an element, and the one after its last."""
    end = tag_end(data, element.start)
    if data[end - 2 : end] != b"/>":
        end = data.index(b">", element.end) + 1
    return element.start, end


def _indent(data: bytes, start: int) -> str:
    """The space before an element that begins its line."""
    line = data.rfind(b"\n", 0, start) + 1
    return data[line:start].decode() if not data[line:start].strip() else ""


def _without(data: bytes, element: Element) -> Edit:
    """An element goes, with its lines if there is nothing else on them."""
    start, end = _span(data, element)
    line, after = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
    if after >= 0 and not data[line:start].strip() and not data[end:after].strip():
        return line, after + 1, ""
    return start, end, ""


def _inside(data: bytes, element: Element, inertial: Inertial) -> Edit:
    """An inertial for a link that has none."""
    end = tag_end(data, element.start)
    indent = f"\n{_indent(data, element.start)}  "
    text = indent + indent.join(inertial_lines(inertial))
    if data[end - 2 : end] == b"/>":
        closing = f"{indent[:-2]}</link>"
        return end - 2, end, f">{text}{closing}"
    return end, end, text
