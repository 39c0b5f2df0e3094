"""LLVM IR around a plan: rows of user arrays in, one step on the workspace, rows out.

`@rows` runs a range of rows, `@run` takes ranges from a shared counter until none is left (that
is what threads do). Row-major arrays are turned into lanes by W×W transposes. The last pack
repeats the last row in the lanes that are left over: they compute and write the same bits again,
so no lane needs a mask. Every row gets a status: 0, or which check failed.
"""

from __future__ import annotations

from featherweight.compiler.emit import Lanes
from featherweight.compiler.target import Target

BLOCK = 64  # rows a thread takes at a time
NEXT, COUNT, STATUS, ARRAYS = 0, 1, 2, 3  # words of a call: counter, rows, status; then pointer, stride of each array
UNPACK_ARGUMENTS = "ptr %base, i64 %stride, i64 %row, i64 %last, ptr %ws, ptr %table, i64 %n"
BAD_INPUT, BAD_RESULT, BAD_CHECK = 1, 2, 4  # bits of a row's status


def emit_driver(lanes: Lanes, native: Lanes, inputs: list, outputs: list, check_slot: int, target: Target) -> str:
    """Functions `@rows` and `@run`; `inputs` are (size, first slot), `outputs` (size, first entry in @entries)."""
    return (
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
        + _float_mode(target.arch)
        + (_pack(lanes) + _unpack(lanes) if lanes.width > 1 else _pack_one(native) + _unpack_one(native))
        + _rows(lanes, inputs, outputs, check_slot)
        + _run(target.windows)
    )


def _float_mode(arch: str) -> str:
    """Default rounding, no flushing of small numbers; what the caller had is restored."""
    if arch == "x86":
        return """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define internal i64 @enter_float_mode() alwaysinline #0 {
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
define internal void @leave_float_mode(i64 %wide) alwaysinline #0 {
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
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define internal i64 @enter_float_mode() alwaysinline #0 {
  %old = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  ret i64 %old
}
define internal void @leave_float_mode(i64 %old) alwaysinline #0 {
  call void @llvm.aarch64.set.fpcr(i64 %old)
  ret void
}
"""


def _check_finite(name: str, values: list[str], before: str, lanes: Lanes) -> str:
    """`name` = `before` with bits set in the lanes where a value is NaN or infinite: 0 x ≠ ±0."""
    T, s, zero = lanes.real, lanes.suffix, lanes.literal(0.0)
    lines, total = [], zero
    for j, x in enumerate(values):
        lines.append(f"%{name}f{j} = call {T} @llvm.fma.{s}({T} {x}, {T} {zero}, {T} {total})")
        total = f"%{name}f{j}"
    return _join(
        [
            *lines,
            f"%{name}u = fcmp uno {T} {total}, {zero}",
            f"%{name}s = sext {lanes.bool} %{name}u to {lanes.int}",
            f"%{name} = or {lanes.int} {before}, %{name}s",
        ]
    )


def _transpose(names: list[str], lanes: Lanes) -> tuple[list[str], list[str]]:
    """Instructions that turn W vectors of W entries into their transpose: log2(W) rounds of shuffles."""
    w, lines = lanes.width, []
    step = 1
    while step < w:
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
                name = f"%tr{step}_{row}"
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
  {_join(whole)}
  br label %start
part:
  {_join(part)}
  br label %start
start:
  {_join(chosen)}
"""


def _column_loop(lanes: Lanes, block: str, single: str, result: str, start: str) -> str:
    """Columns W at a time, the last block overlapping the one before it; one by one if there are fewer."""
    w = lanes.width
    return f"""
  %wide = icmp sge i64 %n, {w}
  %tail = sub i64 %n, {w}
  br i1 %wide, label %block, label %single
block:
  %c = phi i64 [0, %{start}], [%c2, %block]
  %acc = phi {lanes.int} [zeroinitializer, %{start}], [%accb, %block]
  {block}
  %c1 = add i64 %c, {w}
  %over = icmp sgt i64 %c1, %tail
  %c2 = select i1 %over, i64 %tail, i64 %c1
  %end = icmp sge i64 %c1, %n
  br i1 %end, label %blockend, label %block
blockend:
  {result.replace("ACC", "%accb")}
single:
  %s = phi i64 [0, %{start}], [%s1, %single]
  %accs0 = phi {lanes.int} [zeroinitializer, %{start}], [%accs, %single]
  {single}
  %s1 = add i64 %s, 1
  %sm = icmp slt i64 %s1, %n
  br i1 %sm, label %single, label %singleend
singleend:
  {result.replace("ACC", "%accs")}
