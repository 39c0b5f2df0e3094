"""A linker for the object files that LLVM makes of our programs for x86-64 Linux.

They have code and constants that refer to each other relative to where they stand, and calls of functions at given
addresses. There is no data that is written to, no table of addresses, nothing to be run first or last. A file with
anything else is `Unsupported`, and left to LLVM (`orc.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

_HEADER = struct.Struct("<6s10xHH20xQ10xHHH")  # identification, type, machine, section headers: where, size, number
_SECTION = struct.Struct("<4xIQ8xQQIIQ8x")  # type, flags, offset, size, link, info, alignment
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<i8"), ("size", "<u8")]
)
_RELOCATION = np.dtype([("place", "<i8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])

RELOCATABLE, X86_64 = 1, 62
PROGBITS, SYMTAB, RELA, REL = 1, 2, 4, 9  # types of sections
WRITEABLE, ALLOCATED, THREAD_LOCAL = 0x1, 0x2, 0x400  # flags of sections
GLOBAL = 1  # binding of a symbol
PC32, PLT32 = 2, 4  # relocations: how far it is to a place, to a function
JUMP = b"\xff\x25\0\0\0\0"  # jmp [rip]: to the address that follows
STUB = 16  # bytes of a jump to a function that is too far away
ALIGNMENT = 64
NEAR = 1 << 30  # bytes; a call reaches twice as far


class Unsupported(Exception):
    """An object file has something that none of ours has."""


class Image:
    """Object files laid out one after the other, to be linked at an address."""

    def __init__(self, objects: Sequence[bytes], imports: Mapping[str, int]) -> None:
        self.size = 0
        self._parts: list[_Part] = []
        self.symbols: dict[str, int] = {}  # where the functions are, from the beginning
        wanted: set[str] = set()
        for code in objects:
            part = _Part(code, self.size)
            if self.symbols.keys() & part.defined.keys():
                raise Unsupported("a symbol that is defined twice")
            self.size = part.end
            self.symbols.update(part.defined)
            wanted.update(part.undefined.values())
            self._parts.append(part)
        self._calls: dict[str, int] = {}  # addresses of functions outside
        for name in sorted(wanted - self.symbols.keys()):
            if name not in imports:
                raise Unsupported(f"a symbol that is not defined: {name}")
            self._calls[name] = imports[name]
        self._stubs = self.size
        self.size += STUB * len(self._calls)

    def at(self, base: int) -> bytes:
        """The bytes that must stand at this address."""
        memory = np.zeros(self.size, dtype=np.uint8)
        places = dict(self.symbols)
        for k, (name, address) in enumerate(self._calls.items()):
            stub = self._stubs + STUB * k
            jump = JUMP + struct.pack("<Q", address)
            memory[stub : stub + len(jump)] = np.frombuffer(jump, dtype=np.uint8)
            places[name] = address - base if abs(address - base) < NEAR else stub
        for part in self._parts:
            part.write(memory, places)
        return memory.tobytes()


class _Part:
    """One object file, from a given place on."""

    def __init__(self, code: bytes, start: int) -> None:
        if len(code) < _HEADER.size:
            raise Unsupported("no relocatable file for x86-64")
        identification, kind, machine, headers, size, count, _ = _HEADER.unpack_from(code)
        if (identification, kind, machine, size) != (b"\x7fELF\2\1", RELOCATABLE, X86_64, _SECTION.size):
            raise Unsupported("no relocatable file for x86-64")
        self._code = code
        self.defined: dict[str, int] = {}
        self.undefined: dict[int, str] = {}  # by their number
        self._relocations: list[tuple[int, np.ndarray]] = []  # the section they are for
        self._values = np.empty(0, dtype=np.int64)  # where the symbols are, -1 if not here
        self._starts = np.full(count, -1)  # of the sections that are loaded
        self._loaded: list[tuple[int, int, int]] = []  # start, offset in the file, size
        sections = list(_SECTION.iter_unpack(code[headers : headers + count * size]))
        for k, (kind, flags, offset, n, _, _, alignment) in enumerate(sections):
            if flags & ALLOCATED and n:
                if kind != PROGBITS or flags & (WRITEABLE | THREAD_LOCAL) or alignment > ALIGNMENT:
                    raise Unsupported(f"a section of type {kind} with flags {flags:#x}")
                start = -(-start // max(1, alignment)) * max(1, alignment)
                self._starts[k] = start
                self._loaded.append((start, offset, n))
                start += n
        self.end = -(-start // ALIGNMENT) * ALIGNMENT
        for kind, _, offset, n, link, of, _ in sections:
            if kind == SYMTAB:
                self._read_symbols(np.frombuffer(code, _SYMBOL, n // _SYMBOL.itemsize, offset), sections[link][2])
            elif kind == REL:
                raise Unsupported("relocations without addends")
            elif kind == RELA and self._starts[of] >= 0:
                table = np.frombuffer(code, _RELOCATION, n // _RELOCATION.itemsize, offset)
                self._relocations.append((of, table))

    def _read_symbols(self, table: np.ndarray, names: int) -> None:
        self._values = np.full(len(table), -1)
        sections = table["section"]
        here = (sections > 0) & (sections < len(self._starts))
        here[here] = self._starts[sections[here]] >= 0
        self._values[here] = self._starts[sections[here]] + table["value"][here]
        for k in np.flatnonzero(table["info"] >> 4 != 0).tolist():  # not local
            begin = names + int(table["name"][k])
            name = self._code[begin : self._code.index(b"\0", begin)].decode()
            if table["info"][k] >> 4 != GLOBAL:
                raise Unsupported(f"a symbol that is neither local nor global: {name}")
            if here[k]:
                self.defined[name] = int(self._values[k])
            elif sections[k] == 0:
                self.undefined[k] = name
            else:
                raise Unsupported(f"a symbol in no section: {name}")

    def write(self, memory: np.ndarray, places: Mapping[str, int]) -> None:
        """The sections, with their references to these places."""
        for start, offset, n in self._loaded:
            memory[start : start + n] = np.frombuffer(self._code, dtype=np.uint8, count=n, offset=offset)
        values, known = self._values.copy(), self._values >= 0
        for k, name in self.undefined.items():
            values[k], known[k] = places[name], True
        outside = np.zeros(len(values), dtype=bool)
        outside[list(self.undefined)] = True
        for of, table in self._relocations:
            symbols = table["symbol"]
            if not (np.isin(table["kind"], (PC32, PLT32)).all() and known[symbols].all()):
                raise Unsupported("a relocation that is not relative, or to nowhere")
            if outside[symbols[table["kind"] == PC32]].any():
                raise Unsupported("the address of a function of another module")
            at = self._starts[of] + table["place"]
            distance = values[symbols] + table["addend"] - at
            if (abs(distance) >= 1 << 31).any():
                raise Unsupported("a place that is too far away")
            memory[at[:, None] + np.arange(4)] = distance.astype("<i4").view(np.uint8).reshape(-1, 4)
