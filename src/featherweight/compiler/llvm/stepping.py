"""LLVM IR of a loop that is gone through step by step, with Python in between.

The words of a call say where a step reads and writes. With one row `@once` moves them on after a step, so that a whole
history is written without Python's help. `@from_python` is a builtin function like `@entry` (see `entry.py`): it takes
what is given for one step of one row, makes the step, and returns copies of the new state.
"""

from __future__ import annotations

from featherweight.compiler.llvm.calls import ARRAYS, COUNT, MADE, STRIDES
from featherweight.compiler.llvm.entry import (
    check_argument,
    decline,
    emit_builtin,
    give,
    load_context,
)
from featherweight.compiler.llvm.lanes import join
from featherweight.compiler.llvm.results import DATA, axes, make_results

Sizes = tuple[int, int, int]  # of a loop: parts of the carry, arrays that are given, parts of which a history is kept


def steps_from_python(width: int, sizes: Sizes) -> bool:
    """Is there a builtin function? For one row, and one array that is given for each step."""
    return width == 1 and sizes[1] == 1


def emit_stepping(width: int, inputs: list[int], outputs: list[int], sizes: Sizes) -> str:
    """`@once` and, where there is one, the builtin function, of a loop whose arrays have rows so long."""
    text = f"""
define i64 @once(ptr %places) #0 {{
  %call = load ptr, ptr %places
  %wsp = getelementptr ptr, ptr %places, i64 1
  %ws = load ptr, ptr %wsp
  %countp = getelementptr i64, ptr %call, i64 {COUNT}
  %count = load i64, ptr %countp
  %bad = call i64 @rows(ptr %call, ptr %ws, i64 0, i64 %count)
  {join(_move_on(inputs, outputs, sizes)) if width == 1 else ""}
  ret i64 %bad
}}
"""
    return text + (_from_python(inputs, sizes) if steps_from_python(width, sizes) else "")


def _move_on(inputs: list[int], outputs: list[int], sizes: Sizes) -> list[str]:
    """What has a history is read and written one row further on, by the strides of the call, which counts the steps."""
    carry, arrays = sizes[0], len(inputs) + len(outputs)
    words = ARRAYS + 2 * arrays
    moving = [*range(carry), *range(len(inputs), arrays)]
    lines = []
    for k in moving:
        lines += [
            f"%np{k} = getelementptr i64, ptr %call, i64 {words + STRIDES + k}",
            f"%next{k} = load i64, ptr %np{k}",
        ]
    moves = [(ARRAYS + 2 * k, f"%next{k}") for k in moving]
    for word, more in [*moves, (words + MADE, "1")]:
        lines += [
            f"%p{word} = getelementptr i64, ptr %call, i64 {word}",
            f"%old{word} = load i64, ptr %p{word}",
            f"%new{word} = add i64 %old{word}, {more}",
            f"store i64 %new{word}, ptr %p{word}",
        ]
    return lines


def _from_python(inputs: list[int], sizes: Sizes) -> str:
    """`@from_python(self, args, nargs)`: what is given, a plain array, in; the recorded parts of the carry out."""
    carry, _, recorded = sizes
    lines = [*load_context(), "%right = icmp eq i64 %nargs, 1", "br i1 %right, label %arg0, label %slow"]
    lines += check_argument(0, axes((inputs[carry],)), "make0", batch=False)
    lines += make_results([axes((n,)) for n in inputs[:recorded]], None)
    lines += [
        "go:",
        "%call = load ptr, ptr %places",
        f"%givenp = getelementptr i64, ptr %call, i64 {ARRAYS + 2 * carry}",
        "store ptr %x0, ptr %givenp",
        "%bad = call i64 @once(ptr %places)",
    ]
    for j in range(recorded):
        lines += [
            f"%sp{j} = getelementptr i64, ptr %call, i64 {ARRAYS + 2 * j}",
            f"%state{j} = load ptr, ptr %sp{j}",
            f"%od{j} = getelementptr i8, ptr %o{j}, i64 {DATA}",
            f"%y{j} = load ptr, ptr %od{j}",
            f"call void @llvm.memcpy.inline.p0.p0.i64(ptr %y{j}, ptr %state{j}, i64 {8 * inputs[j]}, i1 false)",
        ]
    lines += [*give(recorded), *decline(recorded)]
    return emit_builtin("from_python", lines, 1) + "declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)\n"
