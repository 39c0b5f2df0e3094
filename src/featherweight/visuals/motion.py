"""A trajectory as frames to be shown: poses of the bodies, centre of mass, where they touch and forces there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from featherweight.dynamics import center_of_mass, forward_kinematics
from featherweight.dynamics.contact_places import contact_places
from featherweight.dynamics.poses import Poses
from featherweight.model import Model
from featherweight.simulation import Trajectory
from featherweight.visuals.failure import failure_of
from featherweight.visuals.pair_contacts import pair_places
from featherweight.visuals.shapes import DrawnShape


@dataclass(frozen=True, eq=False)
class Frames:
    """F frames of one robot; `failure` says where and why they end early.

    `t` (F,) [s]; `index` (F,), the trajectory's samples; `rotation` (F, nb+1, 3, 3) and `position` (F, nb+1, 3) of the
    bodies in the world; `com` (F, 3); `points` (F, n, 3), the contact points of the model, then those where shapes
    touch each other or the ground; `force` (F, n, 3) on them [N].
    """

    model: Model
    t: np.ndarray
    index: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    com: np.ndarray
    points: np.ndarray
    force: np.ndarray
    failure: str = ""

    def __len__(self) -> int:
        return len(self.t)

    def start(self) -> Frames:
        """The first frame alone."""
        arrays = ("t", "index", "rotation", "position", "com", "points", "force")
        return replace(self, **{name: getattr(self, name)[:1] for name in arrays})


def motion_of(trajectory: Trajectory, *, rate: float = 60.0, lane: int = 0) -> Frames:
    """Frames of a trajectory, `rate` a second; of one lane if it is a batch, up to where that failed or diverged.

    Every frame is a state of the trajectory, the nearest to its time; nothing is made up in between.
    """
    model = trajectory.model
    if model is None:
        raise ValueError("trajectory: its file has no model; Trajectory.load(path, model=…)")
    if not rate > 0:
        raise ValueError(f"rate: expected frames a second > 0, got {rate!r}")
    one = trajectory.lane(lane)
    q = one.q
    failure = failure_of(trajectory, lane)
    states = len(q) if failure is None else failure.samples
    if not states:
        raise ValueError("trajectory: there is no state to show: its first is not finite")
    index = _spread(trajectory.t[:states], rate)
    motion = frames_of(model, one.t[index], q[index], _held(one.contact_force, index), index, one.parameters)
    if one.pair_force.size or one.slots.size:
        poses, ground = Poses(motion.rotation, motion.position), one.ground
        pushes = _held(one.pair_force, index), _held(one.slots, index)
        places, force = pair_places(model, poses, one.pairs, ground, *pushes)
        points, forces = np.concatenate([motion.points, places], axis=1), np.concatenate([motion.force, force], axis=1)
        motion = replace(motion, points=points, force=forces)
    return replace(motion, failure="" if failure is None else failure.text)


def frames_of(
    model: Model,
    t: np.ndarray,
    q: np.ndarray,
    force: np.ndarray | None = None,
    index: np.ndarray | None = None,
    parameters: Mapping[str, np.ndarray] | None = None,
) -> Frames:
    """Frames of states (F, nq); forces (F, nc, 3), zero if not given; of a robot with these parameters."""
    poses = forward_kinematics(model, q, parameters=parameters)
    points = contact_places(model, poses)
    forces = np.zeros(points.shape) if force is None or force.shape != points.shape else force
    com = center_of_mass(model, q, parameters=parameters) if model.mass > 0 else np.zeros((len(q), 3))
    index = np.arange(len(q)) if index is None else index
    return Frames(model, t, index, poses.rotation, poses.position, com, points, forces)


def bounds(motion: Frames, shapes: Sequence[DrawnShape]) -> tuple[np.ndarray, np.ndarray]:
    """The least and largest coordinates of a robot in all its frames, shapes (3,) and (3,)."""
    places = extremes(motion, shapes, np.concatenate([np.eye(3), -np.eye(3)]))
    return places.min(axis=0), places.max(axis=0)


def extremes(motion: Frames, shapes: Sequence[DrawnShape], directions: np.ndarray) -> np.ndarray:
    """Where a robot reaches farthest in each of these directions (n, 3), in all its frames: (n, 3) [m]."""
    found = motion.com[np.argmax(motion.com @ directions.T, axis=0)]
    for shape in shapes:
        ends = np.stack([shape.mesh.vertices.min(axis=0), shape.mesh.vertices.max(axis=0)])
        corners = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        rotation, position = motion.rotation[:, shape.body], motion.position[:, shape.body]
        places = (corners @ np.swapaxes(rotation, -1, -2) + position[:, None]).reshape(-1, 3)
        farthest = places[np.argmax(places @ directions.T, axis=0)]
        further = np.einsum("ij,ij->i", farthest - found, directions) > 0
        found = np.where(further[:, None], farthest, found)
    return found


def _spread(t: np.ndarray, rate: float) -> np.ndarray:
    """Numbers of the samples nearest to times 1 / rate apart; all of them if there are fewer."""
    if len(t) < 2:
        return np.arange(len(t))
    frames = int(np.floor((t[-1] - t[0]) * rate + 1e-9)) + 1
    if frames >= len(t):
        return np.arange(len(t))
    times = t[0] + np.arange(frames) / rate
    right = np.clip(np.searchsorted(t, times), 1, len(t) - 1)
    nearest = right - (times - t[right - 1] < t[right] - times)
    return np.unique(np.append(nearest, len(t) - 1))


def _held(force: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Forces of the intervals that begin at these samples; the last state has those of the interval before it."""
    if force.shape[0] == 0:
        return np.zeros((len(index), *force.shape[1:]))
    return np.nan_to_num(force[np.minimum(index, len(force) - 1)])
