"""Native code and its tables are loaded side by side, however scattered the memory is that is left, and call what is
far away."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, sys
from featherweight.compiler.native import pages
from featherweight.compiler.native.library import Library
from featherweight.compiler.native.target import Target, host

PAGE, HUGE = 4096, 5 << 30
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def reserve(size):
    return libc.mmap(None, size, 0, 0x4022, -1, 0)  # private, anonymous, without memory behind it


TABLE = '''@table = internal constant [2 x double] [double 1.5, double 2.5], align 64
define double @f(i64 %k) {
  %p = getelementptr double, ptr @table, i64 %k
  %x = load double, ptr %p
  ret double %x
}
'''
CALLER = '''declare double @f(i64)
define double @g(i64 %k) {
  %x = call double @f(i64 %k)
  ret double %x
}
'''
pages.REGION = PAGE  # each library in a region of its own
Target.has_own_linker = sys.argv[1] == "ours"
code, caller = host().object_code(TABLE), host().object_code(CALLER)
first = Library([code], ("f",))
below = reserve(HUGE)  # what comes after it is farther away than a reference in code reaches
size = 1 << 32
while size >= PAGE:  # fill up what is free above
    while (place := reserve(size)) > below:
        pass
    libc.munmap(place, size)
    size //= 2
libc.munmap(below + HUGE - 3 * PAGE, PAGE)  # but for one page
far = Library([code], ("f",))
calls = Library([caller], ("g",), {"f": first["f"]})
for address in (far["f"], calls["g"]):
    print(abs(address - first["f"]) > 1 << 31, ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(address)(1))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the layout of memory is that of Linux on x86-64"
)
@pytest.mark.parametrize("linker", ["ours", "LLVM's"])
def test_code_stays_with_its_tables_and_calls_what_is_far_away_where_memory_is_scattered(linker):
    done = subprocess.run([sys.executable, "-c", PROGRAM, linker], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True 2.5\nTrue 2.5\n"
