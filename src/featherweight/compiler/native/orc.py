"""LLVM's own loader of object code, where ours does not do: other formats than ELF, other processors than x86-64.

LLVM keeps some 10 kB for each library it has ever linked, and gives them back with the session. So a session links a
number of libraries and is closed when the last of them is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from featherweight.compiler.native.owners import Owned

MOST = 64  # libraries of a session


class _Session:
    """One of LLVM's compilers, with the libraries it has linked."""

    def __init__(self, llvm: Any, jit_link: bool) -> None:
        self.jit = llvm.create_lljit_compiler(use_jit_link=jit_link)
        self.linked = 0
        self.open: set[_Linked] = set()


class _Linked:
    """A library in memory."""

    def __init__(self, session: _Session, tracker: Any) -> None:
        self._session, self._tracker = session, tracker
        session.open.add(self)

    def free(self) -> None:
        session = self._session
        self._tracker.close()
        session.open.discard(self)
        if session.linked >= MOST and not session.open:
            session.jit.close()


class Orc:
    """Libraries by their owner. Used with the compile lock held, by a thread that no signal interrupts."""

    def __init__(self, llvm: Any, jit_link: bool) -> None:
        self._llvm, self._jit_link = llvm, jit_link
        self._session = _Session(llvm, jit_link)
        self._libraries: Owned[_Linked] = Owned(_Linked.free)

    def load(
        self, objects: Iterable[bytes], symbols: Iterable[str], imports: Mapping[str, int], owner: object
    ) -> dict[str, int]:
        """Addresses of the symbols of a library that is the owner's as long as it lives."""
        self._libraries.free_what_nobody_owns()
        if self._session.linked >= MOST:
            self._session = _Session(self._llvm, self._jit_link)
        session = self._session
        builder = self._llvm.JITLibraryBuilder()
        for code in objects:
            builder.add_object_img(code)
        for name in symbols:
            builder.export_symbol(name)
        for name, address in imports.items():
            builder.import_symbol(name, address)
        session.linked += 1
        tracker = builder.link(session.jit, f"featherweight{session.linked}")
        self._libraries.things[self._libraries.reference(owner)] = _Linked(session, tracker)
        return {name: tracker[name] for name in symbols}
