"""Dead code: what no output depends on is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from featherweight.compiler.trace.operations import ARITY


def live(op: Sequence[str], args: Sequence[tuple], outputs: Iterable[int]) -> list[int]:
    """Nodes that the outputs depend on, arguments first."""
    alive = bytearray(len(op))
    for i in outputs:
        alive[i] = 1
    for i in range(len(op) - 1, -1, -1):
        if alive[i]:
            for a in args[i][: ARITY[op[i]]]:
                alive[a] = 1
    return [i for i, a in enumerate(alive) if a]
