"""LLVM IR of products with matrices: y += W x as loops over memory, in functions that all kernels call.

y and x are arrays in the workspace. Each y_i is one chain of fused multiply-adds in the order of the columns, so its
bits do not depend on what runs beside it. Several chains run at once: of several rows for a pack, where a weight that
all lanes share is broadcast; for a single lane rows are the entries of vectors. Entry (i, j) of W stands at
⌊i / 8⌋ block + (i mod 8) row + j column [bytes].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from featherweight.compiler.llvm.lanes import LaneTypes, join
from featherweight.compiler.trace.products import BLOCK, IN_ROWS, IN_SLOTS

SIZES = "i64 %m, i64 %n, i64 %block, i64 %row, i64 %column"
Load = Callable[[str, str, str], list[str]]  # a value by its name, at an offset from a pointer [bytes]: instructions


def call_product(how: int, y: str, x: str, W: str, numbers: Sequence[int], lanes: LaneTypes) -> str:
    """A call for weights that all lanes share, that stand in slots, or in rows of an input; `numbers` are m, n, the
    first entry in a row, and the strides block, row, column [entries]."""
    m, n, first, *strides = numbers
    entry = lanes.bytes if how == IN_SLOTS else 8
    sizes = ", ".join(f"i64 {k}" for k in (m, n, *(entry * stride for stride in strides)))
    if how == IN_ROWS:
        return f"call void @linear_rows(ptr {y}, ptr {x}, ptr {W}, i64 {8 * first}, {sizes})"
    one, pack = ("shared", "slots") if how == IN_SLOTS else ("columns", "shared")
    return f"call void @linear_{one if lanes.width == 1 else pack}(ptr {y}, ptr {x}, ptr {W}, {sizes})"


def emit_products(lanes: LaneTypes, native: LaneTypes) -> str:
    """`@linear_shared`, `@linear_rows`; for packs `@linear_slots`, for one lane `@linear_columns`."""
    shared = _of_rows("shared", lanes, _broadcast(lanes))
    if lanes.width == 1:
        return shared + _of_columns(native) + _pointed(lanes)
    slots = _of_rows("slots", lanes, _vector(lanes, lanes.bytes))
    return shared + slots + _of_rows("each", lanes, _gather(lanes), lanes.pointer) + _pointed(lanes)


# ---- loads


def _vector(lanes: LaneTypes, align: int) -> Load:
    """A number for each lane, side by side."""
    return lambda name, pointer, offset: [
        f"{name}p = getelementptr i8, ptr {pointer}, i64 {offset}",
        f"{name} = load {lanes.real}, ptr {name}p, align {align}",
    ]


def _broadcast(lanes: LaneTypes) -> Load:
    """One number for all lanes."""
    T, w = lanes.real, lanes.width
    if w == 1:
        return _vector(lanes, 8)
    return lambda name, pointer, offset: [
        f"{name}p = getelementptr i8, ptr {pointer}, i64 {offset}",
        f"{name}s = load double, ptr {name}p",
        f"{name}i = insertelement {T} poison, double {name}s, i32 0",
        f"{name} = shufflevector {T} {name}i, {T} poison, <{w} x i32> zeroinitializer",
    ]


def _gather(lanes: LaneTypes) -> Load:
    """A number for each lane, from its own memory."""
    gather = f"call {lanes.real} @llvm.masked.gather.{lanes.suffix}.v{lanes.width}p0"
    return lambda name, pointer, offset: [
        f"{name}p = getelementptr i8, {lanes.pointer} {pointer}, i64 {offset}",
        f"{name} = {gather}({lanes.pointer} {name}p, i32 8, {lanes.bool} {lanes.true}, {lanes.real} poison)",
    ]


# ---- functions


@dataclass(frozen=True)
class _Chains:
    """How many chains there are, where the weights of chain %i begin, how far those of the next ones are [bytes]."""

    count: str
    first: list[str]
    offsets: list[list[str]]
    weight: Load
    x: Load
    x_bytes: int
    pointer: str = "ptr"


def _of_rows(name: str, lanes: LaneTypes, weight: Load, pointer: str = "ptr") -> str:
    """Chains are rows of W: eight at once, four of those that are left, then one by one."""
    first = [
        f"%b = sdiv i64 %i, {BLOCK}",
        f"%r = srem i64 %i, {BLOCK}",
        "%to_block = mul i64 %b, %block",
        "%to_row = mul i64 %r, %row",
        "%first = add i64 %to_block, %to_row",
    ]
    offsets = [[f"%d{r} = mul i64 %row, {r}"] for r in range(8)]
    x = _vector(lanes, lanes.bytes)
    chains = _Chains("%count = add i64 %m, 0", first, offsets, weight, x, lanes.bytes, pointer)
    return _function(name, lanes, chains, (8, 4, 1))


def _of_columns(native: LaneTypes) -> str:
    """Chains are vectors of rows, whose weights stand side by side in a block."""
    of_block = BLOCK // native.width
    first = [f"%b = sdiv i64 %i, {of_block}", "%first = mul i64 %b, %block"]
    offsets = [
        [f"%c{r} = mul i64 %block, {r // of_block}", f"%d{r} = add i64 %c{r}, {r % of_block * native.bytes}"]
        for r in range(8)
    ]
    count = f"%count = sdiv i64 %m, {native.width}"
    chains = _Chains(count, first, offsets, _vector(native, 8), _broadcast(native), 8)
    return _function("columns", native, chains, tuple(n for n in (8, 4, 2, 1) if n >= of_block))


def _function(name: str, lanes: LaneTypes, chains: _Chains, at_once: Sequence[int]) -> str:
    """`@linear_…`: loops over so many chains at once, one after the other. Their names begin alike: where a kernel has
    these functions in its own module, `@shared4` is one of its own."""
    loops = [_loop(f"linear_{name}{n}", n, lanes, chains) for n in at_once]
    lines, start = [], "0"
    for n in at_once:
        lines.append(f"%i{n} = call i64 @linear_{name}{n}(ptr %y, ptr %x, {chains.pointer} %w, {SIZES}, i64 {start})")
        start = f"%i{n}"
    header = f"define void @linear_{name}(ptr %y, ptr %x, {chains.pointer} %w, {SIZES}) noinline #1"
    return "".join(loops) + f"\n{header} {{\n  {join(lines)}\n  ret void\n}}\n"


def _loop(name: str, n: int, lanes: LaneTypes, chains: _Chains) -> str:
    """n chains at once, from a chain on, as long as there are so many; the chain that comes next."""
    T, all_n = lanes.real, range(n)
    terms = [
        line
        for r in all_n
        for line in (
            *chains.weight(f"%w{r}", "%q", f"%d{r}"),
            f"%b{r} = call {T} @llvm.fma.{lanes.suffix}({T} %w{r}, {T} %xj, {T} %a{r})",
        )
    ]
    places = [f"%n{r} = add i64 %i, {r}\n  %y{r} = getelementptr {T}, ptr %y, i64 %n{r}" for r in all_n]
    return f"""
