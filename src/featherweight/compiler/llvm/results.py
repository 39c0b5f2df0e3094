"""LLVM IR that makes the results of a call from Python: arrays that are kept and used again, or new ones.

The function keeps two arrays of each result. Where the caller has dropped one (nothing but we refers to it), it is
handed out again. For one state, making an array takes longer than computing many a result. For a batch, the system
clears the pages of new memory one by one, which takes longer than filling them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

Shapes = Sequence[tuple[int, ...]]

KEPT = 2  # arrays of each result: one may still be held when the next is made
KEPT_BYTES = 1 << 16  # of a result of one state: for larger ones making an array does not count
BATCH_BYTES = 1 << 17  # of a result of a batch, and more: memory that the C library would give back to the system

# byte offsets in PyObject and PyArrayObject on 64-bit CPython
REFERENCES, TYPE, DATA, RANK, DIMENSIONS, DTYPE, FLAGS, WEAK = 0, 8, 16, 24, 32, 56, 64, 72
PLAIN = 0x101  # C-contiguous and aligned
OWN = PLAIN | 0x404  # with memory of its own, writeable


def is_kept(shape: tuple[int, ...]) -> bool:
    """Whether a result of one state is kept."""
    return 0 < 8 * prod(shape) <= KEPT_BYTES


@dataclass(frozen=True)
class Axes:
    """What code is told of an array or of a row of it: sizes and bytes, as numbers or as names of values."""

    sizes: tuple[str, ...]
    bytes: str
    empty: bool = False
    kept: bool = False  # as a result of one state


def axes(shape: tuple[int, ...]) -> Axes:
    """Those of a shape that stands in the code."""
    return Axes(tuple(map(str, shape)), str(8 * prod(shape)), prod(shape) == 0, is_kept(shape))


def make_results(outputs: Sequence[Axes], rows: str | None) -> list[str]:
    """From `make0` to `go`: an array %o{j} for each result, of one state or with so many rows."""
    lines: list[str] = []
    for j, shape in enumerate(outputs):
        then = f"make{j + 1}" if j + 1 < len(outputs) else "go"
        sizes = [*([] if rows is None else [rows]), *shape.sizes]
        ways = [(f"%new{j}", f"fresh{j}")]  # an array, and the block that has made it
        lines += [f"make{j}:"]
        if rows is None and shape.kept:
            lines += [f"br label %look{j}k0", *_kept(j, sizes, f"fresh{j}")]
            ways.append((f"%again{j}", f"reuse{j}"))
        elif rows is not None and not shape.empty:
            lines += [
                f"%bytes{j} = mul i64 {rows}, {shape.bytes}",
                f"%many{j}bytes = icmp uge i64 %bytes{j}, {BATCH_BYTES}",
                f"br i1 %many{j}bytes, label %look{j}k0, label %fresh{j}",
                *_kept(j, sizes, f"renew{j}"),
                *_renewed(j, rows, KEPT * len(outputs) + j),
            ]
            ways += [(f"%again{j}", f"reuse{j}"), (f"%renewed{j}", f"called{j}")]
        else:
            lines += [f"br label %fresh{j}"]
        lines += [*_new(j, sizes), f"have{j}:"]
        lines += [f"%o{j} = phi ptr {', '.join(f'[{x}, %{block}]' for x, block in ways)}", f"br label %{then}"]
    return lines


def _kept(j: int, sizes: Sequence[str], otherwise: str) -> list[str]:
    """From `look{j}k0` to `have{j}`: %again{j}, one of the arrays kept for result j, if one is free."""
    lines = []
    for k in range(KEPT):
        lines += [f"look{j}k{k}:"]
        lines += _if_free(
            f"{j}k{k}", KEPT * j + k, sizes, f"reuse{j}", f"look{j}k{k + 1}" if k + 1 < KEPT else otherwise
        )
    choices = ", ".join(f"[%kept{j}k{k}, %alike{j}k{k}]" for k in range(KEPT))
    return [
        *lines,
        f"reuse{j}:",
        f"%again{j} = phi ptr {choices}",
        f"call void %incref(ptr %again{j})",
        f"br label %have{j}",
    ]


def _renewed(j: int, rows: str, word: int) -> list[str]:
    """From `renew{j}` to `have{j}`: %renewed{j}, an array of so many rows that a Python function makes and keeps, the
    one at this place of the table."""
    return [
        f"renew{j}:",
        f"%makerp{j} = getelementptr ptr, ptr %kept, i64 {word}",
        f"%maker{j} = load ptr, ptr %makerp{j}",
        f"%rowsp{j} = inttoptr i64 {rows} to ptr",
        f"%number{j} = call ptr %integer(ptr %rowsp{j})",
        f"%nonumber{j} = icmp eq ptr %number{j}, null",
        f"br i1 %nonumber{j}, label %fail{j}, label %arguments{j}",
        f"arguments{j}:",
        f"%of{j} = call ptr %newtuple(i64 1)",
        f"%notuple{j} = icmp eq ptr %of{j}, null",
        f"br i1 %notuple{j}, label %unsaid{j}, label %said{j}",
        f"unsaid{j}:",
        f"call void %decref(ptr %number{j})",
        f"br label %fail{j}",
        f"said{j}:",
        f"%number{j}put = call i32 %setitem(ptr %of{j}, i64 0, ptr %number{j})",  # the tuple takes it
        f"%renewed{j} = call ptr %callobject(ptr %maker{j}, ptr %of{j})",
        f"call void %decref(ptr %of{j})",
        f"%norenewed{j} = icmp eq ptr %renewed{j}, null",
        f"br i1 %norenewed{j}, label %fail{j}, label %called{j}",
        f"called{j}:",
        f"br label %have{j}",
    ]


def _if_free(key: str, word: int, sizes: Sequence[str], then: str, otherwise: str) -> list[str]:
    """Go to `then` if only we refer to the array %kept{key}, and it is as we made it, with axes of these sizes."""

    def member(name: str, offset: int, kind: str) -> list[str]:
        place = f"%{name}{key}p = getelementptr i8, ptr %kept{key}, i64 {offset}"
        return [place, f"%{name}{key} = load {kind}, ptr %{name}{key}p"]

    lines = [
        f"%kept{key}p = getelementptr ptr, ptr %kept, i64 {word}",
        f"%kept{key} = load ptr, ptr %kept{key}p",
        *member("references", REFERENCES, "i32"),
        *member("weak", WEAK, "ptr"),
        *member("dtype", DTYPE, "ptr"),
        *member("rank", RANK, "i32"),
        *member("flags", FLAGS, "i32"),
        f"%own{key} = and i32 %flags{key}, {OWN}",
        f"%free0{key} = icmp eq i32 %references{key}, 1",
        f"%free1{key} = icmp eq ptr %weak{key}, null",
        f"%free2{key} = icmp eq ptr %dtype{key}, %float64",
        f"%free3{key} = icmp eq i32 %rank{key}, {len(sizes)}",
        f"%free4{key} = icmp eq i32 %own{key}, {OWN}",
        *(f"%all{i}{key} = and i1 %{'all' if i > 1 else 'free'}{i - 1}{key}, %free{i}{key}" for i in range(1, 5)),
        f"br i1 %all4{key}, label %alike{key}, label %{otherwise}",
        f"alike{key}:",
        *member("axes", DIMENSIONS, "ptr"),
        f"%same0{key} = or i1 true, true",
    ]
    for axis, n in enumerate(sizes):
        lines += [
            f"%axis{axis}{key}p = getelementptr i64, ptr %axes{key}, i64 {axis}",
            f"%axis{axis}{key} = load i64, ptr %axis{axis}{key}p",
            f"%is{axis}{key} = icmp eq i64 %axis{axis}{key}, {n}",
            f"%same{axis + 1}{key} = and i1 %same{axis}{key}, %is{axis}{key}",
        ]
    return [*lines, f"br i1 %same{len(sizes)}{key}, label %{then}, label %{otherwise}"]


def _new(j: int, sizes: Sequence[str]) -> list[str]:
    """From `fresh{j}` to `have{j}`: %new{j}, a new array for result j."""
    lines = [f"fresh{j}:"]
    for axis, n in enumerate(sizes):
        lines += [f"%m{j}x{axis} = getelementptr i64, ptr %shape, i64 {axis}", f"store i64 {n}, ptr %m{j}x{axis}"]
    return [
        *lines,
        "call void %incref(ptr %float64)",  # the array takes it
        f"%new{j} = call ptr %newarray(ptr %type, ptr %float64, i32 {len(sizes)}, ptr %shape, "
        "ptr null, ptr null, i32 0, ptr null)",
        f"%no{j} = icmp eq ptr %new{j}, null",
        f"br i1 %no{j}, label %fail{j}, label %have{j}",
    ]
