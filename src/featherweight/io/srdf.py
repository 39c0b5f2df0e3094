"""SRDF files: which links of a robot need no collision check. Groups, states and end effectors are not used."""

from __future__ import annotations

import os
from dataclasses import replace

from featherweight.errors import ModelError, nearest
from featherweight.io.xml import MOST_BYTES, Element, as_utf8, parse
from featherweight.model import Model
from featherweight.model.collision_pairs import excluding

NOT_USED = ("enable_collisions", "disable_default_collisions")  # what is said about collisions otherwise


def with_srdf(model: Model, path: str | bytes | os.PathLike[str] | None) -> Model:
    """The model without the pairs that an SRDF file disables: `<disable_collisions link1="…" link2="…"/>`.

    Raises:
        ModelError: if the file cannot be read or is none; a link that the robot does not have is a note.
    """
    if path is None:
        return model
    file = os.fsdecode(path)
    try:
        with open(path, "rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read the file: {getattr(error, 'strerror', None) or error}", file=file) from None
    root = parse(as_utf8(data), file)
    if root.tag != "robot":
        raise ModelError("expected an SRDF file, whose root is <robot>", file=file, line=root.line)
    known = {frame.name for frame in model.frames.values() if frame.kind == "link"}
    pairs, notes = [], []
    for element in root.children:
        if element.tag == "disable_collisions":
            pair = _links(element, file)
            unknown = [name for name in pair if name not in known]
            pairs += [] if unknown else [pair]
            notes += [_unknown(file, element.line, name, known) for name in unknown]
        elif element.tag in NOT_USED:
            notes.append(f"{file}:{element.line}: <{element.tag}> is not used")
    return replace(excluding(model, pairs), notes=(*model.notes, *notes))


def _links(element: Element, file: str) -> tuple[str, str]:
    names = [element.attributes.get(name) for name in ("link1", "link2")]
    if not names[0] or not names[1]:
        where = f"<{element.tag}>"
        raise ModelError("expected link1 and link2, names of links", file=file, line=element.line, element=where)
    return names[0], names[1]


def _unknown(file: str, line: int, name: str, known: set[str]) -> str:
    near = nearest(name, sorted(known))
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{file}:{line}: <disable_collisions>: the robot has no link {name!r}{hint}"
