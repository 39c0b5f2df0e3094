"""Which shapes of a model may touch which, and why others may not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from featherweight.collision import FAR, Placed, touches
from featherweight.model.cache import once_per_model
from featherweight.model.collision_shapes import CollisionShape, unknown_shape
from featherweight.spatial import Transform

if TYPE_CHECKING:
    from featherweight.model.model import Model

TOUCHING = 1e-9  # [m]: a gap that is none
MEETING = 1e-6  # [m]: between axes of joints that make one joint of several
LISTED = 40  # pairs of a kind that are printed


@dataclass(frozen=True)
class CollisionPair:
    """Two shapes on different bodies by their names; if they are not `used` by pairs="auto", the reason why."""

    a: str
    b: str
    used: bool
    reason: str = ""


class CollisionPairs(tuple[CollisionPair, ...]):
    """All pairs of shapes of a model; printed, those that are used, and the others by reason."""

    __slots__ = ()

    def __str__(self) -> str:
        kinds: dict[str, list[CollisionPair]] = {}
        for pair in self:
            kinds.setdefault(pair.reason.partition(":")[0], []).append(pair)
        lines = [f"{len(self)} pairs of shapes, {sum(pair.used for pair in self)} may touch"]
        for kind in sorted(kinds):  # those without a reason first
            pairs = kinds[kind]
            lines.append(f"{kind or 'may touch'} ({len(pairs)})")
            for pair in pairs[:LISTED]:
                more = pair.reason.partition(":")[2]
                lines.append(f"  {pair.a} - {pair.b}{f' ({more.strip()})' if more else ''}")
            lines += [f"  … and {len(pairs) - LISTED} more"] if len(pairs) > LISTED else []
        return "\n".join(lines)


@once_per_model
def collision_pairs(model: Model) -> CollisionPairs:
    """What pairs="auto" of a contact model means: all pairs of shapes on different bodies, each with whether it is
    used, and why if not. `print` shows a table.

    Left out are pairs that the robot excludes (`without_collisions`, SRDF files), neighbours (the two sides of a joint,
    also of one that is made of several whose axes meet in a point), and what touches at the neutral configuration. The
    last two are of one robot: what is free, what is fixed in the world, and each model that was added there by
    `Builder.add_model`, are robots or objects of their own, and shapes of the world itself stand before all of them.
    """
    model.need_numbers("collision_pairs")
    shapes, excluded, near = model.shapes, _excluded(model), _neighbours(model)
    places = _places(model)
    robots = [_robot(model, shape) for shape in shapes]
    found = []
    for j, b in enumerate(shapes):
        for i, a in enumerate(shapes[:j]):
            if a.body == b.body:
                continue
            reason = "excluded" if (i, j) in excluded else ""
            if not reason and robots[i] == robots[j]:
                reason = _neighbour(model, a, b, near) or _touch(a, b, places[i], places[j])
            found.append(CollisionPair(a.name, b.name, not reason, reason))
    return CollisionPairs(found)


def used_pairs(model: Model, pairs: str | Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Pairs of numbers of `model.shapes` for "auto", "ground" or "none", or for pairs of names.

    A name is that of a link, for all its shapes, or of a shape. KeyError for one that is unknown, ValueError for two
    on one body: they never move against each other.
    """
    if isinstance(pairs, str):
        if pairs not in ("auto", "ground", "none"):
            raise ValueError(f"pairs: expected 'auto', 'ground', 'none' or pairs of names, got {pairs!r}")
        numbers = {shape.name: k for k, shape in enumerate(model.shapes)} if pairs == "auto" else {}
        return [(numbers[p.a], numbers[p.b]) for p in collision_pairs(model) if p.used] if pairs == "auto" else []
    found: dict[tuple[int, int], None] = {}  # each once, in their order
    for a, b in pairs:
        every = [(i, j) for i in shapes_named(model, a) for j in shapes_named(model, b)]
        apart = [(i, j) for i, j in every if model.shapes[i].body != model.shapes[j].body]
        if not apart:
            raise ValueError(f"pairs: {a!r} and {b!r} are on one body, and never touch each other")
        found |= {(i, j): None for i, j in apart if (j, i) not in found}
    return list(found)


