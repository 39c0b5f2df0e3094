"""Where the meshes of a file are: in the allowed folders, in packages around it, or nowhere. None is opened here."""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PureWindowsPath
from typing import Any

from featherweight.errors import ModelError
from featherweight.io import packages
from featherweight.io.findings import Report, short
from featherweight.io.limits import FOLDERS
from featherweight.model import Geometry, Model
from featherweight.model.description import Description, Shape

MOST_CHARACTERS = 4096  # of a path that is looked for
OUTSIDE = "leads outside the allowed folders"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True)
class Folders:
    """Real paths: of the folder relative names begin at (None for a text), of all that meshes may come from, and of
    those above the file, in which packages are looked for."""

    beside: str | None
    roots: tuple[str, ...]
    parents: list[str]


@dataclass(frozen=True)
class Meshes:
    """Files by the names in a description; names that lead outside."""

    paths: dict[str, str]
    refused: frozenset[str]


def allowed_folders(roots: Any, file: str | None) -> Folders:
    """The folder of the file, the package it is in, and those given."""
    if isinstance(roots, (str, bytes, os.PathLike)) or not isinstance(roots, Iterable):
        raise TypeError(f"roots: expected a list of folders, got {roots!r}")
    beside = None if file is None else os.path.realpath(os.path.dirname(file) or os.curdir)
    parents = [] if beside is None else packages.around(beside)
    own = None if beside is None else packages.package_of(beside, parents)
    folders = [] if beside is None else [beside]
    for root in roots:
        if not isinstance(root, (str, bytes, os.PathLike)):
            raise TypeError(f"roots: expected folders, got {root!r}")
        folder = os.fsdecode(root)
        if not os.path.isdir(folder):
            raise ModelError(f"roots: {folder!r} is not a folder")
        folders.append(os.path.realpath(folder))
    return Folders(beside, (*folders, *([] if own is None else [own])), parents)


def find_meshes(description: Description, folders: Folders, report: Report) -> Meshes:
    """The file of each mesh that is there.

    A name that leads outside is wrong. Meshes that are not there are noted, once for each package. Symbolic links are
    followed before anything is compared.
    """
    paths: dict[str, str] = {}
    refused: set[str] = set()
    missing: dict[str, list[Shape]] = {}
    known: dict[str, _Package] = {}
    seen: set[str] = set()
    _real_folder.cache_clear()
    _is_folder.cache_clear()
    for _, shape in description.shapes():
        name = shape.mesh
        if not name or name in seen:
            continue
        seen.add(name)
        try:
            package, path = _located(name, folders, known)
        except ModelError as error:
            fix = "put it beside the file, or name its folder in roots"
            message = f"the mesh {short(name)!r} {error}"
            report.add("wrong", shape.line, shape.where, message, fix, kind="mesh-outside", taken="it is not shown")
            refused.add(name)
            continue
        if path is not None:
            paths[name] = path
        elif folders.roots or packages.searched():
            missing.setdefault(package, []).append(shape)
    for package, shapes in missing.items():
        _note(package, shapes, not package or bool(known[package].folders), report)
    return Meshes(paths, frozenset(refused))


def with_meshes(model: Model, roots: Any) -> Model:
    """The model with files for the meshes that it lacks, of those in the folders `roots`: a robot of a recording has
    the names of its meshes alone."""
    folders, known = allowed_folders(roots, None), dict[str, _Package]()

    def with_file(g: Geometry) -> Geometry:
        if not g.mesh or g.path is not None:
            return g
        try:
            return replace(g, path=_located(g.mesh, folders, known)[1])
        except ModelError:  # its name leads outside: it stays without a file, and whoever draws it says so
            return g

    return replace(model, geometry=tuple(map(with_file, model.geometry)))


def _note(package: str, shapes: Sequence[Shape], found: bool, report: Report) -> None:
    """What is said of the meshes of a package that are not there, at the first of them."""
    first, count = shapes[0], len(shapes)
    fix = "name its folder in roots= (--root)" if package else "put it beside the file, or name its folder in roots="
    if not found:
        meshes = "its mesh is" if count == 1 else f"its {count} meshes are"
        message = f"there is no package {short(package)!r} around the file: {meshes} not shown"
    elif count == 1:
        message = f"there is no mesh {short(first.mesh)!r}"
    else:
        of = f" of package {short(package)!r}" if package else ""
        message = f"{count} meshes{of} are not there, the first is {short(first.mesh)!r}"
    kind = "mesh-missing" if found else "package-missing"
    report.add("note", first.line, first.where, message, fix, kind=kind)


