"""LLVM IR around a plan that is repeated: `@rows` keeps the carry of a pack in its slots from step to step."""

from __future__ import annotations

from featherweight.compiler.llvm.calls import ARRAYS, EVERY, RECORDED_STEP, STEPS, STRIDES
from featherweight.compiler.llvm.driver import begin_rows, point_rows
from featherweight.compiler.llvm.lanes import LaneTypes, join
from featherweight.compiler.llvm.stepping import Sizes, emit_stepping
from featherweight.compiler.plan.place import Plan

Blocks = list[tuple[int, int]]  # sizes, and where they begin


def emit_loop_rows(lanes: LaneTypes, inputs: Blocks, outputs: Blocks, plan: Plan, sizes: Sizes, windows: bool) -> str:
    """`@rows(call, ws, first, end)`; `inputs` are (size, first slot), `outputs` (size, first entry in @entries)."""
    table, read, written, plain = _carrying(lanes, inputs[: sizes[0]], plan.outputs)
    before, once, each, at_sample, at_step = _moves(lanes, inputs, outputs, sizes, plan.by_index)
    words = ARRAYS + 2 * (len(inputs) + len(outputs))
    return f"""{table}
define internal i64 @rows(ptr %call, ptr %ws, i64 %first, i64 %end) noinline #0 {{
entry:
  {begin_rows(windows)}
  %stepsp = getelementptr i64, ptr %call, i64 {words + STEPS}
  %steps = load i64, ptr %stepsp
  %everyp = getelementptr i64, ptr %call, i64 {words + EVERY}
  %every = load i64, ptr %everyp
  %recordedp = getelementptr i64, ptr %call, i64 {words + RECORDED_STEP}
  %recorded = load i64, ptr %recordedp
  {join(before)}
  br label %pack
pack:
  %row = phi i64 [%first, %entry], [%row1, %next]
  {join(once)}
  br label %sample
sample:
  %s = phi i64 [0, %pack], [%s1, %resample]
  %index = phi i64 [0, %pack], [%index1, %resample]
  %wanted = add i64 %s, %recorded
  {join(at_sample)}
  %done = icmp sge i64 %s, %steps
  br i1 %done, label %next, label %step
step:
  %t = phi i64 [%s, %sample], [%t1, %moved]
  {join(each)}
  call void @step(ptr %ws)
  {join(read)}
  %kept = icmp eq i64 %t, %wanted
  br i1 %kept, label %record, label %move
record:
  {join(at_step)}
  br label %move
{_move(lanes, plain)}
moved:
  {join(written)}
  %t1 = add i64 %t, 1
  %left = sub i64 %t1, %s
  %again = icmp slt i64 %left, %every
  br i1 %again, label %step, label %resample
resample:
  %s1 = add i64 %s, %every
  %index1 = add i64 %index, 1
  br label %sample
next:
  %row1 = add i64 %row, {lanes.width}
  %rows = icmp slt i64 %row1, %end
  br i1 %rows, label %pack, label %finish
finish:
  call void @leave_float_mode(i64 %mode)
  ret i64 0
}}
{emit_stepping(lanes.width, [n for n, _ in inputs], [n for n, _ in outputs], sizes)}"""


def _carrying(lanes: LaneTypes, carry: Blocks, slots: list[int]) -> tuple[str, list[str], list[str], int]:
    """How the carry gets into its slots after a step: tables of the places it is moved from and to, instructions that
    read what others would overwrite and that write it, and how many moves the tables have."""
    T = lanes.real
    targets = [slot + j for n, slot in carry for j in range(n)]  # where the carry lives
    pairs = [(source, to) for source, to in zip(slots, targets, strict=False) if source != to]
    # an entry that is another entry's old value is read before anything is written
    crossed = [pair for pair in pairs if pair[0] in set(targets)]
    plain = [pair for pair in pairs if pair[0] not in set(targets)] or [(targets[0], targets[0])]
    read: list[str] = []
    written: list[str] = []
    for k, (source, to) in enumerate(crossed):
        for name, slot in (("c", source), ("d", to)):
            (read if name == "c" else written).append(f"%{name}p{k} = getelementptr {T}, ptr %ws, i64 {slot}")
        read.append(f"%c{k} = load {T}, ptr %cp{k}, align {lanes.bytes}")
        written.append(f"store {T} %c{k}, ptr %dp{k}, align {lanes.bytes}")
    moves = (("@carry", targets), ("@from", [p[0] for p in plain]), ("@to", [p[1] for p in plain]))
    table = "".join(_table(name, [lanes.bytes * slot for slot in of]) for name, of in moves)
    return table, read, written, len(plain)


