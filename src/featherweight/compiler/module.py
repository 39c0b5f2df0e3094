"""One LLVM module: a plan for one lane or a pack, its driver, and the native entry point."""

from __future__ import annotations

from math import prod

from featherweight.compiler.calls import WORTH_A_THREAD
from featherweight.compiler.driver import emit_driver
from featherweight.compiler.emit import ALIAS_METADATA, LINE, Lanes, emit_steps
from featherweight.compiler.entry import emit_entry
from featherweight.compiler.plan import Plan
from featherweight.compiler.support import attributes, intrinsics, support_in_module
from featherweight.compiler.target import Target

Shapes = list[tuple[int, ...]]
LONG, WORK = 4, 24  # cache lines of a row that is fetched early; operations for each of them (docs/decisions/0009)


def emit_module(
    plan: Plan, inputs: Shapes, outputs: Shapes, width: int, target: Target, loop: tuple[int, int, int] | None = None
) -> str:
    """IR text with `@run` and `@entry`. The plan's last output is the check.

    With `loop` (how many of the inputs are carry, how many are given for each step, of how much of the carry a history
    is kept) `@run` repeats the plan, and there is no entry.
    """
    lanes, native = Lanes(width), Lanes(target.width)
    in_blocks = [(prod(shape), plan.base["input", k]) for k, shape in enumerate(inputs)]
    out_blocks, entry = [], 0
    for shape in outputs:
        out_blocks.append((prod(shape), entry))
        entry += prod(shape)
    early = 0 if loop or width == 1 else _early(plan, [n for n, _ in out_blocks])
    places = ", ".join(f"i32 {lanes.bytes * slot}" for slot in plan.outputs)  # in the workspace, bytes
    return "".join(
        (
            intrinsics(width, target),
            support_in_module(width, target),
            f"@entries = internal constant [{len(plan.outputs)} x i32] [{places}], align 64\n",
            "@_fltused = global i32 0\n" if target.windows else "",  # the linker's mark of code with floats
            emit_steps(plan, lanes, early),
            emit_driver(lanes, native, in_blocks, out_blocks, plan.outputs[-1], target, loop, plan.outputs, plan.zero),
            "" if loop else emit_entry(inputs, outputs, 1 if width == 1 else max(2, WORTH_A_THREAD // plan.cost)),
            attributes(target),
            ALIAS_METADATA,
        )
    )


def _early(plan: Plan, sizes: list[int]) -> int:
    """How many cache lines of the longest result are fetched while it is computed: all, where there is time for it."""
    lines = -(-8 * max(sizes, default=0) // LINE)
    return lines if lines >= LONG and plan.operations >= WORK * lines else 0
