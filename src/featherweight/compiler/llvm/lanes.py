"""How LLVM spells types, literals and intrinsics for one lane or a pack."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from featherweight.compiler.trace.operations import OPERATIONS


class LaneTypes:
    """Spelling of types, intrinsics and literals for a number of lanes. Of one lane, so many numbers may be computed at
    once."""

    def __init__(self, width: int, at_once: int = 1) -> None:
        self.width, self.at_once = width, at_once
        self.bytes = 8 * width
        vector = width > 1
        self.real = f"<{width} x double>" if vector else "double"
        self.int = f"<{width} x i64>" if vector else "i64"
        self.bool = f"<{width} x i1>" if vector else "i1"
        self.pointer = f"<{width} x ptr>" if vector else "ptr"
        self.suffix = f"v{width}f64" if vector else "f64"
        self.true = "splat (i1 true)" if vector else "true"
        self._templates: dict[str, Callable[..., str]] = {}
        self._numbered: dict[str, tuple[Callable[..., str], int]] = {}

    def literal(self, value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.width == 1 else f"splat (double {text})"

    def integer(self, value: int) -> str:
        return str(value) if self.width == 1 else f"splat (i64 {value})"

    def template(self, llvm: str) -> Callable[..., str]:
        """The code of an operation with the types of these lanes, as a function of the arguments and `out`."""
        if llvm not in self._templates:
            self._templates[llvm] = self._typed(llvm).format
        return self._templates[llvm]

    def numbered(self, llvm: str, arguments: int) -> tuple[Callable[..., str], int]:
        """The same as a function of so many arguments and the names of all that it computes, in their order; and how
        many these are. The result is the last."""
        if llvm not in self._numbered:
            text = self._typed(llvm)
            names = re.findall(r"^\s*\{out\}(\w*) =", text, re.MULTILINE)
            text = re.sub(r"\{out\}(\w*)", lambda found: f"{{{arguments + names.index(found[1])}}}", text)
            self._numbered[llvm] = text.format, len(names)
        return self._numbered[llvm]

    def _typed(self, llvm: str) -> str:
        text = re.sub(r"\{real:([^}]*)\}", lambda found: self.literal(float(found[1])), llvm)
        text = re.sub(r"\{int:([^}]*)\}", lambda found: self.integer(int(found[1])), text)
        names = {"T": self.real, "I": self.int, "B": self.bool, "s": self.suffix, "true": self.true}
        return re.sub(r"\{([A-Za-z]+)\}", lambda found: names.get(found[1], found[0]), text).replace("\n", "\n  ")

    def declarations(self) -> str:
        """LLVM's own functions that operations call."""
        T, s = self.real, self.suffix
        calls = dict.fromkeys(
            call for row in OPERATIONS.values() for call in re.findall(r"@(llvm\.\w+)\.\{s\}\(([^)]*)\)", row.llvm)
        )
        lines = [f"declare {T} @{name}.{s}({', '.join([T] * args.count('{T}'))})\n" for name, args in calls]
        if self.width > 1:
            lines.append(
                f"declare {T} @llvm.masked.gather.{s}.v{self.width}p0({self.pointer}, i32, {self.bool}, {T})\n"
            )
        return "".join(dict.fromkeys(lines))


def join(lines: list[str]) -> str:
    """Instructions, one a line."""
    return "\n  ".join(lines)
