"""Where the packages of ROS are: folders of their names around a file, or in what the environment names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

MANIFEST = "package.xml"
LAYOUT = frozenset({"urdf", "urdfs", "robots", "xacro"})  # folders of a package that have robots
MOST_PARENTS = 16
MOST_NEIGHBOURS = 1_000  # folders of a workspace that are looked into
_NAME = re.compile(rb"<name>\s*([^<]+?)\s*</name>")


def around(beside: str) -> list[str]:
    """Folders above a file's own (a real path), nearest first, in which packages may be.

    Neither the home folder nor what holds it: there anything may have the name of a package.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    found: list[str] = []
    folder = beside
    while len(found) < MOST_PARENTS and os.path.dirname(folder) != folder:
        if not os.path.join(home, "").startswith(os.path.join(folder, "")):
            found.append(folder)
        folder = os.path.dirname(folder)
    return found


def package_of(beside: str, parents: list[str]) -> str | None:
    """The package that a file is in: the nearest folder with a manifest, or the one above `urdf` and its like."""
    declared = next((folder for folder in parents if os.path.isfile(os.path.join(folder, MANIFEST))), None)
    above = os.path.dirname(beside)
    if declared is None and os.path.basename(beside).lower() in LAYOUT and above in parents:
        return above
    return declared


def places_of(package: str, parents: list[str]) -> Iterator[str]:
    """Folders of a package around a file, then in the environment; the first that is there is meant."""
    for folder in parents:
        if os.path.basename(folder) == package or _declared(folder) == package:
            yield folder
        below = os.path.join(folder, package)
        if os.path.isdir(below):
            yield below
    for folder in _environment("ROS_PACKAGE_PATH"):
        if os.path.basename(folder) == package:
            yield folder
        for above in (folder, *_inside(folder)):  # a workspace may hold repositories of several packages
            below = os.path.join(above, package)
            if os.path.isdir(below):
                yield below
    for prefix in _environment("AMENT_PREFIX_PATH"):
        below = os.path.join(prefix, "share", package)
        if os.path.isdir(below):
            yield below


def searched() -> bool:
    """Does the environment name any folders?"""
    return any(os.environ.get(name) for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"))


def _environment(name: str) -> list[str]:
    return [os.path.realpath(folder) for folder in os.environ.get(name, "").split(os.pathsep) if os.path.isdir(folder)]


def _inside(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in islice(entries, MOST_NEIGHBOURS) if entry.is_dir())
    except OSError:
        return []


def _declared(folder: str) -> str | None:
    """The name in a folder's manifest."""
    path = os.path.join(folder, MANIFEST)
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            found = _NAME.search(file.read(1 << 16))
    except OSError:
        return None
    return None if found is None else found[1].decode("utf-8", "replace")
