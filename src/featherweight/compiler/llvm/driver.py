"""LLVM IR around a plan: rows of user arrays in, one step on the workspace, rows out.

`@rows` runs a range of rows, `@run` takes block after block of rows until none is left (that is what
threads do). If the caller wants to know, a byte says of each row that is refused which checks it failed.
What does not depend on the plan is in `emit_around`, for the support module.
"""

from __future__ import annotations

from featherweight.compiler.llvm.calls import (
    ARRAYS,
    BAD_CHECK,
    BAD_INPUT,
    BAD_RESULT,
    BLOCK,
    COUNT,
    LOOP_PARTS,
    PARTS,
    STATUS,
)
from featherweight.compiler.llvm.lanes import Lanes
from featherweight.compiler.llvm.packing import UNROLL, join
from featherweight.compiler.native.target import Target

STACK_PAGES = 48  # of 3 kB: more than any chunk needs


def emit_driver(
    lanes: Lanes,
    native: Lanes,
    inputs: list,
    outputs: list,
    check_slot: int,
    target: Target,
    loop: tuple[int, int, int] | None = None,
    slots: list[int] | None = None,
    zero: int | None = None,
) -> str:
    """Functions `@rows` and `@run`; `inputs` are (size, first slot), `outputs` (size, first entry in @entries),
    `slots` those of all output entries, `zero` the one that holds 0 for good."""
    if loop is None:
        sparse = _sparse(native, outputs, slots or [], zero) if lanes.width == 1 else {}
        tables = "".join(table for _, table in sparse.values())
        rows = tables + _rows(
            lanes, inputs, outputs, check_slot, target.windows, {j: m for j, (m, _) in sparse.items()}
        )
    else:
        from featherweight.compiler.llvm.loop_driver import emit_loop_rows

        rows = emit_loop_rows(lanes, inputs, outputs, slots or [], loop, target.windows)
    return rows + _run(PARTS if loop is None else LOOP_PARTS)


def emit_around(lanes: Lanes, target: Target) -> str:
    """What `@rows` and `@run` of all plans call: the float mode, the stack, reports, sharing rows out to threads."""
    return _float_mode(target.arch) + _touch_stack(target.windows) + _report(lanes) + _share()


def _float_mode(arch: str) -> str:
    """Default rounding, no flushing of small numbers; what the caller had is restored."""
    if arch == "x86":
        return """
define i64 @enter_float_mode() #0 {
  %slot = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %slot)
  %old = load i32, ptr %slot
  %mode = and i32 %old, 65472
  %usual = icmp eq i32 %mode, 8064
  br i1 %usual, label %end, label %set
set:
  store i32 8064, ptr %slot
  call void @llvm.x86.sse.ldmxcsr(ptr %slot)
  br label %end
end:
  %wide = zext i32 %old to i64
  ret i64 %wide
}
define void @leave_float_mode(i64 %wide) #0 {
  %slot = alloca i32
  %old = trunc i64 %wide to i32
  %mode = and i32 %old, 65472
  %usual = icmp eq i32 %mode, 8064
  br i1 %usual, label %end, label %set
set:
  store i32 %old, ptr %slot
  call void @llvm.x86.sse.ldmxcsr(ptr %slot)
  br label %end
end:
  ret void
}
"""
    return """
define i64 @enter_float_mode() #0 {
  %old = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  ret i64 %old
}
define void @leave_float_mode(i64 %old) #0 {
  call void @llvm.aarch64.set.fpcr(i64 %old)
  ret void
}
"""


def _touch_stack(windows: bool) -> str:
    """Windows hands out stack page by page: touch what the chunks may need, so that they do without probes."""
    if not windows:
        return ""
    return """
define void @touch_stack(i64 %n) noinline #0 {
entry:
  %page = alloca [3072 x i8]
  store volatile i8 0, ptr %page
  %more = icmp sgt i64 %n, 0
  br i1 %more, label %deeper, label %end
deeper:
  %n1 = sub i64 %n, 1
  call void @touch_stack(i64 %n1)
  store volatile i8 0, ptr %page
  br label %end
end:
  ret void
}
"""


def _sparse(native: Lanes, outputs: list, slots: list[int], zero: int | None) -> dict[int, tuple[int, str]]:
    """Outputs that are mostly zero: how many entries are not, filled up to whole rounds of copying by the last one
    again, and tables of their places in the workspace [bytes] and columns."""
    found = {}
    for j, (n, entry) in enumerate(outputs):
        others = [(8 * slots[entry + c], c) for c in range(n) if slots[entry + c] != zero]
        if n < native.width or not 0 < 2 * len(others) <= n:
            continue
        others += [others[-1]] * (-len(others) % UNROLL)
        m = len(others)
        table = "".join(
            f"@{name}{j} = internal constant [{m} x i32] [{', '.join(f'i32 {x}' for x in values)}], align 64\n"
            for name, values in zip(("places", "columns"), zip(*others, strict=True), strict=True)
        )
        found[j] = m, table
    return found


