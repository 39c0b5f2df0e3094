"""LLVM IR around a plan: rows of user arrays in, one step on the workspace, rows out.

`@rows` runs a range of rows, `@run` takes block after block of rows until none is left (that is what
threads do). If the caller wants to know, a byte says of each row that is refused which checks it failed.
What does not depend on the plan is in `around.py`, for the support module.
"""

from __future__ import annotations

from featherweight.compiler.llvm.calls import ARRAYS, BAD_CHECK, BAD_INPUT, BAD_RESULT, COUNT, LOOP_PARTS, PARTS
from featherweight.compiler.llvm.emit import Fetches
from featherweight.compiler.llvm.lanes import LaneTypes, join
from featherweight.compiler.llvm.one_row import UNROLL
from featherweight.compiler.llvm.straight import Straight
from featherweight.compiler.native.target import Target
from featherweight.compiler.plan.place import Plan

STACK_PAGES = 48  # of 3 kB: more than any chunk needs


def emit_driver(
    lanes: LaneTypes,
    native: LaneTypes,
    inputs: list,
    outputs: list,
    plan: Plan,
    target: Target,
    fetches: Fetches | None = None,
    straight: Straight | None = None,
    loop: tuple[int, int, int] | None = None,
) -> str:
    """Functions `@rows` and `@run`; `inputs` are (size, first slot), `outputs` (size, first entry in @entries)."""
    if loop is None:
        sparse = _sparse(native, outputs, plan.outputs, plan.zero) if lanes.width == 1 else {}
        tables = "".join(table for _, table in sparse.values()) + _pieces(straight)
        counts = {j: m for j, (m, _) in sparse.items()}
        rows = tables + _rows(lanes, inputs, outputs, plan, target.windows, counts, fetches, straight)
    else:
        from featherweight.compiler.llvm.loop_driver import emit_loop_rows

        rows = emit_loop_rows(lanes, inputs, outputs, plan, loop, target.windows)
    return rows + _run(PARTS if loop is None else LOOP_PARTS)


def _sparse(native: LaneTypes, outputs: list, slots: list[int], zero: int | None) -> dict[int, tuple[int, str]]:
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


