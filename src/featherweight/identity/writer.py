"""Identity: what an object is, by its fields, all the way down. Compiled code is kept and found under it.

Our own objects are known by the name of their class and by their fields, whatever they print as: equal text, equal
code, in every process. Code of others has no text that says what it does. Its classes and functions are known by
themselves, within a process, together with the numbers they refer to: fields, attributes of classes, and, of code that
is not installed as a library, closures and globals. On disk, what was traced stands in their place.
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import functools
import hashlib
import itertools
import operator
import sys
import types
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from featherweight.identity.ours import PACKAGE, derived, fields_of_ours, is_library, is_ours
from featherweight.identity.parts import names_in, slots_of, text_of

PLAIN = (type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes, range)
IDS = frozenset(map(id, PLAIN))  # a class need not be hashable
MANY = 8  # items: as many are written field by field, where all are of one kind
CONTAINERS = (tuple, list, dict, set, frozenset, deque, types.MappingProxyType)
CODE = (types.FunctionType, property, staticmethod, classmethod, functools.cached_property)
# modules of C: no numbers
INERT = ("builtins", "_thread", "_io", "re", "types", "typing", "weakref", "_weakref", "_abc")
DEEPEST = 40  # objects in objects; what lies deeper is known by itself
WORD = object.__basicsize__ // 2


class Same:
    """An object that is equal to itself alone; it keeps the object alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Identity(NamedTuple):
    """A digest of all fields; and what of others it depends on, which no text describes. `settled` is false if some of
    that may change in ways that cannot be seen: then it is good for this moment alone."""

    text: str
    foreign: tuple[Same, ...] = ()
    settled: bool = True

    @property
    def everywhere(self) -> str | None:
        """The digest, where it says all; None if the code of others has a part in it."""
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
    digest = hashlib.sha256("".join(writer.parts).encode("utf-8", "surrogatepass")).hexdigest()
    return Identity(digest, tuple(writer.foreign.values()), writer.settled)


