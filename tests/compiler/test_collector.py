"""While something is traced or compiled, Python does not look for garbage, and code that nobody needs any more is not
freed; afterwards both go on as before."""

from __future__ import annotations

import gc
import threading

import pytest

from featherweight.compiler import Argument, Kernel, compiling
from featherweight.compiler.target import Library, host


@pytest.fixture(params=[True, False], ids=["on", "off"])
def collects(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def kernel(seen: list[bool], *, fails: bool = False) -> Kernel:
    def traced(scalars, lift, mark):
        seen.append(gc.isenabled())
        with compiling:
            seen.append(gc.isenabled())
        seen.append(gc.isenabled())
        if fails:
            raise ZeroDivisionError
        return [[2.0 * scalars[0][0]]], 0

    return Kernel("test", [Argument("x", (1,), "n")], [(1,)], traced, lambda _: "")


def test_the_collector_rests_and_goes_on_as_before(collects: bool) -> None:
    seen: list[bool] = []
    assert kernel(seen)([3.0])[0].tolist() == [6.0]
    assert seen
    assert not any(seen)
    assert gc.isenabled() is collects


def test_it_goes_on_when_tracing_fails(collects: bool) -> None:
    with pytest.raises(ZeroDivisionError):
        kernel([], fails=True)([3.0])
    assert gc.isenabled() is collects


def empty_library() -> Library:
    return Library([host().object_code("define void @f() {\n  ret void\n}")], ("f",))


def test_code_that_nobody_needs_is_freed_at_once() -> None:
    library = empty_library()
    code = library._tracker
    del library
    assert code.closed


def test_it_waits_for_who_compiles_and_keeps_nobody_waiting() -> None:
    """Otherwise a fork could find LLVM's lock taken by a thread that the child does not have."""
    libraries = [empty_library()]
    code = libraries[0]._tracker
    other = threading.Thread(target=libraries.clear)
    with compiling:
        with compiling:
            other.start()
            other.join(timeout=30)
            assert not other.is_alive()
        assert not libraries
        assert not code.closed
    assert code.closed
