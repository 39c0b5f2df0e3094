"""The way of an impulse from the bodies it pushes to the root: joints it meets, the nearest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from featherweight.model import Tree


@dataclass(frozen=True)
class Route:
    """Bodies on the way, those on one joint together, every child before its parent; and the degrees of freedom."""

    groups: tuple[tuple[int, ...], ...]
    dofs: tuple[int, ...]


def route(tree: Tree, bodies: Iterable[int]) -> Route:
    """From these bodies to the root; where two ways meet they go on as one."""
    waiting = {i for i in bodies if i > 0}
    groups: list[tuple[int, ...]] = []
    dofs: list[int] = []
    while waiting:
        first = max(waiting, key=lambda i: (len(tree.path(i)), i))  # the deepest: nothing that waits hangs on it
        joint = tree.joints[first]
        group = (first, *(i for i in sorted(waiting - {first}) if tree.joints[i].v.start == joint.v.start))
        groups.append(group)
        dofs += joint.dofs
        waiting -= set(group)
        if tree.parent[first] > 0:
            waiting.add(tree.parent[first])
    return Route(tuple(groups), tuple(dofs))
