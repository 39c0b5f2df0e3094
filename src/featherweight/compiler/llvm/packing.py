"""LLVM IR that turns rows of user arrays into lanes and back, checking every number on the way.

`@pack` and `@unpack` move W rows at a time by W×W transposes: log2(W) rounds of shuffles. The last
pack repeats the last row in the lanes that are left over: they compute and write the same bits
again, so no lane needs a mask. With one lane a row is copied as it is; where most of it is zero
whatever the state, `@scatter` clears it and copies the rest.
"""

from __future__ import annotations

from featherweight.compiler.llvm.lanes import Lanes

UNROLL = 8
PACK_ARGUMENTS = "ptr %base, i64 %stride, i64 %row, i64 %last, ptr %to, i64 %n"
WRITE_AHEAD = 128  # bytes; measured: docs/decisions/0009
UNPACK_ARGUMENTS = "ptr %base, i64 %stride, i64 %row, i64 %last, ptr %ws, ptr %table, i64 %n"


def emit_packing(lanes: Lanes, native: Lanes) -> str:
    """`@pack` and `@unpack` for these lanes; both return bits in the lanes that hold a NaN or an infinity."""
    if lanes.width == 1:
        return _pack_one(native) + _unpack_one(native)
    return _pack(lanes) + _unpack(lanes)


def join(lines: list[str]) -> str:
    """Instructions, one a line."""
    return "\n  ".join(lines)


def _check(values: list[str], lanes: Lanes) -> list[str]:
    """%f0 … = %g0 … + 0 x of each value: chains of sums that stay zero until a NaN or an infinity comes."""
    T, zero = lanes.real, lanes.literal(0.0)
    return [f"%f{j} = call {T} @llvm.fma.{lanes.suffix}({T} {x}, {T} {zero}, {T} %g{j})" for j, x in enumerate(values)]


def _total(chains: list[str], lanes: Lanes, name: str = "%total") -> list[str]:
    """The sum of chains."""
    lines = [f"{name}0 = fadd {lanes.real} {chains[0]}, {lanes.literal(0.0)}"]
    lines += [f"{name}{j} = fadd {lanes.real} {name}{j - 1}, {x}" for j, x in enumerate(chains[1:], 1)]
    return [*lines, f"{name} = fadd {lanes.real} {name}{len(chains) - 1}, {lanes.literal(0.0)}"]


def _refuse(total: str, lanes: Lanes) -> list[str]:
    """`ret` of bits in the lanes where a sum is not zero but NaN."""
    name = total[1:]
    return [
        f"%{name}u = fcmp uno {lanes.real} {total}, {lanes.literal(0.0)}",
        f"%{name}s = sext {lanes.bool} %{name}u to {lanes.int}",
        f"ret {lanes.int} %{name}s",
    ]


def _load_transposed(pointers: list[str], lanes: Lanes) -> tuple[list[str], list[str]]:
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


def _transpose(names: list[str], lanes: Lanes, below: int, prefix: str = "%tr") -> tuple[list[str], list[str]]:
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


def _row_pointers(lanes: Lanes) -> str:
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


def _column_loop(lanes: Lanes, block: list[str], end: list[str], single: list[str], single_end: list[str]) -> str:
    """Columns W at a time from %start on, the last block overlapping the one before it; one by one if there are fewer.

    A block carries W chains of checks from %g0 … to %f0 …, a single column one from %sum to %sum1."""
    w, T, zero = lanes.width, lanes.real, lanes.literal(0.0)
    chains = [f"%g{r} = phi {T} [{zero}, %start], [%f{r}, %block]" for r in range(w) if f"%f{r} =" in join(block)]
    return f"""
  %wide = icmp sge i64 %n, {w}
  %tail = sub i64 %n, {w}
  br i1 %wide, label %block, label %single
block:
  %c = phi i64 [0, %start], [%c2, %block]
  {join([*chains, *block])}
  %c1 = add i64 %c, {w}
  %over = icmp sgt i64 %c1, %tail
  %c2 = select i1 %over, i64 %tail, i64 %c1
  %end = icmp sge i64 %c1, %n
  br i1 %end, label %blockend, label %block
blockend:
  {join(end)}
single:
  %s = phi i64 [0, %start], [%s1, %single]
  %sum = phi {T} [{zero}, %start], [%sum1, %single]
  {join(single)}
  %sum1 = call {T} @llvm.fma.{lanes.suffix}({T} %sv, {T} {zero}, {T} %sum)
  %s1 = add i64 %s, 1
  %sm = icmp slt i64 %s1, %n
  br i1 %sm, label %single, label %singleend
singleend:
  {join(single_end)}
"""


