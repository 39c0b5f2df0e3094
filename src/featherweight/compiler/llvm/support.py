"""LLVM IR that kernels call and no plan changes: support modules, for each width (docs/decisions/0021).

The common one moves rows into lanes and back, makes sines and cosines, shares rows out to threads. Random numbers and
products of matrices are modules of their own, for kernels that call them. A kernel's module declares these functions
and is linked against them. No table of one module is referred to in another: calls
alone reach any distance.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from featherweight.compiler.llvm.around import emit_around
from featherweight.compiler.llvm.elementary import emit_sincos
from featherweight.compiler.llvm.emit import emit_fetch
from featherweight.compiler.llvm.lanes import LaneTypes
from featherweight.compiler.llvm.memory import emit_point_rows
from featherweight.compiler.llvm.one_row import AT_ONCE, emit_one_row
from featherweight.compiler.llvm.packing import emit_packing
from featherweight.compiler.llvm.products import emit_products
from featherweight.compiler.llvm.randomness import emit_random
from featherweight.compiler.llvm.turns import emit_moves
from featherweight.compiler.llvm.vectors import WIDEST
from featherweight.compiler.native.target import Target

COMMON = "common"
RARE = {"random": "@draw_", "products": "@linear_"}  # groups few kernels need: how names of their functions begin
GROUPS = (COMMON, *RARE)
FLOAT_MODE = {
    "x86": ("void @llvm.x86.sse.stmxcsr(ptr)", "void @llvm.x86.sse.ldmxcsr(ptr)"),
    "arm": ("i64 @llvm.aarch64.get.fpcr()", "void @llvm.aarch64.set.fpcr(i64)"),
}


def emit_support(width: int, target: Target, group: str) -> str:
    """IR text of the module of a group, for packs of this width."""
    return intrinsics(width, target) + _functions(width, target, group) + attributes(target, width)


def groups_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The groups of support functions that a kernel's functions need."""
    texts = tuple(texts)
    return (COMMON, *(group for group, name in RARE.items() if any(name in text for text in texts)))


def support_in_module(width: int, target: Target, groups: Iterable[str]) -> str:
    """These groups in a kernel's module: declarations; definitions where modules cannot be linked to each other."""
    of_group = _declarations if target.links_modules else _functions
    return "".join(of_group(width, target, group) for group in groups)


@functools.cache
def _declarations(width: int, target: Target, group: str) -> str:
    return "".join(f"declare {header}\n" for header in headers(_functions(width, target, group)))


def headers(ir: str) -> list[str]:
    """Result, name and parameters of the functions that can be called from outside."""
    lines = [line for line in ir.splitlines() if line.startswith("define ") and not line.startswith("define internal ")]
    return [line.removeprefix("define ").removesuffix(" {") for line in lines]


@functools.cache
def intrinsics(width: int, target: Target) -> str:
    """LLVM's own functions, each declared once."""
    common = (
        "void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        "i64 @llvm.fshl.i64(i64, i64, i64)",
        "i64 @llvm.smax.i64(i64, i64)",
        "i64 @llvm.smin.i64(i64, i64)",
    )
    lines = [f"declare {header}\n" for header in (*common, *FLOAT_MODE[target.arch])]
    moved = target.moved_at_once(width)
    vectors = range(2, WIDEST + 1) if width == 1 else ()
    for w in (1, width, target.width, target.computed_at_once(width), moved, AT_ONCE * moved, *vectors):
        lines += LaneTypes(w).declarations().splitlines(keepends=True)
    return "".join(dict.fromkeys(lines))


def attributes(target: Target, width: int = 1) -> str:
    """Attributes #0 of functions for so many lanes, #1 of those that use the widest vectors in any case."""
    return "".join(
        f'attributes #{k} = {{ nounwind "prefer-vector-width"="{64 * w}" "min-legal-vector-width"="{64 * w}" '
        '"no-stack-arg-probe" "frame-pointer"="none" }\n'
        for k, w in enumerate((target.moved_at_once(width), target.width))
    )


@functools.cache
def _functions(width: int, target: Target, group: str) -> str:
    lanes = LaneTypes(width)
    if group == "random":
        return emit_random(lanes)
    if group == "products":
        return emit_products(lanes, LaneTypes(target.width))
    return (
        emit_sincos(lanes, LaneTypes(target.computed_at_once(width)))
        + (emit_packing(lanes) if width > 1 else emit_one_row(LaneTypes(target.moved_at_once(width))))
        + emit_point_rows(lanes)
        + emit_moves(lanes)
        + emit_fetch(lanes)
        + emit_around(lanes, target)
    )
