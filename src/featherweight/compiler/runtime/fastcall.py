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
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.compiler.llvm.calls import OFF
from featherweight.compiler.llvm.entry import NAMES
from featherweight.compiler.llvm.results import DATA, DIMENSIONS, DTYPE, FLAGS, RANK, REFERENCES, TYPE, WEAK
from featherweight.compiler.runtime.kept import KeptResults

_log = logging.getLogger("featherweight")

API_NEW = 94  # PyArray_NewFromDescr in NumPy's C-API table
METH_FASTCALL = 0x80
METHOD_WORDS = 4  # of a PyMethodDef; flags are an int, on little-endian machines at the beginning of a word


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
    named: type[tuple] | None = None,
    sizes: Sequence[int] = (),
) -> Any:
    """A builtin function at this address; None, and a warning, where the layout of objects is not the one we know.

    `run` is the address of a kernel's `@rows`, `many` is for batches of more than `few` rows, which are worth threads,
    `places` (call and workspace) for the step of a loop. `named` is the class of named tuples that results are returned
    in; None: a plain tuple. `sizes` are those of arguments and results that the code does not have.
    """
    table = _numpy_api()
    if table is None:
        return None
    api = ctypes.pythonapi

    def function(pointer: Any) -> int:
        return ctypes.cast(pointer, ctypes.c_void_p).value or 0

    read = array("q", sizes)
    kept = KeptResults(outputs, batch=many is not None)
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
        "kept": kept.table.ctypes.data,
        "places": 0 if places is None else ctypes.addressof(places),
        "run": run,
        "few": few,
        "named": 0 if named is None else id(named),
        "sizes": read.buffer_info()[0],
        "newnamed": function(api.PyType_GenericAlloc),  # what tuple.__new__ of a subclass calls
    }
    context = _context([addresses[n] for n in NAMES], address, name)
    context.owner = (workspace, library, many, kept, places, named, read)
    return _new_function()(context[len(NAMES) :].ctypes.data, context, None)


@functools.cache
def _new_function() -> Any:
    """CPython's PyCFunction_NewEx. Made once: ctypes makes a class for it, which only the collector frees."""
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return kind(("PyCFunction_NewEx", ctypes.pythonapi))


def _context(words: list[int], address: int, name: str) -> _Context:
    """These words, and behind them what CPython reads of the function: a PyMethodDef (name, address, flags, text), then
    the name.

    It reads them once more when it frees the function, and only then lets its `self` go (bpo-42015): so they stand in
    the memory of `self`. An object that `self` refers to would not do: the collector may take it away first.
    """
    text = name.encode()
    letters = np.frombuffer(text.ljust(8 * (len(text) // 8 + 1), b"\0"), dtype=np.uintp)
    context = np.array([*words, 0, address, METH_FASTCALL, 0, *letters], dtype=np.uintp).view(_Context)
    method, start = len(words), context[len(words) + METHOD_WORDS :].ctypes.data
    context[method], context[method + 3] = start, start + len(text)  # an empty text
    return context


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
