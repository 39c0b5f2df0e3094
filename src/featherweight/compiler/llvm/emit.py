"""LLVM IR of a plan's chunks, for one lane or a pack of lanes.

The text is the same for every width but for the type: `double` for one state, `<8 x double>` for
a pack of eight. No fast-math flags: what `fuse` decided is what the machine does.
"""

from __future__ import annotations

from dataclasses import dataclass

from featherweight.compiler.llvm.chunk import ChunkFunction
from featherweight.compiler.llvm.lanes import LaneTypes
from featherweight.compiler.llvm.places import Place, together
from featherweight.compiler.llvm.straight import NOTHING, Leaving, Straight
from featherweight.compiler.llvm.turns import emit_turn, move_tables
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Chunk, Elementary, Turn
from featherweight.compiler.trace.operations import OPERATIONS

TINY = 4  # operations that stand in @step themselves
LINE = 64  # bytes that memory moves at once


def emit_steps(
    plan: Plan, lanes: LaneTypes, fetches: Fetches | None = None, straight: Straight | None = None
) -> tuple[list[str], str]:
    """Functions of chunks that need no table; and the rest, with `@step(ptr %ws, …)`, which runs the plan once on a
    workspace.

    Meanwhile memory fetches cache lines of rows that will be written afterwards. Values of results that go `straight`
    to their rows are stored there. For both @step has a pointer to the row of each of these results, or to the first of
    those of a pack."""
    free: list[str] = []
    bound: list[str] = []  # to the tables that they look things up in
    calls: list[str] = []
    places: list[int] = []
    called = _functions(plan, lanes, straight, free, bound, places)
    for k, step in enumerate(plan.steps):
        if isinstance(step, Elementary):
            calls.append(_elementary_call(plan, step, lanes))
        elif isinstance(step, Turn):
            calls += emit_turn(step, lanes)
        else:
            calls += called[k]

    counters = [
        f"%turns{step.repeat.number} = alloca i64"
        for step in plan.steps
        if isinstance(step, Turn) and step.kind == "begin" and step.repeat.at_most > 1
    ]
    body = "\n  ".join([*counters, *_spread(calls, fetches)])
    arguments = "" if (rows := fetches or straight) is None else rows.pointers
    run = f"define internal void @step(ptr %ws{arguments}) noinline #0 {{\n  {body}\n  ret void\n}}\n"
    return free, "".join((*_tables(plan, lanes, places), *bound, run))


def _functions(
    plan: Plan, lanes: LaneTypes, straight: Straight | None, free: list[str], bound: list[str], places: list[int]
) -> dict[int, list[str]]:
    """Write the functions of the chunks, and the table of places of those that several share; the call of each, or what
    is done there if that is next to nothing."""
    alike: dict[tuple, list[_Call]] = {}
    called: dict[int, list[str]] = {}
    number = plan.first_number(lanes.width)  # where the next chunk finds its numbers [bytes]
    for k, step in enumerate(plan.steps):
        if isinstance(step, Chunk):
            call = _Call(k, step, straight.leaving(step) if straight else NOTHING, number)
            if call.is_tiny:
                own = together([call.places(plan, lanes)])
                function = ChunkFunction(step, lanes, plan.lookups, own, call.leaving)
                called[k] = function.inlined(f".{k}.")
            else:
                alike.setdefault((step.signature(), call.leaving.pattern), []).append(call)
            number += 8 * len(step.constants)
    for calls in alike.values():
        k, chunk, leaving = calls[0].step, calls[0].chunk, calls[0].leaving
        found = together([call.places(plan, lanes) for call in calls])
        name = f"@chunk{k}" if len(calls) == 1 else f"@shared{k}"
        functions = bound if any(operation[0] == "lookup" for operation in chunk.code) else free
        functions.append(ChunkFunction(chunk, lanes, plan.lookups, found, leaving).text(name))
        for call, row in zip(calls, found.table, strict=True):
            table = f", ptr getelementptr (i64, ptr @places, i64 {len(places)})" if row else ""
            called[call.step] = [f"call void {name}(ptr %ws{table}{leaving.rows})"]
            places += row
    return called


