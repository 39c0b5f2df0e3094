"""What functions of a study refer to, as text that is the same in every process: numbers, objects and their classes,
code of other files that are not installed. `identity` knows code of others by itself, which is good within a process.

Names of modules of users say nothing: a file may be run or imported. Installed libraries are known by name.
"""

from __future__ import annotations

import builtins
import contextlib
import copyreg
import dis
import enum
import hashlib
import importlib.util
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.identity import identity
from featherweight.identity.ours import HERE, LIBRARIES, derived, fields_of_ours, is_library, is_ours
from featherweight.identity.parts import names_in, slots_of
from featherweight.identity.writer import PLAIN

CALLS = (property, staticmethod, classmethod)


def code_text(code: types.CodeType) -> str:
    """What code does, wherever it stands."""
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount
    handlers: bytes = getattr(code, "co_exceptiontable", b"")  # Python 3.11
    return f"{code.co_code.hex()} {handlers.hex()} {names} {[*map(_constant, code.co_consts)]}"


def _constant(x: Any) -> str:
    if isinstance(x, types.CodeType):
        return code_text(x)
    if isinstance(x, frozenset):  # its order is another in each process
        return f"frozenset{sorted(map(_constant, x))}"
    return f"({','.join(map(_constant, x))})" if isinstance(x, tuple) else repr(x)


def inner_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code, and all that is inside of it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from inner_codes(x)


def _looked_up(code: types.CodeType) -> list[str]:
    """Names of globals."""
    wanted = ("LOAD_GLOBAL", "LOAD_NAME")
    return sorted({i.argval for c in inner_codes(code) for i in dis.get_instructions(c) if i.opname in wanted})


def _imported(code: types.CodeType) -> Iterator[tuple[str, types.ModuleType]]:
    """Modules of users that code imports itself: now, so that they are there the first time as well as later."""
    names = {i.argval for c in inner_codes(code) for i in dis.get_instructions(c) if i.opname == "IMPORT_NAME"}
    for name in sorted(names):
        with contextlib.suppress(Exception):  # it will say so itself
            spec = importlib.util.find_spec(name.partition(".")[0])
            if spec is not None and spec.origin not in ("built-in", "frozen") and not _in_library(spec.origin or ""):
                yield name, importlib.import_module(name)


def _in_library(file: str) -> bool:
    return file.startswith((HERE, *LIBRARIES)) or bool({"site-packages", "dist-packages"} & {*Path(file).parts})


def _installed(thing: Any) -> bool:
    """Is a module or class of this package, of Python or of an installed library?"""
    module = thing if isinstance(thing, types.ModuleType) else sys.modules.get(str(thing.__module__))
    if module is None or module.__name__ == "__main__":
        return False
    file = getattr(module, "__file__", None)
    if file is None:  # written in C
        return module.__name__.partition(".")[0] in sys.stdlib_module_names
    return _in_library(file)


def _known_by_name(f: types.FunctionType) -> bool:
    """Does an installed module have this very function? What its decorators make of others' functions is not there."""
    found: Any = sys.modules.get(f.__module__ or "")
    if found is None or not _installed(found):
        return False
    for part in f.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is f


