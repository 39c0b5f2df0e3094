"""Cut a program into functions of bounded size, find the equal ones, give values their places.

Regions are put in depth-first order, what takes longest to get ready first. For a robot that means
limb by limb, outward and back again, while the limb's values are still in the cache.
A run of regions in which each continues the one before it becomes a *chunk*, a function of its
own; chunks alike in everything but their numbers and places share one function. Cutting and
sharing only move values, they never change an operation.

Values that cross from one chunk to another live in *slots* of a workspace, one lane vector each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from featherweight.compiler.fuse import Program

CHUNK_LIMIT = 250  # operations a function, measured: longer ones spill more, shorter ones move more
ELEMENTARY = frozenset(("sin", "cos"))
ALIGN = 8  # slots; puts inputs and the arguments of elementary functions on whole vectors
GRAIN = 4  # slots; blocks of nearly equal size can take each other's place

# a block of slots: ("input", k) or from a part on ("input", k, start), ("chunk", k, block), ("literal",), and for
# each elementary level ("argument", level), ("sin", level), ("cos", level)
Source = tuple


@dataclass(frozen=True)
class Input:
    """An input array: its size, and where its parts begin. Equal code may read other parts."""

    size: int
    parts: tuple[int, ...] = (0,)


@dataclass
class Chunk:
    """A straight-line function and the places one call of it works on.

    A reference in `code` is ("local", k), ("slot", source, offset), ("table", k) or ("literal", bytes);
    `sources[s]` says which block and from which index the offsets of source s count.
    """

    nodes: list[int]
    blocks: list[list[int]] = field(default_factory=list)  # values for later steps, by who reads them last
    code: list[tuple] = field(default_factory=list)
    stores: dict[int, tuple[int, int]] = field(default_factory=dict)  # local number: block and place in it
    sources: list[tuple[Source, int]] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)

    def signature(self) -> tuple:
        return tuple(self.code), tuple(self.stores.items())


@dataclass
class Elementary:
    """Sines and cosines of one level, evaluated together as whole vectors."""

    level: int
    arguments: list[int]


@dataclass(frozen=True)
class Plan:
    """Steps in order, with the workspace they work in."""

    steps: list[Chunk | Elementary]
    base: dict[Source, int]  # first slot of every block
    literals: list[float]  # values of the literal block, written once
    size: int  # slots in all
    outputs: list[int]  # slot of every output entry
    argument_slots: dict[int, list[int]]  # slots of the arguments of each elementary level
    operations: int

    @property
    def cost(self) -> int:
        """Of one state, in operations: computing, and moving the results."""
        return self.operations + len(self.outputs)


def plan(
    program: Program,
    inputs: list[Input],
    outputs: list[int | float],
    chunk_limit: int = CHUNK_LIMIT,
) -> Plan:
    """Steps and workspace of a program with these inputs and output entries (nodes or numbers)."""
    unit_of, units = _units(program)
    order = _depth_first(program, unit_of, units)
    steps = _steps(program, units, order, chunk_limit)
    wanted = [o for o in outputs if not isinstance(o, float)]
    where = _places(program, steps, inputs, wanted)
    for step in steps:
        if isinstance(step, Chunk):
            _write_code(program, step, where)
    return _layout(steps, where, inputs, outputs, len(program.order))


def _units(program: Program) -> tuple[dict[int, int], list[tuple[tuple, list[int]]]]:
    """Group operations by region; elementary functions apart, by how many lie before them."""
    op, args, region = program.op, program.args, program.region
    level: dict[int, int] = {}
    number: dict[tuple, int] = {}
    units: list[tuple[tuple, list[int]]] = []
    unit_of: dict[int, int] = {}
    for i in program.order:
        depth = max((level.get(a, 0) for a in args[i]), default=0)
        key: tuple
        if op[i] in ELEMENTARY:
            key = ("elementary", depth)
            level[i] = depth + 1
        else:
            key = (region[i], depth)
            level[i] = depth
        u = number.get(key)
        if u is None:
            u = number[key] = len(units)
            units.append((key, []))
        units[u][1].append(i)
        unit_of[i] = u
    return unit_of, units


def _depth_first(program: Program, unit_of: dict[int, int], units: list) -> list[tuple[int, bool]]:
    """Order of the units, each with whether it goes on in the function of the one before it.

    What a unit needs is visited deepest first, so that the work that others wait for comes early
    and a limb is not begun before its turn. Equal continuations of one unit (the legs of a trunk)
    each begin a function of their own, so that they can share it.
    """
    args = program.args
    needs: list[set[int]] = [set() for _ in units]
    for i, u in unit_of.items():
        for a in args[i]:
            w = unit_of.get(a)
            if w is not None and w != u:
                needs[u].add(w)
    depth = [0] * len(units)
    for u in sorted(range(len(units)), key=lambda u: units[u][1][0]):
        depth[u] = 1 + max((depth[w] for w in needs[u]), default=0)
    needed = set().union(*needs)

    order: list[int] = []
    done = [False] * len(units)
    for sink in range(len(units)):
        stack = [] if sink in needed else [sink]
        while stack:
            u = stack[-1]
            waiting = [w for w in needs[u] if not done[w]]
            if waiting:
                stack.extend(sorted(waiting, key=lambda w: (depth[w], w)))
                continue
            stack.pop()
            if not done[u]:
                done[u] = True
                order.append(u)

    shape = [_shape(program, nodes) for _, nodes in units]
    alike = Counter((w, shape[u]) for u, n in enumerate(needs) for w in n)
    return [(u, k > 0 and (w := order[k - 1]) in needs[u] and alike[w, shape[u]] == 1) for k, u in enumerate(order)]


def _steps(program: Program, units: list, order: list, chunk_limit: int) -> list[Chunk | Elementary]:
    """Join units that continue each other, up to the size limit; split what is longer."""
    runs: list[list[int]] = []
    for u, continues in order:
        apart = "elementary" in (units[u][0][0], units[runs[-1][0]][0][0] if runs else None)
        if continues and not apart:
            runs[-1].append(u)
        else:
            runs.append([u])
    pieces = [piece for run in runs for piece in _cut(run, [len(units[u][1]) for u in run], chunk_limit)]

    steps: list[Chunk | Elementary] = []
    for piece in _split_at_prefixes(pieces, [_shape(program, nodes) for _, nodes in units]):
        (kind, level), nodes = units[piece[0]]
        if kind == "elementary":
            steps.append(Elementary(level, list(dict.fromkeys(program.args[i][0] for i in nodes))))
            continue
        nodes = [i for u in piece for i in units[u][1]]
        steps += [Chunk(nodes[k : k + chunk_limit]) for k in range(0, len(nodes), chunk_limit)]
    return steps


def _cut(run: list[int], sizes: list[int], limit: int) -> list[list[int]]:
    """Pieces of a run of units, each within the limit. Long runs are cut by powers of two: then the cuts of
    one pass over a chain fall on the cuts of the others, and its pieces are alike."""
    pieces = []
    start = 0
    while start < len(run):
        end, total = start + 1, sizes[start]
        while end < len(run) and total + sizes[end] <= limit:
            total += sizes[end]
            end += 1
        if end < len(run) and end - start >= 4:
            end = start + (1 << (end - start).bit_length() - 1)
        pieces.append(run[start:end])
        start = end
    return pieces


def _shape(program: Program, nodes: list[int]) -> int:
    return hash(tuple(program.op[i] for i in nodes))


def _split_at_prefixes(runs: list[list[int]], shape: list[int]) -> list[list[int]]:
    """Where one run begins with the whole of another, cut it there: the beginning can be shared."""
    whole = {tuple(shape[u] for u in run) for run in runs}
    result: list[list[int]] = []
    for run in runs:
        key = tuple(shape[u] for u in run)
        cut = next((k for k in range(len(key) - 1, 1, -1) if key[:k] in whole), len(key))
        result += [part for part in (run[:cut], run[cut:]) if part]
    return result


def _places(
    program: Program, steps: list[Chunk | Elementary], inputs: list[Input], wanted: list[int]
) -> dict[int, tuple[Source, int]]:
    """Block and index of every value that crosses from one step to another."""
    op, args = program.op, program.args
    where: dict[int, tuple[Source, int]] = {}
    home: dict[int, int] = {}
    last_reader: dict[int, int] = {}
    for s, step in enumerate(steps):
        if isinstance(step, Elementary):
            last_reader.update(dict.fromkeys(step.arguments, s))
            continue
        home.update(dict.fromkeys(step.nodes, s))
        for i in step.nodes:
            for a in args[i]:
                if home.get(a) != s:
                    last_reader[a] = s
    last_reader.update(dict.fromkeys(wanted, len(steps)))
    number = {}
    for step in steps:
        if isinstance(step, Elementary):
            number.update({(step.level, a): k for k, a in enumerate(step.arguments)})
    level_of = {i: step.level for step in steps if isinstance(step, Elementary) for i in step.arguments}
    for s, step in enumerate(steps):
        if isinstance(step, Chunk):
            by_reader: dict[int, list[int]] = defaultdict(list)
            for i in step.nodes:
                if i in last_reader:
                    by_reader[last_reader[i]].append(i)
            step.blocks = [by_reader[reader] for reader in sorted(by_reader)]
            for b, block in enumerate(step.blocks):
                where.update({i: (("chunk", s, b), k) for k, i in enumerate(block)})
    for i in last_reader:
        if op[i] in ELEMENTARY:
            a = args[i][0]
            where[i] = ((op[i], level_of[a]), number[level_of[a], a])
        elif op[i] == "input":
            array, position = args[i]
            parts = inputs[array].parts
            start = parts[bisect_right(parts, position) - 1]
            where[i] = (("input", array, start), position - start)
    return where


def _write_code(program: Program, chunk: Chunk, where: dict[int, tuple[Source, int]]) -> None:
    """The chunk's operations with references that do not depend on where it is called."""
    op, args, table = program.op, program.args, program.table
    local = {i: k for k, i in enumerate(chunk.nodes)}

    first: dict[Source, int] = {}  # smallest index read from each block, in order of first use
    for i in chunk.nodes:
        for a in args[i]:
            if a not in local and a in where:
                source, k = where[a]
                first[source] = min(k, first.get(source, k))
    ordinal = {source: s for s, source in enumerate(first)}
    constant: dict[int, int] = {}

    def reference(a: int) -> tuple:
        k = local.get(a)
        if k is not None:
            return ("local", k)
        place = where.get(a)
        if place is not None:
            source, index = place
            return ("slot", ordinal[source], index - first[source])
        if op[a] == "constant":
            return ("literal", args[a][0])
        return ("table", constant.setdefault(a, len(constant)))

    chunk.code = [(op[i], *map(reference, args[i])) for i in chunk.nodes]
    chunk.stores = {local[i]: (b, k) for b, block in enumerate(chunk.blocks) for k, i in enumerate(block)}
    chunk.sources = list(first.items())
    chunk.constants = [table[args[a][0]] for a in constant]


