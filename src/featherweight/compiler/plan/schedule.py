"""Put a program in order and cut it into functions of bounded size.

Regions are put in depth-first order, what takes longest to get ready first. For a robot that means
limb by limb, outward and back again, while the limb's values are still in the cache.
A run of regions in which each continues the one before it becomes a *chunk*, a function of its
own; chunks alike in everything but their numbers and places share one function. Cutting and
sharing only move values, they never change an operation.

A repeat is one unit of the scope it stands in; its test and its body are put in order for themselves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count

from featherweight.compiler.plan.program import Program
from featherweight.compiler.plan.steps import Chunk, Elementary, Step, Turn
from featherweight.compiler.trace.operations import ARITY, LEAVES, VECTORS, operands

SMALL = 64  # operations: what is smaller is not worth a function of its own


def schedule(program: Program, chunk_limit: int) -> list[Step]:
    """The steps of a program, in order."""
    return _Schedule(program, chunk_limit).part(0)


class _Schedule:
    """Nodes by scope, and the dependencies of each."""

    def __init__(self, program: Program, chunk_limit: int) -> None:
        self.program, self.limit = program, chunk_limit
        self.scope = [program.scope_of[r] for r in program.region]
        self.nodes: dict[int, list[int]] = defaultdict(list)  # of each scope
        for i in program.order:
            self.nodes[self.scope[i]].append(i)
        self.needs = self._needs()
        self.levels = count()

    def _needs(self) -> dict[int, Sequence[int]]:
        """Dependencies of each node: its arguments; of a repeat, all it reads from outside."""
        op, args, taken = self.program.op, self.program.args, self._taken()
        needs: dict[int, Sequence[int]] = {i: args[i][: ARITY[op[i]]] for i in self.program.order}
        if taken:
            needs |= taken
            for i, own in needs.items():
                needs[i] = [args[a][0] if op[a] == "result" else a for a in own]
        return needs

    def _taken(self) -> dict[int, list[int]]:
        """For each repeat, the nodes outside that something inside reads, and its first values."""
        program, scope = self.program, self.scope
        if len(program.parent) == 1:  # nothing has an inside
            return {}
        node_of = {repeat.test: node for node, repeat in program.repeats.items()}
        taken: dict[int, dict[int, None]] = {node: {} for node in program.repeats}

        home = {repeat.number: repeat.test for repeat in program.repeats.values()}

        def read(a: int, inside: int) -> None:
            carry = program.op[a] == "carry"
            if program.op[a] in LEAVES and not carry:
                return
            at_home = home[program.args[a][0]] if carry else scope[a]
            while inside != at_home:
                if inside == 0:
                    raise TypeError("a value of the inside of repeat or when was used outside; let the body return it")
                if inside in node_of:
                    taken[node_of[inside]][a] = None
                inside = program.parent[inside]

        for i in program.order:
            args = operands(program.op[i], program.args[i])
            repeat = program.repeats.get(i)
            for k, a in enumerate(args):
                if repeat is not None and k > repeat.size:
                    read(a, repeat.body)
                    continue
                read(a, scope[i])
                if repeat is not None:
                    taken[i][a] = None
        return {node: list(own) for node, own in taken.items()}

    def part(self, scope: int) -> list[Step]:
        """The steps of a scope."""
        unit_of, units = self._units(self.nodes[scope])
        op = self.program.op
        shape = [hash(tuple([op[i] for i in nodes])) for _, nodes in units]
        return self._steps(units, shape, self._depth_first(unit_of, shape))

    def _units(self, nodes: list[int]) -> tuple[dict[int, int], list[tuple[tuple, list[int]]]]:
        """Group operations by region; elementary functions apart, by how many lie before them; repeats apart."""
        op, region, needs = self.program.op, self.program.region, self.needs
        level: dict[int, int] = {}
        number: dict[tuple, int] = {}
        units: list[tuple[tuple, list[int]]] = []
        unit_of: dict[int, int] = {}
        for i in nodes:
            depth = 0
            for a in needs[i]:
                if level.get(a, 0) > depth:
                    depth = level[a]
            key: tuple = (region[i], depth)
            level[i] = depth
            if op[i] in VECTORS:
                key = ("elementary", depth)
                level[i] += 1
            elif op[i] == "repeat":
                key = ("repeat", i)
            u = number.get(key)
            if u is None:
                u = number[key] = len(units)
                units.append((key, []))
            units[u][1].append(i)
            unit_of[i] = u
        return unit_of, units

    def _depth_first(self, unit_of: dict[int, int], shape: list[int]) -> list[tuple[int, bool]]:
        """Order of the units, each with whether it goes on in the function of the one before it.

        What a unit needs is visited deepest first, so that the work that others wait for comes early
        and a limb is not begun before its turn. Equal continuations of one unit (the legs of a trunk)
        each begin a function of their own, so that they can share it.
        """
        needs: list[set[int]] = [set() for _ in shape]
        for i, u in unit_of.items():
            needs[u].update([unit_of[a] for a in self.needs[i] if a in unit_of])
        for u, own in enumerate(needs):
            own.discard(u)
        depth = [0] * len(shape)
        for u in _in_order(needs):
            depth[u] = 1 + max((depth[w] for w in needs[u]), default=0)
        needed = set().union(*needs)

        order: list[int] = []
        done = [False] * len(shape)
        for sink in range(len(shape)):
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

        alike = Counter((w, shape[u]) for u, n in enumerate(needs) for w in n)
        return [(u, k > 0 and (w := order[k - 1]) in needs[u] and alike[w, shape[u]] == 1) for k, u in enumerate(order)]

    def _steps(self, units: list, shape: list[int], order: list[tuple[int, bool]]) -> list[Step]:
        """Join units that continue each other, up to the size limit; split what is longer."""
        runs: list[list[int]] = []
        for u, continues in order:
            apart = any(isinstance(units[w][0][0], str) for w in (u, *(runs[-1][:1] if runs else ())))
            if continues and not apart:
                runs[-1].append(u)
            else:
                runs.append([u])
        pieces = [piece for run in runs for piece in _cut(run, [len(units[u][1]) for u in run], self.limit)]

        steps: list[Step] = []
        pieces = _split_at_prefixes(pieces, shape)
        sizes = [sum(len(units[u][1]) for u in piece) for piece in pieces]
        joined = _joined([tuple(shape[u] for u in piece) for piece in pieces], sizes, min(SMALL, self.limit))
        for piece, goes_on in zip(pieces, joined, strict=True):
            (kind, _), nodes = units[piece[0]]
            if kind == "elementary":
                arguments = list(dict.fromkeys(self.program.args[i][0] for i in nodes))
                steps.append(Elementary(next(self.levels), nodes, arguments))
            elif kind == "repeat":
                steps += self._repeat(nodes[0])
            else:
                nodes = [i for u in piece for i in units[u][1]]
                before = steps[-1] if steps else None
                if goes_on and isinstance(before, Chunk):
                    before.nodes += nodes
                else:
                    steps += [Chunk(nodes[k : k + self.limit]) for k in range(0, len(nodes), self.limit)]
        return steps

    def _repeat(self, node: int) -> list[Step]:
        repeat, args = self.program.repeats[node], self.program.args[node]
        first, after = args[: repeat.size + 1], args[repeat.size + 1 :]
        begin, test, end = Turn("begin", repeat, first), Turn("test", repeat, after[-1:]), Turn("end", repeat, after)
        return [begin, *self.part(repeat.test), test, *self.part(repeat.body), end]


def _in_order(needs: list[set[int]]) -> list[int]:
    """Topological order of the units."""
    waits = [len(n) for n in needs]
    readers: list[list[int]] = [[] for _ in needs]
    for u, n in enumerate(needs):
        for w in n:
            readers[w].append(u)
    order = [u for u, n in enumerate(waits) if n == 0]
    for w in order:
        for u in readers[w]:
            waits[u] -= 1
            if waits[u] == 0:
                order.append(u)
    if len(order) < len(needs):
        raise RuntimeError("regions that need each other: passes were woven together that wait for each other")
    return order


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
        if end < len(run):
            end = start + (1 << (end - start).bit_length() - 1)
        pieces.append(run[start:end])
        start = end
    return pieces


def _joined(shapes: list[tuple], sizes: list[int], limit: int) -> list[bool]:
    """For each piece, whether it is joined to the one before it: small ones are, up to the limit; equal ones by powers
    of two, apart from others, so that these groups are alike."""
    joined, start = [], 0
    for k in range(len(shapes)):
        equal = k > 0 and shapes[k] == shapes[k - 1]
        first = k + 1 < len(shapes) and not equal and shapes[k] == shapes[k + 1]  # of several
        group = max(1, limit // sizes[k])
        fits = sum(sizes[start : k + 1]) <= limit
        if equal:
            goes_on = fits and k - start < 1 << group.bit_length() - 1
        else:
            goes_on = k > 0 and fits and not first and (k < 2 or shapes[k - 1] != shapes[k - 2])
        joined.append(goes_on)
        start = start if goes_on else k
    return joined


def _split_at_prefixes(runs: list[list[int]], shape: list[int]) -> list[list[int]]:
    """Where one run begins with the whole of another, cut it there: the beginning can be shared."""
    whole = {tuple(shape[u] for u in run) for run in runs}
    result: list[list[int]] = []
    for run in runs:
        key = tuple(shape[u] for u in run)
        cut = next((k for k in range(len(key) - 1, 1, -1) if key[:k] in whole), len(key))
        result += [part for part in (run[:cut], run[cut:]) if part]
    return result