class Describer:
    """Describes one thing after the other; functions of `own`, the globals of a file whose text is known, without their
    code. TypeError that names what cannot be described. `met`: code of users."""

    def __init__(self, own: dict[str, Any] | None) -> None:
        self.met: list[types.FunctionType] = []
        self._own = own
        self._done: dict[int, str] = {}  # by id
        self._begun: dict[int, int] = {}  # by id: how deep
        self._kept: list[Any] = []  # so that no id is used twice

    def text(self, x: Any) -> str:
        """A digest, or the value itself if it is short."""
        if type(x) in PLAIN:
            return repr(x) if type(x) is not int else hex(x)
        if id(x) in self._begun:
            return f"#{self._begun[id(x)]}"
        if id(x) not in self._done:
            self._begun[id(x)] = len(self._begun)
            try:
                whole = self._of(x)
            finally:
                del self._begun[id(x)]
            self._kept.append(x)
            self._done[id(x)] = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
        return self._done[id(x)]

    def _all(self, name: str, parts: Iterable[Any]) -> str:
        return f"{name}({','.join(map(self.text, parts))})"

    def _of(self, x: Any) -> str:
        kind = type(x)
        if isinstance(x, types.ModuleType):
            return f"module {x.__name__}" if _installed(x) else "module"
        if isinstance(x, types.FunctionType):
            return self.function(x)
        if isinstance(x, type):
            return self._class(x)
        if isinstance(x, types.CodeType):
            return code_text(x)
        if isinstance(x, types.MethodType):
            return self._all("method", (x.__func__, x.__self__))
        if isinstance(x, types.BuiltinFunctionType) and isinstance(x.__self__, (types.ModuleType, type(None))):
            return f"{x.__module__}.{x.__qualname__}"
        if isinstance(x, CALLS):
            return self._all(kind.__name__, [getattr(x, n, None) for n in ("fget", "fset", "fdel", "__func__")])
        if isinstance(x, enum.Enum):
            return self._all(f"{kind.__qualname__}.{x.name}", [x.value])
        if kind in (np.ndarray, np.memmap) or isinstance(x, np.generic):
            return self._array(np.asarray(x), isinstance(x, np.generic))
        if isinstance(x, (tuple, list, set, frozenset, dict, types.MappingProxyType)):
            return self._container(x, kind)
        return self._object(x, kind)

    def _array(self, x: np.ndarray, scalar: bool) -> str:
        if x.dtype.hasobject:
            return self._all(f"{x.dtype.descr}{x.shape}", x.ravel().tolist())
        return f"{scalar} {x.dtype.descr} {x.shape} {hashlib.sha256(x.tobytes()).hexdigest()}"

    def _container(self, x: Any, kind: type) -> str:
        items: Iterable[Any] = x
        if isinstance(x, (dict, types.MappingProxyType)):
            items = [part for item in x.items() for part in item]
        texts = [*map(self.text, items)]
        more = [] if kind.__module__ == "builtins" else [self.text(kind), self.text(getattr(x, "__dict__", None))]
        return f"{kind.__name__}{sorted(texts) if isinstance(x, (set, frozenset)) else texts}{more}"

    def _object(self, x: Any, kind: type) -> str:
        """By its class and fields, if it is ours or a user's; else by what Python would write down to make it anew."""
        if hasattr(x, "__wrapped__"):  # of functools.cache
            return self._all("wrapped", [x.__wrapped__])
        if is_ours(kind):
            if not (known := identity(x)).foreign:
                return known.text
            names = fields_of_ours(kind) or ()
            more = {n: y for n, y in getattr(x, "__dict__", {}).items() if n not in derived(kind)}
            return self._all(kind.__qualname__, [getattr(x, n) for n in names] + [more])
        if not _installed(kind) and (kind.__dictoffset__ or slots_of(kind)):
            fields = {n: getattr(x, n) for n in slots_of(kind) if hasattr(x, n)}
            return self._all("object", [kind, fields, getattr(x, "__dict__", None)])
        try:
            made = copyreg.dispatch_table[kind](x) if kind in copyreg.dispatch_table else x.__reduce_ex__(4)
        except Exception as error:
            raise TypeError(f"{kind.__module__}.{kind.__qualname__}: {error}") from None
        if isinstance(made, str):
            return f"{kind.__module__}.{kind.__qualname__} {made}"
        items = [None if y is None else list(y) for y in (*made, None, None, None)[3:5]]
        return self._all("made", [*made[:3], *items])

    def _class(self, kind: type) -> str:
        if getattr(builtins, kind.__name__, None) is kind or _installed(kind):
            return f"class {kind.__module__}.{kind.__qualname__}"
        body = {
            name: value for name, value in sorted(vars(kind).items())
            if name != "_abc_impl" and not isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType))
            and (not name.startswith("__") or (isinstance(value, (types.FunctionType, *CALLS)) and _written(value)))
        }  # fmt: skip
        return self._all(f"class {kind.__qualname__}", [kind.__bases__, body])

    def function(self, f: types.FunctionType) -> str:
        """A function by its code, and by what it finds outside of itself."""
        if f.__globals__ is not self._own and _known_by_name(f):
            return f"{f.__module__}.{f.__qualname__}"
        self.met.append(f)
        known = self._own is not None and f.__globals__ is self._own
        parts = [f.__qualname__ if known else code_text(f.__code__)]
        parts += [self.text(f.__defaults__), self.text(f.__kwdefaults__), self.text(f.__dict__)]
        names = names_in(f.__code__)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # not yet filled
                continue
            parts.append(self._named(name, value, names))
        if not is_library(f):
            there = {name: f.__globals__[name] for name in _looked_up(f.__code__) if name in f.__globals__}
            for name, value in (*there.items(), *list(_imported(f.__code__))):
                parts.append(self._named(name, value, names))
        return " ".join(parts)

    def _named(self, name: str, value: Any, names: list[str]) -> str:
        try:
            if isinstance(value, types.ModuleType) and not _installed(value):
                return f"{name}=[{' '.join(self._within(value, names))}]"
            return f"{name}={self.text(value)}"
        except (TypeError, RecursionError, ValueError) as error:
            if isinstance(error, Undescribed):
                raise
            raise Undescribed(
                f"sample, reduce: {name}: expected numbers, arrays, functions and objects of these, got "
                f"{type(value).__name__}, of which nothing says whether it is the same in the next run ({error})"
            ) from None

    def _within(self, module: types.ModuleType, names: list[str]) -> Iterator[str]:
        """What a function may use of a module of users."""
        for name in names:
            if name in vars(module) and not (name.startswith("__") and name.endswith("__")):
                value = vars(module)[name]
                if value is not module:
                    yield self._named(name, value, names)


class Undescribed(TypeError):
    """Something that a study refers to cannot be described."""


def _written(value: Any) -> bool:
    """Not made by `dataclass` or `NamedTuple`."""
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    return code is not None and code.co_filename != "<string>" and not is_library(getattr(value, "__func__", value))
