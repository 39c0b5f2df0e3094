"""The native entry point: one call from Python in a microsecond.

It is a function with CPython's fast-call signature. It checks type, dtype, shape and layout of its
arguments by reading the array headers (NumPy keeps them stable for compiled extensions), makes the
results through NumPy's C API, and runs the kernel. Anything unusual (a list, another dtype, a NaN)
makes it return None: the caller then takes the slow path, which explains or converts.

No process address stands in the code, nor anything of a kernel but how many axes its arrays have, so that it can be
cached and all such kernels share it, those of other robots, too: the rest comes in a context, the `self` of the
function.

How results are made is in `results.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from featherweight.compiler.llvm.calls import ARRAYS, COUNT, LARGE, STATUS
from featherweight.compiler.llvm.results import (
    DATA,
    DIMENSIONS,
    DTYPE,
    FLAGS,
    PLAIN,
    RANK,
    TYPE,
    Axes,
    Shapes,
    is_kept,
    make_results,
)

Kind = tuple[int, bool, bool]  # of an array: how many axes it has, whether it is empty, whether it is kept as a result

# words of the context
NAMES = (
    *("type", "float64", "newarray", "none", "incref", "decref", "newtuple", "setitem", "ws"),
    *("many", "callobject", "integer", "off", "kept", "places", "run", "few", "named", "newnamed", "sizes"),
)


def kinds(inputs: Shapes, outputs: Shapes) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
    """What the code depends on."""
    results = ((len(shape), prod(shape) == 0, is_kept(shape)) for shape in outputs)
    return tuple((len(shape), False, False) for shape in inputs), tuple(results)


def sizes(inputs: Shapes, outputs: Shapes) -> list[int]:
    """What it reads: sizes and bytes of a row of each array; last how many rows are fewer than a large result has."""
    most = LARGE // (8 * max(1, *map(prod, outputs))) - 1  # larger results have memory of their own
    return [*(n for shape in (*inputs, *outputs) for n in (*shape, 8 * prod(shape))), most]


def _named(kinds: Sequence[Kind]) -> list[Axes]:
    """Their places among these sizes, each of which is loaded where it is used."""
    found, first = [], 0
    for rank, empty, kept in kinds:
        names = [f"%size{first + axis}" for axis in range(rank + 1)]
        found.append(Axes(tuple(names[:-1]), names[-1], empty, kept))
        first += rank + 1
    return found


def _load_sizes(lines: Sequence[str]) -> list[str]:
    """These lines, with a load before each use of a size."""
    loaded: list[str] = []
    for k, line in enumerate(lines):
        for name in re.findall(r"%size\d+", line):
            place = f"%at{k} = getelementptr i64, ptr %sizes, i64 {name.removeprefix('%size')}"
            loaded += [place, f"{name}for{k} = load i64, ptr %at{k}"]
        loaded.append(re.sub(r"(%size\d+)", rf"\1for{k}", line))
    return loaded


def emit_entry(inputs: Sequence[Kind], outputs: Sequence[Kind], batch: bool) -> str:
    """`@entry(self, args, nargs)` for inputs and outputs of these kinds.

    It takes one state; or batches with one leading axis, where an argument without that axis serves all
    rows. Up to `few` rows run at once; more are worth threads, and go to a Python function with the
    address of the call, which returns None if all rows are good.
    """
    arrays = _named([*inputs, *outputs])
    given, made = arrays[: len(inputs)], arrays[len(inputs) :]
    lines = [*load_context(), "%rows0 = add i64 0, -1", f"%enough = icmp eq i64 %nargs, {len(inputs)}"]
    lines += ["%isoff = load i64, ptr %off", "%ison = icmp eq i64 %isoff, 0", "%right = and i1 %enough, %ison"]
    lines += ["br i1 %right, label %arg0, label %slow"]
    for k, shape in enumerate(given):
        lines += check_argument(k, shape, f"arg{k + 1}" if k + 1 < len(inputs) else "count", batch)
    lines += ["count:"]
    if batch:
        rows = f"%rows{len(inputs)}"
        most = sum(1 + rank for rank, _, _ in (*inputs, *outputs))
        lines += [f"%fewer = sub i64 {rows}, 1", f"%some = icmp ult i64 %fewer, %size{most}"]
        lines += ["br i1 %some, label %make0, label %slow"]
    else:
        rows = "1"
        lines += ["br label %make0"]
    lines += make_results(made, rows if batch else None)
    strides = [f"%stride{k}" if batch else "0" for k in range(len(inputs))]
    lines += ["go:", *_fill_call(rows, strides, made)]
    lines += _run_rows(rows, len(outputs)) if batch else ["%bad = call i64 %run(ptr %call, ptr %ws, i64 0, i64 1)"]
    lines += [
        "%isbad = icmp ne i64 %bad, 0",
        "br i1 %isbad, label %drop, label %give",
        "give:",
        *give(len(outputs)),
        "drop:",
        *(f"call void %decref(ptr %o{j})" for j in range(len(outputs))),
        "br label %slow",
        *decline(len(outputs)),
    ]
    call = f"%call = alloca [{ARRAYS + 2 * (len(inputs) + len(outputs))} x i64], align 64"
    return emit_builtin("entry", [call, *_load_sizes(lines)], 1 + max(rank for rank, _, _ in outputs))


def emit_builtin(name: str, lines: list[str], axes: int) -> str:
    """A function for CPython; its results have up to so many axes."""
    body = "\n  ".join([f"%shape = alloca [{axes} x i64], align 64", *lines])
    return f"define ptr @{name}(ptr %self, ptr %args, i64 %nargs) #0 {{\n  {body}\n}}\n"


def load_context() -> list[str]:
    """The words of the context as values of their names."""
    lines = [f"%contextp = getelementptr i8, ptr %self, i64 {DATA}", "%context = load ptr, ptr %contextp"]
    for w, name in enumerate(NAMES):
        lines += [f"%{name}p = getelementptr ptr, ptr %context, i64 {w}", f"%{name} = load ptr, ptr %{name}p"]
    return lines


def decline(results: int) -> list[str]:
    """`slow`: return None. `fail{j}`: no memory after j of the results were made; the exception is set."""
    lines = ["slow:", "call void %incref(ptr %none)", "ret ptr %none"]
    for j in range(results + 1):
        lines += [f"fail{j}:", *(f"call void %decref(ptr %o{i})" for i in range(j)), "ret ptr null"]
    return lines


def _run_rows(rows: str, results: int) -> list[str]:
    """%bad = whether a row is bad, after running few rows here, or handing many to Python and its threads."""
    return [
        "%most = ptrtoint ptr %few to i64",
        f"%isfew = icmp sle i64 {rows}, %most",
        "br i1 %isfew, label %here, label %there",
        "here:",
        f"%badhere = call i64 %run(ptr %call, ptr %ws, i64 0, i64 {rows})",
        "br label %ran",
        "there:",
        "%where = call ptr %integer(ptr %call)",
        "%nowhere = icmp eq ptr %where, null",
        f"br i1 %nowhere, label %fail{results}, label %hand",
        "hand:",
        "%one = call ptr %newtuple(i64 1)",
        "%noone = icmp eq ptr %one, null",
        "br i1 %noone, label %unheard, label %told",
        "unheard:",
        "call void %decref(ptr %where)",
        f"br label %fail{results}",
        "told:",
        "%put = call i32 %setitem(ptr %one, i64 0, ptr %where)",  # the tuple takes it
        "%answer = call ptr %callobject(ptr %many, ptr %one)",
        "call void %decref(ptr %one)",
        "%failed = icmp eq ptr %answer, null",
        f"br i1 %failed, label %fail{results}, label %answered",
        "answered:",
        "%fine = icmp eq ptr %answer, %none",
        "call void %decref(ptr %answer)",
        "%badthere = select i1 %fine, i64 0, i64 1",
        "br label %ran",
        "ran:",
        "%bad = phi i64 [%badhere, %here], [%badthere, %answered]",
    ]


def _fill_call(rows: str, strides: list[str], outputs: Sequence[Axes]) -> list[str]:
    """Write the words of a call: rows, then pointer and stride of each input %x{k} and result %o{j}."""
    lines = []
    for word, value in ((COUNT, rows), (STATUS, "0")):
        lines += [f"%w{word} = getelementptr i64, ptr %call, i64 {word}", f"store i64 {value}, ptr %w{word}"]
    places = [(f"%x{k}", stride) for k, stride in enumerate(strides)]
    for j, shape in enumerate(outputs):
        lines += [f"%od{j} = getelementptr i8, ptr %o{j}, i64 {DATA}", f"%y{j} = load ptr, ptr %od{j}"]
        places.append((f"%y{j}", shape.bytes))
    for k, (pointer, stride) in enumerate(places):
        word = ARRAYS + 2 * k
        lines += [
            f"%w{word} = getelementptr i64, ptr %call, i64 {word}",
            f"store ptr {pointer}, ptr %w{word}",
            f"%w{word + 1} = getelementptr i64, ptr %call, i64 {word + 1}",
            f"store i64 {stride}, ptr %w{word + 1}",
        ]
    return lines


def give(n: int) -> list[str]:
    """Return the one result, or a tuple of them: a plain one, or of the named kind that the context has."""
    if n == 1:
        return ["ret ptr %o0"]
    return [
        "%isplain = icmp eq ptr %named, null",
        "br i1 %isplain, label %plain, label %ofkind",
        "plain:",
        f"%plaintuple = call ptr %newtuple(i64 {n})",
        "br label %made",
        "ofkind:",
        f"%namedtuple = call ptr %newnamed(ptr %named, i64 {n})",
        "br label %made",
        "made:",
        "%tuple = phi ptr [%plaintuple, %plain], [%namedtuple, %ofkind]",
        "%notuple = icmp eq ptr %tuple, null",
        f"br i1 %notuple, label %fail{n}, label %fill",
        "fill:",
        *(f"%set{j} = call i32 %setitem(ptr %tuple, i64 {j}, ptr %o{j})" for j in range(n)),
        "ret ptr %tuple",
    ]


def check_argument(k: int, shape: Axes, then: str, batch: bool) -> list[str]:
    """Argument k is a plain float64 array of this shape: its data is %x{k}. In a batch it may have one more
    axis in front: then %stride{k} is the step from row to row, else 0; %rows{k+1} is the number of rows so far."""
    lines = _plain_array(k, len(shape.sizes), batch)
    for axis, n in enumerate(shape.sizes):
        lines += [
            f"%n{k}x{axis}p = getelementptr i64, ptr %inner{k}, i64 {axis}",
            f"%n{k}x{axis} = load i64, ptr %n{k}x{axis}p",
            f"%is{k}x{axis} = icmp eq i64 %n{k}x{axis}, {n}",
            f"%same{k}x{axis + 1} = and i1 %same{k}x{axis}, %is{k}x{axis}",
        ]
    good = f"%same{k}x{len(shape.sizes)}"
    if batch:
        lines += _rows_agree(k, shape.bytes, good)
        good = f"%good{k}"
    lines += [
        f"%x{k}p = getelementptr i8, ptr %a{k}, i64 {DATA}",
        f"%x{k} = load ptr, ptr %x{k}p",
        f"br i1 {good}, label %{then}, label %slow",
    ]
    return lines


def _plain_array(k: int, rank: int, batch: bool) -> list[str]:
    """Argument k is an array of float64 of this rank, or one more in a batch, in one piece; %inner{k}: its shape."""
    return [
        f"arg{k}:",
        f"%a{k}p = getelementptr ptr, ptr %args, i64 {k}",
        f"%a{k} = load ptr, ptr %a{k}p",
        f"%t{k}p = getelementptr i8, ptr %a{k}, i64 {TYPE}",
        f"%t{k} = load ptr, ptr %t{k}p",
        f"%ist{k} = icmp eq ptr %t{k}, %type",
        f"br i1 %ist{k}, label %array{k}, label %slow",
        f"array{k}:",
        f"%d{k}p = getelementptr i8, ptr %a{k}, i64 {DTYPE}",
        f"%d{k} = load ptr, ptr %d{k}p",
        f"%r{k}p = getelementptr i8, ptr %a{k}, i64 {RANK}",
        f"%r{k} = load i32, ptr %r{k}p",
        f"%f{k}p = getelementptr i8, ptr %a{k}, i64 {FLAGS}",
        f"%f{k} = load i32, ptr %f{k}p",
        f"%fm{k} = and i32 %f{k}, {PLAIN}",
        f"%isd{k} = icmp eq ptr %d{k}, %float64",
        f"%lead{k} = sub i32 %r{k}, {rank}",
        f"%isr{k} = icmp {'ule' if batch else 'eq'} i32 %lead{k}, {1 if batch else 0}",
        f"%isf{k} = icmp eq i32 %fm{k}, {PLAIN}",
        f"%is1{k} = and i1 %isd{k}, %isr{k}",
        f"%is2{k} = and i1 %is1{k}, %isf{k}",
        f"br i1 %is2{k}, label %shape{k}, label %slow",
        f"shape{k}:",
        f"%s{k}p = getelementptr i8, ptr %a{k}, i64 {DIMENSIONS}",
        f"%s{k} = load ptr, ptr %s{k}p",
        f"%skip{k} = sext i32 %lead{k} to i64",
        f"%inner{k} = getelementptr i64, ptr %s{k}, i64 %skip{k}",
        f"%same{k}x0 = or i1 true, true",
    ]


def _rows_agree(k: int, size: str, good: str) -> list[str]:
    """%good{k}: the argument is good so far, and has as many rows (of so many bytes) as others, or one for all."""
    return [
        f"%many{k} = icmp eq i32 %lead{k}, 1",
        f"%stride{k} = select i1 %many{k}, i64 {size}, i64 0",
        f"%axis{k} = select i1 %many{k}, ptr %s{k}, ptr %args",  # an array without axes has no list of them
        f"%front{k} = load i64, ptr %axis{k}",
        f"%none{k} = icmp slt i64 %rows{k}, 0",
        f"%fits{k} = icmp eq i64 %rows{k}, %front{k}",
        f"%take{k} = or i1 %none{k}, %fits{k}",
        f"%alone{k} = xor i1 %many{k}, true",
        f"%agree{k} = or i1 %alone{k}, %take{k}",
        f"%rows{k + 1} = select i1 %many{k}, i64 %front{k}, i64 %rows{k}",
        f"%good{k} = and i1 {good}, %agree{k}",
    ]
