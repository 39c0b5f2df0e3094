"""A study's own functions, `sample` and `reduce`: their text, which travels to workers, and how it is run there.

No closure travels. A worker runs the text of the file that the functions stand in and takes them from there by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from featherweight.identity import identity
from featherweight.identity.parts import names_in

_loading = threading.local()


@dataclass(frozen=True)
class Functions:
    """`sample` and `reduce` of a study, and the text they stand in; None, and why, if they cannot travel."""

    sample: Callable[..., Any]
    reduce: Callable[..., Any] | None
    text: str | None
    stays: str = ""  # why it cannot travel

    @property
    def names(self) -> list[str | None]:
        """Of both functions."""
        return [self.sample.__qualname__, None if self.reduce is None else self.reduce.__qualname__]

    @property
    def digest(self) -> str:
        """Of their text, or of their code if they have none, and of the numbers they refer to."""
        whole = hashlib.sha256(repr((self.text, self.names)).encode("utf-8", "surrogatepass"))
        for function in filter(None, (self.sample, self.reduce)):
            if self.text is None:
                whole.update(identity(function).text.encode())
            if isinstance(function, FunctionType):
                for text in _referred(function, whole_code=self.text is None):
                    whole.update(text.encode("utf-8", "surrogatepass"))
        return whole.hexdigest()


def _referred(function: FunctionType, *, whole_code: bool) -> Iterator[str]:
    """Numbers that a function, and those of its file that it calls, find outside of themselves; their code, if that is
    wanted. Names of modules say nothing: a file may be run or imported."""
    met, left = {function.__code__}, [function]
    while left:
        one = left.pop()
        if whole_code:
            yield _code(one.__code__)
        for name in names_in(one.__code__):
            value = one.__globals__.get(name)
            if isinstance(value, FunctionType) and value.__globals__ is one.__globals__:
                if value.__code__ not in met:
                    met.add(value.__code__)
                    left.append(value)
            elif not isinstance(value, (ModuleType, type, FunctionType)) and not (known := identity(value)).foreign:
                yield f"{name}={known.text}"


def _code(code: CodeType) -> str:
    inner = [_code(x) if isinstance(x, CodeType) else repr(x) for x in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {inner}"


def functions_of(sample: Any, reduce: Any) -> Functions:
    """Checked, and with their text if that says all of them."""
    if not callable(sample):
        raise TypeError(f"sample: expected a function of (random generator, count), got {type(sample).__name__}")
    if reduce is not None and not callable(reduce):
        raise TypeError(f"reduce: expected a function of a trajectory, got {type(reduce).__name__}")
    both = {"sample": sample, "reduce": reduce}
    files, own = {}, ""
    for argument, function in both.items():
        if function is None:
            continue
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        name = getattr(function, "__qualname__", "")
        code = getattr(function, "__code__", None)
        if module is None or code is None or getattr(module, name, None) is not function:
            return Functions(sample, reduce, None, f"{argument}: expected a function of a file, on its outermost level")
        files[code.co_filename] = argument
        own = code.co_filename
    if len(files) > 1:
        return Functions(sample, reduce, None, "sample, reduce: expected both in one file")
    try:
        return Functions(sample, reduce, Path(own).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Functions(sample, reduce, None, f"sample: expected a function of a file, got one of {own!r}")


def from_text(text: str, names: list[str | None]) -> Functions:
    """Run a study's text and take its functions."""
    module = loaded(text)
    sample, reduce = (None if name is None else getattr(module, name) for name in names)
    return Functions(sample, reduce, text)  # type: ignore[arg-type]


def loaded(text: str, file: str | None = None) -> ModuleType:
    """A study's text as a module. `fw.sweep` may not be called meanwhile."""
    name = f"featherweight_study_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    file = file or f"<{name}>"
    module = ModuleType(name)
    module.__file__ = file
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # for tracebacks
    sys.modules[name] = module
    try:
        with _marked():
            exec(compile(text, file, "exec"), vars(module))
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


@contextlib.contextmanager
def _marked() -> Iterator[None]:
    before, _loading.now = is_loading(), True
    try:
        yield
    finally:
        _loading.now = before


def is_loading() -> bool:
    """Is a study's text being run in this thread?"""
    return getattr(_loading, "now", False)
