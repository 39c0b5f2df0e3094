"""While something is traced or compiled, Python does not look for garbage; afterwards it does as before."""

from __future__ import annotations

import gc

import pytest

from featherweight.compiler import Argument, Kernel, compiling


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
