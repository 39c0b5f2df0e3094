"""A study's own functions, `sample` and `reduce`: their text, which travels to workers, and how it is run there.

No closure travels. A worker runs the text of the file that the functions stand in and takes them from there by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from featherweight.campaigns.described import Describer, code_text, inner_codes

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
        """Of their text, or of their code if they have none, and of all they refer to. TypeError if nothing describes
        that; ValueError if the text is not that of the functions that would run."""
        whole = hashlib.sha256(repr((self.text, self.names)).encode("utf-8", "surrogatepass"))
        first: Any = self.sample
        describer = Describer(None if self.text is None else first.__globals__)
        for function in filter(None, (self.sample, self.reduce)):
            whole.update(describer.text(function).encode())
        if self.text is not None:
            _check_text(self.text, [f.__code__ for f in describer.met], first.__code__.co_filename)
        return whole.hexdigest()


def _check_text(text: str, codes: list[CodeType], file: str) -> None:
    """ValueError if code of a file is not what its text says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            whole = compile(text, file, "exec", dont_inherit=True)
            said = {(code.co_name, code_text(code)) for code in inner_codes(whole)}
        except SyntaxError:
            said = set()
    for code in codes:
        if code.co_filename == file and (code.co_name, code_text(code)) not in said:
            raise ValueError(
                f"sample, reduce: {code.co_name}: {file}: the file has changed since it was imported; import it again"
            )


def functions_of(sample: Any, reduce: Any) -> Functions:
    """Checked, and with their text if that says all of them."""
    both: dict[str, Any] = {"sample": sample} if reduce is None else {"sample": sample, "reduce": reduce}
    for argument, function in both.items():
        if not isinstance(function, (FunctionType, MethodType)):
            what = "(random generator, count)" if argument == "sample" else "a trajectory"
            raise TypeError(
                f"{argument}: expected a function of {what}, made by def or lambda, got {type(function).__name__}"
            )
    files, file = set(), ""
    for argument, function in both.items():
        module: Any = sys.modules.get(function.__module__ or "")
        file = getattr(module, "__file__", None) or ""
        found: Any = getattr(module, function.__qualname__, None)
        if not file or found is not function:
            return Functions(sample, reduce, None, f"{argument}: expected a function of a file, on its outermost level")
        if not _same_file(function.__code__.co_filename, file) or function.__globals__ is not vars(module):
            stays = f"{argument}: expected a function of a file, got one that a decorator of another file has made"
            return Functions(sample, reduce, None, stays)
        files.add(file)
    if len(files) > 1:
        return Functions(sample, reduce, None, "sample, reduce: expected both in one file")
    try:
        return Functions(sample, reduce, Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Functions(sample, reduce, None, f"sample: expected a function of a file, got one of {file!r}")


def _same_file(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


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