define internal i64 @{name}(ptr %y, ptr %x, {chains.pointer} %w, {SIZES}, i64 %start) noinline #1 {{
entry:
  {chains.count}
  {join([line for r in all_n for line in chains.offsets[r]])}
  br label %next
next:
  %i = phi i64 [%start, %entry], [%i1, %end]
  %i1 = add i64 %i, {n}
  %fits = icmp sle i64 %i1, %count
  br i1 %fits, label %begin, label %done
begin:
  {join([*chains.first, *places])}
  {join([f"%s{r} = load {T}, ptr %y{r}, align {lanes.bytes}" for r in all_n])}
  br label %term
term:
  %j = phi i64 [0, %begin], [%j1, %term]
  %k = phi i64 [%first, %begin], [%k1, %term]
  {join([f"%a{r} = phi {T} [%s{r}, %begin], [%b{r}, %term]" for r in all_n])}
  %jx = mul i64 %j, {chains.x_bytes}
  {join(chains.x("%xj", "%x", "%jx"))}
  %q = getelementptr i8, {chains.pointer} %w, i64 %k
  {join(terms)}
  %j1 = add i64 %j, 1
  %k1 = add i64 %k, %column
  %more = icmp slt i64 %j1, %n
  br i1 %more, label %term, label %end
end:
  {join([f"store {T} %b{r}, ptr %y{r}, align {lanes.bytes}" for r in all_n])}
  br label %next
done:
  ret i64 %i
}}
"""


def _pointed(lanes: LaneTypes) -> str:
    """`@linear_rows`: weights in rows of an input, whose places stand in a slot; all lanes may have the same row."""
    P, w = lanes.pointer, lanes.width
    lines = [f"%p = load {P}, ptr %slot, align {lanes.bytes}", f"%w = getelementptr i8, {P} %p, i64 %first"]
    if w == 1:
        lines += [f"call void @linear_shared(ptr %y, ptr %x, ptr %w, {SIZES})", "ret void"]
    else:
        lines += [
            f"%w0 = extractelement {P} %w, i32 0",
            f"%i0 = insertelement {P} poison, ptr %w0, i32 0",
            f"%all0 = shufflevector {P} %i0, {P} poison, <{w} x i32> zeroinitializer",
            f"%equal = icmp eq {P} %w, %all0",
            f"%bits = bitcast {lanes.bool} %equal to i{w}",
            f"%alike = icmp eq i{w} %bits, -1",
            "br i1 %alike, label %shared, label %each\nshared:",
            f"call void @linear_shared(ptr %y, ptr %x, ptr %w0, {SIZES})",
            "ret void\neach:",
            f"call void @linear_each(ptr %y, ptr %x, {P} %w, {SIZES})",
            "ret void",
        ]
    parameters = f"ptr %y, ptr %x, ptr %slot, i64 %first, {SIZES}"
    return f"\ndefine void @linear_rows({parameters}) noinline #1 {{\n  {join(lines)}\n}}\n"
