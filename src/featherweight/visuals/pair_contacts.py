"""Where shapes touch each other in the frames of a trajectory, for the arrows of their forces."""

from __future__ import annotations

from functools import partial

import numpy as np

from featherweight.collision import Placed, Touch, ground_touches, touches
from featherweight.compiler import Lanes, plain
from featherweight.contact import Surface
from featherweight.contact.pair import Pairs
from featherweight.contact.touching import TouchingPair, touching_pairs
from featherweight.dynamics.poses import Poses
from featherweight.model import Model
from featherweight.model.collision_shapes import CollisionShape
from featherweight.spatial import Matrix, Transform, Vector


def pair_places(model: Model, poses: Poses, pairs: Pairs, ground: tuple[Surface, ...], force: np.ndarray) -> np.ndarray:
    """The contact points of all pairs in F frames, shape (F, n, 3); those without a force are at the body's origin.

    Args:
        poses: of the bodies, (F, nb+1, …).
        force: on each contact point [N], (F, n, 3), as a trajectory has them.
    """
    found: list[np.ndarray] = []
    for pair in touching_pairs(model, pairs, len(ground)):
        own = force[:, len(found) : len(found) + pair.count]
        acts = np.any(own, axis=-1)
        at_rest = np.asarray(poses.position[:, pair.a.body], dtype=float)
        places = np.repeat(at_rest[:, None], pair.count, axis=1)
        frames = np.flatnonzero(acts.any(axis=1))
        if len(frames):
            detected = _detected(pair, poses, ground, frames)
            places[frames] = np.where(acts[frames, :, None], detected, places[frames])
        found += [places[:, k] for k in range(pair.count)]
    return np.stack(found, axis=1) if found else np.zeros((len(force), 0, 3))


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
