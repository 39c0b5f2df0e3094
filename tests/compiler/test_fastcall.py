"""Native entry points are there on every Python that is supported, and it is said once where they are not."""

from __future__ import annotations

import ctypes
import logging
import re
import sys
import sysconfig
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime import fastcall
from featherweight.compiler.runtime.python import check_python

SUPPORTED = sys.implementation.name == "cpython" and sys.maxsize > 1 << 32
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.skipif(not SUPPORTED or FREE_THREADED, reason="an interpreter without native entry points")
def test_one_state_and_batches_have_native_entry_points() -> None:
    model = fw.robots.chain(2)
    q = np.zeros((3, 2))
    fw.forward_dynamics(model, q[0], q[0], q[0])
    fw.forward_dynamics(model, q, q, q)
    entries = model.cache.entries["forward_dynamics", (), ()]
    for axes, x in enumerate((q[0], q)):
        assert type(entries[axes]) is type(len)
        assert entries[axes](x, x, x).shape == x.shape


@pytest.mark.skipif(not SUPPORTED or FREE_THREADED, reason="an interpreter without native entry points")
def test_nothing_stays_of_functions_that_are_gone() -> None:
    """Each model that Python controls has a step at an address of its own."""
    model = fw.robots.chain(2)
    x = np.zeros(2)
    fw.forward_dynamics(model, x, x, x)
    code = model.cache.kernels["forward_dynamics", (), ()].code(1)

    def make(numbers: range) -> None:
        for k in numbers:
            entry = fastcall.make_entry(code.library["rows"] + k, f"step{k}", code.workspace(), code.library, ())
            assert entry.__name__ == f"step{k}"

    make(range(10))
    tracemalloc.start()
    try:
        make(range(10, 20))
        grown = []
        for first in (20, 520, 1020):  # other threads take memory, too, but not each time
            before = tracemalloc.get_traced_memory()[0]
            make(range(first, first + 500))
            grown.append(tracemalloc.get_traced_memory()[0] - before)
        assert min(grown) < 500 * 10
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not SUPPORTED or FREE_THREADED, reason="an interpreter without native entry points")
def test_what_python_reads_of_a_function_is_freed_after_it() -> None:
    """It stands in the memory of the function's `self`, which CPython lets go last; not in an object that `self` refers
    to: the collector clears those in any order, for kernels and their functions refer to each other."""
    model = fw.robots.chain(2)
    x = np.zeros(2)
    fw.forward_dynamics(model, x, x, x)
    entry = model.cache.entries["forward_dynamics", (), ()][0]
    context = entry.__self__
    assert context.flags.owndata or context.base.flags.owndata
    method = ctypes.c_void_p.from_address(id(entry) + 16).value  # PyCFunctionObject.m_ml
    name, _, _, text = (ctypes.c_void_p * 4).from_address(method)
    for place in (method, name, text):
        assert 0 <= place - context.ctypes.data < context.nbytes
    assert ctypes.string_at(name) == entry.__name__.encode() == b"forward_dynamics"
    assert not entry.__doc__


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [("_unknown_python", "no CPython"), ("_unknown_arrays", "unknown layout"), ("_working_table", None)],
)
def test_where_there_are_none_it_is_said_once_and_everything_works(attribute, reason, monkeypatch, caplog) -> None:
    monkeypatch.setattr(fastcall, attribute, lambda: reason)
    fastcall._numpy_api.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, logger="featherweight"):
            for mass in (1.25, 1.5):
                model = fw.robots.chain(2, mass=mass)
                x = np.full(2, 0.1)
                one = fw.forward_dynamics(model, x, x, x)
                assert (fw.forward_dynamics(model, *[np.stack([x, x])] * 3) == one).all()
                run = fw.simulate(model, x, x, duration=3e-3, dt=1e-3, control=lambda t, q, v: -v)
                assert np.isfinite(run.q).all()
    finally:
        fastcall._numpy_api.cache_clear()
    said = [record.getMessage() for record in caplog.records if "native entry points" in record.getMessage()]
    assert len(said) == 1
    assert (reason or "C API") in said[0]


def test_the_layout_of_arrays_is_looked_at() -> None:
    assert fastcall._unknown_arrays() is None


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("TYPE", "DATA"),
        ("DATA", "TYPE"),
        ("RANK", "FLAGS"),
        ("DTYPE", "TYPE"),
        ("FLAGS", "RANK"),
        ("REFERENCES", "RANK"),
    ],
)
def test_a_change_of_layout_is_noticed(name, other, monkeypatch) -> None:
    monkeypatch.setattr(fastcall, name, getattr(fastcall, other))
    assert "unknown layout of arrays" in (fastcall._unknown_arrays() or "")


def test_functions_of_python_are_in_every_version() -> None:
    """Those that 3.10 has in its headers alone are not used."""
    text = Path(fastcall.__file__).read_text(encoding="utf-8")
    inline = {"PyObject_CallOneArg", "PyObject_CallNoArgs", "PyObject_Vectorcall", "Py_NewRef"}
    assert not inline & set(re.findall(r"api\.(\w+)", text))


def test_a_python_without_its_lock_is_refused_at_import() -> None:
    check_python()
    check_python(gil=True)
    with pytest.raises(ImportError, match=r"global interpreter lock.*PYTHON_GIL=1"):
        check_python(gil=False)
