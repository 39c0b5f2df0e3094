"""References: the code of a chunk, written so that it does not depend on where the chunk is called.

Chunks whose code is the same share one function, which takes its places from a table and has a pointer to its numbers.
"""

from __future__ import annotations

from collections import defaultdict

from featherweight.compiler.plan.inplace import InPlace
from featherweight.compiler.plan.program import Program
from featherweight.compiler.plan.steps import Chunk, Source
from featherweight.compiler.trace.operations import ARITY


def refer(program: Program, chunk: Chunk, where: dict[int, tuple[Source, int]], in_place: InPlace) -> None:
    """The chunk's operations with references that do not depend on where it is called."""
    op, args, array_of = program.op, program.args, program.array_of
    local = {i: k for k, i in enumerate(chunk.nodes)}
    read = dict.fromkeys([a for i in chunk.nodes for a in args[i][: ARITY[op[i]]]])  # in order of first use
    read.update({i: None for i in chunk.nodes if op[i] == "array"})  # it is filled in its place
    outside = [a for a in read if a not in local or a in array_of]
    first: dict[Source, int] = {}  # smallest index read from each block
    for a in outside:
        if a in where:
            source, k = where[a]
            first[source] = min(k, first.get(source, k))
    ordinal = {source: s for s, source in enumerate(first)}
    reference: dict[int, tuple] = {i: ("local", k) for i, k in local.items() if i not in array_of}
    for a in outside:
        if a in where:
            source, index = where[a]
            reference[a] = ("slot", ordinal[source], index - first[source])
        elif op[a] == "constant":
            reference[a] = ("literal", args[a][0])
        else:
            reference[a] = ("table", len(chunk.constants))
            first_place, n = args[a] if op[a] == "weights" else (args[a][0], 1)
            chunk.constants.extend(range(first_place, first_place + n))

    def code(i: int) -> tuple:
        name, own = op[i], args[i]
        arity = ARITY[name]
        if arity == len(own):
            return (name, *[reference[a] for a in own])
        nodes = own[:arity]
        if name == "array":
            return (name, reference[i], *[reference[a] for a in nodes])
        return (name, *[reference[a] for a in nodes], *[("number", x) for x in own[len(nodes) :]])

    chunk.code = [code(i) for i in chunk.nodes]
    chunk.stores = {local[i]: (b, k) for b, block in enumerate(chunk.blocks) for k, i in enumerate(block)}
    target: dict[Source, list[int]] = defaultdict(list)
    for i in chunk.nodes:
        if i in in_place.made:
            target[where[i][0]].append(i)
    slots = {reference[a] for a in outside if a in where}
    for b, (source, nodes) in enumerate(target.items(), start=len(chunk.blocks)):
        begin = min(where[i][1] for i in nodes)
        chunk.targets.append((source, begin))
        for i in nodes:
            chunk.stores[local[i]] = b, where[i][1] - begin
            place = "slot", ordinal.get(source), where[i][1] - first.get(source, 0)
            if place in slots:
                chunk.over[local[i]] = place
    chunk.sources = list(first.items())
