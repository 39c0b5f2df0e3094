"""LLVM IR that turns rows of user arrays into lanes and back, checking every number on the way.

`@pack` and `@unpack` move W rows at a time by W×W transposes: log2(W) rounds of shuffles. The last
pack repeats the last row in the lanes that are left over: they compute and write the same bits
again, so no lane needs a mask. What one lane needs is in `one_row.py`.
"""

from __future__ import annotations

from featherweight.compiler.llvm.columns import PACK_ARGUMENTS, UNPACK_ARGUMENTS, check, column_loop, total
from featherweight.compiler.llvm.lanes import LaneTypes, join

WRITE_AHEAD = 128  # bytes; measured: docs/decisions/0009


def emit_packing(lanes: LaneTypes) -> str:
    """`@pack` and `@unpack` for a pack; both return bits in the lanes that hold a NaN or an infinity."""
    return _pack(lanes) + _unpack(lanes)


def _refuse(chain: str, lanes: LaneTypes) -> list[str]:
    """`ret` of bits in the lanes where a sum is not zero but NaN."""
    name = chain[1:]
    return [
        f"%{name}u = fcmp uno {lanes.real} {chain}, {lanes.literal(0.0)}",
        f"%{name}s = sext {lanes.bool} %{name}u to {lanes.int}",
        f"ret {lanes.int} %{name}s",
    ]


def _load_transposed(pointers: list[str], lanes: LaneTypes) -> tuple[list[str], list[str]]:
    """Instructions that load W vectors of W entries and transpose them: log2(W) rounds of shuffles, the widest of
    which is done by loading halves."""
    w, lines = lanes.width, []
    half, T = w // 2, f"<{w // 2} x double>"
    names = [""] * w
    for r, pointer in enumerate(pointers):
        lines += [
            f"%lo{r} = load {T}, ptr {pointer}, align 8",
            f"%hi{r}p = getelementptr {T}, ptr {pointer}, i64 1",
            f"%hi{r} = load {T}, ptr %hi{r}p, align 8",
        ]
    joined = ", ".join(f"i32 {j}" for j in range(w))
    for r in range(half):
        for part, row in (("lo", r), ("hi", r + half)):
            names[row] = f"%join{row}"
            pair = f"{T} %{part}{r}, {T} %{part}{r + half}"
            lines.append(f"{names[row]} = shufflevector {pair}, <{w} x i32> <{joined}>")
    more, names = _transpose(names, lanes, half)
    return lines + more, names


def _transpose(names: list[str], lanes: LaneTypes, below: int, prefix: str = "%tr") -> tuple[list[str], list[str]]:
    """Instructions for the rounds of a transpose in which blocks of 1, 2, 4 … entries, less than `below`, change
    places."""
    w, lines = lanes.width, []
    step = 1
    while step < below:
        low, high = [], []
        for j in range(w):  # pairs of blocks of `step` entries change places
            low.append(j if not j & step else j - step + w)
            high.append(j + step if not j & step else j + w)
        masks = ["<" + ", ".join(f"i32 {j}" for j in m) + ">" for m in (low, high)]
        new = list(names)
        for a in range(w):
            if a & step:
                continue
            for row, mask in zip((a, a + step), masks, strict=True):
                name = f"{prefix}{step}_{row}"
                pair = f"{lanes.real} {names[a]}, {lanes.real} {names[a + step]}"
                lines.append(f"{name} = shufflevector {pair}, <{w} x i32> {mask}")
                new[row] = name
        names = new
        step *= 2
    return lines, names


def _row_pointers(lanes: LaneTypes) -> str:
    """%row0 … %row(W-1): pointers to the rows of a pack; in the last pack the last row is repeated."""
    w = lanes.width
    whole = ["%row0w = getelementptr i8, ptr %base, i64 %offset"]
    whole += [f"%row{r}w = getelementptr i8, ptr %row{r - 1}w, i64 %stride" for r in range(1, w)]
    part = ["%row0p = getelementptr i8, ptr %base, i64 %offset"]
    for r in range(1, w):
        part += [
            f"%in{r} = icmp sge i64 %left, {r}",
            f"%by{r} = select i1 %in{r}, i64 %stride, i64 0",
            f"%row{r}p = getelementptr i8, ptr %row{r - 1}p, i64 %by{r}",
        ]
    chosen = [f"%row{r} = phi ptr [%row{r}w, %whole], [%row{r}p, %part]" for r in range(w)]
    return f"""
  %ahead = mul i64 %stride, {w}
  %offset = mul i64 %row, %stride
  %left = sub i64 %last, %row
  %full = icmp sge i64 %left, {w - 1}
  br i1 %full, label %whole, label %part
whole:
  {join(whole)}
  br label %start
part:
  {join(part)}
  br label %start
start:
  {join(chosen)}
"""


