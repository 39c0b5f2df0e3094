"""LLVM IR that moves one row of a user array into its slots and back, checking every number on the way.

A row is copied as it is; where most of a result is zero whatever the state, `@scatter` clears it and copies the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from featherweight.compiler.llvm.columns import PACK_ARGUMENTS, UNPACK_ARGUMENTS, check, column_loop, total
from featherweight.compiler.llvm.lanes import LaneTypes, join

UNROLL = 8
PIECE = 4  # numbers that are cleared, or checked, at a place of a table
AT_ONCE = 4  # registers of numbers that are checked
ONE = LaneTypes(1)


def emit_one_row(native: LaneTypes) -> str:
    """`@pack`, `@unpack`, `@scatter`, `@clear`, `@finite`, `@clear_pieces` and `@finite_pieces`; all but those
    that clear return a word that is not zero if there is a NaN or an infinity."""
    wide = LaneTypes(AT_ONCE * native.width)  # several registers at a time
    return _pack(native) + _unpack() + _scatter() + _clear(wide) + _finite(wide) + _pieces()


def _refused() -> str:
    """The end of a loop over UNROLL entries at a time."""
    return join([*total([f"%f{j}" for j in range(UNROLL)], ONE), *_refuse("%total", ONE)])


def _refuse(chain: str, native: LaneTypes) -> list[str]:
    """`ret` of one word that is not zero if any lane of a sum is NaN."""
    name, w = chain[1:], native.width
    lines = [f"%{name}u = fcmp uno {native.real} {chain}, {native.literal(0.0)}"]
    if w > 1:
        lines += [f"%{name}b = bitcast {native.bool} %{name}u to i{w}", f"%{name}w = zext i{w} %{name}b to i64"]
    else:
        lines += [f"%{name}w = zext i1 %{name}u to i64"]
    return [*lines, f"ret i64 %{name}w"]


def _check(native: LaneTypes) -> list[str]:
    """%f0 = %g0 with the sign where %x is NaN or infinite. It is arithmetic of integers: sums and products of long
    vectors lower the clock of some processors (docs/decisions/0041)."""
    T, I = native.real, native.int
    return [
        f"%xi = bitcast {T} %x to {I}",
        f"%exponent = and {I} %xi, {native.integer(0x7FF << 52)}",
        f"%carried = add {I} %exponent, {native.integer(1 << 52)}",
        f"%before = bitcast {T} %g0 to {I}",
        f"%after = or {I} %before, %carried",
        f"%f0 = bitcast {I} %after to {T}",
    ]


def _refuse_signs(native: LaneTypes) -> list[str]:
    """`ret` of one word that is not zero if any lane of %f0 has a sign."""
    I, w = native.int, native.width
    lines = [f"%bits = bitcast {native.real} %f0 to {I}", f"%signs = icmp slt {I} %bits, {native.integer(0)}"]
    if w > 1:
        lines += [f"%mask = bitcast {native.bool} %signs to i{w}", f"%word = zext i{w} %mask to i64"]
    else:
        lines += ["%word = zext i1 %signs to i64"]
    return [*lines, "ret i64 %word"]


def _pack(native: LaneTypes) -> str:
    """`@pack`: one row, copied to its slots in native vectors."""
    w, T = native.width, native.real
    block = [
        "%p = getelementptr double, ptr %from, i64 %c",
        f"%x = load {T}, ptr %p, align 8",
        *_check(native),
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
  {column_loop(native, block, _refuse_signs(native), single, _refuse("%sum1", native))}
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
    return [*lines, *check([f"%x{j}" for j in range(len(columns))], ONE)]


def _copied(block: str, start: str) -> str:
    """Begin of a loop over UNROLL entries at a time."""
    return join(
        [
            f"%c = phi i64 [0, %{start}], [%next, %{block}]",
            *(f"%g{j} = phi double [0.0, %{start}], [%f{j}, %{block}]" for j in range(UNROLL)),
            *(f"%c{j} = add i64 %c, {j}" for j in range(UNROLL)),
        ]
    )


def _unpack() -> str:
    """One row, gathered from its slots; UNROLL at a time, the last few overlapping the ones before."""
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
  {_refused()}
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
  {join(_refuse("%sum1", ONE))}
}}
"""


def _scatter() -> str:
    """`@scatter`: a row of n zeros, but for m columns from slots; m is a multiple of UNROLL."""
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
  call void @clear(ptr %to, i64 %n)
  br label %several
