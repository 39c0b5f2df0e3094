"""Executable memory: few mappings for many libraries, pages that are used again, an error before the limit."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.native import library, pages
from featherweight.compiler.native.elf import Image, Unsupported
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.orc import MOST, Orc
from featherweight.compiler.native.pages import PAGE, Pages
from featherweight.compiler.native.target import Target, host, llvm_binding

linux_on_x86 = pytest.mark.skipif(not host().has_own_linker, reason="LLVM links here")
ANSWER = "define i64 @answer() nounwind {\n  ret i64 42\n}"


def called(library: Library, symbol: str) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64)(library[symbol])()


def mappings() -> int:
    return Path("/proc/self/maps").read_bytes().count(b"\n")


@linux_on_x86
def test_many_libraries_take_few_mappings() -> None:
    code = host().object_code(ANSWER)
    first = Library([code], ("answer",))
    before = mappings()
    libraries = [Library([code], ("answer",)) for _ in range(300)]
    assert mappings() - before < 10
    assert called(first, "answer") == called(libraries[150], "answer") == 42


@linux_on_x86
def test_all_our_code_is_linked_by_ourselves(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("LLVM was asked to link")

    monkeypatch.setattr(library, "_orc", never)
    model = fw.robots.chain(3, mass=1.125)
    x = np.full(3, 0.1)
    fw.forward_dynamics(model, x, x, x)
    fw.mass_matrix(model, np.stack([x, x, x]))
    fw.rollout(model, x, x, steps=2, dt=1e-3, integrator="variational")
    fw.rollout(model, np.stack([x, x]), np.stack([x, x]), steps=2, dt=1e-3)


@linux_on_x86
def test_pages_are_used_again_when_their_owner_is_gone() -> None:
    class Owner:
        pass

    memory, owners = Pages(), [Owner() for _ in range(3)]
    places = [memory.take(3 * PAGE - 1, owner) for owner in owners]
    assert places == [places[0], places[0] + 3 * PAGE, places[0] + 6 * PAGE]
    del owners[1]
    gc.collect()
    assert memory.take(4 * PAGE, owners[0]) == places[0] + 9 * PAGE  # too large for the hole
    assert memory.take(2 * PAGE, owners[0]) == places[1]
    assert memory.take(PAGE, owners[0]) == places[1] + 2 * PAGE
    large = memory.take(2 * pages.REGION, owners[0])
    pages.fill(large, b"\xc3" * (2 * pages.REGION))
    assert ctypes.string_at(large + 2 * pages.REGION - 1, 1) == b"\xc3"


@linux_on_x86
def test_objects_with_more_than_we_link_are_left_to_llvm() -> None:
    """Data that is written to; a symbol that is not defined is an error with either."""
    counter = """@n = global i64 41
