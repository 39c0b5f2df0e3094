"""LLVM IR of a plan's chunks, for one lane or a pack of lanes.

The text is the same for every width but for the type: `double` for one state, `<8 x double>` for
a pack of eight. No fast-math flags: what `fuse` decided is what the machine does.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence

from featherweight.compiler.graph import BOOLEANS, COMPARISONS
from featherweight.compiler.plan import Chunk, Elementary, Plan

# slots read by a chunk are never written by it: let loads move past stores
ALIAS_METADATA = "!0 = !{!0}\n!1 = !{!1, !0}\n!2 = !{!1}\n"


class Lanes:
    """Spelling of types, intrinsics and literals for a number of lanes."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.bytes = 8 * width
        vector = width > 1
        self.real = f"<{width} x double>" if vector else "double"
        self.int = f"<{width} x i64>" if vector else "i64"
        self.bool = f"<{width} x i1>" if vector else "i1"
        self.suffix = f"v{width}f64" if vector else "f64"

    def literal(self, value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.width == 1 else f"splat (double {text})"

    def integer(self, value: int) -> str:
        return str(value) if self.width == 1 else f"splat (i64 {value})"

    def declarations(self) -> str:
        T, s = self.real, self.suffix
        return (
            f"declare {T} @llvm.fma.{s}({T}, {T}, {T})\n"
            f"declare {T} @llvm.sqrt.{s}({T})\n"
            f"declare {T} @llvm.fabs.{s}({T})\n"
        )


def emit_steps(plan: Plan, lanes: Lanes) -> str:
    """All chunk functions, and `@step(ptr %ws)` that runs the plan once on a workspace."""
    uses = Counter(step.signature() for step in plan.steps if isinstance(step, Chunk))
    functions: list[str] = []
    names: dict[tuple, str] = {}
    calls: list[str] = []
    places: list[int] = []
    constants: list[float] = []
    for k, step in enumerate(plan.steps):
        if isinstance(step, Elementary):
            calls.append(_elementary_call(plan, step, lanes))
            continue
        signature = step.signature()
        own = [plan.base["chunk", k, b] for b in range(len(step.blocks))]
        if uses[signature] == 1:
            functions.append(_chunk(f"@chunk{k}", step, lanes, plan, own))
            calls.append(f"call void @chunk{k}(ptr %ws)")
            continue
        if signature not in names:
            names[signature] = f"@shared{k}"
            functions.append(_chunk(names[signature], step, lanes))
        calls.append(
            f"call void {names[signature]}(ptr %ws, ptr getelementptr (i64, ptr @places, i64 {len(places)}), "
            f"ptr getelementptr (double, ptr @constants, i64 {len(constants)}))"
        )
        places += [lanes.bytes * (plan.base[source] + k) for source, k in step.sources] + [lanes.bytes * b for b in own]
        constants += step.constants

    scalar = Lanes(1)
    body = "\n  ".join(calls)
    tables = [
        _table("@places", "i64", [str(p) for p in places]),
        _table("@constants", "double", [scalar.literal(c) for c in constants]),
        *(
            _table(f"@arguments{level}", "i64", [str(lanes.bytes * slot) for slot in slots])
            for level, slots in plan.argument_slots.items()
        ),
    ]
    return (
        "".join(tables)
        + "".join(functions)
        + f"define internal void @step(ptr %ws) noinline #0 {{\n  {body}\n  ret void\n}}\n"
    )


def _table(name: str, kind: str, values: list[str]) -> str:
    items = ", ".join(f"{kind} {v}" for v in values)
    body = f"[{items}]" if values else "zeroinitializer"
    return f"{name} = internal constant [{len(values)} x {kind}] {body}, align 64\n"


def _elementary_call(plan: Plan, step: Elementary, lanes: Lanes) -> str:
    argument, sin, cos = (lanes.bytes * plan.base[name, step.level] for name in ("argument", "sin", "cos"))
    return (
        f"call void @sincos_slots(ptr %ws, ptr @arguments{step.level}, i64 {len(step.arguments)}, "
        f"i64 {argument}, i64 {sin}, i64 {cos})"
    )


def _chunk(name: str, chunk: Chunk, lanes: Lanes, plan: Plan | None = None, own: Sequence[int] = ()) -> str:
    """One chunk as a function: fixed places and literal constants if it is called once (`plan` is
    given), places and constants from tables if it is shared."""
    T = lanes.real
    lines: list[str] = []
    loaded: dict[tuple, str] = {}
    is_bool = [op[0] in BOOLEANS for op in chunk.code]

    def address(block: str, fixed: int | None, offset: int) -> str:
        pointer = f"%p{len(lines)}"
        place = offset if fixed is None else fixed + offset
        lines.append(f"{pointer} = getelementptr i8, ptr {block}, i64 {lanes.bytes * place}")
        return pointer

    def value(ref: tuple) -> str:
        kind = ref[0]
        if kind == "local":
            return f"%v{ref[1]}"
        if kind == "literal":
            return lanes.literal(struct.unpack("<d", ref[1])[0])
        if kind == "table" and plan is not None:
            return lanes.literal(chunk.constants[ref[1]])
        if ref in loaded:
            return loaded[ref]
        name = loaded[ref] = f"%x{len(loaded)}"
        if kind == "table":
            lines.append(f"{name}p = getelementptr double, ptr %constants, i64 {ref[1]}")
            if lanes.width == 1:
                lines.append(f"{name} = load double, ptr {name}p, !alias.scope !2")
            else:
                lines.append(f"{name}s = load double, ptr {name}p, !alias.scope !2")
                lines.append(f"{name}i = insertelement {T} poison, double {name}s, i32 0")
                lines.append(f"{name} = shufflevector {T} {name}i, {T} poison, <{lanes.width} x i32> zeroinitializer")
            return name
        _, s, offset = ref
        if plan is None:
            pointer = address(f"%block{s}", None, offset)
        else:
            source, first = chunk.sources[s]
            pointer = address("%ws", plan.base[source] + first, offset)
        lines.append(f"{name} = load {T}, ptr {pointer}, align {lanes.bytes}, !alias.scope !2")
        return name

    def truth(ref: tuple) -> str:
        """A condition: booleans cross between chunks as 0 and 1."""
        if ref[0] == "local" and is_bool[ref[1]]:
            return f"%v{ref[1]}"
        x, name = value(ref), f"%t{len(lines)}"
        lines.append(f"{name} = fcmp une {T} {x}, {lanes.literal(0.0)}")
        return name

    for k, (op, *refs) in enumerate(chunk.code):
        out = f"%v{k}"
        if op in ("and", "or"):
            a, b = truth(refs[0]), truth(refs[1])
            lines.append(f"{out} = {op} {lanes.bool} {a}, {b}")
        elif op == "not":
            a = truth(refs[0])
            ones = "true" if lanes.width == 1 else "splat (i1 true)"
            lines.append(f"{out} = xor {lanes.bool} {a}, {ones}")
        elif op == "select":
            c, a, b = truth(refs[0]), value(refs[1]), value(refs[2])
            lines.append(f"{out} = select {lanes.bool} {c}, {T} {a}, {T} {b}")
        else:
            lines += _arithmetic(out, op, [value(r) for r in refs], lanes)
        if k in chunk.stores:
            block, place = chunk.stores[k]
            if is_bool[k]:
                one, zero = lanes.literal(1.0), lanes.literal(0.0)
                lines.append(f"%s{k} = select {lanes.bool} {out}, {T} {one}, {T} {zero}")
                out = f"%s{k}"
            pointer = address("%ws", own[block], place) if plan else address(f"%own{block}", None, place)
            lines.append(f"store {T} {out}, ptr {pointer}, align {lanes.bytes}, !noalias !2")

    head, parameters = [], "ptr noalias %ws"
    if plan is None:
        parameters += ", ptr noalias %places, ptr noalias %constants"
        names = [f"%block{s}" for s in range(len(chunk.sources))] + [f"%own{b}" for b in range(len(chunk.blocks))]
        for s, block_name in enumerate(names):
            head += [
                f"{block_name}q = getelementptr i64, ptr %places, i64 {s}",
                f"{block_name}o = load i64, ptr {block_name}q, !alias.scope !2",
                f"{block_name} = getelementptr i8, ptr %ws, i64 {block_name}o",
            ]
    body = "\n  ".join([*head, *lines])
    return f"define internal void {name}({parameters}) noinline #0 {{\n  {body}\n  ret void\n}}\n"


BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
CONDITION = {"lt": "olt", "le": "ole", "eq": "oeq"}


def _arithmetic(out: str, op: str, x: list[str], lanes: Lanes) -> list[str]:
    """Instructions for one arithmetic operation."""
    T, s = lanes.real, lanes.suffix
    if op in BINARY:
        return [f"{out} = {BINARY[op]} {T} {x[0]}, {x[1]}"]
    if op == "fma":
        return [f"{out} = call {T} @llvm.fma.{s}({T} {x[0]}, {T} {x[1]}, {T} {x[2]})"]
    if op == "fms":
        return [
            f"{out}n = fneg {T} {x[2]}",
            f"{out} = call {T} @llvm.fma.{s}({T} {x[0]}, {T} {x[1]}, {T} {out}n)",
        ]
    if op == "fnma":
        return [
            f"{out}n = fneg {T} {x[0]}",
            f"{out} = call {T} @llvm.fma.{s}({T} {out}n, {T} {x[1]}, {T} {x[2]})",
        ]
    if op == "neg":
        return [f"{out} = fneg {T} {x[0]}"]
    if op == "reciprocal":
        return [f"{out} = fdiv {T} {lanes.literal(1.0)}, {x[0]}"]
    if op == "sqrt":
        return [f"{out} = call {T} @llvm.sqrt.{s}({T} {x[0]})"]
    if op == "abs":
        return [f"{out} = call {T} @llvm.fabs.{s}({T} {x[0]})"]
    if op in COMPARISONS:
        return [f"{out} = fcmp {CONDITION[op]} {T} {x[0]}, {x[1]}"]
    if op in ("min", "max"):
        order = "olt" if op == "min" else "ogt"
        return [
            f"{out}c = fcmp {order} {T} {x[0]}, {x[1]}",
            f"{out} = select {lanes.bool} {out}c, {T} {x[0]}, {T} {x[1]}",
        ]
    raise NotImplementedError(f"the compiler has no operation {op!r}")
