"""Dead code: what no output depends on is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

from featherweight.compiler.trace.operations import ARITY


def live(op: Sequence[str], args: Sequence[tuple], outputs: Iterable[int]) -> list[int]:
    """Nodes that the outputs depend on, arguments first."""
    return live_and_readers(op, args, outputs)[0]


def live_and_readers(op: Sequence[str], args: Sequence[tuple], outputs: Iterable[int]) -> tuple[list[int], list[int]]:
    """These nodes; and for each node how often one of them, or an output, reads it."""
    readers = [0] * len(op)
    for i in outputs:
        readers[i] += 1
    for i in range(len(op) - 1, -1, -1):
        if readers[i]:
            for a in args[i][: ARITY[op[i]]]:
                readers[a] += 1
    return list(compress(range(len(op)), readers)), readers