def without_collisions(model: Model, pairs: Iterable[tuple[str, str]]) -> Model:
    """The model with pairs that "auto" leaves out: names of two links, for all their shapes, or of two shapes.

    >>> import featherweight as fw
    >>> robot = fw.Builder("two")
    >>> for name in ("a", "b"):
    ...     robot = robot.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    ...     robot = robot.add_geometry(name, fw.shapes.Sphere(0.1))
    >>> print(robot.build().without_collisions([("a", "b")]).collision_pairs())
    1 pairs of shapes, 0 may touch
    excluded (1)
      a - b
    """
    new = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise TypeError(f"pairs: expected two names each, got {pair!r}")
        for name in pair:
            shapes_named(model, name)
        new.append((pair[0], pair[1]))
    return excluding(model, new)


def excluding(model: Model, pairs: Iterable[tuple[str, str]]) -> Model:
    """The same, whether or not these names have shapes."""
    excluded = tuple(dict.fromkeys((*model.excluded, *pairs)))
    written = model.description
    return replace(model, excluded=excluded, description=written and replace(written, excluded=excluded))


def shapes_named(model: Model, name: object) -> list[int]:
    """Numbers of the shapes of a link or frame, or of one shape: a link goes before a shape of that name."""
    links = [k for k, shape in enumerate(model.shapes) if shape.link == name]
    found = links or [k for k, shape in enumerate(model.shapes) if shape.name == name]
    if not found:
        known = dict.fromkeys(name for shape in model.shapes for name in (shape.link, shape.name))
        if name == "ground":
            raise ValueError("pairs: the ground needs no pair: shapes that touch it do so, unless pairs='none'")
        raise unknown_shape("shape or link with shapes", model, name, known)
    return found


def _excluded(model: Model) -> set[tuple[int, int]]:
    """Numbers of shapes, the smaller one first, that the robot excludes; names without shapes exclude nothing."""
    known = {name for shape in model.shapes for name in (shape.link, shape.name)}
    own = {name: shapes_named(model, name) for pair in model.excluded for name in pair if name in known}
    return {(min(i, j), max(i, j)) for a, b in model.excluded for i in own.get(a, ()) for j in own.get(b, ())}


def _robot(model: Model, shape: CollisionShape) -> tuple[str, int]:
    """What a shape is part of: something that is free, by its first body; or what stands in the world, by its group."""
    body = shape.body
    while body > 0 and model.parent[body] > 0:
        body = model.parent[body]
    if body > 0 and model.joints[body - 1].kind.floating:
        return "free", body
    return "standing", shape.group


def _neighbours(model: Model) -> dict[int, int]:
    """The body on the other side of each body's joint: the nearest above, but for those without shapes at whose joint
    the axes meet."""
    solid = {shape.body for shape in model.shapes}
    above = {}
    for body in range(1, len(model.parent)):
        parent = model.parent[body]
        here = body
        while parent > 0 and parent not in solid and float(np.linalg.norm(_vector(model.X_tree[here]))) < MEETING:
            here, parent = parent, model.parent[parent]
        above[body] = parent
    return above


def _neighbour(model: Model, a: CollisionShape, b: CollisionShape, above: dict[int, int]) -> str:
    """Why two shapes are neighbours; nothing if they are not. What is added to the world itself is nobody's."""
    if "world" in (a.link, b.link):
        return ""
    for body, other in ((a.body, b.body), (b.body, a.body)):
        if above.get(body) == other:
            return f"neighbours: joint {model.joints[body - 1].name}"
    return ""


def _touch(a: CollisionShape, b: CollisionShape, X_a: Transform, X_b: Transform) -> str:
    """Why two shapes touch at the neutral configuration; nothing if they do not."""
    apart = float(np.linalg.norm(_vector(X_a) - _vector(X_b))) - a.shape.reach - b.shape.reach
    if apart > TOUCHING:
        return ""
    try:
        gap = min((float(t.gap) for t in touches(Placed(a.shape, X_a), Placed(b.shape, X_b))), default=FAR)
    except TypeError:  # no detection of these kinds: by the balls around them
        return "touching at the neutral configuration: by the balls around them"
    return f"touching at the neutral configuration: {max(-gap, 0.0) * 1e3:.3g} mm deep" if gap <= TOUCHING else ""


def _places(model: Model) -> list[Transform]:
    """From the world to each shape, at the neutral configuration."""
    q, X = model.neutral().tolist(), [Transform.identity()]
    for joint in model.joints:
        X.append(joint.kind.transform(q[joint.q]) @ model.X_tree[joint.body] @ X[model.parent[joint.body]])
    return [shape.X @ X[shape.body] for shape in model.shapes]


def _vector(X: Transform) -> np.ndarray:
    return np.array(X.r, dtype=float)
