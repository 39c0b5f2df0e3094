"""Joints that share a coordinate, taken as one: the robot is a tree again (constraint embedding; Jain 2012).

A joint that follows another closes a loop through the coordinate they share, and a recursion over bodies would not know
of it. So all joints between such bodies and the body `base` that carries them all become one, with all their
coordinates, on which each of the bodies hangs by itself:

    base - a - b - c,  c follows a:   a, b, c on base, each by the coordinates of a and b
    base - a,  base - b,  b follows a:   a, b on base, each by the coordinate of a.

Other joints stay as they are, so most robots pay little: a gripper is a joint of one coordinate with two bodies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from featherweight.joints.joined import Joined
from featherweight.model.tree import Tree, TreeJoint

Bodies = frozenset[int]


def joined(tree: Tree) -> Tree:
    """The same robot on which no two joints share a coordinate; instead, bodies share joints."""
    if not tree.coupled:
        return tree
    parent, joints = list(tree.parent), list(tree.joints)
    for bodies in _together(tree):
        base, q, v = _base(tree, bodies), *_coordinates(tree, bodies)
        for i in bodies:
            parent[i] = base
            joints[i] = TreeJoint(Joined(q.stop - q.start, v.stop - v.start), q, v)
    return replace(tree, parent=tuple(parent), joints=tuple(joints), coupled=False, unjoined=tree)


def _together(tree: Tree) -> set[Bodies]:
    """All bodies, by the joint that they hang on."""
    groups: set[Bodies] = set()
    grown = {frozenset(bodies) for bodies in tree.bodies_on().values()}
    while grown != groups:
        groups = grown
        grown = _merged(_closed(tree, bodies) for bodies in groups)
    return groups


def _closed(tree: Tree, bodies: Bodies) -> Bodies:
    """With all bodies on the way from the base, and all whose coordinates lie between."""
    if len(bodies) == 1:
        return bodies
    base = _base(tree, bodies)
    between = {j for i in bodies for j in tree.path(i) if j > base}
    _, v = _coordinates(tree, bodies)
    inside = (i for i in range(1, len(tree.parent)) if v.start <= tree.joints[i].v.start < v.stop)
    return frozenset(between.union(inside))


def _merged(groups: Iterable[Bodies]) -> set[Bodies]:
    """Groups that have bodies in common made one."""
    apart: set[Bodies] = set()
    for group in groups:
        common = {other for other in apart if other & group}
        apart = (apart - common) | {group.union(*common)}
    return apart


def _base(tree: Tree, bodies: Bodies) -> int:
    """The nearest body, or the world, that carries all of them."""
    return max(set.intersection(*({0, *tree.path(tree.parent[i])} for i in bodies)))


def _coordinates(tree: Tree, bodies: Bodies) -> tuple[slice, slice]:
    """Their parts of q and v, with what lies between."""
    joints = [tree.joints[i] for i in bodies]
    return _from_first_to_last([j.q for j in joints]), _from_first_to_last([j.v for j in joints])


def _from_first_to_last(parts: list[slice]) -> slice:
    return slice(min(part.start for part in parts), max(part.stop for part in parts))
