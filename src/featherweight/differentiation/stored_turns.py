"""Reverse mode through loops: the values at the beginning of each turn are stored, and the turns visited backwards.

A turn is run once more on its stored values before it is visited, so that nothing else of it has to be kept: the memory
of a loop is its carry times its turns. A branch (`when`) is a loop of one turn, of which nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from featherweight.compiler import Graph
from featherweight.compiler.trace.operations import LEAVES, operands
from featherweight.differentiation.replay import Loop
from featherweight.differentiation.rules import NotBackward
from featherweight.scalar import array, count, logical_not, when, where

if TYPE_CHECKING:
    from featherweight.differentiation.reverse import Reverse

MOST_STORED = 1 << 14  # numbers of a state


@dataclass(frozen=True)
class Turns:
    """What is stored of a loop: the carry of each turn, and how many turns there were."""

    carries: Any
    taken: Any


def stored(run: Reverse, parts: Loop) -> list[Any]:
    """The results of a loop, whose turns are stored."""
    n, most = len(parts.numbers), parts.repeat.at_most
    if n * most > MOST_STORED:
        raise NotBackward(
            f"the derivative back through a loop of up to {most} turns with {n} numbers would store {n * most} numbers "
            f"of each state, more than {MOST_STORED}: take fewer turns or numbers; or take it forward, by "
            "featherweight.jvp; or give the loop a rule of its own by featherweight.scalar.ruled"
        )
    carries = array([0.0] * (n * most))
    first = [run.get(parts.first[k]) for k in parts.numbers]

    def turn(k: Any, carry: list[Any]) -> list[Any]:
        values, running, taken = carry[:-2], carry[-2], carry[-1]
        if parts.counted:
            values = [k, *values[1:]]
        for j, x in enumerate(values):
            carries[k * float(n) + float(j)] = x
        if parts.counted:
            return [*_turn(run, parts, values), running, taken + 1.0]
        done = (running < 0.5) | run.ends(parts, values)
        after = when(logical_not(done), lambda: _turn(run, parts, values), values)
        return [*after, where(done, 0.0, 1.0), taken + where(done, 0.0, 1.0)]

    *results, _, taken = count(most, turn, [*first, 1.0, 0.0])
    run.turns_of[parts.node] = Turns(carries, taken)
    return results


def _turn(run: Reverse, parts: Loop, values: list[Any]) -> list[Any]:
    """The next values of the carry."""
    outside = run.enter(parts)
    target = Graph.tracing()
    run.value[parts.done] = False if target is None or target._done is None else target._done
    after = run.body(parts, values)
    run.leave(outside)
    return after


def back_through(run: Reverse, parts: Loop, cotangents: list[Any]) -> None:
    """Hand the cotangents of a loop's results on to its first values, and to all that its body reads from outside."""
    outer = _read_from_outside(run, parts)

    def back(values: list[Any], carry: list[Any]) -> list[Any]:
        """One turn backwards: cotangents of its values, and what is added to those of others."""
        given, run.given = run.given, {}
        _turn(run, parts, values)
        for k, z in zip(parts.numbers, carry, strict=False):
            run.give(parts.next[k], z, ())
        outside = run.enter(parts)
        run.back(parts.repeat.body)
        run.back(parts.repeat.test)  # of which the body may read something
        run.leave(outside)
        before = [_of_leaf(run, parts, k) for k in parts.numbers]
        added = [x + run.total(a) for x, a in zip(carry[len(before) :], outer, strict=True)]
        run.given = given
        return [*before, *added]

    carry = [*cotangents, *[0.0] * len(outer)]
    if parts.node in run.turns_of:
        found = _all_turns(run, parts, carry, back)
    else:
        first = [run.get(parts.first[k]) for k in parts.numbers]
        found = when(logical_not(run.ends(parts, first)), lambda: back(first, carry), carry)
    for k, z in zip(parts.numbers, found, strict=False):
        run.give(parts.first[k], z, ())
    for a, z in zip(outer, found[len(parts.numbers) :], strict=True):
        run.give(a, z, ())


def _all_turns(
    run: Reverse, parts: Loop, carry: list[Any], back: Callable[[list[Any], list[Any]], list[Any]]
) -> list[Any]:
    turns, n, most = run.turns_of[parts.node], len(parts.numbers), parts.repeat.at_most

    def turn(k: Any, carry: list[Any]) -> list[Any]:
        place = (most - 1.0) - k

        def visited() -> list[Any]:
            values = [turns.carries[place * float(n) + float(j)] for j in range(n)]
            run.ends(parts, values)
            return back(values, carry)

        return visited() if parts.counted else when(place < turns.taken, visited, carry)

    return count(most, turn, carry)


def _of_leaf(run: Reverse, parts: Loop, k: int) -> Any:
    leaf = run.program.carry(parts.node, k)
    return 0.0 if leaf is None else run.total(leaf)


def _read_from_outside(run: Reverse, parts: Loop) -> list[int]:
    """The nodes outside of a loop that its body reads and that cotangents are wanted of."""
    graph, program = run.graph, run.program
    inside = {parts.repeat.test, parts.repeat.body}
    for scope in range(len(graph.parent)):  # inner scopes come later
        if graph.parent[scope] in inside and scope:
            inside.add(scope)
    nodes = [i for scope in sorted(inside) for i in program.nodes[scope]]
    read = {a for i in nodes for a in operands(graph.op[i], graph.args[i])} | {parts.next[k] for k in parts.numbers}
    read |= {a for ruled in graph.ruled if ruled.scope in inside for a in ruled.inputs if not isinstance(a, float)}
    carried = {i for i in read if graph.op[i] == "carry" and _home(run, i) in inside}
    outside = {a for a in read if graph.op[a] in LEAVES or program.scope(a) not in inside} - carried
    return sorted(a for a in outside if run.bits.get(a) and a not in graph.array_of)


def _home(run: Reverse, leaf: int) -> int:
    """The scope of the loop that carries a leaf."""
    number = run.graph.args[leaf][0]
    return next(repeat.body for repeat in run.graph.repeats.values() if repeat.number == number)