several:
  {_copied("several", "entry")}
  {join(columns)}
  {join(_copies([f"%k{j}" for j in range(UNROLL)]))}
  %next = add i64 %c, {UNROLL}
  %more = icmp slt i64 %next, %m
  br i1 %more, label %several, label %check
check:
  {_refused()}
}}
"""


def _clear(wide: LaneTypes) -> str:
    """`@clear`: n zeros."""
    T = wide.real
    block = ["%p = getelementptr double, ptr %to, i64 %c", f"store {T} {wide.literal(0.0)}, ptr %p, align 8"]
    single = [
        "%sp = getelementptr double, ptr %to, i64 %s",
        "store double 0.0, ptr %sp, align 8",
        f"%sv = fadd {T} {wide.literal(0.0)}, {wide.literal(0.0)}",
    ]
    loop = column_loop(wide, block, ["ret void"], single, ["ret void"])
    return f"""
define void @clear(ptr %to, i64 %n) noinline #0 {{
start:
  {loop}
}}
"""


def _finite(wide: LaneTypes) -> str:
    """`@finite`: a word that is not zero if there is a NaN or an infinity among n numbers."""
    T = wide.real
    block = ["%p = getelementptr double, ptr %from, i64 %c", f"%x = load {T}, ptr %p, align 8", *_check(wide)]
    single = [
        "%sp = getelementptr double, ptr %from, i64 %s",
        "%sx = load double, ptr %sp, align 8",
        f"%sv = insertelement {T} zeroinitializer, double %sx, i32 0",
    ]
    return f"""
define i64 @finite(ptr %from, i64 %n) noinline #0 {{
start:
  {column_loop(wide, block, _refuse_signs(wide), single, _refuse("%sum1", wide))}
}}
"""


def covering(columns: Sequence[int], n: int) -> list[int]:
    """Where pieces begin that cover these columns of n, in whole rounds of UNROLL: the last one again."""
    begins: list[int] = []
    for c in columns:
        if not begins or c >= begins[-1] + PIECE:
            begins.append(min(c, n - PIECE))
    return begins + begins[-1:] * (-len(begins) % UNROLL)


def _pieces() -> str:
    """`@clear_pieces` and `@finite_pieces`: PIECE numbers at each of m places of a table [bytes], m a multiple of
    UNROLL."""
    four = LaneTypes(PIECE)
    T, I, zero = four.real, four.int, four.literal(0.0)
    places = []
    for j in range(UNROLL):
        places += [
            f"%k{j} = add i64 %k, {j}",
            f"%t{j} = getelementptr i32, ptr %table, i64 %k{j}",
            f"%o{j}i = load i32, ptr %t{j}",
            f"%o{j} = zext i32 %o{j}i to i64",
            f"%p{j} = getelementptr i8, ptr %row, i64 %o{j}",
        ]
    end = [f"%next = add i64 %k, {UNROLL}", "%more = icmp slt i64 %next, %m", "br i1 %more, label %loop, label %end"]
    clear = [*places, *(f"store {T} {zero}, ptr %p{j}, align 8" for j in range(UNROLL)), *end]
    check = list(places)
    for j in range(UNROLL):
        check += [
            f"%x{j} = load {I}, ptr %p{j}, align 8",
            f"%e{j} = and {I} %x{j}, {four.integer(0x7FF << 52)}",
            f"%c{j} = add {I} %e{j}, {four.integer(1 << 52)}",
            f"%f{j} = or {I} %g{j}, %c{j}",
        ]
    chains = [f"%g{j} = phi {I} [zeroinitializer, %entry], [%f{j}, %loop]" for j in range(UNROLL)]
    sums = [f"%s{j} = or {I} {'%f0' if j == 1 else f'%s{j - 1}'}, %f{j}" for j in range(1, UNROLL)]
    found = [
        f"%signs = icmp slt {I} %s{UNROLL - 1}, zeroinitializer",
        f"%mask = bitcast {four.bool} %signs to i{PIECE}",
        f"%word = zext i{PIECE} %mask to i64",
        "ret i64 %word",
    ]
    loop = "%k = phi i64 [0, %entry], [%next, %loop]"
    return f"""
define void @clear_pieces(ptr %row, ptr %table, i64 %m) noinline #0 {{
entry:
  br label %loop
loop:
  {join([loop, *clear])}
end:
  ret void
}}
define i64 @finite_pieces(ptr %row, ptr %table, i64 %m) noinline #0 {{
entry:
  br label %loop
loop:
  {join([loop, *chains, *check, *end])}
end:
  {join([*sums, *found])}
}}
"""
