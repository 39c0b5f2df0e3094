"""LLVM IR of the drivers' runtime: float mode, stack, status reports, work sharing between threads."""

from __future__ import annotations

from featherweight.compiler.llvm.calls import BLOCK, COUNT, STATUS
from featherweight.compiler.llvm.lanes import LaneTypes, join
from featherweight.compiler.native.target import Target


def emit_around(lanes: LaneTypes, target: Target) -> str:
    """The functions that `@rows` and `@run` of all plans call."""
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


def _report(lanes: LaneTypes) -> str:
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
