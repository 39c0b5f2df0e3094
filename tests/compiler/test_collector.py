"""While something is traced or compiled, Python does not look for garbage; afterwards it does as before. When native
code is freed."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

import featherweight as fw
from featherweight.compiler import Argument, Kernel, compiling, uncollected
from featherweight.compiler.native import library
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.pages import PAGE
from featherweight.compiler.native.target import host
from featherweight.io.xml import read_document


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


def test_it_goes_on_when_the_last_of_two_threads_is_done(collects: bool) -> None:
    """Whichever began first, and whichever ends first."""
    for order in ((0, 1), (1, 0)):
        begun, ends = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]

        def work(k, begun=begun, ends=ends):
            begun[k].set()
            ends[k].wait()

        threads = [threading.Thread(target=uncollected, args=(work, k)) for k in (0, 1)]
        for k, thread in enumerate(threads):
            thread.start()
            begun[k].wait()
            assert not gc.isenabled()
        for k in order:
            ends[k].set()
            threads[k].join()
        assert gc.isenabled() is collects


def test_it_rests_while_a_file_is_read(collects: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    reader = sys.modules["featherweight.io.urdf.read"]
    read = read_document
    monkeypatch.setattr(reader, "read_document", lambda *given: (seen.append(gc.isenabled()), read(*given))[1])
    fw.loads('<robot name="r"><link name="a"/></robot>')
    assert seen == [False]
    with pytest.raises(fw.ModelError):
        fw.loads("<robot")
    assert gc.isenabled() is collects


def empty_library() -> Library:
    return Library([host().object_code("define void @f() nounwind {\n  ret void\n}")], ("f",))


def loaded(address: int) -> bool:
    """Are there pages that are in use?"""
    blocks = library._pages._runs.things.values()
    return any(block.address <= address < block.address + block.n * PAGE for block in blocks)


@pytest.mark.skipif(not host().has_own_linker, reason="LLVM links here")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # there is no room for a message
def test_code_that_nobody_needs_is_freed_when_the_next_one_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not where its owner goes, which may be at the bottom of a recursion, in the midst of anything, while another
    thread forks: the child would wait for LLVM's lock."""
    libraries = [empty_library(), empty_library()]
    places = [library["f"] for library in libraries]

    def deep() -> None:
        try:
            deep()
        except RecursionError:
            libraries.pop()

    deep()
    assert len(libraries) == 1
    assert all(loaded(place) for place in places)
    monkeypatch.setattr(library._pages._runs, "_look_through_at", 0)
    libraries.append(empty_library())
    assert loaded(places[0])
    assert libraries[1]["f"] == places[1]
    libraries.pop()
    assert loaded(places[1])
    libraries.append(empty_library())
    assert libraries[1]["f"] == places[1]
