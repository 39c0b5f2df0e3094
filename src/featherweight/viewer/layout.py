"""Who stands where: robots side by side, their ground, the camera. In metres, for whatever draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featherweight.contact import Plane, Surface
from featherweight.identity import identity
from featherweight.simulation import Trajectory
from featherweight.visuals import (
    DrawnShape,
    Frames,
    Trail,
    Viewpoint,
    bounds,
    camera_axes,
    motion_of,
    shapes_of,
    trails_of,
    viewpoint_of,
)
from featherweight.visuals.shapes import FACES
from featherweight.visuals.terrain import Terrain, terrain_of

USUAL = 0.16  # arrow of a contact's share of the weight, in robots' sizes
LONGEST = 0.7  # arrow, in robots' sizes
FAINT = 0.004  # arrows below this share of the robot's size are not drawn
APART = 0.12  # robots' sizes between two that stand side by side


@dataclass(frozen=True, eq=False)
class Actor:
    """One robot: its frames, what it looks like, surfaces of its own, all of it moved by `offset` [m]; and what an
    arrow of one metre stands for [N]."""

    motion: Frames
    shapes: tuple[DrawnShape, ...]
    surfaces: tuple[Surface, ...]
    ground: tuple[Terrain, ...]
    offset: np.ndarray
    label: str
    label_place: np.ndarray
    newtons: float
    trails: tuple[Trail, ...] = ()

    def tips(self, size: float) -> np.ndarray:
        """Where arrows end that stand for the contact forces (F, nc, 3) [m]: at their point if they are too faint."""
        arrows = self.motion.force / self.newtons
        length = np.linalg.norm(arrows, axis=-1, keepdims=True)
        short = arrows / np.maximum(1.0, length / (LONGEST * size))
        return self.motion.points + np.where(length > FAINT * size, short, 0.0)

    def below(self) -> np.ndarray:
        """The place straight below the centre of mass (F, 3): on the ground's plane, or as low as a contact point."""
        com, points = self.motion.com, self.motion.points
        floor = next((surface for surface in self.surfaces if isinstance(surface, Plane)), None)
        if floor is not None and abs(floor.normal[2]) > 1e-6:
            n, p = np.array(floor.normal), np.array(floor.point)
            height = p[2] - (com[:, :2] - p[:2]) @ n[:2] / n[2]
        else:
            height = points[..., 2].min(axis=1) if points.size else com[:, 2]
        return np.column_stack([com[:, :2], height])


@dataclass(frozen=True, eq=False)
class Layout:
    """Everybody, the ground they share, a robot's size [m]; from which direction they are seen, corners (n, 3) that
    have to be in the picture, and how far the camera has followed them (N, 3) at times (N,)."""

    actors: tuple[Actor, ...]
    ground: tuple[Terrain, ...]
    size: float
    direction: np.ndarray
    corners: np.ndarray
    times: np.ndarray
    path: np.ndarray

    @property
    def start(self) -> float:
        """Where the clock begins [s]: later than 0 if a run goes on from the end of another."""
        return min(float(actor.motion.t[0]) for actor in self.actors)

    @property
    def end(self) -> float:
        """Where it ends [s]."""
        return max(float(actor.motion.t[-1]) for actor in self.actors)

    @property
    def follows(self) -> bool:
        """Does the camera move?"""
        return bool(self.path.any())

    def followed(self, t: float) -> np.ndarray:
        """How far the camera has moved at a time (3,) [m]."""
        return self.path[int(np.clip(np.searchsorted(self.times, t + 1e-9) - 1, 0, len(self.times) - 1))]

    @property
    def title(self) -> str:
        """Labels, or the robot's name if there are none."""
        first = self.actors[0]
        if len(self.actors) == 1 and first.label == first.motion.failure:
            return ": ".join(filter(None, (first.motion.model.name, first.label)))
        return " | ".join(actor.label for actor in self.actors if actor.label) or first.motion.model.name


