"""Identity: what an object is, by its fields, all the way down. Compiled code is kept and found under it.

Our own objects are known by the name of their class and by their fields, whatever they print as: equal text, equal
code, in every process. Code of others has no text that says what it does. Its classes and functions are known by
themselves, within a process, together with the numbers they refer to: fields, attributes of classes, and, of code that
is not installed as a library, closures and globals. On disk, what was traced stands in their place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import hashlib
import itertools
import sys
import sysconfig
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

PACKAGE = __name__.partition(".")[0]
PLAIN = frozenset((type(None), type(...), bool, int, float, complex, str, bytes, range, slice))
CODE = (types.FunctionType, property, staticmethod, classmethod, functools.cached_property)
DEEPEST = 100  # objects in objects; what lies deeper is known by itself
WORD = object.__basicsize__ // 2
LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class Same:
    """An object that is equal to itself alone; it keeps the object alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Identity(NamedTuple):
    """A text of all fields; and what of other packages it depends on, which no text describes."""

    text: str
    foreign: tuple[Same, ...] = ()

    @property
    def everywhere(self) -> str | None:
        """The text, where it says all; None if the code of other packages has a part in it."""
        return None if self.foreign else self.text


def identity(*values: Any) -> Identity:
    """What these objects are. Hashable; equal for objects that any code does the same with, within this process.

    >>> identity(1.0) == identity(1.0), identity(1.0) == identity(1), identity([1.0]) == identity((1.0,))
    (True, False, False)
    """
    writer = _Writer()
    for value in values:
        writer.write(value)
        writer.parts.append(";")
    return Identity("".join(writer.parts), tuple(Same(x) for x in writer.foreign.values()))


def is_ours(thing: Any) -> bool:
    """Whether a class or function is found in this package under its own name: then the package's text says what it
    does."""
    if thing in _ours:
        return True
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if not isinstance(module, str) or module.partition(".")[0] != PACKAGE:
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is thing:
        _ours.add(thing)
    return found is thing


_ours: set[Any] = set()  # that were found before


@functools.cache
def _fields_of_ours(kind: Any) -> tuple[str, ...] | None:
    """Names of what makes one of our dataclasses what it is; None of other classes."""
    return tuple(f.name for f in dataclasses.fields(kind) if f.compare) if dataclasses.is_dataclass(kind) else None


