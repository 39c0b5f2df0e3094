"""Copy elision: values of loops are computed in the slots of the loop's carry, which saves moving them there.

First values go straight into the carry, next values over the previous ones, where nothing reads these any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from featherweight.compiler.plan.program import Program
from featherweight.compiler.plan.steps import Chunk, Source, Step, Turn


@dataclass(frozen=True)
class InPlace:
    """Nodes with the block and index they are computed in; repeats that reuse the block of an earlier one."""

    made: dict[int, tuple[Source, int]] = field(default_factory=dict)
    goes_on: dict[int, int] = field(default_factory=dict)  # number: number

    def block(self, number: int) -> Source:
        """The block of a repeat."""
        while number in self.goes_on:
            number = self.goes_on[number]
        return "repeat", number


def in_place(
    program: Program,
    steps: Sequence[Step],
    loops: Sequence[Sequence[tuple[int, int]]],
    reads: Sequence[Iterable[int]],
    outputs: Iterable[int | float],
    replaced: Iterable[tuple[int | float, int | None, tuple[Source, int]]],
) -> InPlace:
    """The nodes that can be computed in place, because nothing reads the old value any more.

    `loops` are the repeats around each step, `reads` the nodes of other steps that it reads; `replaced` has an output,
    the node (if there is one) of an input that it replaces when all steps are done, and where that is.
    """
    home = {i: s for s, step in enumerate(steps) if isinstance(step, Chunk) for i in step.nodes}
    last = {a: s for s, of_step in enumerate(reads) for a in of_step}  # step that reads it
    wanted = {o for o in outputs if not isinstance(o, float)}
    carry = {program.args[i]: i for i, op in enumerate(program.op) if op == "carry"}
    result = InPlace(goes_on=_going_on(program, steps, loops, last, wanted))
    made = result.made

    def over(old: int | None, new: int, loops_there: Sequence) -> bool:
        """Is the old value dead where the new one is computed?"""
        if new not in home or new in made or loops[home[new]] != loops_there:
            return False
        return old is None or (old not in wanted and last.get(old, -1) <= home[new])

    for s, step in enumerate(steps):
        if not isinstance(step, Turn) or step.kind == "test":
            continue
        number = step.repeat.number
        block = result.block(number)
        own = step.values[: step.repeat.size]  # not whether a lane is done, which all read: equal code reads its own
        for k, value in enumerate(own):
            if value in program.array_of:
                continue
            if step.kind == "begin":
                free = number not in result.goes_on and value not in wanted and last[value] <= s
                old = None
            else:
                free, old = True, carry.get((number, k))
            if free and over(old, value, loops[s]):
                made[value] = block, k
    for output, old, place in replaced:
        if not isinstance(output, float) and over(old, output, []):
            made[output] = place
    return result


def _going_on(
    program: Program,
    steps: Sequence[Step],
    loops: Sequence[Sequence[tuple[int, int]]],
    last: dict[int, int],
    wanted: set[int],
) -> dict[int, int]:
    """Repeats that begin with the results of another one, place for place, which nothing reads afterwards."""
    op, args = program.op, program.args
    results: dict[int, list[int]] = {}
    for i, name in enumerate(op):
        if name == "result":
            results.setdefault(args[i][0], []).append(i)
    begins = {step.repeat.number: s for s, step in enumerate(steps) if isinstance(step, Turn) and step.kind == "begin"}
    goes_on: dict[int, int] = {}
    for s, step in enumerate(steps):
        if not isinstance(step, Turn) or step.kind != "begin":
            continue
        before = {args[v][0] for v in step.values if op[v] == "result"}
        if len(before) != 1:
            continue
        node = before.pop()
        other = program.repeats[node]
        in_order = all(args[v][1] == k for k, v in enumerate(step.values) if op[v] == "result")
        free = all(last.get(r, -1) <= s and r not in wanted for r in results[node])
        if in_order and free and other.size >= step.repeat.size and loops[begins[other.number]] == loops[s]:
            goes_on[step.repeat.number] = other.number
    return goes_on