def _rows(
    lanes: LaneTypes,
    inputs: list,
    outputs: list,
    plan: Plan,
    windows: bool,
    sparse: dict[int, int],
    fetches: Fetches | None,
    straight: Straight | None,
) -> str:
    """`@rows(call, ws, first, end)`: number of packs with a bad row."""
    I, T = lanes.int, lanes.real
    zero = "0" if lanes.width == 1 else "zeroinitializer"
    packing, bad_input = _packing(lanes, inputs, plan.by_index, zero)
    unpacking, bad_result = _unpacking(lanes, len(inputs), outputs, sparse, fetches, straight, zero)
    any_bad = (
        "%any = or i1 %some, false"
        if lanes.width == 1
        else f"%mask = bitcast {lanes.bool} %some to i{lanes.width}\n  %any = icmp ne i{lanes.width} %mask, 0"
    )
    return f"""
define dso_local i64 @rows(ptr %call, ptr %ws, i64 %first, i64 %end) noinline #0 {{
entry:
  {begin_rows(windows)}
  br label %pack
pack:
  %row = phi i64 [%first, %entry], [%row1, %next]
  %bad = phi i64 [0, %entry], [%bad1, %next]
  {join([*packing, *unpacking])}
  %checkp = getelementptr {T}, ptr %ws, i64 {plan.outputs[-1]}
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


def _pieces(straight: Straight | None) -> str:
    """Tables of the pieces of results that go straight to their rows, where some of it stays zero [bytes]."""
    text = ""
    if straight is None:
        return text
    for j in straight.zeros:
        for name, begins in zip(("zeros", "numbers"), straight.pieces(j), strict=True):
            values = ", ".join(f"i32 {8 * c}" for c in begins)
            text += f"@{name}{j} = internal constant [{len(begins)} x i32] [{values}], align 64\n"
    return text


def begin_rows(windows: bool) -> str:
    """Begin of `@rows`: the float mode, on Windows the stack, and the number of the last row."""
    return f"""%mode = call i64 @enter_float_mode()
  {f"call void @touch_stack(i64 {STACK_PAGES})" if windows else ""}
  %countp = getelementptr i64, ptr %call, i64 {COUNT}
  %count = load i64, ptr %countp
  %last = sub i64 %count, 1"""


def point_rows(k: int, to: str) -> str:
    """Write down where the rows of an input are that is read by index."""
    return f"call void @point_rows(ptr %ptr{k}, i64 %stride{k}, i64 %row, i64 %last, ptr {to})"


def _array(k: int) -> list[str]:
    """%ptr{k} and %stride{k}: where array k of a call begins, and the step from row to row [bytes]."""
    word = ARRAYS + 2 * k
    return [
        f"%pp{k} = getelementptr i64, ptr %call, i64 {word}",
        f"%ptr{k} = load ptr, ptr %pp{k}",
        f"%sp{k} = getelementptr i64, ptr %call, i64 {word + 1}",
        f"%stride{k} = load i64, ptr %sp{k}",
    ]


def _packing(lanes: LaneTypes, inputs: list, by_index: frozenset[int], zero: str) -> tuple[list[str], str]:
    """Instructions that move rows of the inputs into their slots; and bits in lanes that are not finite."""
    lines: list[str] = []
    bad = zero
    for k, (n, slot) in enumerate(inputs):
        if n == 0:
            continue
        lines += [*_array(k), f"%to{k} = getelementptr {lanes.real}, ptr %ws, i64 {slot}"]
        if k in by_index:
            lines.append(point_rows(k, f"%to{k}"))
            continue
        lines += [
            f"%flag{k} = call {lanes.int} @pack(ptr %ptr{k}, i64 %stride{k}, i64 %row, i64 %last, ptr %to{k}, i64 {n})",
            f"%ok{k} = or {lanes.int} {bad}, %flag{k}",
        ]
        bad = f"%ok{k}"
    return lines, bad


def _unpacking(
    lanes: LaneTypes,
    first: int,
    outputs: list,
    sparse: dict[int, int],
    fetches: Fetches | None,
    straight: Straight | None,
    zero: str,
) -> tuple[list[str], str]:
    """Instructions that run the plan and move slots into rows of the outputs, which are arrays from the number `first`
    on; and bits in lanes that are not finite."""
    written = [j for j, (n, _) in enumerate(outputs) if n > 0]
    lines = [line for j in written for line in _array(first + j)]
    lines += _point_at_rows(fetches, straight, first)
    pointers = [] if fetches is None else [f"ptr %result{j}, i64 %stride{first + j}" for j in fetches.results]
    pointers += [] if straight is None else [f"ptr %result{j}" for j in straight.first]
    lines.append(f"call void @step({', '.join(['ptr %ws', *pointers])})")
    bad = zero
    for j in written:
        k, (n, entry) = first + j, outputs[j]
        if straight is not None and j in straight.first:
            for slot, column in straight.late[j]:
                lines += [
                    f"%late{j}x{column}p = getelementptr double, ptr %ws, i64 {slot}",
                    f"%late{j}x{column} = load double, ptr %late{j}x{column}p",
                    f"%late{j}x{column}q = getelementptr double, ptr %result{j}, i64 {column}",
                    f"store double %late{j}x{column}, ptr %late{j}x{column}q",
                ]
            if j in straight.zeros:
                m = len(straight.pieces(j)[1])
                call = f"call i64 @finite_pieces(ptr %result{j}, ptr @numbers{j}, i64 {m})"
                lines.append(f"%flag{k} = {call if m > 0 else 'add i64 0, 0'}")
            else:
                lines.append(f"%flag{k} = call i64 @finite(ptr %result{j}, i64 {n})")
        elif j in sparse:
            lines += [
                f"%skip{k} = mul i64 %row, %stride{k}",
                f"%at{k} = getelementptr i8, ptr %ptr{k}, i64 %skip{k}",
                f"%flag{k} = call i64 @scatter(ptr %at{k}, i64 {n}, ptr %ws, ptr @places{j}, ptr @columns{j}, "
                f"i64 {sparse[j]})",
            ]
        else:
            lines.append(
                f"%flag{k} = call {lanes.int} @unpack(ptr %ptr{k}, i64 %stride{k}, i64 %row, i64 %last, ptr %ws, "
                f"ptr getelementptr (i32, ptr @entries, i64 {entry}), i64 {n})"
            )
        lines.append(f"%out{k} = or {lanes.int} {bad}, %flag{k}")
        bad = f"%out{k}"
    return lines, bad


def _point_at_rows(fetches: Fetches | None, straight: Straight | None, first: int) -> list[str]:
    """%result{j}: the row of each result that is fetched early, or goes straight there: this one is cleared where it
    stays zero."""
    lines: list[str] = []
    for j in sorted({*(() if fetches is None else fetches.results), *(() if straight is None else straight.first)}):
        k = first + j
        lines += [
            f"%begin{k} = mul i64 %row, %stride{k}",
            f"%result{j} = getelementptr i8, ptr %ptr{k}, i64 %begin{k}",
        ]
        if straight is not None and j in straight.zeros:
            m = len(straight.pieces(j)[0])
            lines.append(f"call void @clear_pieces(ptr %result{j}, ptr @zeros{j}, i64 {m})")
    return lines


def _run(parts: int) -> str:
    """`@run(call, ws, taken, k, n)`: the part of thread k of n in a call; how many packs had a bad row."""
    return f"""
define i64 @run(ptr %call, ptr %ws, ptr %taken, i64 %k, i64 %n) #0 {{
  %bad = call i64 @share(ptr %call, ptr %ws, ptr %taken, i64 %k, i64 %n, i64 {parts}, ptr @rows)
  ret i64 %bad
}}
"""