define i64 @count() nounwind {
  %old = load i64, ptr @n
  %new = add i64 %old, 1
  store i64 %new, ptr @n
  ret i64 %new
}"""
    code = host().object_code(counter)
    with pytest.raises(Unsupported, match="flags"):
        Image([code], {})
    library = Library([code], ("count",))
    assert [called(library, "count") for _ in range(2)] == [42, 43]
    undefined = "declare i64 @nowhere()\ndefine i64 @f() nounwind {\n  %x = call i64 @nowhere()\n  ret i64 %x\n}"
    unknown = host().object_code(undefined)
    with pytest.raises(RuntimeError, match="symbols"):
        Library([unknown], ("f",))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\2\1" + bytes(200), b"MZ" + bytes(300)])
def test_what_is_no_object_file_is_not_linked(data: bytes) -> None:
    with pytest.raises(Unsupported):
        Image([data], {})


def test_parts_call_each_other_and_what_is_given() -> None:
    if not host().links_modules:
        pytest.skip("modules are not linked here")
    parts = [
        "declare i64 @b()\ndefine i64 @a() nounwind {\n  %x = call i64 @b()\n  ret i64 %x\n}",
        "declare i64 @answer()\ndefine i64 @b() nounwind {\n  %x = call i64 @answer()\n  ret i64 %x\n}",
    ]
    given = Library([host().object_code(ANSWER)], ("answer",))
    both = Library(host().object_codes(parts), ("a", "b"), {"answer": given["answer"]})
    assert called(both, "a") == called(both, "b") == 42


class Owner:
    """Of a library."""


def test_sessions_of_llvm_are_closed_when_their_last_library_is_gone() -> None:
    code = host().object_code(ANSWER)
    orc = Orc(llvm_binding(), host().links_modules)
    session = orc._session
    owners = [Owner() for _ in range(MOST)]
    for owner in owners:
        orc.load([code], ("answer",), {}, owner)
    assert not session.jit.closed
    other = Owner()
    orc.load([code], ("answer",), {}, other)
    assert orc._session is not session
    del owners[1:], owner
    orc.load([code], ("answer",), {}, other)
    assert not session.jit.closed
    owners.clear()
    orc.load([code], ("answer",), {}, other)
    assert session.jit.closed
    assert not orc._session.jit.closed


AT_THE_LIMIT = """
import ctypes, gc, sys
import numpy as np
import featherweight as fw
from featherweight.compiler.runtime import code
from featherweight.compiler.native.target import Target

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
if sys.argv[1] == "LLVM":
    Target.has_own_linker = False

def robot(k):
    "With a literal of its own: other numbers of the model would share the code."
    class Geared(fw.joints.Revolute):
        def subspace(self, q):
            return tuple(s * (2.0 + k) for s in super().subspace(q))
    return fw.Builder().add_body("a", joint=Geared("y"), inertia=fw.Inertia.point(1, (0, 0, 1))).build()

x = np.array([0.1])
first = fw.robots.pendulum()
right = fw.forward_dynamics(first, x, x, x)
for k in range(90 if sys.argv[2] == "loaded" else 0):  # so that they are in the cache
    fw.forward_dynamics(robot(k), x, x, x)
gc.collect()
code._recent.clear()  # all are loaded again
limit = int(open("/proc/sys/vm/max_map_count").read())
room = limit - sum(1 for _ in open("/proc/self/maps")) - 60
for k in range(room):
    if libc.mmap(None, 4096, 1 if k % 2 else 3, 0x22, -1, 0) in (None, 2**64 - 1):
        break
models = []
try:
    for k in range(90):
        models.append(robot(k))
        fw.forward_dynamics(models[-1], x, x, x)
except MemoryError as error:
    print(error)
assert (fw.forward_dynamics(first, x, x, x) == right).all()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
@pytest.mark.parametrize(("linker", "code"), [("ours", "compiled"), ("LLVM", "compiled"), ("LLVM", "loaded")])
def test_at_the_limit_of_mappings_an_error_is_raised(linker: str, code: str, tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    if limit > 1 << 18:
        pytest.skip("the limit is too high to be reached in a test")
    tmp_path.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_LIMIT, linker, code],
        env={**os.environ, "FEATHERWEIGHT_CACHE": str(tmp_path)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "vm.max_map_count" in done.stdout


@linux_on_x86
def test_no_mapping_is_left_of_looking_for_room() -> None:
    pages.check_mappings(64)
    before = mappings()
    pages.check_mappings(64)
    assert mappings() <= before


def test_targets_that_llvm_links() -> None:
    for triple in ("aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "arm64-apple-darwin", "x86_64-pc-windows-msvc"):
        assert not Target(triple, "", "", 2).has_own_linker


@linux_on_x86
def test_code_is_never_writeable_and_executable_at_once() -> None:
    loaded = Library([host().object_code(ANSWER)], ("answer",))
    assert called(loaded, "answer") == 42
    starts = {region.address for region in library._pages._regions}
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights = line.split()[:2]
        begin, end = (int(x, 16) for x in place.split("-"))
        if any(start < end and begin < start + pages.REGION for start in starts):
            found.append(rights)
    assert found
    assert set(found) == {"r-xp"}