def layout_of(
    trajectories: Sequence[Trajectory],
    labels: Sequence[str],
    rate: float,
    *,
    follow: bool | None = None,
    trails: Sequence[str] = (),
) -> Layout:
    """Robots in a row across the picture if they are several, so that none hides another."""
    if not trajectories:
        raise ValueError("trajectories: expected one or more, got none")
    motions = [motion_of(one, rate=rate) for one in trajectories]
    faces = FACES // len(motions)  # each is drawn smaller if they are several
    looks = [tuple(shapes_of(motion.model, faces)) for motion in motions]
    views = [viewpoint_of(motion, look, follow) for motion, look in zip(motions, looks, strict=True)]
    size = max(float(np.median([_size(*one) for one in zip(motions, looks, strict=True)])), 1e-3)
    right = camera_axes(views[0].direction)[:, 0]
    offsets, corners = _row(views, right, APART * size)
    actors = []
    for k, (motion, look, view, one) in enumerate(zip(motions, looks, views, trajectories, strict=True)):
        own = [surface for surface in one.ground if not _is_level(surface)]
        way = float(np.max(view.high - view.low + np.ptp(view.path, axis=0)))
        ground = tuple(terrain_of(own, motion.com[0], 3 * way))
        above = np.array([*(view.low + view.high)[:2] / 2, view.high[2] + 0.08 * size])
        label = ": ".join(filter(None, (*labels[k : k + 1], motion.failure)))
        ways = tuple(trails_of(motion, trails))
        newtons = _share_of_weight(motion) / (USUAL * size)
        actors.append(Actor(motion, look, tuple(one.ground), ground, offsets[k], label, above, newtons, ways))
    longest = max(range(len(motions)), key=lambda k: float(motions[k].t[-1]))
    times = motions[longest].t
    path = np.mean([_at(times, motion.t, view.path) for motion, view in zip(motions, views, strict=True)], axis=0)
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2 + path.mean(axis=0)
    wide = float(np.linalg.norm(np.ptp(corners, axis=0) + np.ptp(path, axis=0)))
    level = {identity(surface): surface for one in trajectories for surface in one.ground if _is_level(surface)}
    shared = tuple(terrain_of(list(level.values()), middle, 3 * wide))
    return Layout(tuple(actors), shared, size, views[0].direction, corners, times, path)


def _row(views: Sequence[Viewpoint], right: np.ndarray, gap: float) -> tuple[list[np.ndarray], np.ndarray]:
    """Offsets (3,) of robots side by side along `right`, and all their corners (n, 3)."""
    offsets, corners, end = [np.zeros(3)], [views[0].corners], float((views[0].corners @ right).max())
    for view in views[1:]:
        across = view.corners @ right
        offsets.append((end + gap - float(across.min())) * right)
        corners.append(view.corners + offsets[-1])
        end += gap + float(np.ptp(across))
    return offsets, np.concatenate(corners)


def _share_of_weight(motion: Frames) -> float:
    """What a contact point usually carries [N]: the weight over as many as usually press; of four if none do.

    Where shapes touch, many contacts may carry little beside a few that carry a robot: then Σ f² / Σ f, the force at a
    point that a newton of load is likely to act at.
    """
    force = np.linalg.norm(motion.force, axis=-1)
    pressing = (force > 0).sum(axis=1)
    if pressing.any() and motion.points.shape[1] > len(motion.model.contact_points):
        loaded = force[pressing > 0]
        return float(np.median((loaded**2).sum(axis=1) / loaded.sum(axis=1)))
    usual = float(np.median(pressing[pressing > 0])) if pressing.any() else min(4, max(1, motion.points.shape[1]))
    return max(motion.model.weight, 1e-9) / usual


def _at(times: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (F, 3) of frames at t (F,), where other times are; the last after its end."""
    return values[np.clip(np.searchsorted(t, times + 1e-9) - 1, 0, len(t) - 1)]


def _is_level(surface: Surface) -> bool:
    """Is it a plane that looks the same from everywhere on it? Robots beside each other can share it."""
    return type(surface) is Plane and tuple(surface.normal) == (0.0, 0.0, 1.0)


def _size(motion: Frames, look: Sequence[DrawnShape]) -> float:
    """The longest edge of a robot's box as it begins [m]."""
    low, high = bounds(motion.start(), look)
    return float(np.max(high - low))
