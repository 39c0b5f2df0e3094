"""Structure of a trace beyond single operations: loops, and pieces that follow a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DONE = -1  # number of the last of a repeat's carry: whether a lane is done


@dataclass(frozen=True)
class Repeat:
    """A loop in the trace. Its test and its body are scopes of their own.

    Its node has the arguments (first values, next values), each of them `size` numbers and, last, whether the lane is
    done; leaf ("carry", (number, k)) is the k-th of them in a turn, k = DONE the last of them, and node
    ("result", (node, k)) the k-th after the last turn.
    """

    number: int
    test: int
    body: int
    size: int
    at_most: int


@dataclass(frozen=True)
class Ruled:
    """A piece of a trace with a rule of its own, say for its derivative: an algorithm, or the solution of equations.

    The nodes that were written meanwhile are `written`; those that the piece shares with others came before.
    """

    name: str
    rule: Any
    inputs: tuple[int | float, ...]  # nodes, or numbers that are known
    outputs: tuple[int | float, ...]
    written: range
    scope: int
