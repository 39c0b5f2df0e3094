"""LLVM IR that copies and checks columns: the parts that packs and single rows share."""

from __future__ import annotations

from featherweight.compiler.llvm.lanes import LaneTypes, join

PACK_ARGUMENTS = "ptr %base, i64 %stride, i64 %row, i64 %last, ptr %to, i64 %n"
UNPACK_ARGUMENTS = "ptr %base, i64 %stride, i64 %row, i64 %last, ptr %ws, ptr %table, i64 %n"


def check(values: list[str], lanes: LaneTypes) -> list[str]:
    """%f0 … = %g0 … + 0 x of each value: chains of sums that stay zero until a NaN or an infinity comes."""
    T, zero = lanes.real, lanes.literal(0.0)
    return [f"%f{j} = call {T} @llvm.fma.{lanes.suffix}({T} {x}, {T} {zero}, {T} %g{j})" for j, x in enumerate(values)]


def total(chains: list[str], lanes: LaneTypes, name: str = "%total") -> list[str]:
    """The sum of chains."""
    lines = [f"{name}0 = fadd {lanes.real} {chains[0]}, {lanes.literal(0.0)}"]
    lines += [f"{name}{j} = fadd {lanes.real} {name}{j - 1}, {x}" for j, x in enumerate(chains[1:], 1)]
    return [*lines, f"{name} = fadd {lanes.real} {name}{len(chains) - 1}, {lanes.literal(0.0)}"]


def column_loop(lanes: LaneTypes, block: list[str], end: list[str], single: list[str], single_end: list[str]) -> str:
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