class _Writer:
    """Writes down objects one after the other."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.foreign: dict[int, Same] = {}  # by id
        self.settled = True
        self._met: dict[int, int] = {}  # objects that were begun, by id: their number
        self._kept: list[Any] = []  # so that no id is used twice
        self._numbers = itertools.count()
        self._asked: dict[int, bool] = {}  # classes, by id: are they ours?
        self._depth = 0

    def _is_ours(self, kind: type) -> bool:
        answer = self._asked.get(id(kind))
        if answer is None:
            answer = self._asked[id(kind)] = is_ours(kind)
        return answer

    def write(self, x: Any) -> None:
        kind = type(x)
        if id(kind) in IDS:
            self.parts.append(text_of(x))
        elif kind is tuple and all(type(y) is float for y in x):
            self.parts.append(repr(x))
        elif kind is not tuple and isinstance(x, tuple) and self._is_ours(kind):  # most of a model: vectors
            self._all(f"{kind.__module__}.{kind.__qualname__}", x)
        elif isinstance(x, type):
            self._class(x)
        elif id(x) in self._met:
            self.parts.append(f"#{self._met[id(x)]}")
        elif self._depth == DEEPEST:
            self._itself(x, settled=False)
        else:
            self._met[id(x)] = next(self._numbers)
            self._depth += 1
            try:
                self._inside(x, kind)
            finally:
                self._depth -= 1
            if kind is tuple or kind is slice or self._is_ours(kind):  # whether equal ones are one does not matter
                del self._met[id(x)]
            else:
                self._kept.append(x)

    def _inside(self, x: Any, kind: type) -> None:
        """An object that has parts."""
        if isinstance(x, (np.generic, np.ndarray)):
            self._array(x)
        elif isinstance(x, CONTAINERS):
            self._container(x)
        elif isinstance(x, slice):
            self._all("slice", (x.start, x.stop, x.step))
        elif isinstance(x, types.ModuleType):
            self.parts.append(f"module {x.__name__}")
        elif isinstance(x, enum.Enum):
            self._class(kind)
            self._all("", (x.name, x.value))
        elif isinstance(x, functools.partial):
            self._all("partial", (x.func, x.args, x.keywords, vars(x)))
        elif isinstance(x, types.MethodType):
            self._all("method", (x.__self__, x.__func__))
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, CODE):
            names = ("fget", "fset", "fdel", "__func__", "func")
            self._all(kind.__name__, [getattr(x, name, None) for name in names])
        elif self._is_ours(kind):
            self._ours(x, kind)
        else:
            self._other(x, kind)

    def _all(self, name: str, parts: Iterable[Any]) -> None:
        add = self.parts.append
        add(f"{name}(")
        for part in parts:
            if type(part) is float:  # as a rule
                add(repr(part))
            else:
                self.write(part)
            add(",")
        add(")")

    def _array(self, x: Any) -> None:
        """By its numbers; a subclass also by its class and whatever else it has."""
        plain = np.asarray(x)
        if isinstance(x, np.generic):
            self.parts.append("scalar")
        elif type(x) is not np.ndarray:
            self._class(type(x))
            self.write(getattr(x, "__dict__", None))
        if plain.dtype.hasobject:
            self._all(f"{plain.dtype.descr}{plain.shape}", plain.ravel().tolist())
        else:
            digest = hashlib.sha256(plain.tobytes()).hexdigest()
            self.parts.append(f"{plain.dtype.descr}{plain.shape}{digest}")

    def _container(self, x: Any) -> None:
        kind = type(x)
        if kind not in CONTAINERS:  # a subclass may do anything with its items
            self._class(kind)
            self.write([getattr(x, name, None) for name in ("__dict__", "default_factory", *slots_of(kind))])
        if isinstance(x, (dict, types.MappingProxyType)):
            items = list(x.items())
            if len(items) < MANY:
                self._all(kind.__name__, itertools.chain.from_iterable(items))
            else:
                self._columns(kind.__name__, zip(*items, strict=True))
        elif isinstance(x, (set, frozenset)):
            here, texts = self.parts, []
            for item in list(x):
                self.parts = []
                self.write(item)
                texts.append("".join(self.parts))
            self.parts = here
            self.parts.append(f"{kind.__name__}{sorted(texts)}")
        elif len(x) < MANY:
            self._all("" if kind is tuple else kind.__name__, list(x))
        else:
            self._columns(kind.__name__, [list(x)])

    def _columns(self, name: str, columns: Iterable[Sequence[Any]]) -> None:
        self.parts.append(f"{name}[")
        self._depth += 1
        for column in columns:
            self._column(column)
            self.parts.append(",")
        self._depth -= 1
        self.parts.append("]")

    def _column(self, column: Sequence[Any]) -> None:
        """Many objects: a large model has thousands. Those of one kind of ours are written field by field, so that
        questions are asked once for all of them, and numbers go together; others one by one."""
        try:
            kinds = {*map(type, column)}
        except TypeError:  # a class need not be hashable
            return self._all("", column)
        if float in kinds and kinds <= {int, float}:
            whole = {k: x for k, x in enumerate(column) if type(x) is int} if int in kinds else {}
            floats = [x for x in column if type(x) is float] if whole else column
            digest = hashlib.sha256(array("d", floats)).hexdigest()
            return self.parts.append(f"{len(column)} numbers {text_of(whole)} {digest}")
        if kinds.issubset(PLAIN):
            return self.parts.append(text_of(column))
        fields = self._fields(column) if len(kinds) == 1 and self._depth < DEEPEST else None
        if fields is None:
            return self._all("", column)
        return self._columns(f"{len(column)} {fields[0]}", fields[1])

    def _fields(self, column: Sequence[Any]) -> tuple[str, Iterable[Sequence[Any]]] | None:
        """The name of the kind all objects are of, and their fields, a column each; None if one by one is safer."""
        kind: Any = type(column[0])
        if kind is slice:
            return "slice", [[getattr(x, name) for x in column] for name in ("start", "stop", "step")]
        if kind is not tuple and not self._is_ours(kind):
            return None
        name = f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(column[0], tuple):
            same = len({*map(len, column)}) == 1
            return (f"{name} {len(column[0])}", zip(*column, strict=True)) if same else None
        if not hasattr(column[0], "__dict__") or hasattr(column[0], "identity"):
            return None
        other = derived(kind)  # with the fields of a dataclass
        more = [n for n in vars(column[0]) if n not in other]
        if any({*own} - other != {*more} for own in {*map(tuple, map(vars, column))}):
            return None
        names = (*(fields_of_ours(kind) or ()), *more)
        return f"{name} {names}", [[*map(operator.attrgetter(n), column)] for n in names]

    def _ours(self, x: Any, kind: Any) -> None:
        """One of our objects by its class and its fields; what is derived from them says nothing new."""
        known = getattr(x, "identity", None)
        if isinstance(known, Identity):
            self.parts.append(known.text)
            self.foreign.update((id(same.value), same) for same in known.foreign)
            self.settled = self.settled and known.settled
            return
        names = fields_of_ours(kind)
        values = [] if names is None else [(name, getattr(x, name)) for name in names]
        more = getattr(x, "__dict__", {})
        if names is None or len(more) > len(names):
            values += [item for item in more.items() if item[0] not in derived(kind)]
        self._all(f"{kind.__module__}.{kind.__qualname__}", itertools.chain.from_iterable(values))

    def _other(self, x: Any, kind: type) -> None:
        """An object of others by its class and its fields, if Python knows of all there are; by its numbers, if it has
        some; else by itself."""
        names = slots_of(kind)
        words = len(names) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
        if kind.__basicsize__ <= object.__basicsize__ + WORD * words and not kind.__itemsize__:
            values = {name: getattr(x, name) for name in names if hasattr(x, name)}
            with contextlib.suppress(AttributeError):  # asked of Python: a class may answer to any name itself
                values |= object.__getattribute__(x, "__dict__")
            self._class(kind)
            self._all("", itertools.chain.from_iterable(values.items()))
            return
        numbers = None
        with contextlib.suppress(Exception):  # what is not made by Python: arrays of other libraries, buffers
            numbers = np.asarray(x if hasattr(kind, "__array__") else memoryview(x))
            self._array(numbers)
        self._itself(x, settled=numbers is not None or kind.__module__ in INERT)

    def _class(self, kind: type) -> None:
        """A class by its name; one of others by itself, and by what its body and those of its bases say."""
        self.parts.append(f"{kind.__module__}.{kind.__qualname__}")
        if getattr(builtins, kind.__name__, None) is kind or self._is_ours(kind):
            return
        if self._itself(kind):
            return
        for base in (*kind.__mro__, type(kind)):
            if getattr(builtins, base.__name__, None) is not base and not self._is_ours(base):
                kinds = PLAIN if is_library(base) else object
                for name, value in list(vars(base).items()):
                    if isinstance(value, CODE if name.startswith("__") and name != "__call__" else kinds):
                        self.parts.append(f"{name}=")
                        self.write(value)

    def _function(self, f: types.FunctionType) -> None:
        """A function by its name; one of others by itself, and by the values it finds outside of itself."""
        self.parts.append(f"{f.__module__}.{f.__qualname__}")
        if is_ours(f):
            return
        self._itself(f)
        self._itself(f.__code__)
        if is_library(f):
            return
        self.write((f.__defaults__, f.__kwdefaults__, f.__dict__))
        for cell in f.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # not yet filled
                value = NotImplemented
            self.write(value)
        names = names_in(f.__code__)
        for name in names:
            value = f.__globals__.get(name, sys.modules.get(name))  # it may import a module itself
            if value is not None or name in f.__globals__:
                self.parts.append(f"{name}=")
                self.write(value)
                if isinstance(value, types.ModuleType) and not is_library(value):
                    used = [n for n in names if n in vars(value) and value.__name__.partition(".")[0] != PACKAGE]
                    self._all(name, [vars(value)[n] for n in used])

    def _itself(self, x: Any, *, settled: bool = True) -> bool:
        """What is known by being the same object; whether it was met before."""
        before = id(x) in self.foreign
        self.foreign.setdefault(id(x), Same(x))
        self.settled = self.settled and settled
        self.parts.append(f"<{type(x).__name__} {list(self.foreign).index(id(x))}>")
        return before
