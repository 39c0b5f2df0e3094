"""`load`, `loads`, `lint`, `save_urdf`: between files and models."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from featherweight.compiler import uncollected
from featherweight.endings import check_ending
from featherweight.errors import ModelError
from featherweight.io.assemble import assemble, joint_names
from featherweight.io.bodies import one_file
from featherweight.io.check import check_physics, check_structure
from featherweight.io.description import Description, Tree
from featherweight.io.findings import Finding, Report
from featherweight.io.meshes import Meshes, allowed_folders, find_meshes
from featherweight.io.read import read_description
from featherweight.io.repair import repair
from featherweight.io.write import describe, to_urdf
from featherweight.io.xml import MOST_BYTES, parse
from featherweight.model import Model

POLICIES = ("strict", "repair", "warn")
BASES = ("fixed", "free")
ENDINGS = ("", ".urdf", ".xml")


def load(
    path: str | bytes | os.PathLike[str],
    *,
    base: str = "fixed",
    policy: str = "strict",
    parameters: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    contact: bool | Sequence[str] = True,
    roots: Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """A robot from a URDF file.

    Args:
        path: the file.
        base: "fixed" to the world, or "free" to float.
        policy: what to do with bodies that cannot exist: "strict" raises, "repair" changes the numbers and lists
            every change in `model.notes`, "warn" takes them as they are with a warning.
        parameters: names of constants ("trunk.mass", "knee.damping") that every call may give.
        gravity: acceleration [m/s²].
        contact: contact points of all collision shapes (spheres, box corners, ends of capsules, rims of
            cylinders), of none, or of the links and frames that are named.
        roots: folders that meshes may be in, besides that of the file; package://NAME/… is looked for in those
            called NAME, and in the folder NAME of each. No mesh is opened.

    Returns:
        The frozen model. `model.notes` tells what in the file was changed or not used; `model.geometry` has the
        `path` of each mesh that is there.

    Raises:
        ModelError: with file, line, element, what is wrong and how to fix it.
    """
    data, file = _bytes(path), os.fsdecode(path)
    with one_file():
        return uncollected(_model, data, file, base, policy, parameters, gravity, contact, roots)


def loads(
    text: str | bytes,
    *,
    base: str = "fixed",
    policy: str = "strict",
    parameters: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    contact: bool | Sequence[str] = True,
    roots: Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """A robot from URDF text: see `load`. A text is in no folder: meshes are found in `roots` only."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text: expected URDF text, got {type(text).__name__}")
    with one_file():
        return uncollected(_model, _encoded(text), None, base, policy, parameters, gravity, contact, roots)


def lint(
    path: str | bytes | os.PathLike[str], *, base: str = "fixed", roots: Sequence[str | os.PathLike[str]] = ()
) -> list[Finding]:
    """Everything that is wrong with, impossible in, or not used of a URDF file, by line."""
    _one_of("base", base, BASES)
    try:
        with one_file():
            return uncollected(_read, _bytes(path), os.fsdecode(path), base, roots).report.findings
    except ModelError as error:
        text = str(error).removeprefix(f"{error.file}:{error.line}: ").removeprefix(f"{error.file}: ")
        return [Finding("error", error.line or 0, error.element or "", text)]


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
    if isinstance(model.description, Description):
        text = to_urdf(model.description)
    else:
        text = to_urdf(describe(model))
        _check_readable(model, text)
    target = Path(os.path.realpath(os.fsdecode(path)))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _check_readable(model: Model, text: str) -> None:
    """ModelError if a file would not be read again: numbers may be larger in Python, and names others."""
    with one_file():
        errors = [f for f in _read(text.encode(), None, "fixed").report.findings if f.level == "error"]
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


def _bytes(path: Any) -> bytes:
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path: expected a path, got {type(path).__name__}")
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"cannot read the file: {reason}", file=os.fsdecode(path)) from None


def _one_of(name: str, value: Any, expected: tuple[str, ...]) -> None:
    if value not in expected:
        raise ModelError(f"{name}: expected one of {', '.join(expected)}, got {value!r}")


@dataclass(frozen=True)
class _Read:
    """A file, read and checked."""

    description: Description
    tree: Tree | None
    meshes: Meshes
    report: Report


def _read(data: bytes, file: str | None, base: str, roots: Any = ()) -> _Read:
    folders = allowed_folders(roots, file)
    root = parse(data, file)
    report = Report()
    description = read_description(root, file, report)
    tree = check_structure(description, root, report)
    if tree is not None:
        check_physics(tree, base, report)
    meshes = find_meshes(description, folders, report)
    report.findings.sort(key=lambda finding: finding.line)
    return _Read(description, tree, meshes, report)


def _model(
    data: bytes,
    file: str | None,
    base: str,
    policy: str,
    parameters: Sequence[str],
    gravity: Sequence[float],
    contact: bool | Sequence[str],
    roots: Any,
) -> Model:
    _one_of("base", base, BASES)
    _one_of("policy", policy, POLICIES)
    names = isinstance(contact, (list, tuple, set, frozenset)) and all(isinstance(name, str) for name in contact)
    if not isinstance(contact, bool) and not names:
        got = f"the text {contact!r}" if isinstance(contact, str) else repr(contact)
        raise ModelError(f"contact: expected True, False or a list of names, got {got}")
    read = _read(data, file, base, roots)
    description, tree, report = read.description, read.tree, read.report
    fatal = [f for f in report.findings if f.level == "error" or (f.level == "wrong" and policy == "strict")]
    fatal.sort(key=lambda finding: finding.level != "error")  # what cannot be read comes before what follows from it
    if fatal or tree is None:
        raise fatal[0].error(file, len(fatal) - 1)
    renamed = {old: new for old, new in joint_names(description, tree).items() if old != new}
    notes = [f"joint {old!r} is called like a link: here it is {new!r}" for old, new in renamed.items()]
    notes += [f"line {f.line}: {f.element}: {f.message}" for f in report.findings]
    if policy == "repair":
        description, tree, changes = repair(description, tree, base, read.meshes.refused)
        notes += changes
    elif policy == "warn":
        for finding in report.findings:
            if finding.level == "wrong":
                warnings.warn(str(finding.error(file)), stacklevel=4)
    try:
        model = assemble(
            description,
            tree,
            base=base,
            gravity=gravity,
            parameters=parameters,
            contact=contact,
            meshes=read.meshes.paths,
        )
    except ModelError as error:
        raise error if error.file else ModelError(str(error), file=file) from None
    return replace(model, notes=tuple(notes), description=description)