def _pack(lanes: Lanes) -> str:
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
    block += [*lines, *_check(columns, lanes)]
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
    end = [*_total([f"%f{j}" for j in range(w)], lanes), *_refuse("%total", lanes)]
    return f"""
define {lanes.int} @pack({PACK_ARGUMENTS}) noinline #0 {{
entry:
  {_row_pointers(lanes)}
  {_column_loop(lanes, block, end, single, _refuse("%sum1", lanes))}
}}
"""


def _unpack(lanes: Lanes) -> str:
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
    block += [*lines, *_check(rows, lanes)]
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
    end = [*turned, *_total(chains, lanes), *_refuse("%total", lanes)]
    return f"""
define {lanes.int} @unpack({UNPACK_ARGUMENTS}) noinline #0 {{
entry:
  {_row_pointers(lanes)}
  {_column_loop(lanes, block, end, single, _refuse("%sum1", lanes))}
}}
"""


def _refuse_one(total: str, native: Lanes) -> list[str]:
    """`ret` of one word that is not zero if any lane of a sum is NaN."""
    name, w = total[1:], native.width
    lines = [f"%{name}u = fcmp uno {native.real} {total}, {native.literal(0.0)}"]
    if w > 1:
        lines += [f"%{name}b = bitcast {native.bool} %{name}u to i{w}", f"%{name}w = zext i{w} %{name}b to i64"]
    else:
        lines += [f"%{name}w = zext i1 %{name}u to i64"]
    return [*lines, f"ret i64 %{name}w"]


def _pack_one(native: Lanes) -> str:
    """`@pack`: one row, copied to its slots in native vectors."""
    w, T = native.width, native.real
    block = [
        "%p = getelementptr double, ptr %from, i64 %c",
        f"%x = load {T}, ptr %p, align 8",
        *_check(["%x"], native),
        "%q = getelementptr double, ptr %to, i64 %c",
        f"store {T} %x, ptr %q, align 8",
    ]
    splat = (
        "%sv = fadd double %sx, 0x8000000000000000"
        if w == 1
        else f"%sv = insertelement {T} zeroinitializer, double %sx, i32 0"
    )
    single = [
        "%sp = getelementptr double, ptr %from, i64 %s",
        "%sx = load double, ptr %sp, align 8",
        splat,
        "%sq = getelementptr double, ptr %to, i64 %s",
        "store double %sx, ptr %sq, align 8",
    ]
    return f"""
define i64 @pack({PACK_ARGUMENTS}) noinline #0 {{
start:
  %offset = mul i64 %row, %stride
  %from = getelementptr i8, ptr %base, i64 %offset
  {_column_loop(native, block, _refuse_one("%f0", native), single, _refuse_one("%sum1", native))}
}}
"""


def _copies(columns: list[str]) -> list[str]:
    """UNROLL entries of a row from their slots to these columns, each with a chain of checks of its own: 0 x ≠ ±0."""
    lines = []
    for j, column in enumerate(columns):
        lines += [
            f"%t{j} = getelementptr i32, ptr %table, i64 %c{j}",
            f"%e{j} = load i32, ptr %t{j}",
            f"%o{j} = zext i32 %e{j} to i64",
            f"%p{j} = getelementptr i8, ptr %ws, i64 %o{j}",
            f"%x{j} = load double, ptr %p{j}",
            f"%q{j} = getelementptr double, ptr %to, i64 {column}",
            f"store double %x{j}, ptr %q{j}",
        ]
    return [*lines, *_check([f"%x{j}" for j in range(len(columns))], Lanes(1))]


