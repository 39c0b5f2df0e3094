"""From a description to a model: checked, repaired as a policy says, with contact points of its shapes."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.compiler import uncollected
from featherweight.errors import ModelError
from featherweight.io import check as checks
from featherweight.io.bodies import SpanningTree
from featherweight.io.check import check_physics, check_structure, check_unused
from featherweight.io.contact_points import ALL, contact_points, new_name
from featherweight.io.findings import LEVELS, Finding, Report
from featherweight.io.meshes import Folders, Meshes, allowed_folders, find_meshes
from featherweight.io.repair import repair
from featherweight.io.summary import warning
from featherweight.model.assembly import assemble
from featherweight.model.description import Description, Link, LinkJoint, Shape
from featherweight.model.model import Model
from featherweight.model.spelling import forget

POLICIES = ("strict", "repair", "warn")
BASES = ("fixed", "free")


@dataclass(frozen=True)
class Options:
    """What a caller asks for, checked: see `load`."""

    base: str
    policy: str
    parameters: Sequence[str]
    gravity: Sequence[float]
    contact: bool | str | Sequence[str]

    def __post_init__(self) -> None:
        one_of("base", self.base, BASES)
        one_of("policy", self.policy, POLICIES)
        contact = self.contact
        names = isinstance(contact, (list, tuple, set, frozenset)) and all(isinstance(name, str) for name in contact)
        if not isinstance(contact, bool) and contact != ALL and not names:
            got = f"the text {contact!r}" if isinstance(contact, str) else repr(contact)
            raise ModelError(f'contact: expected True, False, "all" or a list of names, got {got}')


@dataclass(frozen=True)
class Checked:
    """A description, what is found in it, and, if it is one, its tree."""

    description: Description
    tree: SpanningTree | None
    meshes: Meshes
    report: Report


def build(
    description: Description,
    *,
    findings: Iterable[Finding] = (),
    base: str = "fixed",
    policy: str = "warn",
    parameters: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    contact: bool | str | Sequence[str] = True,
    roots: Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """The model of a description, from whatever file it was read: checked like a URDF file.

    Args:
        description: links and joints that make one tree.
        findings: what its reader found; those of level "error" are raised.
        base, policy, parameters, gravity, contact, roots: as for `load`.

    Raises:
        ModelError: with file, line and element of what is wrong, as far as the description knows them.
    """
    if not isinstance(description, Description):
        raise TypeError(f"description: expected a featherweight Description, got {type(description).__name__}")
    options = Options(base, policy, parameters, gravity, contact)
    report = Report(list(findings))
    folders = allowed_folders(roots, description.file)
    with one_file():
        return uncollected(_built, description, folders, report, options)


def _built(description: Description, folders: Folders, report: Report, options: Options) -> Model:
    return model_of(check(description, options.base, folders, report), options)


@contextlib.contextmanager
def one_file() -> Iterator[None]:
    """While a file is read: what is computed of its parts is kept until the end, and no longer."""
    try:
        yield
    finally:
        forget()
        checks.forget()


def one_of(name: str, value: Any, expected: tuple[str, ...]) -> None:
    """ModelError if a text is none of those expected."""
    if value not in expected:
        raise ModelError(f"{name}: expected one of {', '.join(expected)}, got {value!r}")


def check(description: Description, base: str, folders: Folders, report: Report) -> Checked:
    """Everything that is wrong with or not used of a description, the worst first."""
    description = _with_world(description, report)
    tree = check_structure(description, report)
    if tree is not None:
        check_physics(tree, base, report)
    check_unused(description, report)
    meshes = find_meshes(description, folders, report)
    report.findings.sort(key=_worst_first)
    return Checked(description, tree, meshes, report)


def _worst_first(finding: Finding) -> tuple[int, bool, int]:
    """What cannot be read comes before what follows from it: of broken XML and of xacro nearly everything does."""
    level = 0 if finding.kind == "xml" else LEVELS.index(finding.level)
    return level, finding.kind not in ("xml", "xacro"), finding.line


def _with_world(description: Description, report: Report) -> Description:
    """The world as a link, if joints hang on it and the file leaves it out."""
    if any([link.name == "world" for link in description.links]):
        return description
    joint = next((joint for joint in description.joints if joint.parent == "world"), None)
    if joint is None:
        return description
    if description.format:  # what is made in Python hangs on the world as a rule
        message = "its parent link 'world' is not defined: it is the world itself"
        report.add("note", joint.line, joint.where, message, kind="world")
    return replace(description, links=(Link("world"), *description.links))


def model_of(checked: Checked, options: Options) -> Model:
    """The model, if nothing forbids it. Warnings are for whoever called `build` or `load`."""
    description, tree, report, policy = checked.description, checked.tree, checked.report, options.policy
    fatal = [f for f in report.findings if f.level == "error" or (f.level == "wrong" and policy == "strict")]
    if fatal or tree is None:
        raise fatal[0].error(description.file, len(fatal) - 1)
    notes = [finding.note for finding in sorted(report.findings, key=lambda finding: finding.line)]
    if policy == "repair":
        description, tree, changes = repair(description, tree, options.base, checked.meshes.refused)
        notes += changes
    elif policy == "warn":
        text = warning(report.findings, description.file)
        if text:
            warnings.warn(text, stacklevel=5)
    try:
        whole = _assembled(description, tree, options, checked.meshes.paths, notes)
        model = assemble(whole, gravity=options.gravity, policy="accept", parameters=options.parameters)
    except ModelError as error:
        raise error if error.file else ModelError(str(error), file=description.file) from None
    told = tuple(note.removeprefix("line 0: ") for note in notes)  # what has no file has no lines
    return replace(model, notes=told, description=description)


def _assembled(
    description: Description, tree: SpanningTree, options: Options, paths: Mapping[str, str], notes: list[str]
) -> Description:
    """The description as `assemble` wants it: joints depth first, the root's too, contact points, whose `notes` come
    before the others."""
    root = tree.root.name
    things = (*description.links, *tree.joints, *description.frames, *description.points)
    taken = {"world", *(thing.name for thing in things)}
    links = {link.name for link in description.links}
    stays = "world" not in links or (root == "world" and options.base == "fixed")
    world = "world" if stays else new_name("world_link", taken)
    joints = [_hung(joint, tree.void, world) for joint in tree.joints]
    if root != world:
        kind = "floating" if options.base == "free" else "fixed"
        name = new_name("root_joint", {joint.name for joint in joints})
        joints.insert(0, LinkJoint(name, kind, "world", root, None))
    frames = list(description.frames)
    touching = contact_points(description, tree, options.contact, options.base == "free", paths, taken)
    points = [*description.points, *touching.points]
    notes[:0] = touching.notes
    if world != "world":
        joints = [replace(joint, child=world) if joint.child == "world" else joint for joint in joints]
        frames = [replace(frame, parent=world) if frame.parent == "world" else frame for frame in frames]
        points = [replace(point, parent=world) if point.parent == "world" else point for point in points]
    return replace(
        description,
        links=tuple(_found(link, paths, world, touching.shapes) for link in description.links),
        joints=tuple(joints),
        frames=tuple(frames),
        points=tuple(points),
    )


def _hung(joint: LinkJoint, void: Collection[str], world: str) -> LinkJoint:
    """A joint on what the model has for a world; it moves by itself if nothing is there to follow."""
    changes: dict[str, Any] = {}
    if joint.parent == "world" != world:
        changes["parent"] = world
    if joint.mimic is not None and joint.name in void:
        changes["mimic"] = None
    return replace(joint, **changes) if changes else joint


def _found(link: Link, paths: Mapping[str, str], world: str, touching: Collection[tuple[str, int]]) -> Link:
    """A link with the files of its meshes, with what touches the ground as it is, and the name of the model."""
    shapes: tuple[Shape, ...] = link.shapes
    if any([shape.mesh in paths for shape in shapes]):
        shapes = tuple([s.at(paths[s.mesh]) if s.mesh in paths else s for s in shapes])
    if touching:
        shapes = tuple([replace(s, ground=True) if (link.name, k) in touching else s for k, s in enumerate(shapes)])
    if shapes is link.shapes and not link.name == "world" != world:
        return link
    return replace(link, name=world if link.name == "world" else link.name, shapes=shapes)
