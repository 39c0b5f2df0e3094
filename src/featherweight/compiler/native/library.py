"""Object code in memory."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from featherweight.compiler.native.elf import Image, Unsupported
from featherweight.compiler.native.lock import compiling, side_by_side
from featherweight.compiler.native.orc import Orc
from featherweight.compiler.native.pages import TO_LINK, Pages, check_mappings, fill
from featherweight.compiler.native.target import host, llvm_binding

_pages = Pages()


class Library:
    """Object code in memory, linked against functions at given addresses; its own are valid while this object lives."""

    def __init__(
        self, objects: Iterable[bytes], symbols: Iterable[str], imports: Mapping[str, int] | None = None
    ) -> None:
        with compiling:
            self._addresses = self._load(tuple(objects), tuple(symbols), imports or {})

    def _load(self, objects: Sequence[bytes], symbols: Sequence[str], imports: Mapping[str, int]) -> dict[str, int]:
        if host().has_own_linker:
            try:
                return self._link(objects, symbols, imports)
            except Unsupported:
                pass
        check_mappings(TO_LINK)
        (addresses,) = side_by_side([lambda: _orc().load(objects, symbols, imports, self)])
        return addresses

    def _link(self, objects: Sequence[bytes], symbols: Sequence[str], imports: Mapping[str, int]) -> dict[str, int]:
        image = Image(objects, imports)
        base = _pages.take(image.size, self)
        fill(base, image.at(base))
        return {name: base + image.symbols[name] for name in symbols}

    def __getitem__(self, symbol: str) -> int:
        return self._addresses[symbol]


@functools.cache
def _orc() -> Orc:
    """JITLink puts a module into one piece of memory; LLVM's older loader, the only one for Windows, asks for its parts
    one by one and ends the process if they come to lie more than 2 GB apart."""
    return Orc(llvm_binding(), host().links_modules)
