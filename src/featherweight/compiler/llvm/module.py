"""One LLVM module: a plan for one lane or a pack, and its driver."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from featherweight.compiler.llvm.chunk import CONSTANT_METADATA
from featherweight.compiler.llvm.driver import emit_driver
from featherweight.compiler.llvm.emit import LINE, Fetches, emit_steps
from featherweight.compiler.llvm.lanes import LaneTypes
from featherweight.compiler.llvm.straight import straight_results
from featherweight.compiler.llvm.support import attributes, groups_in, intrinsics, support_in_module
from featherweight.compiler.native.target import SLOWED, Target
from featherweight.compiler.plan.place import Plan

Shapes = list[tuple[int, ...]]
# of a row that is fetched early, measured: docs/decisions/0009
LONG, WORK = 4, 24  # cache lines; operations for each of them
FIRST = 3  # lines, where there is less work
NEAR = 1 << 15  # bytes; workspace and rows that are in the first cache together


@dataclass(frozen=True)
class Module:
    """IR text in pieces: what every part of it needs, functions that need nothing else, and the rest, which calls them.

    The rest takes LLVM about twice as long as its length tells.
    """

    common: str
    functions: list[str]
    rest: str
    groups: tuple[str, ...]  # of support functions that it needs

    @property
    def text(self) -> str:
        """All in one."""
        return "".join((self.common, *self.functions, self.rest))

    def parts(self, n: int) -> list[str]:
        """The same as n modules of about equal size, to be compiled side by side and linked. The first has the rest."""
        if n == 1:
            return [self.text]
        texts: list[list[str]] = [[self.common] for _ in range(n)]
        texts[0].append(self.rest)
        sizes = [2 * len(self.rest), *[0] * (n - 1)]
        for function in sorted(self.functions, key=len, reverse=True):
            k = sizes.index(min(sizes))
            sizes[k] += len(function)
            if k > 0:
                header = function.partition(" noinline")[0]
                texts[0].append(header.replace("define internal", "declare", 1) + "\n")
                function = function.replace("define internal", "define", 1)
            texts[k].append(function)
        return ["".join(text) for text in texts]


def emit_module(
    plan: Plan, inputs: Shapes, outputs: Shapes, width: int, target: Target, loop: tuple[int, int, int] | None = None
) -> Module:
    """IR with `@run` and `@rows`. The plan's last output is the check.

    With `loop` (how many of the inputs are carry, how many are given for each step, of how much of the carry a history
    is kept) they repeat the plan.
    """
    lanes = LaneTypes(width, target.computed_at_once(width) if width == 1 else 1)
    native = LaneTypes(target.moved_at_once(width))
    in_blocks = [(prod(shape), plan.base["input", k]) for k, shape in enumerate(inputs)]
    out_blocks, entry = [], 0
    for shape in outputs:
        out_blocks.append((prod(shape), entry))
        entry += prod(shape)
    fetches = None if loop or width == 1 else _early(plan, [n for n, _ in out_blocks], lanes, target)
    places = ", ".join(f"i32 {lanes.bytes * slot}" for slot in plan.outputs)  # in the workspace, bytes
    straight = None if loop else straight_results(plan, outputs, width)
    functions, step = emit_steps(plan, lanes, fetches, straight)
    rest = (
        f"@entries = internal constant [{len(plan.outputs)} x i32] [{places}], align 64\n",
        "@_fltused = global i32 0\n" if target.windows else "",  # the linker's mark of code with floats
        step,
        emit_driver(lanes, native, in_blocks, out_blocks, plan, target, fetches, straight, loop),
    )
    groups = groups_in((*functions, step))
    support = support_in_module(width, target, groups)
    common = (intrinsics(width, target), attributes(target, width), CONSTANT_METADATA, support)
    return Module("".join(common), functions, "".join(rest), groups)


def _early(plan: Plan, results: list[int], lanes: LaneTypes, target: Target) -> Fetches | None:
    """Lines of the rows of long results, by their lengths, that are fetched while a pack is computed: all where there
    is time for it, into the second cache where there is no room for them in the first. Where there is less to compute,
    the beginning of the longest. Of several, none where fetching takes too much from computing (decision 41)."""
    longest = max(range(len(results)), key=lambda j: results[j])
    sizes = {j: 8 * n for j, n in enumerate(results) if 8 * n > (LONG - 1) * LINE}
    if not sizes:
        return None
    while plan.operations < WORK * sum(-(-size // LINE) for size in sizes.values()):
        if len(sizes) == 1:
            return Fetches("fetch", [(longest, offset) for offset in range(0, FIRST * LINE, LINE)])
        sizes = {longest: sizes[longest]}
    if len(sizes) > 1 and target.cpu in SLOWED:
        return None
    far = plan.size * lanes.bytes + lanes.width * sum(sizes.values()) > NEAR
    lines = [(j, offset) for j, size in sizes.items() for offset in range(0, size, LINE)]
    return Fetches("fetch_far" if far else "fetch", lines)
