"""`load`, `loads`, `lint`, `save_urdf`: between files of URDF and models."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from featherweight.compiler import uncollected
from featherweight.endings import check_ending
from featherweight.errors import ModelError
from featherweight.io import urdf
from featherweight.io.build import BASES, Checked, Options, check, model_of, one_file, one_of
from featherweight.io.catalogue import located
from featherweight.io.findings import Finding, Report
from featherweight.io.formats import refuse_others
from featherweight.io.meshes import Folders, allowed_folders
from featherweight.io.repair import repair
from featherweight.io.srdf import with_srdf
from featherweight.io.summary import Findings
from featherweight.io.urdf.xacro import BY_HAND, expanded, is_xacro
from featherweight.io.xml import MOST_BYTES, as_utf8, read_document
from featherweight.model import Model
from featherweight.model.describe import describe
from featherweight.model.description import Description

ENDINGS = ("", ".urdf", ".xml")


def load(
    path: str | bytes | os.PathLike[str],
    *,
    base: str = "fixed",
    policy: str = "warn",
    parameters: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    contact: bool | str | Sequence[str] = True,
    roots: Sequence[str | os.PathLike[str]] = (),
    srdf: str | bytes | os.PathLike[str] | None = None,
) -> Model:
    """A robot from a URDF file.

    Args:
        path: the file; or the name of a robot in a Python package, "robot_descriptions:go2", "example-robot-data:go2".
            A file that ends in .xacro is expanded, by the package xacro if that is installed.
        base: "fixed" to the world, or "free" to float.
        policy: what to do with what cannot be, such as a moving body without mass: "warn" takes it as it is, with one
            warning; "repair" changes it and lists every change in `model.notes`; "strict" raises. A file that does
            not say which links and joints make the tree is refused by all three.
        parameters: names of constants ("trunk.mass", "knee.damping") that every call may give. The mass is that of
            the link's own `<inertial>`, without links that are fixed to it; `model.parameters` has what it is.
        gravity: acceleration [m/s²].
        contact: what touches the ground, contact points of collision shapes (spheres, box corners, ends of capsules)
            and whole cylinders: a few of them (True), "all", none (False), or those of the links and frames that are
            named, of their meshes too.
        roots: folders that meshes may be in, besides that of the file and its package; package://NAME/… is looked for
            in those called NAME, in the folder NAME of each, around the file, and where ROS_PACKAGE_PATH and
            AMENT_PREFIX_PATH lead. Meshes are opened for contact points of links that are named, and for no others.
        srdf: an SRDF file that disables collisions between links: see `model.collision_pairs()`.

    Returns:
        The frozen model. `model.notes` tells what in the file was changed or not used; `model.geometry` has the
        `path` of each mesh that is there.

    Raises:
        ModelError: with file, line, element, what is wrong and how to fix it.
    """
    path, roots = located(path, roots)
    (data, label), options = _bytes(path), Options(base, policy, parameters, gravity, contact)
    with one_file():
        return with_srdf(uncollected(_model, data, label, os.fsdecode(path), options, roots), srdf)


def loads(
    text: str | bytes,
    *,
    base: str = "fixed",
    policy: str = "warn",
    parameters: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    contact: bool | str | Sequence[str] = True,
    roots: Sequence[str | os.PathLike[str]] = (),
    srdf: str | bytes | os.PathLike[str] | None = None,
) -> Model:
    """A robot from URDF text: see `load`. A text is in no folder: meshes are found in `roots` only."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text: expected URDF text, got {type(text).__name__}")
    options = Options(base, policy, parameters, gravity, contact)
    data = _encoded(text)
    if b"<" not in data and data.lower().endswith((b".urdf", b".xacro", b".xml")):
        raise ModelError(f"text: expected URDF text, got {text[:60]!r}; fw.load takes the name of a file")
    with one_file():
        return with_srdf(uncollected(_model, data, None, None, options, roots), srdf)