def _pack(lanes: LaneTypes) -> str:
    """`@pack`: W rows of n columns into n slots; returns bits in lanes that are not finite."""
    w, T = lanes.width, lanes.real
    block = []
    for r in range(w):
        block += [
            f"%p{r} = getelementptr double, ptr %row{r}, i64 %c",
            f"%h{r} = getelementptr i8, ptr %p{r}, i64 %ahead",  # the next pack: memory works while we compute
            f"call void @llvm.prefetch.p0(ptr %h{r}, i32 0, i32 3, i32 1)",
        ]
    lines, columns = _load_transposed([f"%p{r}" for r in range(w)], lanes)
    block += [*lines, *check(columns, lanes)]
    for j, x in enumerate(columns):
        block += [
            f"%cj{j} = add i64 %c, {j}",
            f"%q{j} = getelementptr {T}, ptr %to, i64 %cj{j}",
            f"store {T} {x}, ptr %q{j}, align {lanes.bytes}",
        ]
    single, vector = [], "poison"
    for r in range(w):
        name = "%sv" if r == w - 1 else f"%sv{r}"
        single += [
            f"%sp{r} = getelementptr double, ptr %row{r}, i64 %s",
            f"%sx{r} = load double, ptr %sp{r}, align 8",
            f"{name} = insertelement {T} {vector}, double %sx{r}, i32 {r}",
        ]
        vector = name
    single += [f"%sq = getelementptr {T}, ptr %to, i64 %s", f"store {T} %sv, ptr %sq, align {lanes.bytes}"]
    end = [*total([f"%f{j}" for j in range(w)], lanes), *_refuse("%total", lanes)]
    return f"""
define {lanes.int} @pack({PACK_ARGUMENTS}) noinline #0 {{
entry:
  {_row_pointers(lanes)}
  {column_loop(lanes, block, end, single, _refuse("%sum1", lanes))}
}}
"""


def _unpack(lanes: LaneTypes) -> str:
    """`@unpack`: n slots, found by a table of places [bytes], into columns of W rows; returns bits in lanes that are
    not finite."""
    w, T = lanes.width, lanes.real
    block = []
    for j in range(w):
        block += [
            f"%cj{j} = add i64 %c, {j}",
            f"%t{j} = getelementptr i32, ptr %table, i64 %cj{j}",
            f"%e{j} = load i32, ptr %t{j}",
            f"%eo{j} = zext i32 %e{j} to i64",
            f"%p{j} = getelementptr i8, ptr %ws, i64 %eo{j}",
        ]
    lines, rows = _load_transposed([f"%p{j}" for j in range(w)], lanes)
    block += [*lines, *check(rows, lanes)]
    for r, x in enumerate(rows):
        block += [
            f"%q{r} = getelementptr double, ptr %row{r}, i64 %c",
            f"store {T} {x}, ptr %q{r}, align 8",
            f"%h{r} = getelementptr i8, ptr %q{r}, i64 {WRITE_AHEAD}",
            f"call void @llvm.prefetch.p0(ptr %h{r}, i32 1, i32 3, i32 1)",
        ]
    single = [
        "%st = getelementptr i32, ptr %table, i64 %s",
        "%se = load i32, ptr %st",
        "%seo = zext i32 %se to i64",
        "%spp = getelementptr i8, ptr %ws, i64 %seo",
        f"%sv = load {T}, ptr %spp, align {lanes.bytes}",
    ]
    for r in range(w):
        single += [
            f"%sv{r} = extractelement {T} %sv, i32 {r}",
            f"%sq{r} = getelementptr double, ptr %row{r}, i64 %s",
            f"store double %sv{r}, ptr %sq{r}, align 8",
        ]
    # a chain belongs to a row: turned once more, they have the rows in their lanes
    turned, chains = _transpose([f"%f{r}" for r in range(w)], lanes, w, "%turn")
    end = [*turned, *total(chains, lanes), *_refuse("%total", lanes)]
    return f"""
define {lanes.int} @unpack({UNPACK_ARGUMENTS}) noinline #0 {{
entry:
  {_row_pointers(lanes)}
  {column_loop(lanes, block, end, single, _refuse("%sum1", lanes))}
}}
"""