def _layout(
    steps: list[Chunk | Elementary],
    where: dict[int, tuple[Source, int]],
    inputs: list[Input],
    outputs: list[int | float],
    operations: int,
) -> Plan:
    """Give every block its slots; a block's slots are used again once its last reader is done."""
    base: dict[Source, int] = {}
    top = 0

    def reserve(source: Source, slots: int) -> None:
        nonlocal top
        base[source] = top
        top += -(-slots // ALIGN) * ALIGN

    literals, output_places = _output_places(where, outputs)
    reserve(("literal",), len(literals))
    for k, array in enumerate(inputs):
        reserve(("input", k), array.size)
        base.update({("input", k, start): base["input", k] + start for start in array.parts})
    for step in steps:
        if isinstance(step, Elementary):
            for name in ("argument", "sin", "cos"):
                reserve((name, step.level), len(step.arguments))

    last_reader: dict[Source, int] = {}
    for s, step in enumerate(steps):
        read = [where[a][0] for a in step.arguments] if isinstance(step, Elementary) else [b for b, _ in step.sources]
        last_reader.update(dict.fromkeys(read, s))
    for source, _ in output_places:
        last_reader[source] = len(steps)

    ends: dict[int, list[Source]] = defaultdict(list)
    for source, s in last_reader.items():
        if source[0] == "chunk":
            ends[s].append(source)
    free: dict[int, list[int]] = defaultdict(list)  # free blocks by size
    size_of: dict[Source, int] = {}
    for s, step in enumerate(steps):
        for b, block in enumerate(step.blocks if isinstance(step, Chunk) else ()):
            source = ("chunk", s, b)
            size_of[source] = size = -(-len(block) // GRAIN) * GRAIN
            if free[size]:
                base[source] = free[size].pop()
            else:
                base[source] = top
                top += size
        for source in ends[s]:
            free[size_of[source]].append(base[source])

    return Plan(
        steps=steps,
        base=base,
        literals=literals,
        size=top,
        outputs=[base[source] + k for source, k in output_places],
        argument_slots={
            step.level: [base[where[a][0]] + where[a][1] for a in step.arguments]
            for step in steps
            if isinstance(step, Elementary)
        },
        operations=operations,
    )


def _output_places(
    where: dict[int, tuple[Source, int]], outputs: list[int | float]
) -> tuple[list[float], list[tuple[Source, int]]]:
    """Where each output entry is found; numbers known while tracing get a slot of their own."""
    index: dict[str, int] = {}  # by its hexadecimal text: 0 and -0 are two
    places: list[tuple[Source, int]] = []
    for o in outputs:
        places.append((("literal",), index.setdefault(o.hex(), len(index))) if isinstance(o, float) else where[o])
    return [float.fromhex(text) for text in index], places
