"""Passes over a tree: the order in which algorithms visit bodies, and what the tracer is told on the way.

The compiler cuts a program into functions where it was told that a new region begins: at every body of a pass. Equal
limbs then become equal functions, which share their code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from featherweight.model.tree_joint import TreeJoint
from featherweight.scalar import weave, where

Same = TypeVar("Same", bound="Passes")

PIECE = 12  # numbers of a state in one region


@dataclass(frozen=True, kw_only=True)
class Passes:
    """Bodies with their parents and joints, to be visited in order; body 0 is the world."""

    parent: tuple[int, ...]
    joints: tuple[TreeJoint, ...]
    coupled: bool  # several joints may share a coordinate
    mark: Callable[[], None]  # begins a new region
    weave: Callable[[Hashable], None] | None = None  # in fused passes: begins the region of this name, or goes on there
    island: tuple[int, ...] | None = None  # the bodies that passes visit, in order; None: all

    def outward(self) -> Iterator[tuple[int, int, TreeJoint]]:
        """Bodies with their parent and joint, every parent before its children."""
        for i in self._visited():
            self._begin("outward", i)
            yield i, self.parent[i], self.joints[i]
        self.mark()

    def inward(self) -> Iterator[tuple[int, int, TreeJoint]]:
        """Bodies with their parent and joint, every child before its parent."""
        for i in reversed(self._visited()):
            self._begin("inward", i)
            yield i, self.parent[i], self.joints[i]
        self.mark()

    def _visited(self) -> Sequence[int]:
        return range(1, len(self.parent)) if self.island is None else self.island

    def _begin(self, direction: str, i: int) -> None:
        """Begin the region of body i."""
        if self.weave is None:
            self.mark()
        else:
            self.weave((direction, i))

    def rootward(self, i: int) -> Iterator[tuple[int, int]]:
        """From body i towards the world: each body with its parent, until the parent is the world."""
        while self.parent[i] > 0:
            self.mark()
            yield i, self.parent[i]
            i = self.parent[i]

    def coordinates(self) -> Iterator[int]:
        """Numbers of the coordinates of v, joint after joint."""
        for _, _, joint in self.outward():
            if joint.kind.leader is None:
                yield from range(joint.v.start, joint.v.stop)

    def chosen(self, condition: Any, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
        """A state: `new` where the condition holds, else `old`. Regions of equal size can share their code."""
        numbers: list[Any] = []
        for k, (a, b) in enumerate(zip(new, old, strict=True)):
            if k % PIECE == 0:
                self.mark()
            numbers.append(a if a is b else where(condition, a, b))
        return numbers

    def fused_passes(self: Same) -> Same:
        """The same tree with fused passes: all passes in one direction share one region a body.

        For passes that do not wait for each other: no outward pass may need a result of an inward one. Trees with mimic
        joints keep separate passes, for their joints wait for each other.
        """
        return self if self.coupled else replace(self, weave=weave())

    def separate_passes(self: Same) -> Same:
        """The same tree with regions of its own for each pass."""
        return replace(self, weave=None)
