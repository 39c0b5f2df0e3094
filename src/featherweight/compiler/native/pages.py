"""Executable memory on Linux: pages of large regions, so that thousands of kernels take a handful of memory mappings.

A process may have 65 530 mappings (vm.max_map_count), and a kernel that is loaded by itself takes three. Pages are
never writeable and executable at once; as soon as they are executable again, the system joins them with their
neighbours.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os
import sys
from dataclasses import dataclass
from typing import Any

from featherweight.compiler.native.owners import Owned

PAGE = mmap.PAGESIZE
REGION = 4 << 20  # bytes that are mapped at once; they take memory when they are written to
READ, WRITE, EXECUTE = 1, 2, 4  # PROT_…
PRIVATE, ANONYMOUS = 0x02, 0x20  # MAP_…
DONTNEED = 4  # MADV_…
TO_COMPILE, TO_LINK = 128, 16  # mappings that must be free for LLVM, which ends the process if it gets no memory


@dataclass(eq=False)
class _Region:
    """One mapping, and which of its pages are in use. It stays for good."""

    address: int
    used: bytearray


@dataclass(eq=False)
class _PageRun:
    """Consecutive pages."""

    region: _Region
    first: int
    n: int

    @property
    def address(self) -> int:
        return self.region.address + self.first * PAGE

    def free(self) -> None:
        _libc().madvise(self.address, self.n * PAGE, DONTNEED)
        self.region.used[self.first : self.first + self.n] = bytes(self.n)


class Pages:
    """Memory for code, by its owner. Used with the compile lock held."""

    def __init__(self) -> None:
        self._regions: list[_Region] = []
        self._runs: Owned[_PageRun] = Owned(_PageRun.free)

    def take(self, size: int, owner: object) -> int:
        """The address of so many bytes, which are the owner's as long as it lives."""
        self._runs.free_what_nobody_owns()
        n = -(-size // PAGE)
        free, taken = bytes(n), b"\1" * n
        region, first = self._room(free)
        block, key = _PageRun(region, first, n), self._runs.reference(owner)
        # no call between these two, so no exception of a signal handler either
        region.used[first : first + n] = taken
        self._runs.things[key] = block
        return block.address

    def _room(self, free: bytes) -> tuple[_Region, int]:
        for region in self._regions:
            first = region.used.find(free)
            if first >= 0:
                return region, first
        size = max(REGION, len(free) * PAGE)
        region = _Region(_map(size, READ | EXECUTE), bytearray(size // PAGE))
        self._regions.append(region)
        return region, 0


def fill(address: int, code: bytes) -> None:
    """Put code on pages that were taken for it."""
    size = -(-len(code) // PAGE) * PAGE
    _protect(address, size, READ | WRITE)
    ctypes.memmove(address, code, len(code))
    _protect(address, size, READ | EXECUTE)


def check_mappings(n: int) -> None:
    """MemoryError if the process may not have so many memory mappings more."""
    if sys.platform != "linux":
        return
    start = _map(n * PAGE, 0)
    try:
        for k in range(1, n, 2):  # every other page is made readable: as many mappings as pages
            _protect(start + k * PAGE, PAGE, READ)
    finally:
        _libc().munmap(start, n * PAGE)


@functools.cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    libc.mmap.argtypes, libc.mmap.restype = (pointer, size, number, number, number, ctypes.c_ssize_t), pointer
    libc.mprotect.argtypes = libc.madvise.argtypes = (pointer, size, number)
    libc.munmap.argtypes = (pointer, size)
    return libc


def _map(size: int, protection: int) -> int:
    address = _libc().mmap(None, size, protection, PRIVATE | ANONYMOUS, -1, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        raise _refused()
    return address


def _protect(address: int, size: int, protection: int) -> None:
    if _libc().mprotect(address, size, protection) != 0:
        raise _refused()


def _refused() -> OSError | MemoryError:
    code = ctypes.get_errno()
    if code != errno.ENOMEM:
        return OSError(code, f"no executable memory: {os.strerror(code)}")
    return MemoryError(
        "compiling or loading native code: the process is out of memory, or close to its limit of memory mappings "
        "(vm.max_map_count); drop what is mapped and no longer needed, or raise the limit with sysctl"
    )