"""


def _pack(lanes: Lanes) -> str:
    """`@pack`: W rows of n columns into n slots; returns bits in lanes that are not finite."""
    w, T = lanes.width, lanes.real
    block = []
    for r in range(w):
        block += [
            f"%p{r} = getelementptr double, ptr %row{r}, i64 %c",
            f"%x{r} = load {T}, ptr %p{r}, align 8",
            f"%h{r} = getelementptr i8, ptr %p{r}, i64 %ahead",  # the next pack: memory works while we compute
            f"call void @llvm.prefetch.p0(ptr %h{r}, i32 0, i32 3, i32 1)",
        ]
    lines, columns = _transpose([f"%x{r}" for r in range(w)], lanes)
    block += lines
    block.append(_check_finite("accb", columns, "%acc", lanes))
    for j, x in enumerate(columns):
        block += [
            f"%cj{j} = add i64 %c, {j}",
            f"%q{j} = getelementptr {T}, ptr %to, i64 %cj{j}",
            f"store {T} {x}, ptr %q{j}, align {lanes.bytes}",
        ]
    single, vector = [], "poison"
    for r in range(w):
        single += [
            f"%sp{r} = getelementptr double, ptr %row{r}, i64 %s",
            f"%sx{r} = load double, ptr %sp{r}, align 8",
            f"%sv{r} = insertelement {T} {vector}, double %sx{r}, i32 {r}",
        ]
        vector = f"%sv{r}"
    single += [
        _check_finite("accs", [vector], "%accs0", lanes),
        f"%sq = getelementptr {T}, ptr %to, i64 %s",
        f"store {T} {vector}, ptr %sq, align {lanes.bytes}",
    ]
    return f"""
define internal {lanes.int} @pack(ptr %base, i64 %stride, i64 %row, i64 %last, ptr %to, i64 %n) noinline #0 {{
entry:
  {_row_pointers(lanes)}
  {_column_loop(lanes, _join(block), _join(single), f"ret {lanes.int} ACC", "start")}
}}
"""


def _unpack(lanes: Lanes) -> str:
    """`@unpack`: slots named by a table into n columns of W rows."""
    w, T = lanes.width, lanes.real
    block = []
    for j in range(w):
        block += [
            f"%cj{j} = add i64 %c, {j}",
            f"%t{j} = getelementptr i32, ptr %table, i64 %cj{j}",
            f"%e{j} = load i32, ptr %t{j}",
            f"%eo{j} = sext i32 %e{j} to i64",
            f"%p{j} = getelementptr {T}, ptr %ws, i64 %eo{j}",
            f"%x{j} = load {T}, ptr %p{j}, align {lanes.bytes}",
        ]
    columns = [f"%x{j}" for j in range(w)]
    lines, rows = _transpose(columns, lanes)
    block += [_check_finite("accb", columns, "%acc", lanes), *lines]
    for r, x in enumerate(rows):
        block += [
            f"%q{r} = getelementptr double, ptr %row{r}, i64 %c",
            f"store {T} {x}, ptr %q{r}, align 8",
        ]
    single = [
        "%st = getelementptr i32, ptr %table, i64 %s",
        "%se = load i32, ptr %st",
        "%seo = sext i32 %se to i64",
        f"%spp = getelementptr {T}, ptr %ws, i64 %seo",
        f"%sx = load {T}, ptr %spp, align {lanes.bytes}",
        _check_finite("accs", ["%sx"], "%accs0", lanes),
    ]
    for r in range(w):
        single += [
            f"%sv{r} = extractelement {T} %sx, i32 {r}",
            f"%sq{r} = getelementptr double, ptr %row{r}, i64 %s",
            f"store double %sv{r}, ptr %sq{r}, align 8",
        ]
    return f"""
define internal {lanes.int} @unpack({UNPACK_ARGUMENTS}) noinline #0 {{
entry:
  {_row_pointers(lanes)}
  {_column_loop(lanes, _join(block), _join(single), f"ret {lanes.int} ACC", "start")}
}}
"""


def _reduce(native: Lanes, name: str) -> str:
    """`ret` of one word that is not zero if any lane of the accumulator is not."""
    if native.width == 1:
        return f"ret i64 {name}"
    w = native.width
    return (
        f"%any{name[1:]} = icmp ne {native.int} {name}, zeroinitializer\n  "
        f"%bits{name[1:]} = bitcast {native.bool} %any{name[1:]} to i{w}\n  "
        f"%word{name[1:]} = zext i{w} %bits{name[1:]} to i64\n  ret i64 %word{name[1:]}"
    )


def _one_row_loop(native: Lanes, copy: bool) -> str:
    """Sweep one row from %from in native vectors, storing it at %to if `copy`."""
    w, T = native.width, native.real
    store = [f"%q = getelementptr double, ptr %to, i64 %c\n  store {T} %x, ptr %q, align 8"] if copy else []
    store_one = ["%sq = getelementptr double, ptr %to, i64 %s\n  store double %sx, ptr %sq, align 8"] if copy else []
    block = [
        "%p = getelementptr double, ptr %from, i64 %c",
        f"%x = load {T}, ptr %p, align 8",
        _check_finite("accb", ["%x"], "%acc", native),
        *store,
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
        _check_finite("accs", ["%sv"], "%accs0", native),
        *store_one,
    ]
    loop = _column_loop(native, _join(block), _join(single), "ret i64 ACC", "entry")
    for acc in ("%accb", "%accs"):
        loop = loop.replace(f"ret i64 {acc}", _reduce(native, acc))
    return loop


def _pack_one(native: Lanes) -> str:
    return f"""