def read_urdf(text: str | bytes, file: str | None = None) -> tuple[Description, list[Finding]]:
    """The description of a robot in URDF text, and what was found while it was read: what `build` takes."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text: expected URDF text, got {type(text).__name__}")
    report = Report()
    return urdf.read(_encoded(text), file, report), report.findings


def to_urdf(robot: Model | Description) -> str:
    """A robot as URDF text, with all digits; ModelError for what URDF cannot say."""
    if not isinstance(robot, (Model, Description)):
        raise TypeError(f"robot: expected a featherweight Model or Description, got {type(robot).__name__}")
    if isinstance(robot, Model):
        robot.need_numbers("to_urdf")
        robot = robot.description or describe(robot)
    return urdf.write(robot)


def lint(
    path: str | bytes | os.PathLike[str], *, base: str = "fixed", roots: Sequence[str | os.PathLike[str]] = ()
) -> Findings:
    """Everything that is wrong with, impossible in, or not used of a URDF file, the worst first.

    A list of `Finding`; printed, it is grouped by kind and fits on a screen.
    """
    one_of("base", base, BASES)
    file = _name(path)
    try:
        path, roots = located(path, roots)
        file = os.fsdecode(path)
        data, label = _bytes(path)
        with one_file():
            return Findings(uncollected(_read, data, label, file, base, roots).report.findings, file)
    except ModelError as error:
        text = str(error).removeprefix(f"{error.file}:{error.line}: ").removeprefix(f"{error.file}: ")
        kind = "xml" if "XML" in text or "document types" in text else "format" if "this is a" in text else "file"
        return Findings([Finding("error", error.line or 0, error.element or "", text, kind=kind)], file)


def repaired_urdf(
    path: str | bytes | os.PathLike[str], *, base: str = "fixed", roots: Sequence[str | os.PathLike[str]] = ()
) -> tuple[str, list[str]]:
    """The text of a URDF file with all that is wrong changed as by `policy="repair"`, so that it loads with
    `policy="strict"`; everything else stays as it was written. And a line for each change.

    Raises:
        ModelError: for a file that no policy reads.
    """
    one_of("base", base, BASES)
    path, roots = located(path, roots)
    data, label = _bytes(path)
    with one_file():
        return uncollected(_repaired, data, label, os.fsdecode(path), base, roots)


def save_urdf(model: Model, path: str | bytes | os.PathLike[str]) -> None:
    """Write what `load` reads. A loaded model keeps the numbers of its file, to the last bit.

    A model that was built in Python comes back with its joints depth first. Its contact points are written as balls on
    links of their names: `foot` is a frame then, and its point is called `foot_contact0`. What URDF cannot say is
    refused, and so is a path that ends in anything but .urdf or .xml. A symbolic link stays, and the file it leads to
    is replaced.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    check_ending("path", path, ENDINGS)
    model.need_numbers("save_urdf")
    text = to_urdf(model)
    if model.description is None or model.description.format != "URDF":
        _check_readable(model, text)
    target = Path(os.path.realpath(os.fsdecode(path)))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def save(model: Model, path: str | bytes | os.PathLike[str]) -> None:
    """Write a model in the format that the ending of the path says: .urdf, by `save_urdf`."""
    WRITERS[check_ending("path", path, WRITERS)](model, path)


WRITERS = {".urdf": save_urdf}  # by ending


def _check_readable(model: Model, text: str) -> None:
    """ModelError if a file would not be read again: numbers may be larger in Python, and names others."""
    with one_file():
        errors = [f for f in _read(text.encode(), None, None, "fixed").report.findings if f.level == "error"]
    if errors:
        first = errors[0]
        raise ModelError(f"model {model.name!r} cannot be saved as URDF: {first.element}: {first.message}; {first.fix}")


def _encoded(text: str | bytes) -> bytes:
    """Text is Unicode already, whatever encoding its first line names: that line goes, its line ends stay."""
    if isinstance(text, bytes):
        return text
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("<?xml") and "?>" in text:
        end = text.index("?>") + 2
        text = "\n" * text[:end].count("\n") + text[end:]
    return text.encode("utf-8", "surrogatepass")


def _name(path: Any) -> str:
    """A path as text."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path: expected a path, got {type(path).__name__}")
    return os.fsdecode(path)


def _bytes(path: Any) -> tuple[bytes, str]:
    """What is in a file, and what messages call it. The lines of a xacro file are those of what it expands to."""
    file = _name(path)
    if is_xacro(file):
        return expanded(file), f"{file} (expanded)"
    try:
        with open(path, "rb") as opened:
            return opened.read(MOST_BYTES + 1), file
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"cannot read the file: {reason}", file=file) from None


def _read(data: bytes, label: str | None, file: str | None, base: str, roots: Any = ()) -> Checked:
    """A file, read and checked."""
    refuse_others(data, file)
    folders, report = allowed_folders(roots, file), Report()
    return _checked(urdf.read(data, label, report), base, folders, report)


def _checked(description: Description, base: str, folders: Folders, report: Report) -> Checked:
    checked = check(description, base, folders, report)
    unexpanded = next((f for f in report.findings if f.kind == "unexpanded"), None)
    if checked.tree is None and unexpanded is not None:  # whatever else is wrong may be because of that
        fix = f"expand it first: {BY_HAND}"
        finding = Finding("error", unexpanded.line, unexpanded.element, "this is a xacro file", fix, "xacro")
        report.findings.insert(0, finding)
    return checked


def _model(data: bytes, label: str | None, file: str | None, options: Options, roots: Any) -> Model:
    return model_of(_read(data, label, file, options.base, roots), options)


def _line(change: str) -> int:
    """The line that a change is about: it begins with that."""
    found = re.match(r"line (\d+)", change)
    return int(found[1]) if found else 0


def _repaired(data: bytes, label: str, file: str, base: str, roots: Any) -> tuple[str, list[str]]:
    report, folders = Report(), allowed_folders(roots, file)
    document = read_document(as_utf8(data), label, places=True)
    description = urdf.described(document, label, report)
    read = [finding.note for finding in report.findings if finding.level == "wrong"]  # otherwise than it is written
    checked = _checked(description, base, folders, report)
    errors = [finding for finding in report.findings if finding.level == "error"]
    if checked.tree is None or errors:
        raise errors[0].error(label, len(errors) - 1)
    outside = checked.meshes.refused
    description, _, changes = repair(checked.description, checked.tree, base, outside)
    text = urdf.patched(document, checked.description, description, outside)
    return text, sorted([*read, *changes], key=_line)
