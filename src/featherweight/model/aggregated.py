"""Aggregated joints: joints that share coordinates become one, so that a robot with mimic joints is a tree again.

A mimic joint closes a loop through the coordinate that it shares with its leader, which a recursion over bodies would
miss. Constraint embedding (Jain 2012) replaces all joints between such bodies and their common ancestor, the base, by
one joint with all their coordinates. Each of the bodies is then a child of the base:

    base - a - b - c,  c follows a:   a, b, c on base, each by the coordinates of a and b
    base - a,  base - b,  b follows a:   a, b on base, each by the coordinate of a.

Other joints stay as they are, so most robots pay little: a gripper is a joint of one coordinate with two bodies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from featherweight.joints.aggregated import Aggregated
from featherweight.model.tree import Tree
from featherweight.model.tree_joint import TreeJoint

Bodies = frozenset[int]


def aggregated(tree: Tree) -> Tree:
    """The tree with aggregated joints: no two joints share a coordinate, but bodies may share a joint.

    Of a robot without mimic joints it is the tree itself; else the result knows the other one as its `spanning_tree`.
    """
    if not tree.coupled:
        return tree
    parent, joints = list(tree.parent), list(tree.joints)
    for bodies in _groups(tree):
        base, q, v = _base(tree, bodies), *_coordinates(tree, bodies)
        for i in bodies:
            parent[i] = base
            joints[i] = TreeJoint(Aggregated(q.stop - q.start, v.stop - v.start), q, v)
    return replace(tree, parent=tuple(parent), joints=tuple(joints), coupled=False, spanning_tree=tree)


def _groups(tree: Tree) -> set[Bodies]:
    """All bodies, grouped by the joint that they will share."""
    groups: set[Bodies] = set()
    grown = {frozenset(bodies) for bodies in tree.bodies_on().values()}
    while grown != groups:
        groups = grown
        grown = _merged(_closed(tree, bodies) for bodies in groups)
    return groups


def _closed(tree: Tree, bodies: Bodies) -> Bodies:
    """The group with all bodies between it and its base, and all whose coordinates lie between its own."""
    if len(bodies) == 1:
        return bodies
    base = _base(tree, bodies)
    between = {j for i in bodies for j in tree.path(i) if j > base}
    _, v = _coordinates(tree, bodies)
    inside = (i for i in range(1, len(tree.parent)) if v.start <= tree.joints[i].v.start < v.stop)
    return frozenset(between.union(inside))


def _merged(groups: Iterable[Bodies]) -> set[Bodies]:
    """Disjoint groups: those that have bodies in common are one."""
    disjoint: set[Bodies] = set()
    for group in groups:
        common = {other for other in disjoint if other & group}
        disjoint = (disjoint - common) | {group.union(*common)}
    return disjoint


def _base(tree: Tree, bodies: Bodies) -> int:
    """The nearest common ancestor of bodies; it may be the world."""
    return max(set.intersection(*({0, *tree.path(tree.parent[i])} for i in bodies)))


def _coordinates(tree: Tree, bodies: Bodies) -> tuple[slice, slice]:
    """The slices of q and v from the first to the last of their coordinates."""
    joints = [tree.joints[i] for i in bodies]
    return _from_first_to_last([j.q for j in joints]), _from_first_to_last([j.v for j in joints])


def _from_first_to_last(parts: list[slice]) -> slice:
    return slice(min(part.start for part in parts), max(part.stop for part in parts))