def _rows(lanes: Lanes, inputs: list, outputs: list, check_slot: int, windows: bool, sparse: dict[int, int]) -> str:
    """`@rows(call, ws, first, end)`: number of packs with a bad row."""
    I, T = lanes.int, lanes.real
    zero = "0" if lanes.width == 1 else "zeroinitializer"
    lines: list[str] = []

    def array(k: int) -> tuple[str, str]:
        word = ARRAYS + 2 * k
        lines.extend(
            [
                f"%pp{k} = getelementptr i64, ptr %call, i64 {word}",
                f"%ptr{k} = load ptr, ptr %pp{k}",
                f"%sp{k} = getelementptr i64, ptr %call, i64 {word + 1}",
                f"%stride{k} = load i64, ptr %sp{k}",
            ]
        )
        return f"%ptr{k}", f"%stride{k}"

    before = zero
    for k, (n, slot) in enumerate(inputs):
        if n == 0:
            continue
        pointer, stride = array(k)
        lines.append(f"%to{k} = getelementptr {T}, ptr %ws, i64 {slot}")
        lines.append(
            f"%flag{k} = call {I} @pack(ptr {pointer}, i64 {stride}, i64 %row, i64 %last, ptr %to{k}, i64 {n})"
        )
        lines.append(f"%ok{k} = or {I} {before}, %flag{k}")
        before = f"%ok{k}"
    bad_input = before
    results = {j: array(len(inputs) + j) for j, (n, _) in enumerate(outputs) if n > 0}
    pointer, stride = results[max(results, key=lambda j: outputs[j][0])] if results else ("null", "0")
    lines += [
        f"%begin = mul i64 %row, {stride}",
        f"%longest = getelementptr i8, ptr {pointer}, i64 %begin",
        f"call void @step(ptr %ws, ptr %longest, i64 {stride})",
    ]
    before = zero
    for j, (pointer, stride) in results.items():
        k, (n, entry) = len(inputs) + j, outputs[j]
        if j in sparse:
            lines += [
                f"%skip{k} = mul i64 %row, {stride}",
                f"%at{k} = getelementptr i8, ptr {pointer}, i64 %skip{k}",
                f"%flag{k} = call i64 @scatter(ptr %at{k}, i64 {n}, ptr %ws, ptr @places{j}, ptr @columns{j}, "
                f"i64 {sparse[j]})",
                f"%out{k} = or i64 {before}, %flag{k}",
            ]
            before = f"%out{k}"
            continue
        lines.append(
            f"%flag{k} = call {I} @unpack(ptr {pointer}, i64 {stride}, i64 %row, i64 %last, ptr %ws, "
            f"ptr getelementptr (i32, ptr @entries, i64 {entry}), i64 {n})"
        )
        lines.append(f"%out{k} = or {I} {before}, %flag{k}")
        before = f"%out{k}"
    bad_result = before
    any_bad = (
        "%any = or i1 %some, false"
        if lanes.width == 1
        else f"%mask = bitcast {lanes.bool} %some to i{lanes.width}\n  %any = icmp ne i{lanes.width} %mask, 0"
    )
    return f"""
define dso_local i64 @rows(ptr %call, ptr %ws, i64 %first, i64 %end) noinline #0 {{
entry:
  %mode = call i64 @enter_float_mode()
  {f"call void @touch_stack(i64 {STACK_PAGES})" if windows else ""}
  %countp = getelementptr i64, ptr %call, i64 {COUNT}
  %count = load i64, ptr %countp
  %last = sub i64 %count, 1
  br label %pack
pack:
  %row = phi i64 [%first, %entry], [%row1, %next]
  %bad = phi i64 [0, %entry], [%bad1, %next]
  {join(lines)}
  %checkp = getelementptr {T}, ptr %ws, i64 {check_slot}
  %check = load {T}, ptr %checkp, align {lanes.bytes}
  %checkb = fcmp une {T} %check, {lanes.literal(0.0)}
  %inputb = icmp ne {I} {bad_input}, {zero}
  %resultb = icmp ne {I} {bad_result}, {zero}
  %some1 = or {lanes.bool} %checkb, %inputb
  %some = or {lanes.bool} %some1, %resultb
  {any_bad}
  %onebad = zext i1 %any to i64
  %bad1 = add i64 %bad, %onebad
  br i1 %any, label %report, label %next
report:
  %ci = select {lanes.bool} %checkb, {I} {lanes.integer(BAD_CHECK)}, {I} {zero}
  %ii = select {lanes.bool} %inputb, {I} {lanes.integer(BAD_INPUT)}, {I} {zero}
  %ri = select {lanes.bool} %resultb, {I} {lanes.integer(BAD_RESULT)}, {I} {zero}
  %s0 = or {I} %ci, %ii
  %s1 = or {I} %s0, %ri
  call void @report(ptr %call, i64 %row, i64 %last, {I} %s1)
  br label %next
next:
  %row1 = add i64 %row, {lanes.width}
  %more = icmp slt i64 %row1, %end
  br i1 %more, label %pack, label %done
done:
  call void @leave_float_mode(i64 %mode)
  ret i64 %bad1
}}
"""