@dataclass(frozen=True)
class _Package:
    """Folders that a package's name may mean, and all that its meshes may come from, links followed."""

    folders: list[str]
    allowed: tuple[str, ...]

    @staticmethod
    def named(name: str, folders: Folders) -> _Package:
        given = [folder for root in folders.roots for folder in _packages(root, name)]
        found = [*given, *packages.places_of(name, folders.parents)]
        return _Package(found, (*folders.roots, *map(_real_folder, found)))


def _located(name: str, folders: Folders, known: dict[str, _Package]) -> tuple[str, str | None]:
    """The package that a name begins with, if any, and the file that is meant; ModelError if it can only be outside.

    `known` keeps the packages of a description.
    """
    scheme = _SCHEME.match(name)
    kind = "" if scheme is None else scheme[1].lower()
    rest = name if scheme is None else name[scheme.end() :]
    if kind not in ("", "package", "file"):
        raise ModelError(f"is not a file here: {kind}:// is not fetched")
    if kind == "package":
        package, _, inside = rest.lstrip("/").partition("/")
        if package in (".", ".."):
            raise ModelError(OUTSIDE)
        _stays(inside)
        if package not in known:
            known[package] = _Package.named(package, folders)
        meant = known[package]
        return package, _first(meant.allowed, [os.path.join(folder, inside) for folder in meant.folders])
    windows = PureWindowsPath(rest)
    if kind == "file" or windows.drive or windows.root:  # PureWindowsPath knows the roots of all systems
        if not os.path.isabs(rest):
            raise ModelError(OUTSIDE)
        return "", _first(folders.roots, [rest])
    if not folders.roots:
        _stays(rest)
    begin = folders.roots if folders.beside is None else (folders.beside,)
    return "", _first(folders.roots, [os.path.join(folder, rest) for folder in begin])


def _packages(root: str, package: str) -> list[str]:
    """The folders of a package: a root of that name, or one in a root."""
    below = os.path.join(root, package)
    return [root] * (os.path.basename(root) == package) + [below] * os.path.isdir(below)


def _stays(path: str) -> None:
    """ModelError if a relative path climbs above where it begins."""
    depth = 0
    for part in re.split(r"[/\\]", path):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            raise ModelError(OUTSIDE)


def _first(allowed: Sequence[str], places: Sequence[str]) -> str | None:
    """The real path of the first place that is a file in an allowed folder; ModelError if all places are outside."""
    if any([len(p) > MOST_CHARACTERS or p.count("/") + p.count("\\") >= FOLDERS for p in places]):
        return None
    outside = True
    for place in places:
        path, folder, there = _found(place)
        if _allowed(tuple(allowed), folder):
            if there:
                return path
            outside = False
    if places and outside:
        raise ModelError(OUTSIDE)
    return None


def _found(place: str) -> tuple[str, str, bool]:
    """A path without links, its folder, and whether there is a file. Folders are followed once for all files in them,
    and a file is asked for once."""
    folder, name = os.path.split(place)
    if name not in ("", os.curdir, os.pardir):
        real = _real_folder(folder)
        path = os.path.join(real, name)
        mode = _mode(path) if _is_folder(real) else 0
        if not stat.S_ISLNK(mode):
            return path, real, stat.S_ISREG(mode)
    path = os.path.realpath(place)
    folder = os.path.dirname(path)
    return path, folder, _is_folder(folder) and os.path.isfile(path)


def _mode(path: str) -> int:
    """What is there; 0 if nothing is."""
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0


@functools.lru_cache
def _allowed(roots: tuple[str, ...], folder: str) -> bool:
    """Is a folder one of the roots, or in one? All are real paths, so that letters decide."""
    own = os.path.join(os.path.normcase(folder), "")
    return any(own.startswith(os.path.join(os.path.normcase(root), "")) for root in roots)


_real_folder = functools.lru_cache(os.path.realpath)
_is_folder = functools.lru_cache(os.path.isdir)
