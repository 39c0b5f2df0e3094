"""The machine that code is made for: its triple, its features, its vector width."""

from __future__ import annotations

import ctypes
import functools
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.compiler.native.lock import compiling, side_by_side
from featherweight.compiler.native.pages import TO_COMPILE, check_mappings

# Intel's first processors with AVX-512: sums and products of four doubles at once, or anything of eight, lower their
# clock for milliseconds, also for the scalar code in between (docs/decisions/0041)
SLOWED = frozenset({"skylake-avx512", "cascadelake", "cooperlake"})


class UnsupportedMachine(RuntimeError):
    """There is no fused multiply-add here, or an architecture we do not know."""


@dataclass(frozen=True)
class Target:
    """What LLVM needs to know; `width` is the number of doubles in a vector register."""

    triple: str
    cpu: str
    features: str
    width: int

    @property
    def arch(self) -> str:
        return "arm" if self.triple.startswith(("aarch64", "arm64")) else "x86"

    @property
    def windows(self) -> bool:
        return "windows" in self.triple

    def moved_at_once(self, width: int) -> int:
        """Number of doubles that code for so many lanes copies at once: a pack is worth the whole width."""
        return min(self.width, 4) if width == 1 and self.cpu in SLOWED else self.width

    def computed_at_once(self, width: int) -> int:
        """Number of doubles that code for so many lanes computes at once."""
        return min(self.width, 2) if width == 1 and self.cpu in SLOWED else self.width

    @property
    def links_modules(self) -> bool:
        """Whether a module may call functions of another one: JITLink's stubs reach them however far away they are. On
        Windows, with LLVM's older loader, each module has all it calls."""
        return not self.windows

    @property
    def has_own_linker(self) -> bool:
        """Whether object files for it are linked by `elf.py`, and not by LLVM."""
        return self.triple.startswith("x86_64") and "linux" in self.triple

    @functools.cache  # noqa: B019  (there are few targets, and they live as long as the process)
    def _machines(self) -> deque[Any]:
        """LLVM's target machines that nobody uses."""
        return deque()

    def _machine(self) -> Any:
        """One for whoever takes it: they are kept, since each has to find out what the processor's features mean.

        At level 1, which gives the same code as 2, or on AMD's processors as fast a one in less time (decision 21).
        """
        try:
            return self._machines().pop()
        except IndexError:
            return (
                llvm_binding()
                .Target.from_triple(self.triple)
                .create_target_machine(cpu=self.cpu, features=self.features, opt=1, reloc="pic", codemodel="small")
            )

    def object_code(self, ir: str) -> bytes:
        """Compile IR text to an object file."""
        (code,) = self.object_codes([ir])
        return code

    def object_codes(self, texts: Sequence[str]) -> list[bytes]:
        """Compile IR texts to object files, side by side."""
        with compiling:
            check_mappings(TO_COMPILE)
            return side_by_side([partial(self._compiled, ir) for ir in texts])

    def _compiled(self, ir: str) -> bytes:
        llvm, machine = llvm_binding(), self._machine()
        with llvm.parse_assembly(ir, context=llvm.create_context()) as module:  # freed while the lock is held
            module.triple = self.triple
            module.verify()
            code = emit_object(machine, module)
        self._machines().append(machine)
        return code


@functools.cache
def llvm_binding() -> Any:
    """llvmlite, imported when the first kernel is loaded and not before.

    It is imported and called in threads of `side_by_side` alone: an exception of a signal handler would leave its lock
    held for good. And with the compile lock held: a child must not have the locks of an import, or of LLVM.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def emit_object(machine: Any, module: Any) -> bytes:
    """`machine.emit_object(module)`, but not one at a time: llvmlite lets nobody else into LLVM meanwhile, though
    modules in contexts of their own do not know of each other. Where its lock is not where we know it, it is kept."""
    from llvmlite.binding import ffi

    emit = getattr(ffi.lib.LLVMPY_TargetMachineEmitToMemory, "_cfn", None)
    if emit is None:
        return machine.emit_object(module)
    with ffi.OutputString() as error:
        buffer = emit(machine, module, 1, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@functools.cache
def _known() -> tuple[str, str, str, Any]:
    """What LLVM says of itself and of this machine: version, triple, processor, features."""

    def ask() -> tuple[str, str, str, Any]:
        import llvmlite

        llvm = llvm_binding()
        version = f"llvmlite {llvmlite.__version__} LLVM {'.'.join(map(str, llvm.llvm_version_info))}"
        return version, llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features()

    with compiling:
        (answer,) = side_by_side([ask])
    return answer


def llvm_version() -> str:
    return _known()[0]


@functools.cache
def host() -> Target:
    """This machine."""
    _, triple, cpu, features = _known()
    if triple.startswith(("aarch64", "arm64")):
        return Target(triple, cpu, features.flatten(), 2)
    if not triple.startswith(("x86_64", "amd64")):
        raise UnsupportedMachine(f"no code generator for {triple}; featherweight.interpret() works everywhere")
    if not (features.get("avx2") and features.get("fma")):
        raise UnsupportedMachine(f"{cpu} has no AVX2 and FMA; featherweight.interpret() works everywhere")
    return Target(triple, cpu, features.flatten() + ",-prefer-256-bit", 8 if features.get("avx512f") else 4)