class _Writer:
    """Writes down objects one after the other."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.foreign: dict[int, Any] = {}  # by id
        self._met: dict[int, int] = {}  # objects that were begun, by id: their number
        self._kept: list[Any] = []  # so that no id is used twice
        self._depth = 0

    def write(self, x: Any) -> None:
        kind = type(x)
        if kind in PLAIN or (kind is tuple and all(type(y) in PLAIN for y in x)):
            self.parts.append(repr(x))
        elif isinstance(x, tuple) and is_ours(kind):  # most of a model: vectors
            self._all(f"{kind.__module__}.{kind.__qualname__}", x)
        elif isinstance(x, np.generic) and x.dtype != object:
            self.parts.append(f"{x.dtype.str}{x.tobytes().hex()}")
        elif isinstance(x, type):
            self._class(x)
        elif isinstance(x, types.ModuleType):
            self.parts.append(f"module {x.__name__}")
        elif id(x) in self._met:
            self.parts.append(f"#{self._met[id(x)]}")
        elif self._depth == DEEPEST:
            self._itself(x)
        else:
            self._met[id(x)] = len(self._met)
            self._depth += 1
            self._inside(x)
            self._depth -= 1
            if kind is tuple or is_ours(kind):  # whether equal ones are one does not matter
                del self._met[id(x)]
            else:
                self._kept.append(x)

    def _inside(self, x: Any) -> None:
        """An object that has parts."""
        if isinstance(x, np.ndarray) and x.dtype != object:
            plain = np.ascontiguousarray(x)
            self.parts.append(f"{plain.dtype.str}{plain.shape}{hashlib.sha256(plain.tobytes()).hexdigest()}")
        elif isinstance(x, (tuple, list, np.ndarray)):
            self._class(type(x))
            self._all("", x)
        elif isinstance(x, (dict, types.MappingProxyType)):
            self._all(type(x).__name__, itertools.chain.from_iterable(x.items()))
        elif isinstance(x, (set, frozenset)):
            self._all(type(x).__name__, sorted(x, key=repr))
        elif isinstance(x, enum.Enum):
            self._class(type(x))
            self._all("", [x.name])
        elif isinstance(x, functools.partial):
            self._all("partial", [x.func, x.args, x.keywords])
        elif isinstance(x, types.MethodType):
            self._all("method", [x.__self__, x.__func__])
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, CODE):
            self._all(type(x).__name__, [getattr(x, name, None) for name in ("fget", "__func__", "func")])
        else:
            self._object(x)

    def _all(self, name: str, parts: Iterable[Any]) -> None:
        add = self.parts.append
        add(f"{name}(")
        for part in parts:
            if type(part) in PLAIN:
                add(repr(part))
            else:
                self.write(part)
            add(",")
        add(")")

    def _object(self, x: Any) -> None:
        """One of ours by its class and its fields; what is derived from them says nothing new."""
        kind: Any = type(x)
        if not is_ours(kind):
            self._other(x, kind)
        elif isinstance(known := getattr(x, "identity", None), Identity):
            self.parts.append(known.text)
            self.foreign.update((id(same.value), same.value) for same in known.foreign)
        else:
            names = _fields_of_ours(kind)
            values = vars(x).items() if names is None else [(name, getattr(x, name)) for name in names]
            self._all(f"{kind.__module__}.{kind.__qualname__}", itertools.chain.from_iterable(values))

    def _other(self, x: Any, kind: type) -> None:
        """An object of others by its class and its fields, if Python knows of all there are."""
        names = _slots(kind)
        words = len(names) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
        if kind.__basicsize__ > object.__basicsize__ + WORD * words or kind.__itemsize__:
            self._itself(x)  # something is in there that was not made by Python
            return
        values = {name: getattr(x, name) for name in names if hasattr(x, name)}
        with contextlib.suppress(AttributeError):  # asked of Python: a class may answer to any name itself
            values |= object.__getattribute__(x, "__dict__")
        self._class(kind)
        self._all("", itertools.chain.from_iterable(values.items()))

    def _class(self, kind: type) -> None:
        """A class by its name; one of others by itself, and by what its body and those of its bases say."""
        self.parts.append(f"{kind.__module__}.{kind.__qualname__}")
        if kind.__module__ == "builtins" or is_ours(kind) or id(kind) in self.foreign:
            return
        self._itself(kind)
        for base in kind.__mro__:
            if base.__module__ != "builtins" and not is_ours(base):
                kinds = tuple(PLAIN) if _is_library(base) else object
                for name, value in vars(base).items():
                    if isinstance(value, CODE if name.startswith("__") else kinds):
                        self.parts.append(f"{name}=")
                        self.write(value)

    def _function(self, f: types.FunctionType) -> None:
        """A function by its name; one of others by itself, and by the values it finds outside of itself."""
        self.parts.append(f"{f.__module__}.{f.__qualname__}")
        if is_ours(f):
            return
        self._itself(f)
        if _is_library(f):
            return
        self.write((f.__defaults__, f.__kwdefaults__))
        for cell in f.__closure__ or ():
            try:
                self.write(cell.cell_contents)
            except ValueError:  # not yet filled
                self.parts.append("empty")
        for name in _names(f.__code__):
            if name in f.__globals__:
                self.parts.append(f"{name}=")
                self.write(f.__globals__[name])

    def _itself(self, x: Any) -> None:
        """What is known by being the same object."""
        self.foreign[id(x)] = x
        self.parts.append(f"<{type(x).__name__}>")


def _is_library(thing: Any) -> bool:
    """Whether a class or function is installed, and as it was when it was installed."""
    file = getattr(sys.modules.get(thing.__module__), "__file__", None)
    return file is not None and file.startswith(LIBRARIES)


def _slots(kind: type) -> list[str]:
    """Names of all slots, as they are spelled outside of the class."""
    names = []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                names.append(name)
    return names


def _names(code: types.CodeType) -> list[str]:
    """What a function may look up in its module, it itself or a function inside of it."""
    inner = [name for c in code.co_consts if isinstance(c, types.CodeType) for name in _names(c)]
    return sorted({*code.co_names, *inner})
