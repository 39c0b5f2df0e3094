"""Whose a class, a function or a module is: of this package, of an installed library, or of somebody else."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGE = __name__.partition(".")[0]
HERE = str(Path(__file__).parents[1])
LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_ours(thing: Any) -> bool:
    """Whether a class or function is found in this package under its own name, as the package's text has it: then that
    text says what it does."""
    return _ours_now(thing) if isinstance(thing, type) else _found_here(thing)


def _found_here(thing: Any) -> bool:
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if not isinstance(module, str) or module.partition(".")[0] != PACKAGE:
        return False
    found: Any = sys.modules.get(module)
    if not str(getattr(found, "__file__", "")).startswith(HERE):
        return False
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing and _file_of(thing).startswith(HERE)


# of our classes, by id: what they were when they were found, and the names and ids of all that
_bodies: dict[int, tuple[type, dict[str, Any], tuple[list[str], list[int]]]] = {}


def _ours_now(kind: type) -> bool:
    """Of a class: nor has anybody put something else into it since it was first seen."""
    known = _bodies.get(id(kind))
    if known is not None and known[2] == _names_and_ids(vars(kind)):  # as a rule
        return True
    if known is None:
        if not _found_here(kind):
            return False
        body = {name: value for name, value in vars(kind).items() if name != "__slotnames__"}
        if not all(_of_class(x) for x in body.values() if isinstance(x, types.FunctionType)):
            return False
        known = _bodies[id(kind)] = kind, body, _names_and_ids(body)
    now, body = vars(kind), known[1]
    more = len(now) - len(body)  # `copy` and `pickle` leave one thing behind
    return (more == 0 or (more == 1 and "__slotnames__" in now)) and all(now.get(n) is x for n, x in body.items())


def _names_and_ids(body: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    return [*body], [*map(id, body.values())]


def _of_class(function: types.FunctionType) -> bool:
    """Whether a function of one of our classes is ours: written here, or made by `dataclass` or `NamedTuple`."""
    return function.__code__.co_filename.startswith((HERE, "<", *LIBRARIES))


@functools.cache
def fields_of_ours(kind: Any) -> tuple[str, ...] | None:
    """Names of what makes one of our dataclasses what it is; None of other classes."""
    return tuple(f.name for f in dataclasses.fields(kind) if f.compare) if dataclasses.is_dataclass(kind) else None


@functools.cache
def derived(kind: Any) -> frozenset[str]:
    """What else one of our objects may have in its dictionary: fields that are no part of it, and what is computed."""
    names = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    bodies = itertools.chain.from_iterable(vars(base).items() for base in kind.__mro__)
    return frozenset(names | {name for name, x in bodies if isinstance(x, functools.cached_property)})


def _file_of(thing: Any) -> str:
    """Where the text of a class, function or module stands; empty if nobody knows."""
    if isinstance(thing, types.FunctionType):
        return thing.__code__.co_filename
    if isinstance(thing, types.ModuleType):
        return getattr(thing, "__file__", None) or ""
    for value in list(vars(thing).values()):
        if isinstance(value, types.FunctionType) and value.__module__ == thing.__module__:
            return value.__code__.co_filename if not value.__code__.co_filename.startswith("<") else HERE
    module = sys.modules.get(thing.__module__)
    return "" if module is None or module.__name__ == "__main__" else getattr(module, "__file__", None) or ""


def is_library(thing: Any) -> bool:
    """Whether a class, function or module is installed, and as it was when it was installed."""
    file = _file_of(thing)
    return bool(file) and file.startswith((*LIBRARIES, "<frozen"))
