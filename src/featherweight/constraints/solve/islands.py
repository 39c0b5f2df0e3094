"""Islands: parts of a world that no block joins. Each is a problem of its own, solved only where it must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from featherweight.constraints.constraint import Block
from featherweight.constraints.solve.route import route
from featherweight.model import Tree


@dataclass(frozen=True)
class Island:
    """Numbers of its blocks, its bodies, and its degrees of freedom, each in order."""

    blocks: tuple[int, ...]
    bodies: tuple[int, ...]
    dofs: tuple[int, ...]


def islands(tree: Tree, blocks: Sequence[Block]) -> list[Island]:
    """The connected components of bodies under joints and blocks, those with blocks; the tree's joints are aggregated.

    Blocks count whether they act or not: what can touch is known before anything is traced. A block that pushes nothing
    that moves belongs to the first island.
    """
    groups = _Groups(tree.nv)
    for i in range(1, len(tree.parent)):
        groups.join(route(tree, (i,)).dofs)
    ways = [route(tree, block.bodies).dofs for block in blocks]
    for dofs in ways:
        groups.join(dofs)
    of_block = [groups.of(dofs[0]) if dofs else -1 for dofs in ways]
    found = [group for group in dict.fromkeys(of_block) if group >= 0] or [-1]
    of_block = [found[0] if group < 0 else group for group in of_block]
    result = []
    for group in found:
        dofs = tuple(d for d in range(tree.nv) if groups.of(d) == group)
        bodies = tuple(i for i in range(1, len(tree.parent)) if set(tree.joints[i].dofs) & set(dofs))
        result.append(Island(tuple(k for k, own in enumerate(of_block) if own == group), bodies, dofs))
    return result


class _Groups:
    """Disjoint sets of numbers."""

    def __init__(self, count: int) -> None:
        self._first = list(range(count))

    def of(self, k: int) -> int:
        """The least number of its set."""
        while self._first[k] != k:
            self._first[k] = self._first[self._first[k]]
            k = self._first[k]
        return k

    def join(self, numbers: Sequence[int]) -> None:
        least = min(map(self.of, numbers), default=0)
        for k in numbers:
            self._first[self.of(k)] = least