def _move(lanes: LaneTypes, n: int) -> str:
    """`move`: n slots of the carry, by the tables @from and @to."""
    T = lanes.real
    return f"""move:
  %j = phi i64 [0, %step], [0, %record], [%j1, %move]
  %fromp = getelementptr i32, ptr @from, i64 %j
  %from32 = load i32, ptr %fromp
  %from = zext i32 %from32 to i64
  %source = getelementptr i8, ptr %ws, i64 %from
  %x = load {T}, ptr %source, align {lanes.bytes}
  %top = getelementptr i32, ptr @to, i64 %j
  %to32 = load i32, ptr %top
  %to = zext i32 %to32 to i64
  %target = getelementptr i8, ptr %ws, i64 %to
  store {T} %x, ptr %target, align {lanes.bytes}
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, {n}
  br i1 %more, label %move, label %moved"""


def _table(name: str, places: list[int]) -> str:
    return f"{name} = internal constant [{len(places)} x i32] [{', '.join(f'i32 {p}' for p in places)}], align 64\n"


def _moves(
    lanes: LaneTypes, inputs: Blocks, outputs: Blocks, sizes: Sizes, by_index: frozenset[int]
) -> tuple[list[str], ...]:
    """Lines that load the arrays' places; that pack once, pack at each step, unpack the carry, unpack the records."""
    carry, given, _ = sizes
    before: list[str] = []
    arrays = len(inputs) + len(outputs)
    for k in range(arrays):
        word = ARRAYS + 2 * k
        before += [
            f"%pp{k} = getelementptr i64, ptr %call, i64 {word}",
            f"%ptr{k} = load ptr, ptr %pp{k}",
            f"%sp{k} = getelementptr i64, ptr %call, i64 {word + 1}",
            f"%stride{k} = load i64, ptr %sp{k}",
            f"%np{k} = getelementptr i64, ptr %call, i64 {ARRAYS + 2 * arrays + STRIDES + k}",
            f"%next{k} = load i64, ptr %np{k}",
        ]
    once: list[str] = []
    each: list[str] = []
    for k, (n, slot) in enumerate(inputs):
        if n == 0:
            continue
        lines, source = once, f"%ptr{k}"
        if carry <= k < carry + given:
            lines, source = each, f"%at{k}"
            each += [f"%byte{k} = mul i64 %t, %next{k}", f"%at{k} = getelementptr i8, ptr %ptr{k}, i64 %byte{k}"]
        lines.append(f"%into{k} = getelementptr {lanes.real}, ptr %ws, i64 {slot}")
        if k in by_index:
            lines.append(point_rows(k, f"%into{k}"))
            continue
        lines += [
            f"%flag{k} = call {lanes.int} @pack(ptr {source}, i64 %stride{k}, i64 %row, i64 %last, ptr %into{k}, "
            f"i64 {n})"
        ]
    at_sample: list[str] = []
    at_step: list[str] = []
    first = 0
    for j, (n, entry) in enumerate(outputs):
        k = len(inputs) + j
        lines, table, start = (at_sample, "@carry", first) if j < carry else (at_step, "@entries", entry)
        first += n
        if n == 0:
            continue
        lines += [
            f"%byte{k} = mul i64 %index, %next{k}",
            f"%at{k} = getelementptr i8, ptr %ptr{k}, i64 %byte{k}",
            f"%flag{k} = call {lanes.int} @unpack(ptr %at{k}, i64 %stride{k}, i64 %row, i64 %last, ptr %ws, "
            f"ptr getelementptr (i32, ptr {table}, i64 {start}), i64 {n})",
        ]
    return before, once, each, at_sample, at_step
