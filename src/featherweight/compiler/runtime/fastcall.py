"""Builtin functions at native entry points: what CPython and NumPy must lend them, and whether they can.

No process address stands in the code of an entry point: addresses come in a context, the `self` of the function.
Functions of CPython are those that its library has from version 3.10 on; some others are only in its headers there.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import platform
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

import numpy as np

from featherweight.compiler.llvm.calls import OFF
from featherweight.compiler.llvm.entry import (
    DATA,
    DIMENSIONS,
    DTYPE,
    FLAGS,
    KEPT,
    NAMES,
    RANK,
    REFERENCES,
    TYPE,
    WEAK,
    is_kept,
)

_log = logging.getLogger("featherweight")

API_NEW = 94  # PyArray_NewFromDescr in NumPy's C-API table
METH_FASTCALL = 0x80


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Context(np.ndarray):
    """Addresses for the entry point. It also owns everything the function needs to stay alive."""

    owner: Any = None


def make_entry(
    address: int,
    name: str,
    workspace: np.ndarray,
    library: Any,
    outputs: tuple[tuple[int, ...], ...],
    *,
    run: int = 0,
    many: Callable[[int], bool | None] | None = None,
    few: int = 0,
    places: ctypes.Array[ctypes.c_int64] | None = None,
) -> Any:
    """A builtin function at this address; None, and a warning, where the layout of objects is not the one we know.

    `run` is the address of a kernel's `@rows`, `many` is for batches of more than `few` rows, which are worth threads,
    `places` (call and workspace) for the step of a loop.
    """
    table = _numpy_api()
    if table is None:
        return None
    api = ctypes.pythonapi

    def function(pointer: Any) -> int:
        return ctypes.cast(pointer, ctypes.c_void_p).value or 0

    kept = [np.empty(shape) if many is None and is_kept(shape) else None for shape in outputs for _ in range(KEPT)]
    results = np.array([id(array) for array in kept], dtype=np.uintp)
    addresses = {
        "type": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "newarray": table[API_NEW],
        "none": id(None),
        "incref": function(api.Py_IncRef),
        "decref": function(api.Py_DecRef),
        "newtuple": function(api.PyTuple_New),
        "setitem": function(api.PyTuple_SetItem),
        "ws": workspace.ctypes.data,
        "many": id(many),
        "callobject": function(api.PyObject_CallObject),
        "integer": function(api.PyLong_FromVoidPtr),
        "off": ctypes.addressof(OFF),
        "kept": results.ctypes.data,
        "places": 0 if places is None else ctypes.addressof(places),
        "run": run,
        "few": few,
    }
    context = np.array([addresses[n] for n in NAMES], dtype=np.uintp).view(_Context)
    context.owner = (workspace, library, many, kept, results, places)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", api)
    )
    return new(ctypes.addressof(_method(address, name)), context, None)


@functools.cache
def _method(address: int, name: str) -> _MethodDef:
    """What CPython reads of a function there."""
    method = _MethodDef(name.encode(), address, METH_FASTCALL, b"")
    ctypes.pythonapi.Py_IncRef(
        ctypes.py_object(method)
    )  # for good: functions read it when they are freed, also at exit
    return method


@functools.cache
def _numpy_api() -> Any:
    """NumPy's C-API table, if a look at real arrays finds everything where we expect it; else None, said once."""
    reason = _unknown_python() or _unknown_arrays()
    table = None
    if reason is None:
        table = _working_table()
        reason = "NumPy's C API is not where it was"
    if table is None:
        version = f"{sys.implementation.name} {platform.python_version()}, NumPy {np.__version__}"
        _log.warning("no native entry points (%s; %s): a call of one state takes about 20 us longer", reason, version)
    return table


def _unknown_python() -> str | None:
    """Why the layout of objects is another one than ours; None if it should be the same."""
    if sys.implementation.name != "cpython":
        return "the interpreter is not CPython"
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return "not a 64-bit process"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "a free-threaded build of Python"
    if not hasattr(np, "_core"):
        return "NumPy before version 2"
    return None


def _unknown_arrays() -> str | None:
    """What of an array is not where we look for it."""
    sample = np.arange(6.0).reshape(2, 3)
    address = id(sample)

    def word(offset: int) -> int:
        return ctypes.c_uint64.from_address(address + offset).value

    def half(offset: int) -> int:
        return ctypes.c_int32.from_address(address + offset).value

    def references(more: int) -> int:
        """How many are counted with so many more; a frame may borrow its own."""
        others = [sample] * more
        return half(REFERENCES) if len(others) == more else -1

    found = {
        "type": word(TYPE) == id(np.ndarray),
        "data": word(DATA) == sample.ctypes.data,
        "rank": half(RANK) == 2,
        "dtype": word(DTYPE) == id(np.dtype(np.float64)),
        "flags": half(FLAGS) == sample.flags.num,
        "reference count": [references(n) - references(0) for n in (1, 2, 7)] == [1, 2, 7] and references(0) > 0,
        "weak references": word(WEAK) == 0,
        "shape": tuple((ctypes.c_int64 * 2).from_address(word(DIMENSIONS))) == (2, 3),
    }
    wrong = ", ".join(name for name, right in found.items() if not right)
    return f"unknown layout of arrays: {wrong}" if wrong else None


def _working_table() -> Any:
    """NumPy's C-API table, if an array can be made with it."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    capsule = getattr(getattr(getattr(np, "_core", None), "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    table = (ctypes.c_size_t * (API_NEW + 1)).from_address(pointer(capsule, None))
    new = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        ctypes.py_object,
        ctypes.py_object,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_void_p,
    )(table[API_NEW])
    shape = (ctypes.c_int64 * 2)(4, 5)
    float64 = np.dtype(np.float64)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(float64))  # the array takes it
    made = new(np.ndarray, float64, 2, ctypes.addressof(shape), None, None, 0, None)
    return table if made.shape == (4, 5) and made.dtype == np.float64 else None
