"""Where shapes touch each other in the frames of a trajectory, for the arrows of their forces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from featherweight.collision import Placed, Touch, ground_touches, touches
from featherweight.compiler import Lanes, plain
from featherweight.contact import Surface
from featherweight.contact.pair import Pairs
from featherweight.contact.slots import arranged, numbered
from featherweight.contact.touching import TouchingPair
from featherweight.dynamics.poses import Poses
from featherweight.model import Model
from featherweight.model.collision_shapes import CollisionShape
from featherweight.spatial import Matrix, Transform, Vector


def pair_places(
    model: Model, poses: Poses, pairs: Pairs, ground: tuple[Surface, ...], force: np.ndarray, slots: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places and forces of the contact points of shapes in F frames, shapes (F, n, 3); those without a force are at the
    origin of a body. Forces are on the first shape of a pair; where that stands in the world, on the second.

    Args:
        poses: of the bodies, (F, nb+1, …).
        force: on each contact point [N], (F, n, 3), as a trajectory has them in `pair_force`.
        slots: numbers of contact points and forces there, (F, S, 4), as a trajectory has them.
    """
    count = slots.shape[1] if slots.size else 0
    own = arranged(model, pairs, len(ground), count)
    frames = len(poses.position)
    places, forces = np.zeros((2, frames, 0, 3))
    if force.size:
        columns = [(pair, k) for pair in own.direct for k in range(pair.count)]
        numbers = np.where(np.any(force, axis=-1), np.arange(len(columns)), -1)
        places, forces = _found(columns, numbers, poses, ground), force * _onto_moving(columns)[:, None]
    if count:
        numbers = np.nan_to_num(slots[..., 0], nan=-1.0).astype(int)
        numbers = np.where(np.any(np.nan_to_num(slots[..., 1:]), axis=-1), numbers, -1)
        columns = numbered(own.shared)
        more, signs = _found(columns, numbers, poses, ground), _onto_moving(columns)[numbers]
        forces = np.concatenate([forces, slots[..., 1:] * signs[..., None]], axis=1)
        places = np.concatenate([places, more], axis=1)
    return places, np.nan_to_num(forces)


def _onto_moving(columns: Sequence[tuple[TouchingPair, int]]) -> np.ndarray:
    """Of each contact point -1 if its first shape stands in the world, else 1."""
    return np.array([1.0 if pair.a.body else -1.0 for pair, _ in columns])


def _found(
    columns: Sequence[tuple[TouchingPair, int]], numbers: np.ndarray, poses: Poses, ground: tuple[Surface, ...]
) -> np.ndarray:
    """Places of contact points by their numbers (F, n), those of `columns`; of -1 the origin of a body."""
    places = np.repeat(np.asarray(poses.position)[:, -1:], numbers.shape[1], axis=1)
    pairs = {id(pair): pair for pair, _ in columns}
    for key, pair in pairs.items():
        own = {n: k for n, (other, k) in enumerate(columns) if id(other) == key}
        frames, where = np.nonzero(np.isin(numbers, list(own)))
        if len(frames):
            some, back = np.unique(frames, return_inverse=True)
            detected = _detected(pair, poses, ground, some)
            places[frames, where] = detected[back, [own[n] for n in numbers[frames, where]]]
    return places


def _detected(pair: TouchingPair, poses: Poses, ground: tuple[Surface, ...], frames: np.ndarray) -> np.ndarray:
    """Contact points of a pair in some frames, all at once, shape (frames, count, 3)."""
    place = partial(_placed, poses, frames)
    height = ground[pair.b].height if isinstance(pair.b, int) else None
    if isinstance(pair.b, int) and height is not None:
        touching: list[Touch] = ground_touches(place(pair.a), height)
    else:
        touching = touches(place(pair.a), place(pair.b))  # type: ignore[arg-type]
    points = [[np.broadcast_to(plain(x), len(frames)) for x in touch.point] for touch in touching]
    return np.array(points, dtype=float).transpose(2, 0, 1)


def _placed(poses: Poses, frames: np.ndarray, shape: CollisionShape) -> Placed:
    """A shape where its body has it in some frames."""
    E, r = np.array([list(row) for row in shape.X.E], dtype=float), np.array(list(shape.X.r), dtype=float)
    R, p = np.asarray(poses.rotation)[frames, shape.body], np.asarray(poses.position)[frames, shape.body]
    turn, place = R @ E.T, p + R @ r

    def lane(x: np.ndarray) -> Lanes:
        return Lanes(np.ascontiguousarray(x))

    rows = [[lane(turn[:, j, i]) for j in range(3)] for i in range(3)]
    return Placed(shape.shape, Transform(Matrix.of(rows), Vector(*(lane(place[:, k]) for k in range(3)))))
