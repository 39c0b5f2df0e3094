"""References: the code of a chunk, written so that it does not depend on where the chunk is called.

Chunks whose code is the same share one function, which takes its places from a table and has a pointer to its numbers.
"""

from __future__ import annotations

from collections import defaultdict

from featherweight.compiler.plan.inplace import InPlace
from featherweight.compiler.plan.program import Program
from featherweight.compiler.plan.steps import Chunk, Source
from featherweight.compiler.trace.operations import operands


def refer(program: Program, chunk: Chunk, where: dict[int, tuple[Source, int]], in_place: InPlace) -> None:
    """The chunk's operations with references that do not depend on where it is called."""
    op, args = program.op, program.args
    array_of = program.array_of
    local = {i: k for k, i in enumerate(chunk.nodes)}

    first: dict[Source, int] = {}  # smallest index read from each block, in order of first use
    for i in chunk.nodes:
        needed = operands(op[i], args[i])
        for a in (*needed, i) if op[i] == "array" else needed:
            if (a not in local or a in array_of) and a in where:
                source, k = where[a]
                first[source] = min(k, first.get(source, k))
    ordinal = {source: s for s, source in enumerate(first)}
    constant: dict[int, int] = {}

    def reference(a: int) -> tuple:
        k = local.get(a)
        if k is not None and a not in array_of:
            return ("local", k)
        place = where.get(a)
        if place is not None:
            source, index = place
            return ("slot", ordinal[source], index - first[source])
        if op[a] == "constant":
            return ("literal", args[a][0])
        return ("table", constant.setdefault(a, len(constant)))

    def code(i: int) -> tuple:
        nodes = operands(op[i], args[i])
        if op[i] == "array":
            return (op[i], reference(i), *map(reference, nodes))
        numbers = [("number", x) for x in args[i][len(nodes) :]] if len(nodes) < len(args[i]) else ()
        return (op[i], *map(reference, nodes), *numbers)

    chunk.code = [code(i) for i in chunk.nodes]
    chunk.stores = {local[i]: (b, k) for b, block in enumerate(chunk.blocks) for k, i in enumerate(block)}
    target: dict[Source, list[int]] = defaultdict(list)
    for i in chunk.nodes:
        if i in in_place.made:
            target[where[i][0]].append(i)
    read = {ref for operation in chunk.code for ref in operation[1:] if ref[0] == "slot"}
    for b, (source, nodes) in enumerate(target.items(), start=len(chunk.blocks)):
        begin = min(where[i][1] for i in nodes)
        chunk.targets.append((source, begin))
        for i in nodes:
            chunk.stores[local[i]] = b, where[i][1] - begin
            place = "slot", ordinal.get(source), where[i][1] - first.get(source, 0)
            if place in read:
                chunk.over[local[i]] = place
    chunk.sources = list(first.items())
    chunk.constants = [args[a][0] for a in constant]
