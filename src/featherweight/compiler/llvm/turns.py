"""LLVM IR of loops: copies of the carry, exit test, branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Turn

if TYPE_CHECKING:
    from featherweight.compiler.llvm.lanes import LaneTypes

FEW = 48  # moves that are written out


def emit_turn(turn: Turn, lanes: LaneTypes) -> list[str]:
    """Instructions at a place in a repeat. Turns are counted where there can be more than one."""
    k, T, w = turn.repeat.number, lanes.real, lanes.width
    lines = _copies(f"{turn.kind}{k}", turn.copies, lanes)
    if turn.kind == "begin":
        count = [] if turn.repeat.at_most == 1 else [f"store i64 0, ptr %turns{k}"]
        return [*lines, *count, f"br label %test{k}", f"\ntest{k}:"]
    if turn.kind == "test":
        lines = [
            f"%donep{k} = getelementptr {T}, ptr %ws, i64 {turn.slot}",
            f"%done{k} = load {T}, ptr %donep{k}, align {lanes.bytes}",
            f"%lanes{k} = fcmp une {T} %done{k}, {lanes.literal(0.0)}",
        ]
        if w > 1:
            lines += [f"%bits{k} = bitcast {lanes.bool} %lanes{k} to i{w}", f"%all{k} = icmp eq i{w} %bits{k}, -1"]
        return [*lines, f"br i1 %{'all' if w > 1 else 'lanes'}{k}, label %end{k}, label %body{k}", f"\nbody{k}:"]
    if turn.repeat.at_most == 1:
        return [*lines, f"br label %end{k}", f"\nend{k}:"]
    return [
        *lines,
        f"%turn{k} = load i64, ptr %turns{k}",
        f"%turn{k}n = add i64 %turn{k}, 1",
        f"store i64 %turn{k}n, ptr %turns{k}",
        f"%again{k} = icmp slt i64 %turn{k}n, {turn.repeat.at_most}",
        f"br i1 %again{k}, label %test{k}, label %end{k}",
        f"\nend{k}:",
    ]


def _copies(name: str, copies: list[tuple[int, int]], lanes: LaneTypes) -> list[str]:
    """Slots moved to other slots; many of them by a table, in a loop."""
    if len(copies) > FEW:
        return [f"call void @move_slots(ptr %ws, ptr @{name}, i64 {len(copies)})"]
    # one number at a time: it was stored just before, alone, and a load of two would wait until both are in the cache
    load = "load volatile" if lanes.width == 1 else "load"
    lines = []
    for n, (source, target) in enumerate(copies):
        lines += [
            f"%{name}.{n}s = getelementptr {lanes.real}, ptr %ws, i64 {source}",
            f"%{name}.{n} = {load} {lanes.real}, ptr %{name}.{n}s, align {lanes.bytes}",
            f"%{name}.{n}t = getelementptr {lanes.real}, ptr %ws, i64 {target}",
            f"store {lanes.real} %{name}.{n}, ptr %{name}.{n}t, align {lanes.bytes}",
        ]
    return lines


def emit_moves(lanes: LaneTypes) -> str:
    """`@move_slots(ws, table, n)`: n pairs of places, from and to."""
    T = lanes.real
    return f"""
define void @move_slots(ptr noalias %ws, ptr noalias %table, i64 %n) noinline #0 {{
entry:
  br label %move
move:
  %k = phi i64 [0, %entry], [%k1, %move]
  %at = getelementptr {{i32, i32}}, ptr %table, i64 %k
  %from32 = load i32, ptr %at
  %from = zext i32 %from32 to i64
  %atto = getelementptr i8, ptr %at, i64 4
  %to32 = load i32, ptr %atto
  %to = zext i32 %to32 to i64
  %source = getelementptr i8, ptr %ws, i64 %from
  %x = load {T}, ptr %source, align {lanes.bytes}
  %target = getelementptr i8, ptr %ws, i64 %to
  store {T} %x, ptr %target, align {lanes.bytes}
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %n
  br i1 %more, label %move, label %end
end:
  ret void
}}
"""


def move_tables(plan: Plan, lanes: LaneTypes) -> Iterator[tuple[str, list[int]]]:
    """Names and contents: places [bytes], from and to."""
    for step in plan.steps:
        if isinstance(step, Turn) and len(step.copies) > FEW:
            yield f"@{step.kind}{step.repeat.number}", [lanes.bytes * slot for pair in step.copies for slot in pair]
