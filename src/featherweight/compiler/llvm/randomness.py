"""LLVM IR of random numbers: functions of a seed and three counters, which all kernels call."""

from __future__ import annotations

from typing import Any

from featherweight.compiler.llvm.lanes import LaneTypes, join
from featherweight.compiler.trace.normal import random_normal
from featherweight.compiler.trace.operations import OPERATIONS
from featherweight.compiler.trace.threefry import threefry

ARGUMENTS = ("%a", "%b", "%c", "%d")


def emit_random(lanes: LaneTypes) -> str:
    """`@draw_random`, `@draw_random_centre` and `@draw_random_normal`: see `trace/threefry.py` and `normal.py`."""
    T = lanes.real
    uniform = [f"%u = fmul {T} %n, {lanes.literal(2.0**-53)}", f"ret {T} %u"]
    centre = [
        f"%h = fadd {T} %n, {lanes.literal(0.5)}",
        f"%u = fmul {T} %h, {lanes.literal(2.0**-52)}",
        f"ret {T} %u",
    ]
    return (
        _function("random", [*_number(lanes, 0, 11), *uniform], lanes)
        + _function("random_centre", [*_number(lanes, 1, 12), *centre], lanes)
        + _function("random_normal", _normal(lanes), lanes)
    )


def _function(name: str, lines: list[str], lanes: LaneTypes) -> str:
    parameters = ", ".join(f"{lanes.real} {x}" for x in ARGUMENTS)
    return f"\ndefine {lanes.real} @draw_{name}({parameters}) noinline #0 {{\n  {join(lines)}\n}}\n"


def _number(lanes: LaneTypes, which: int, shift: int) -> list[str]:
    """%n: one of the two words, shifted to the right, as a number."""
    lines: list[str] = []
    for x in ARGUMENTS:
        lines.append(f"{x}z = fadd {lanes.real} {x}, {lanes.literal(0.0)}")  # -0 is 0
        lines.append(f"{x}w = bitcast {lanes.real} {x}z to {lanes.int}")
    seed, a, b, c = (_Word(lines, lanes, f"{x}w") for x in ARGUMENTS)
    word = threefry((seed, c), (a, b), _Word.turned)[which].then("lshr", shift)
    return [*lines, f"%n = sitofp {lanes.int} {word.name} to {lanes.real}"]


class _Word:
    """A word in LLVM code: arithmetic on it writes lines."""

    def __init__(self, lines: list[str], lanes: LaneTypes, name: str) -> None:
        self.lines, self.lanes, self.name = lines, lanes, name

    def then(self, op: str, other: _Word | int) -> _Word:
        name = f"%w{len(self.lines)}"
        right = self.lanes.integer(other) if isinstance(other, int) else other.name
        self.lines.append(f"{name} = {op} {self.lanes.int} {self.name}, {right}")
        return _Word(self.lines, self.lanes, name)

    def __add__(self, other: _Word | int) -> _Word:
        return self.then("add", other)

    def __xor__(self, other: _Word | int) -> _Word:
        return self.then("xor", other)

    def turned(self, n: int) -> _Word:
        return self.then("shl", n).then("or", self.then("lshr", 64 - n))


def _normal(lanes: LaneTypes) -> list[str]:
    lines: list[str] = []

    def call(op: str, *args: Any) -> str:
        out = f"%v{len(lines)}"
        values = [x if isinstance(x, str) else lanes.literal(x) for x in args]
        lines.append(lanes.template(OPERATIONS[op].llvm)(*values, out=out))
        return out

    result = random_normal(call, *ARGUMENTS)
    return [*lines, f"ret {lanes.real} {result}"]