@dataclass(frozen=True)
class _Call:
    """A chunk in its place among the steps, what it stores in results, and where its numbers are [bytes]."""

    step: int
    chunk: Chunk
    leaving: Leaving
    number: int

    @property
    def is_tiny(self) -> bool:
        """Would a call take longer than what it does?"""
        code = self.chunk.code
        return len(code) <= TINY and not self.leaving.rows and all(OPERATIONS[op].llvm for op, *_ in code)

    def places(self, plan: Plan, lanes: LaneTypes) -> list[Place]:
        """Where it finds what it refers to, in the order in which its function counts them."""
        base, chunk = plan.base, self.chunk
        slots = [base[source] + first for source, first in chunk.sources]
        slots += [base["chunk", self.step, b] for b in range(len(chunk.blocks))]
        slots += [base[source] + first for source, first in chunk.targets]
        in_workspace = [("%ws", lanes.bytes * slot) for slot in slots]
        return [*in_workspace, *self.leaving.places, ("%ws", self.number if chunk.constants else 0)]


def _tables(plan: Plan, lanes: LaneTypes, places: list[int]) -> list[str]:
    """Constants that functions look places up in."""
    return [
        _table("@places", "i64", [str(p) for p in places]),
        *(
            _table(f"@arguments{level}", "i64", [str(lanes.bytes * slot) for slot in slots])
            for level, slots in plan.argument_slots.items()
        ),
        *(_bytes(f"@lookup{k}", data) for k, data in enumerate(plan.lookups)),
        *(_table(name, "i32", [str(x) for x in moves]) for name, moves in move_tables(plan, lanes)),
    ]


def _spread(body: list[str], fetches: Fetches | None) -> list[str]:
    """Fetches of cache lines, evenly between the calls: all at once they would have to wait for each other."""
    calls = [k for k, text in enumerate(body) if text.startswith("call")]
    before: dict[int, list[str]] = {}
    lines = fetches.lines if fetches is not None and calls else []
    for n, (j, offset) in enumerate(lines):
        text = f"call void @{fetches.function}(ptr %result{j}, i64 %stride{j}, i64 {offset})" if fetches else ""
        before.setdefault(calls[n * len(calls) // len(lines)], []).append(text)
    return [line for k, text in enumerate(body) for line in (*before.get(k, ()), text)]


@dataclass(frozen=True)
class Fetches:
    """Cache lines to be fetched while a pack is computed: by which function, of which results and at which offsets of
    their rows [bytes]."""

    function: str
    lines: list[tuple[int, int]]

    @property
    def results(self) -> list[int]:
        return sorted({j for j, _ in self.lines})

    @property
    def pointers(self) -> str:
        """Arguments of @step: the first row of a pack and the step from row to row, of each of these results."""
        return "".join(f", ptr %result{j}, i64 %stride{j}" for j in self.results)


def emit_fetch(lanes: LaneTypes) -> str:
    """One cache line of each row of a pack, which will be written: `@fetch` into the first cache, `@fetch_far` into the
    second. Past the last row they do nothing."""
    places = ["%p0 = getelementptr i8, ptr %rows, i64 %offset"]
    places += [f"%p{r} = getelementptr i8, ptr %p{r - 1}, i64 %stride" for r in range(1, lanes.width)]
    functions = []
    for name, to_write, cache in (("fetch", 1, 3), ("fetch_far", 0, 2)):
        fetches = [
            f"call void @llvm.prefetch.p0(ptr %p{r}, i32 {to_write}, i32 {cache}, i32 1)" for r in range(lanes.width)
        ]
        body = "\n  ".join([*places, *fetches, "ret void"])
        functions.append(f"define void @{name}(ptr %rows, i64 %stride, i64 %offset) noinline #0 {{\n  {body}\n}}\n")
    return "".join(functions)


def _table(name: str, kind: str, values: list[str]) -> str:
    items = ", ".join(f"{kind} {v}" for v in values)
    body = f"[{items}]" if values else "zeroinitializer"
    return f"{name} = internal constant [{len(values)} x {kind}] {body}, align 64\n"


def _bytes(name: str, data: bytes) -> str:
    text = "".join(f"\\{byte:02X}" for byte in data)
    return f'{name} = internal constant [{len(data)} x i8] c"{text}", align 64\n'


def _elementary_call(plan: Plan, step: Elementary, lanes: LaneTypes) -> str:
    argument, sin, cos = (lanes.bytes * plan.base[name, step.level] for name in ("argument", "sin", "cos"))
    return (
        f"call void @sincos_slots(ptr %ws, ptr @arguments{step.level}, i64 {len(step.arguments)}, "
        f"i64 {argument}, i64 {sin}, i64 {cos})"
    )
