"""LLVM IR that reads and writes memory at an index: tables of constants, arrays in the workspace, rows of inputs.

An index below, above or NaN means the first, the last and the first entry: no index reaches beyond its array.
"""

from __future__ import annotations

from featherweight.compiler.llvm.lanes import LaneTypes, join

ONE = LaneTypes(1)


def lookup(out: str, index: str, table: str, size: int, lanes: LaneTypes) -> list[str]:
    """Entry ⌊index⌋ of a table, which all lanes share."""
    address = f"{out}p = getelementptr double, ptr {table}, {lanes.int} {out}i"
    return [*_position(out, index, size, lanes), address, _gathered(out, lanes)]


def lookup_uniform(out: str, index: str, table: str, size: int, lanes: LaneTypes) -> list[str]:
    """Entry ⌊index⌋ of a table, the same for all lanes."""
    if lanes.width == 1:
        return lookup(out, index, table, size, lanes)
    return [
        f"{out}x = extractelement {lanes.real} {index}, i32 0",
        *_position(out, f"{out}x", size, ONE),
        f"{out}p = getelementptr double, ptr {table}, i64 {out}i",
        f"{out}o = load double, ptr {out}p",
        f"{out}v = insertelement {lanes.real} poison, double {out}o, i32 0",
        f"{out} = shufflevector {lanes.real} {out}v, {lanes.real} poison, <{lanes.width} x i32> zeroinitializer",
    ]


def load_lanes(out: str, index: str, block: str, size: int, lanes: LaneTypes) -> list[str]:
    """Entry ⌊index⌋ of an array in the workspace, for each lane its own."""
    if lanes.width == 1:
        return load_uniform(out, index, block, size, lanes)
    numbers = ", ".join(f"i64 {r}" for r in range(lanes.width))
    return [
        *_position(out, index, size, lanes),
        f"{out}r = mul {lanes.int} {out}i, {lanes.integer(lanes.width)}",
        f"{out}k = add {lanes.int} {out}r, <{numbers}>",
        f"{out}p = getelementptr double, ptr {block}, {lanes.int} {out}k",
        _gathered(out, lanes),
    ]


def load_rows(out: str, index: str, slot: str, size: int, lanes: LaneTypes) -> list[str]:
    """Entry ⌊index⌋ of the row of an input that each lane works on; the slot holds where the rows are."""
    return [
        *_position(out, index, size, lanes),
        f"{out}w = load {lanes.pointer}, ptr {slot}, align {lanes.bytes}",
        f"{out}p = getelementptr double, {lanes.pointer} {out}w, {lanes.int} {out}i",
        _gathered(out, lanes),
    ]


def load_uniform(out: str, index: str, block: str, size: int, lanes: LaneTypes) -> list[str]:
    """Entry ⌊index⌋ of an array in the workspace, the same for all lanes."""
    return [*_address(out, index, block, size, lanes), f"{out} = load {lanes.real}, ptr {out}p, align {lanes.bytes}"]


def store_uniform(out: str, index: str, value: str, block: str, size: int, lanes: LaneTypes) -> list[str]:
    """Replace that entry."""
    return [*_address(out, index, block, size, lanes), f"store {lanes.real} {value}, ptr {out}p, align {lanes.bytes}"]


def fill(out: str, values: list[str], block: str, lanes: LaneTypes) -> list[str]:
    """The first values of an array in the workspace."""
    lines = []
    for k, x in enumerate(values):
        lines += [
            f"{out}p{k} = getelementptr {lanes.real}, ptr {block}, i64 {k}",
            f"store {lanes.real} {x}, ptr {out}p{k}, align {lanes.bytes}",
        ]
    return lines


def emit_point_rows(lanes: LaneTypes) -> str:
    """`@point_rows`: places of the rows of a pack, in a slot; in the last pack the last row is repeated."""
    lines = []
    for r in range(lanes.width):
        lines += [
            f"%n{r} = add i64 %row, {r}",
            f"%m{r} = call i64 @llvm.smin.i64(i64 %n{r}, i64 %last)",
            f"%o{r} = mul i64 %m{r}, %stride",
            f"%p{r} = getelementptr i8, ptr %base, i64 %o{r}",
            f"%q{r} = getelementptr ptr, ptr %to, i64 {r}",
            f"store ptr %p{r}, ptr %q{r}",
        ]
    return f"""
define void @point_rows(ptr %base, i64 %stride, i64 %row, i64 %last, ptr %to) noinline #0 {{
  {join(lines)}
  ret void
}}
"""


def _address(out: str, index: str, block: str, size: int, lanes: LaneTypes) -> list[str]:
    """%p: of an entry that is the same for all lanes."""
    first = f"{out}x = extractelement {lanes.real} {index}, i32 0"
    return [
        *([first] if lanes.width > 1 else []),
        *_position(out, index if lanes.width == 1 else f"{out}x", size, ONE),
        f"{out}p = getelementptr {lanes.real}, ptr {block}, i64 {out}i",
    ]


def _position(out: str, index: str, size: int, lanes: LaneTypes) -> list[str]:
    """%i: ⌊index⌋, at least 0 and less than the size."""
    T, zero, last = lanes.real, lanes.literal(0.0), lanes.literal(size - 1.0)
    return [
        f"{out}g = fcmp oge {T} {index}, {zero}",
        f"{out}a = select {lanes.bool} {out}g, {T} {index}, {T} {zero}",
        f"{out}l = fcmp olt {T} {out}a, {last}",
        f"{out}b = select {lanes.bool} {out}l, {T} {out}a, {T} {last}",
        f"{out}i = fptosi {T} {out}b to {lanes.int}",
    ]


def _gathered(out: str, lanes: LaneTypes) -> str:
    """What is at the places %p."""
    if lanes.width == 1:
        return f"{out} = load double, ptr {out}p"
    gather = f"@llvm.masked.gather.{lanes.suffix}.v{lanes.width}p0"
    return (
        f"{out} = call {lanes.real} {gather}({lanes.pointer} {out}p, i32 8, {lanes.bool} {lanes.true}, "
        f"{lanes.real} poison)"
    )
