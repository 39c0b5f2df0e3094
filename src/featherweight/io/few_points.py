"""A few of many contact points: ends of limbs, corners of the base and its lowest, then farthest-point sampling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from featherweight.io.bodies import SpanningTree
from featherweight.model.spelling import Three

MOST = 24  # contact points that a robot gets by itself: a step of it is compiled in about two seconds

CONTACTS = 4  # that a shape on a plane has
OUTWARD = np.array([(0.0, 0.0, -1.0), *product((1.0, -1.0), repeat=3)])  # below, where it may stand, and the corners


class ShapePoint(NamedTuple):
    """A point of a shape: its link, the numbers of its shape and of the point among those of the link, position [m] in
    the link, radius [m]."""

    link: str
    shape: int
    number: int
    position: Three
    radius: float


def contacts(points: Sequence[ShapePoint], cylinders: Collection[tuple[str, int]]) -> int:
    """How many contacts they are, where `cylinders` touch as they are."""
    whole = {point[:2] for point in points if point[:2] in cylinders}
    return sum(point[:2] not in whole for point in points) + CONTACTS * len(whole)


def few(points: Sequence[ShapePoint], tree: SpanningTree, floats: bool) -> list[ShapePoint]:
    """At most `MOST` of the points, in their order; those of a base that does not float are left out."""
    body, place, ends = _at_rest(points, tree)
    own: dict[int, list[int]] = {}
    for k, number in enumerate(body):
        own.setdefault(number, []).append(k)
    if not floats and len(own) > 1:
        own.pop(0, None)
    outermost = _outermost(points, own.get(0, []), place)
    lowest, corners = outermost[:1], outermost[1:]
    chosen = [k for end in ends for k in _far_end(points, own.get(end, []), place) if k not in lowest]
    most = MOST - len(lowest)
    if len(chosen) > most:
        chosen = _spread(place, chosen, [], most)
    chosen += lowest
    chosen += [k for k in corners if k not in chosen][: MOST - len(chosen)]
    rest = sorted({k for some in own.values() for k in some} - set(chosen))
    chosen += _spread(place, rest, chosen, MOST - len(chosen))
    return [points[k] for k in sorted(chosen)]


def few_shapes(
    points: Sequence[ShapePoint], shapes: Collection[tuple[str, int]], tree: SpanningTree
) -> set[tuple[str, int]]:
    """Which of the `shapes` whose points these are touch as they are, in place of the points.

    All at the ends of limbs do, so that all wheels roll; of others those with the most points, as long as there are no
    more than `MOST` contacts, a shape being `CONTACTS`.
    """
    body, place, ends = _at_rest(points, tree)
    own: dict[int, list[int]] = {}
    for k, number in enumerate(body):
        own.setdefault(number, []).append(k)
    last = {points[k][:2] for end in ends for k in _far_end(points, own.get(end, []), place)}
    count = Counter(point[:2] for point in points if point[:2] in shapes)
    left = MOST - (len(points) - count.total()) - CONTACTS * len(last & {*count})
    others = [shape for shape, _ in count.most_common() if shape not in last]
    return (last & {*count}) | {*others[: max(left, 0) // CONTACTS]}


def _at_rest(points: Sequence[ShapePoint], tree: SpanningTree) -> tuple[list[int], np.ndarray, list[int]]:
    """Of each point its body, 0 for the root's, and where it is (n, 3) if all joints are zero; bodies that carry no
    others."""
    number = {tree.root.name: 0}
    poses = {tree.root.name: (np.eye(3), np.zeros(3))}  # rotation and position of each link, in the root
    count, carrying = 1, set()
    for joint in tree.joints:
        R, p = poses[joint.parent]
        number[joint.child] = number[joint.parent]
        if joint.moves:
            carrying.add(number[joint.parent])
            number[joint.child], count = count, count + 1
        if joint.origin is not None:
            X = joint.origin.transform
            R, p = R @ np.array(X.E, dtype=float).T, p + R @ np.array(X.r, dtype=float)
        poses[joint.child] = R, p
    place = np.array([poses[point.link][0] @ point.position + poses[point.link][1] for point in points])
    return [number[point.link] for point in points], place, [end for end in range(count) if end not in carrying]


def _outermost(points: Sequence[ShapePoint], own: list[int], place: np.ndarray) -> list[int]:
    """The points of a base that reach furthest down, where it may stand, and then towards the corners of a box."""
    radius = np.array([points[k].radius for k in own])
    reach = place[own] @ OUTWARD.T + np.outer(radius, np.linalg.norm(OUTWARD, axis=1))
    return list(dict.fromkeys(own[k] for k in reach.argmax(axis=0))) if own else []


def _far_end(points: Sequence[ShapePoint], own: list[int], place: np.ndarray) -> list[int]:
    """The points of that shape of a body which reaches furthest from the base."""
    if not own:
        return []
    reach = [float(np.linalg.norm(place[k])) + points[k].radius for k in own]
    last = points[own[int(np.argmax(reach))]]
    return [k for k in own if points[k][:2] == last[:2]]


def _spread(place: np.ndarray, some: list[int], chosen: list[int], count: int) -> list[int]:
    """Farthest-point sampling: so many of some, each the furthest from those before, the first from their middle."""
    found: list[int] = []
    if not some or count <= 0:
        return found
    at = place[some]
    far = np.linalg.norm(at - at.mean(axis=0), axis=1) if not chosen else np.full(len(some), np.inf)
    for k in chosen:
        far = np.minimum(far, np.linalg.norm(at - place[k], axis=1))
    while len(found) < min(count, len(some)):
        k = int(far.argmax())
        found.append(some[k])
        near = np.linalg.norm(at - at[k], axis=1)
        far = near if len(found) == 1 and not chosen else np.minimum(far, near)
    return found
