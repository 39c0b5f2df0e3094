"""A program: what is left of a trace once its sums are fused and its dead code is gone."""

from __future__ import annotations

from dataclasses import dataclass, field

from featherweight.compiler.trace.structure import Repeat


@dataclass
class Program:
    """Leaves and live operations, arguments first. fma = a*b + c, fms = a*b - c, fnma = c - a*b."""

    op: list[str] = field(default_factory=list)
    args: list[tuple] = field(default_factory=list)
    region: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)  # operations without the leaves and results of repeats
    scope_of: list[int] = field(default_factory=lambda: [0])  # of each region
    parent: list[int] = field(default_factory=lambda: [0])  # of each scope
    repeats: dict[int, Repeat] = field(default_factory=dict)  # by node
    lookups: list[bytes] = field(default_factory=list)
    array_of: dict[int, int] = field(default_factory=dict)  # array that a node is a version of

    def append(self, op: str, args: tuple, region: int) -> int:
        """A new node; its number."""
        self.op.append(op)
        self.args.append(args)
        self.region.append(region)
        return len(self.op) - 1