def _report(lanes: Lanes) -> str:
    """Write the status byte of each row of a pack, if the caller wants them."""
    lines = []
    for r in range(lanes.width):
        value = "%status" if lanes.width == 1 else f"%v{r}"
        if lanes.width > 1:
            lines.append(f"%v{r} = extractelement {lanes.int} %status, i32 {r}")
        lines += [
            f"%b{r} = trunc i64 {value} to i8",
            f"%n{r} = add i64 %row, {r}",
            f"%in{r} = icmp slt i64 %n{r}, %last",
            f"%m{r} = select i1 %in{r}, i64 %n{r}, i64 %last",
            f"%p{r} = getelementptr i8, ptr %to, i64 %m{r}",
            f"store i8 %b{r}, ptr %p{r}",
        ]
    return f"""
define void @report(ptr %call, i64 %row, i64 %last, {lanes.int} %status) noinline cold #0 {{
entry:
  %pp = getelementptr i64, ptr %call, i64 {STATUS}
  %to = load ptr, ptr %pp
  %wanted = icmp ne ptr %to, null
  br i1 %wanted, label %write, label %end
write:
  {join(lines)}
  br label %end
end:
  ret void
}}
"""


def _run(parts: int) -> str:
    """`@run(call, ws, taken, k, n)`: the part of thread k of n in a call; how many packs had a bad row."""
    return f"""
define i64 @run(ptr %call, ptr %ws, ptr %taken, i64 %k, i64 %n) #0 {{
  %bad = call i64 @share(ptr %call, ptr %ws, ptr %taken, i64 %k, i64 %n, i64 {parts}, ptr @rows)
  ret i64 %bad
}}
"""


def _share() -> str:
    """`@share(call, ws, taken, k, n, of, rows)`: the part of thread k of n in a call, by a module's `@rows`.

    Rows are cut into blocks, blocks into stretches. Two threads share a stretch, one from either end. Each takes one of
    `of` parts of the blocks that are left at a time, many at first and one at last; `taken[stretch]` counts what both
    have taken, so they meet where the slower one is. Each has the same rows again in the next call, still in its cache.
    A thread that is alone takes all at once. Returns how many packs had a bad row.
    """
    return f"""
define i64 @share(ptr %call, ptr %ws, ptr %taken, i64 %k, i64 %n, i64 %of, ptr %rows) #0 {{
entry:
  %countp = getelementptr i64, ptr %call, i64 {COUNT}
  %count = load i64, ptr %countp
  %rounded = add i64 %count, {BLOCK - 1}
  %blocks = udiv i64 %rounded, {BLOCK}
  %s = udiv i64 %k, 2
  %even = mul i64 %s, 2
  %after = add i64 %even, 2
  %pair = icmp sle i64 %after, %n
  %next = select i1 %pair, i64 %after, i64 %n
  %a = mul i64 %even, %blocks
  %b = mul i64 %next, %blocks
  %low = udiv i64 %a, %n
  %high = udiv i64 %b, %n
  %share = sub i64 %high, %low
  %bit = and i64 %k, 1
  %down = icmp ne i64 %bit, 0
  %start = select i1 %down, i64 %high, i64 %low
  %sign = select i1 %down, i64 -1, i64 1
  %parts = select i1 %pair, i64 %of, i64 1
  %mine = getelementptr i64, ptr %taken, i64 %s
  br label %take
take:
  %bad = phi i64 [0, %entry], [%bad1, %work]
  %here = phi i64 [%start, %entry], [%there, %work]
  %seen = load atomic i64, ptr %mine monotonic, align 8
  %remain = sub i64 %share, %seen
  %part = sdiv i64 %remain, %parts
  %wanted = call i64 @llvm.smax.i64(i64 %part, i64 1)
  %before = atomicrmw add ptr %mine, i64 %wanted monotonic
  %left = sub i64 %share, %before
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %work, label %done
work:
  %own = call i64 @llvm.smin.i64(i64 %wanted, i64 %left)
  %move = mul i64 %own, %sign
  %there = add i64 %here, %move
  %begin = call i64 @llvm.smin.i64(i64 %here, i64 %there)
  %stop = call i64 @llvm.smax.i64(i64 %here, i64 %there)
  %first = mul i64 %begin, {BLOCK}
  %to = mul i64 %stop, {BLOCK}
  %end = call i64 @llvm.smin.i64(i64 %to, i64 %count)
  %new = call i64 %rows(ptr %call, ptr %ws, i64 %first, i64 %end)
  %bad1 = add i64 %bad, %new
  br label %take
done:
  ret i64 %bad
}}
"""
