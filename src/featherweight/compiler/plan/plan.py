"""The plan of a trace, made by passes: lower, fuse, schedule, place. Each is a file of this folder."""

from __future__ import annotations

from featherweight.compiler.plan.fuse import fuse
from featherweight.compiler.plan.lower import lower
from featherweight.compiler.plan.place import Input, Plan, place
from featherweight.compiler.plan.schedule import schedule
from featherweight.compiler.trace.graph import Graph

CHUNK_LIMIT = 250  # operations a function, measured: longer ones spill more, shorter ones move more


def plan(
    graph: Graph, outputs: list[int | float], inputs: list[Input], chunk_limit: int = CHUNK_LIMIT, carried: int = 0
) -> Plan:
    """Steps and workspace of a trace with these output entries (nodes or numbers) and inputs.

    If the program is run again and again, the first outputs replace the first inputs: so many of these are carried.
    """
    program, results = fuse(*lower(graph, outputs))
    return place(program, schedule(program, chunk_limit), inputs, results, carried)
