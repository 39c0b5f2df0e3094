"""LLVM IR for copies in single precision: rows of doubles into rows of floats and back, around a run of a loop.

A table has how many copies there are, and of each where its doubles and its floats begin, how many rows it has and how
many columns, and how far it is from row to row on both sides [bytes].
"""

from __future__ import annotations

from featherweight.compiler.llvm.lanes import join

COPY = 6  # words of a copy in a table, behind the number of copies
WIDTH = 4  # numbers at a time


def emit_singles() -> str:
    """`@to_single(table)`, `@to_double(table)`, and `@run_between(places)`: the first copies, a run, the last ones."""
    return (
        _copies("to_single", "fptrunc", ("double", "float"))
        + _copies("to_double", "fpext", ("float", "double"))
        + (
            """
define i64 @run_between(ptr %places) #0 {
  %tables = load ptr, ptr %places
  %before = load ptr, ptr %tables
  %t1 = getelementptr ptr, ptr %tables, i64 1
  %after = load ptr, ptr %t1
  %p1 = getelementptr ptr, ptr %places, i64 1
  %run = load ptr, ptr %p1
  %p2 = getelementptr ptr, ptr %places, i64 2
  %call = load ptr, ptr %p2
  %p3 = getelementptr ptr, ptr %places, i64 3
  %ws = load ptr, ptr %p3
  %taken = getelementptr i64, ptr %places, i64 4
  store i64 0, ptr %taken
  call void @to_double(ptr %before)
  %bad = call i64 %run(ptr %call, ptr %ws, ptr %taken, i64 0, i64 1)
  call void @to_single(ptr %after)
  ret i64 %bad
}
"""
        )
    )


def _converted(name: str, lanes: int, at: str, conversion: str, types: tuple[str, str]) -> list[str]:
    """So many numbers of a row, from column `at` on."""
    source, target = (t if lanes == 1 else f"<{lanes} x {t}>" for t in types)
    return [
        f"%{name}f = getelementptr {types[0]}, ptr %from, i64 {at}",
        f"%{name}t = getelementptr {types[1]}, ptr %to, i64 {at}",
        f"%{name}x = load {source}, ptr %{name}f, align 4",
        f"%{name}y = {conversion} {source} %{name}x to {target}",
        f"store {target} %{name}y, ptr %{name}t, align 4",
    ]


def _copies(name: str, conversion: str, types: tuple[str, str]) -> str:
    """All copies of a table in one direction."""
    source, target = types
    words = ("double", "float", "rows", "columns", "doubles", "floats")
    fields = []
    for j, word in enumerate(words):
        kind = "ptr" if j < 2 else "i64"
        fields += [f"%{word}p = getelementptr i64, ptr %copy, i64 {j}", f"%{word} = load {kind}, ptr %{word}p"]

    return f"""
define void @{name}(ptr %table) #0 {{
entry:
  %n = load i64, ptr %table
  %first = getelementptr i64, ptr %table, i64 1
  br label %copies
copies:
  %k = phi i64 [0, %entry], [%k1, %next]
  %copy = phi ptr [%first, %entry], [%copy1, %next]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %begin, label %end
begin:
  {join(fields)}
  br label %rows_left
rows_left:
  %r = phi i64 [0, %begin], [%r1, %row_end]
  %from = phi ptr [%{source}, %begin], [%from1, %row_end]
  %to = phi ptr [%{target}, %begin], [%to1, %row_end]
  %more_rows = icmp slt i64 %r, %rows
  br i1 %more_rows, label %many, label %next
many:
  %c = phi i64 [0, %rows_left], [%c1, %several]
  %c1 = add i64 %c, {WIDTH}
  %fits = icmp sle i64 %c1, %columns
  br i1 %fits, label %several, label %few
several:
  {join(_converted("s", WIDTH, "%c", conversion, types))}
  br label %many
few:
  %j = phi i64 [%c, %many], [%j1, %one]
  %left = icmp slt i64 %j, %columns
  br i1 %left, label %one, label %row_end
one:
  {join(_converted("o", 1, "%j", conversion, types))}
  %j1 = add i64 %j, 1
  br label %few
row_end:
  %from1 = getelementptr i8, ptr %from, i64 %{source}s
  %to1 = getelementptr i8, ptr %to, i64 %{target}s
  %r1 = add i64 %r, 1
  br label %rows_left
next:
  %copy1 = getelementptr i64, ptr %copy, i64 {COPY}
  %k1 = add i64 %k, 1
  br label %copies
end:
  ret void
}}
"""