def _copied(block: str, start: str) -> str:
    """Begin of a loop over UNROLL entries at a time."""
    return join(
        [
            f"%c = phi i64 [0, %{start}], [%next, %{block}]",
            *(f"%g{j} = phi double [0.0, %{start}], [%f{j}, %{block}]" for j in range(UNROLL)),
            *(f"%c{j} = add i64 %c, {j}" for j in range(UNROLL)),
        ]
    )


def _unpack_one(native: Lanes) -> str:
    """One row, gathered from its slots; UNROLL at a time, the last few overlapping the ones before."""
    one = Lanes(1)
    refused = [*_total([f"%f{j}" for j in range(UNROLL)], one), *_refuse_one("%total", one)]
    return f"""
define i64 @unpack({UNPACK_ARGUMENTS}) noinline #0 {{
entry:
  %offset = mul i64 %row, %stride
  %to = getelementptr i8, ptr %base, i64 %offset
  %tail = sub i64 %n, {UNROLL}
  %wide = icmp sge i64 %tail, 0
  br i1 %wide, label %several, label %single
several:
  {_copied("several", "entry")}
  {join(_copies([f"%c{j}" for j in range(UNROLL)]))}
  %more = icmp slt i64 %c, %tail
  %step = add i64 %c, {UNROLL}
  %over = icmp sgt i64 %step, %tail
  %next = select i1 %over, i64 %tail, i64 %step
  br i1 %more, label %several, label %check
check:
  {join(refused)}
single:
  %s = phi i64 [0, %entry], [%s1, %single]
  %sum = phi double [0.0, %entry], [%sum1, %single]
  %st = getelementptr i32, ptr %table, i64 %s
  %se = load i32, ptr %st
  %so = zext i32 %se to i64
  %sp = getelementptr i8, ptr %ws, i64 %so
  %sx = load double, ptr %sp
  %sq = getelementptr double, ptr %to, i64 %s
  store double %sx, ptr %sq
  %sum1 = call double @llvm.fma.f64(double %sx, double 0.0, double %sum)
  %s1 = add i64 %s, 1
  %again = icmp slt i64 %s1, %n
  br i1 %again, label %single, label %singleend
singleend:
  {join(_refuse_one("%sum1", one))}
}}
{_scatter_one(native, refused)}
"""


def _scatter_one(native: Lanes, refused: list[str]) -> str:
    """`@scatter`: a row of n ≥ W zeros, but for m columns from slots; m is a multiple of UNROLL."""
    w, T = native.width, native.real
    columns = []
    for j in range(UNROLL):
        columns += [
            f"%k{j}p = getelementptr i32, ptr %columns, i64 %c{j}",
            f"%k{j}i = load i32, ptr %k{j}p",
            f"%k{j} = zext i32 %k{j}i to i64",
        ]
    return f"""
define i64 @scatter(ptr %to, i64 %n, ptr %ws, ptr %table, ptr %columns, i64 %m) noinline #0 {{
entry:
  %tail = sub i64 %n, {w}
  br label %clear
clear:
  %z = phi i64 [0, %entry], [%z2, %clear]
  %zp = getelementptr double, ptr %to, i64 %z
  store {T} {native.literal(0.0)}, ptr %zp, align 8
  %zmore = icmp slt i64 %z, %tail
  %z1 = add i64 %z, {w}
  %zover = icmp sgt i64 %z1, %tail
  %z2 = select i1 %zover, i64 %tail, i64 %z1
  br i1 %zmore, label %clear, label %several
several:
  {_copied("several", "clear")}
  {join(columns)}
  {join(_copies([f"%k{j}" for j in range(UNROLL)]))}
  %next = add i64 %c, {UNROLL}
  %more = icmp slt i64 %next, %m
  br i1 %more, label %several, label %check
check:
  {join(refused)}
}}
"""