define internal i64 @pack(ptr %base, i64 %stride, i64 %row, i64 %last, ptr %to, i64 %n) noinline #0 {{
entry:
  %offset = mul i64 %row, %stride
  %from = getelementptr i8, ptr %base, i64 %offset
  {_one_row_loop(native, copy=True)}
}}
"""


def _unpack_one(native: Lanes) -> str:
    return f"""
define internal i64 @check_row(ptr %from, i64 %n) noinline #0 {{
entry:
  {_one_row_loop(native, copy=False)}
}}
define internal i64 @unpack({UNPACK_ARGUMENTS}) noinline #0 {{
entry:
  %offset = mul i64 %row, %stride
  %to = getelementptr i8, ptr %base, i64 %offset
  br label %copy
copy:
  %j = phi i64 [0, %entry], [%j1, %copy]
  %t = getelementptr i32, ptr %table, i64 %j
  %e = load i32, ptr %t
  %eo = sext i32 %e to i64
  %p = getelementptr double, ptr %ws, i64 %eo
  %x = load double, ptr %p
  %q = getelementptr double, ptr %to, i64 %j
  store double %x, ptr %q
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, %n
  br i1 %more, label %copy, label %check
check:
  %bad = call i64 @check_row(ptr %to, i64 %n)
  ret i64 %bad
}}
"""


def _join(lines: list[str]) -> str:
    return "\n  ".join(lines)


def _rows(lanes: Lanes, inputs: list, outputs: list, check_slot: int) -> str:
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
        pointer, stride = array(k)
        lines.append(f"%to{k} = getelementptr {T}, ptr %ws, i64 {slot}")
        lines.append(
            f"%flag{k} = call {I} @pack(ptr {pointer}, i64 {stride}, i64 %row, i64 %last, ptr %to{k}, i64 {n})"
        )
        lines.append(f"%ok{k} = or {I} {before}, %flag{k}")
        before = f"%ok{k}"
    bad_input = before
    lines.append("call void @step(ptr %ws)")
    before = zero
    for j, (n, entry) in enumerate(outputs):
        k = len(inputs) + j
        pointer, stride = array(k)
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
define internal i64 @rows(ptr %call, ptr %ws, i64 %first, i64 %end) noinline #0 {{
entry:
  %mode = call i64 @enter_float_mode()
  %countp = getelementptr i64, ptr %call, i64 {COUNT}
  %count = load i64, ptr %countp
  %last = sub i64 %count, 1
  br label %pack
pack:
  %row = phi i64 [%first, %entry], [%row1, %next]
  %bad = phi i64 [0, %entry], [%bad1, %next]
  {_join(lines)}
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
""" + _report(lanes)


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
define internal void @report(ptr %call, i64 %row, i64 %last, {lanes.int} %status) noinline cold #0 {{
entry:
  %pp = getelementptr i64, ptr %call, i64 {STATUS}
  %to = load ptr, ptr %pp
  %wanted = icmp ne ptr %to, null
  br i1 %wanted, label %write, label %end
write:
  {_join(lines)}
  br label %end
end:
  ret void
}}
"""


def _run(windows: bool) -> str:
    """`@run(call, ws)`: blocks of rows from the shared counter; returns how many packs had a bad row.

    Windows hands out stack page by page: touch what the chunks will need, so that they do without probes.
    """
    touch = "call void @touch_stack(i64 48)" if windows else ""
    touch_stack = """
define internal void @touch_stack(i64 %n) noinline #0 {
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
    return (
        (touch_stack if windows else "")
        + f"""
define i64 @run(ptr %call, ptr %ws) #0 {{
entry:
  {touch}
  %nextp = getelementptr i64, ptr %call, i64 {NEXT}
  %countp = getelementptr i64, ptr %call, i64 {COUNT}
  %count = load i64, ptr %countp
  br label %take
take:
  %bad = phi i64 [0, %entry], [%bad1, %work]
  %first = atomicrmw add ptr %nextp, i64 {BLOCK} monotonic
  %more = icmp slt i64 %first, %count
  br i1 %more, label %work, label %done
work:
  %to = add i64 %first, {BLOCK}
  %inside = icmp slt i64 %to, %count
  %end = select i1 %inside, i64 %to, i64 %count
  %new = call i64 @rows(ptr %call, ptr %ws, i64 %first, i64 %end)
  %bad1 = add i64 %bad, %new
  br label %take
done:
  ret i64 %bad
}}
"""
    )
