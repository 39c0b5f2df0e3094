"""Modules that a process loads once for all kernels: support functions and entry points."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from featherweight.compiler.native import cache
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.target import Target, llvm_version

if TYPE_CHECKING:
    from featherweight.compiler.llvm.entry import Kind


def support(width: int, target: Target, groups: Iterable[str]) -> dict[str, int]:
    """Names and addresses of the functions that a kernel's module of this width is linked against."""
    if not target.links_modules:
        return {}
    return {name: address for group in groups for name, address in _support(width, target, group).items()}


@functools.cache
def _support(width: int, target: Target, group: str) -> dict[str, int]:
    """Those of one group."""

    def emit() -> str:
        from featherweight.compiler.llvm.support import emit_support  # what only compiles is loaded to compile

        return emit_support(width, target, group)

    return load(f"support {group} {width} of {target.width}", target, emit)


@functools.cache
def entry_point(inputs: tuple[Kind, ...], outputs: tuple[Kind, ...], batch: bool, target: Target) -> int:
    """Address of the native entry point for one state or a batch, with arguments and results of these kinds."""

    def emit() -> str:
        from featherweight.compiler.llvm.entry import emit_entry
        from featherweight.compiler.llvm.support import attributes

        return emit_entry(inputs, outputs, batch) + attributes(target)

    return load(f"entry {inputs} {outputs} {batch}", target, emit)["entry"]


def load(name: str, target: Target, emit: Callable[[], str]) -> dict[str, int]:
    """Names and addresses of a module's functions: from the cache or compiled now, loaded for good."""
    key = cache_key(target, name)
    stored = cache.read(key) if key else None
    if stored is not None:
        facts, objects = stored
    else:
        from featherweight.compiler.llvm.support import headers

        ir = emit()
        facts = {"functions": [header.partition("@")[2].partition("(")[0] for header in headers(ir)]}
        objects = [target.object_code(ir)]
    library = Library(objects, facts["functions"])
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # for good: threads may still be inside at exit
    if key and stored is None:
        cache.write(key, facts, objects)
    return {name: library[name] for name in facts["functions"]}


def cache_key(target: Target, *parts: str) -> str | None:
    """Name of the entry for code that follows from these texts, this package and the machine; None: do not cache."""
    if cache.PACKAGE_DIGEST is None:
        return None
    return cache.key(*parts, cache.PACKAGE_DIGEST, target.triple, target.cpu, target.features, llvm_version())
